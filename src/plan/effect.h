// What readers of a model's table may find changed, and how it spreads from inputs to outputs along bound lineage.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "bind/bound.h"
#include "plan/query_diff.h"
#include "project/model.h"

namespace weir::plan {

/// Names of columns are in lower case.
struct Effect {
  /// Any column, or the rows themselves, may differ.
  bool is_everything = false;
  /// Why, in words.
  std::string why;
  /// Columns with other values or another type, and those that are gone.
  std::set<std::string> touched;
  std::set<std::string> added;
  /// The columns stand in another order.
  bool is_reordered = false;
  /// Building the table again may choose other rows, or other values of these columns, though nothing asks for it.
  bool may_choose_rows = false;
  std::set<std::string> may_choose;
  std::string choice;

  /// Nothing that a definition says differs.
  bool is_clean() const { return !is_everything && touched.empty() && added.empty() && !is_reordered; }
  bool may_choose_any() const { return may_choose_rows || !may_choose.empty(); }
  bool concerns_readers() const { return !is_clean() || may_choose_any(); }
};

/// An input of a model that changed. `asset` is its key, as lineage names it.
struct ChangedInput {
  std::string asset;
  std::string path;
  const Effect* effect = nullptr;
};

struct Spread {
  Effect effect;
  /// In words, one entry for each input that reaches the model: "reads `amount` of `orders`, which changed".
  std::vector<std::string> reasons;
  /// Paths of these inputs.
  std::set<std::string> from;
  /// Of inputs that reach it only by what building them again may choose.
  std::set<std::string> chosen_from;
};

/// What reaches a model: from its own edit and from its inputs.
/// Requires: `query` says what the edit does if the inputs stay as they are; both sides bound and traced.
Spread spread(const Model& model, const QueryDiff& query, const std::vector<ChangedInput>& inputs,
              const bind::BoundModel& before, const bind::BoundModel& after);

/// Columns that decide, by the strategy, which rows the table holds.
std::set<std::string> deciding_columns(const Model& model);

}  // namespace weir::plan
