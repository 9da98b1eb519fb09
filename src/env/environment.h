// An environment: what it shows of the models that weir owns, and which physical tables there are to show.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "graph/graph.h"
#include "project/asset.h"
#include "state/store.h"

namespace weir::env {

/// The environment that is built in; its views carry no prefix.
inline constexpr std::string_view kProd = "prod";

struct Environment {
  std::string name{kProd};
  /// The newest generation; nothing before the first promotion.
  std::optional<state::PromotionRecord> shown;
  /// All physical tables and views of weir's own, whoever built them, by Asset::key().
  std::map<std::string, state::OwnedRecord> owned;
  /// Keys of those that other environments show.
  std::set<std::string> shown_elsewhere;
  /// Entries of `shown` stand under another path than in the state.
  bool has_moved = false;

  const state::ShownModel* shown_model(const std::string& path) const;
  /// The number of the next generation.
  std::int64_t next_generation() const { return shown ? shown->generation + 1 : 1; }
};

/// Reads what the state store knows of one environment. Errors: W70xx.
Result<Environment> look(state::Store& store, const std::string& name);

/// The same as the project has it: what is shown of a model whose file was moved, and whose relation stayed, stands
/// under the model's path of today.
Result<Environment> look(state::Store& store, const std::string& name, const Graph& graph);

/// The name of the view by which an environment shows a relation: `main.orders` in prod, `dev__main.orders` in dev.
Asset view_of(const Asset& relation, const std::string& environment);

/// `interlace__<schema>.<name>__<fingerprint>`, with the environment behind it for a copy of its own.
Asset physical_of(const Asset& relation, const std::string& fingerprint, const std::string& environment = {});

/// True for what physical_of() names.
bool is_physical(const Asset& asset);

}  // namespace weir::env
