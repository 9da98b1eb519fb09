// What a query leaves open, so that computing it again over the same rows may give others.
#pragma once

#include "plan/query_diff.h"

namespace weir::plan {

/// What computing the same query again over the same rows may bring out differently.
struct Choices {
  /// LIMIT without a settled order, random(), a window over ties in what decides the rows: any row.
  bool in_rows = false;
  /// Why, in words.
  std::string why;
  /// Columns, in lower case.
  std::set<std::string> columns;
};
Choices choices_of(const std::string& tree, const parse::FunctionKinds& functions,
                   const std::map<std::string, MacroFacts>& macros,
                   const std::optional<std::vector<std::string>>& names);

}  // namespace weir::plan
