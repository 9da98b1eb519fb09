// What an edit of one model changes by itself: its options, its setup, the macros that it calls, its query.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parse/trees.h"
#include "plan/query_diff.h"
#include "project/model.h"

namespace weir::plan {

struct DefinitionDiff {
  QueryDiff query;
  /// The options are the same but for the environments that a delivery is for.
  bool is_gate_alone = false;
  /// Options or setup differ, and not the query alone.
  bool is_beyond_query = false;
  /// Macros whose bodies differ, as they are called.
  std::vector<std::string> macros;
};

/// Requires: `trees` holds comparable_query() of both.
DefinitionDiff diff_definitions(const Model& before, const Model& after, const parse::Trees& trees,
                                const parse::FunctionKinds& functions,
                                std::optional<std::vector<std::string>> before_names,
                                std::optional<std::vector<std::string>> after_names);

/// The text of the result query as it goes to the parser. Empty for a manual script.
std::string comparable_query(const Model& model);

/// Macros that the model's statements may call: its own and those of libraries.
std::map<std::string, MacroFacts> macros_of(const Model& model);

}  // namespace weir::plan
