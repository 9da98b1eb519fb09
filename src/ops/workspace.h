// One project as the commands see it: configuration, models, graph, lakes and state, each opened when it is first
// needed and not before.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "graph/graph.h"
#include "lake/lakes.h"
#include "project/project.h"
#include "state/store.h"

namespace weir::ops {

/// Threads: one at a time.
class Workspace {
 public:
  /// Finds the project at or above `folder` and makes its folder the working directory, so that file names in models
  /// are relative to it. Errors: W0001 no project.
  static Result<Workspace> open(const std::string& folder);

  const std::string& root() const { return root_; }

  /// The configuration alone. Errors: W00xx.
  Result<const Config*> config();
  /// Configuration and models with all diagnostics, errors included. Errors: what prevents looking at all.
  Result<const Project*> project();
  /// The project's graph. Errors: every error among the project's diagnostics, W2001, W2003.
  Result<const Graph*> graph();
  Result<state::Store*> store();
  /// Lakes attached; asking for `write` after a reader was opened opens them anew. Errors: W60xx, W9001.
  /// What models may reach is confined to the project (`allow_paths`); a user's own statement is not. Requires: asked
  /// alike within one command.
  Result<lake::Lakes*> lakes(bool write, bool confined = true);
  /// A connection for the parser alone: no lake, no extension. Errors: W4001 DuckDB cannot be started.
  static Result<duck::Connection> parser();
  /// The same, opened when it is asked for.
  static std::unique_ptr<ParserProvider> lazy_parser();
  /// What was loaded of the project so far, for showing source lines; may be null.
  const Project* loaded() const { return project_.get(); }

  /// A file besides those of the project that diagnostics may show lines of. Requires: the project was loaded.
  void add_source(std::shared_ptr<const Source> source) { project_->sources.push_back(std::move(source)); }

  /// The model whose asset or path the user named: an asset URI, `schema.table`, a table, or a model's path.
  /// A name that is none of these is taken as a table of the default lake.
  Result<Asset> asset_named(const std::string& name);
  /// What to do about a name that led to nothing: the nearest model or table, or where to look.
  std::string hint_for(const std::string& name);

 private:
  explicit Workspace(std::string root) : root_(std::move(root)) {}
  std::string root_;
  std::unique_ptr<Config> config_;
  std::unique_ptr<Project> project_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<state::Store> store_;
  std::unique_ptr<lake::Lakes> lakes_;
  bool lakes_write_ = false;
};

}  // namespace weir::ops
