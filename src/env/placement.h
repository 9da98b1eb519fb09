// Where the rows of each owned model lie in one environment. Placing rewrites the graph: an owned model's target
// becomes its physical table, and who reads it reads that table, so that everything after it (planning, building,
// publishing) knows tables only and no environments.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "env/environment.h"
#include "env/forks.h"
#include "graph/graph.h"

namespace weir::env {

struct Placement {
  /// Of the definition and of whose rows it reads.
  std::string fingerprint;
  /// Of the definition alone.
  std::string definition;
  /// The physical table or view. Nothing for an ephemeral model, which is put into its readers.
  std::optional<Asset> data;
  Asset view;
  /// False: another environment's rows, which this one may show but not write.
  bool may_write = true;
  /// Rows that a copy of this environment's own starts from.
  std::optional<Asset> seed;
  /// The environment shows this definition already.
  bool is_shown = false;
  /// The rows that it shows are those of this definition too, though that changed.
  bool is_reused = false;
};

struct Placed {
  std::shared_ptr<const Graph> graph;
  /// Owned and ephemeral models by path.
  std::map<std::string, Placement> owned;
  /// Key of an asset as models name it -> where its rows lie, where that is elsewhere.
  std::map<std::string, Asset> moved;
  /// For assets that only tests name.
  Forks forks;
  /// Models of tables that grow, which the environment is about to build in its fork for the first time -> where the
  /// rows lie that a copy starts from.
  std::map<std::string, Asset> copies;
  /// Views that read rows of a fork, which nobody could open from the lake where views lie: they are tables here.
  std::vector<std::string> materialized;

  /// Where the rows of an asset lie that a model or test names.
  Asset where(const Asset& asset) const;
};

struct PlaceRequest {
  const std::map<std::string, std::string>& fingerprints;
  /// Without whose rows models read.
  const std::map<std::string, std::string>& definitions;
  const Environment& environment;
  /// Models that this command may build. Others are read as the environment shows them.
  const std::set<std::string>& selected;
  /// Models whose changed definition provably leaves their rows as they are: their table is kept.
  std::set<std::string> reused = {};
  /// Models whose rows accumulate keep, under a changed definition, the rows that they have.
  bool forward_only = false;
  /// Models that are to be built although another environment owns the table of their definition: they get one of
  /// their own.
  std::set<std::string> own = {};
  /// What the environment reads and writes of lakes. Nothing in prod.
  const Forks* forks = nullptr;
  /// Nothing is built: a model's target is where its rows are read.
  bool only_reads = false;
};

bool is_owned(const Model& model);

/// Key of each asset that lies in a fork, or that the selected models are about to build there -> the environment whose
/// rows those are: for plan::fingerprints(). Empty in prod.
std::map<std::string, std::string> own_data(const Graph& graph, const std::set<std::string>& selected,
                                            const Forks& forks);

/// A graph in which nothing lies elsewhere comes back as it is, and must outlive the result. Errors: W5420 a model
/// would write a lake that is not the environment's.
Result<Placed> place(const Graph& graph, const PlaceRequest& request);

}  // namespace weir::env
