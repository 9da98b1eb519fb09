// One project as the commands see it: configuration, models, graph, lakes and state, each opened when it is first
// needed and not before.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "env/placement.h"
#include "env/registry.h"
#include "graph/graph.h"
#include "lake/lakes.h"
#include "ops/soundness.h"
#include "project/project.h"
#include "state/store.h"

namespace weir::ops {

/// Threads: one at a time.
class Workspace {
 public:
  /// Finds the project at or above `folder` and makes its folder the working directory, so that file names in models
  /// are relative to it. Every look at it is one through `environment`. Errors: W0001 no project.
  static Result<Workspace> open(const std::string& folder, std::string environment = std::string(env::kProd));

  const std::string& root() const { return root_; }
  const std::string& environment() const { return environment_; }

  /// The configuration alone; in an environment other than prod, with its forks among the lakes. Errors: W00xx, W5401
  /// no such environment, W5422.
  Result<const Config*> config();
  /// Configuration and models with all diagnostics, errors included; models that cannot be linked are among the broken
  /// ones. Errors: what prevents looking at all.
  Result<const Project*> project();
  /// Lets these texts stand for the project's files. Requires: the project was not asked for yet. Errors: as project().
  Result<void> use_texts(const OpenTexts& texts);
  /// The graph of a project without errors. Errors: every error among the project's diagnostics.
  Result<const Graph*> graph();
  /// The graph of the models that are right themselves, whatever is wrong in other files; what they read of the others
  /// counts as a source. Errors: as project().
  Result<const Graph*> sound_graph();
  /// All models, the broken ones as mere names and tables: for naming and selecting them. Errors: as project().
  Result<const Graph*> whole_graph();
  /// See blocked_models().
  Result<const std::map<std::string, Fault>*> blocked();
  Result<state::Store*> store();
  /// Nothing where no state was made yet: asking for it would make it.
  Result<state::Store*> store_if_there();
  /// Every environment there is.
  Result<env::Registry> registry();
  /// Lakes attached; asking for `write` after a reader was opened opens them anew. Errors: W60xx, W9001.
  /// What models may reach is confined to the project (`allow_paths`); a user's own statement is not. Requires: asked
  /// alike within one command.
  Result<lake::Lakes*> lakes(bool write, bool confined = true);
  /// A connection for the parser alone: no lake, no extension. Errors: W4001 DuckDB cannot be started.
  static Result<duck::Connection> parser();
  /// The same, opened when it is asked for.
  static std::unique_ptr<ParserProvider> lazy_parser();
  /// The instance that parsing was done in, for binding; null if nothing had to be parsed. It is given once.
  std::shared_ptr<duck::Database> parser_database();
  /// What was loaded of the project so far, for showing source lines; may be null.
  const Project* loaded() const { return project_.get(); }

  /// A file besides those of the project that diagnostics may show lines of. Requires: the project was loaded.
  void add_source(std::shared_ptr<const Source> source) { project_->sources.push_back(std::move(source)); }

  /// The model whose asset or path the user named: an asset URI, `schema.table`, a table, or a model's path.
  /// A name that is none of these is taken as a table of the default lake.
  Result<Asset> asset_named(const std::string& name);
  /// The environment and those that it comes from, nearest first.
  Result<std::vector<env::Settings>> chain();
  /// Where the environment reads what projects name so: a view of its own or of the nearest environment that it comes
  /// from, a table of a fork, or what the name says.
  Result<Asset> located(const Asset& asset);
  /// Where the rows themselves lie: of an owned model the table behind the view.
  Result<Asset> rows_of(const Asset& asset);
  /// The environment whose rows lie at a place of located().
  Result<std::string> owner_of(const Asset& place);
  /// Of all models of a graph, with whose rows the environment reads; `built`: models that it is about to build.
  Result<std::map<std::string, std::string>> fingerprints(const Graph& graph, const std::set<std::string>& built = {});
  /// The graph as the environment reads it: each reference and each target where its rows lie. Nothing is built by it.
  Result<const env::Placed*> placed();
  /// What to do about a name that led to nothing: the nearest model or table, or where to look.
  std::string hint_for(const std::string& name);

 private:
  Workspace(std::string root, std::string environment) : root_(std::move(root)), environment_(std::move(environment)) {}
  Result<void> enter(Config& config);
  Result<void> take(Project project);
  Result<void> note_first_use();
  Result<void> judge_parents();
  Result<void> look_around();
  std::string root_;
  std::string environment_;
  /// The environment and those that it comes from; empty until the configuration was read.
  std::vector<env::Settings> chain_;
  std::optional<env::Forks> forks_;
  /// Key of a relation -> the view by which the environment shows it, and its table.
  std::map<std::string, std::pair<Asset, Asset>> views_;
  std::unique_ptr<env::Placed> placed_;
  std::unique_ptr<Config> config_;
  std::unique_ptr<Project> project_;
  std::shared_ptr<duck::Database> parser_database_;
  /// Of the models that are right themselves. Set with project_.
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Graph> whole_graph_;
  std::optional<std::map<std::string, Fault>> blocked_;
  std::unique_ptr<state::Store> store_;
  std::unique_ptr<lake::Lakes> lakes_;
  bool lakes_write_ = false;
};

}  // namespace weir::ops
