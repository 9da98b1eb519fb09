// What an edit of a query changes in its result, found on DuckDB's parse trees of both texts. Whatever is not proven to
// stay as it was counts as changed.
//
// The walk goes from the inside out: CTEs and subqueries in FROM first, each giving the names of its columns that
// changed, then the clauses around them. Names alone decide who reads what: a column of that name anywhere, in any
// scope, counts as read. That is more than is true, and needs no binding.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parse/functions.h"

namespace weir::plan {

/// A macro that the queries may call, by what its body calls in turn.
struct MacroFacts {
  std::set<std::string> calls;
  /// All names in the bodies, which may be those of columns where it is called.
  std::set<std::string> words;
  bool has_query = false;
  /// Its body differs between the two sides, or that of a macro that it calls.
  bool is_changed = false;
  /// Its body may choose among rows in an order that nothing settles.
  bool may_choose = false;
};

struct QueryDiffInput {
  /// JSON of json_serialize_sql.
  const std::string& before;
  const std::string& after;
  const parse::FunctionKinds& functions;
  /// By name in lower case.
  std::map<std::string, MacroFacts> macros;
  /// Names of the columns, where binding told them.
  std::optional<std::vector<std::string>> before_names;
  std::optional<std::vector<std::string>> after_names;
};

/// Names are in lower case.
struct QueryDiff {
  /// Any column, or the rows themselves, may differ.
  bool is_everything = false;
  /// Why, in words about the model ("its WHERE clause changed").
  std::string why;
  std::set<std::string> changed;
  std::set<std::string> gone;
  std::set<std::string> added;
  /// Only the order in which the rows are written differs.
  bool is_ordered_anew = false;

  bool is_clean() const { return !is_everything && changed.empty() && gone.empty() && added.empty(); }
};
QueryDiff diff_queries(const QueryDiffInput& input);

}  // namespace weir::plan
