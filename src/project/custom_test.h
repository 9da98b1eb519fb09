// The contract of a custom test: one query over the slice that the model is about to publish, `_wm_target.<table>` or
// `weir_target.<table>`.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "project/model.h"

namespace weir {

/// True if some statement reads `_wm_target.…` or `weir_target.…`.
bool reads_target(const parse::Script& script);

/// True if a data_test's text names this file: by its path in the project, or below its root, with or without `.sql`.
bool names_custom_test(std::string_view text, const CustomTest& test);

/// Judges a custom test that `users` declare. Each breach is an error of its own with a line to copy.
/// Errors: W0217 empty, several statements, not a query, setup in it, target never read, another table's name behind
/// the target.
Diagnostics judge_custom_test(const CustomTest& test, const std::vector<const Model*>& users);

/// True for `_wm_target.<table>` and `weir_target.<table>`.
bool is_target(const parse::TableReference& table);

/// The query of `model.tests[test]`, if its script is one. Its places are filled by resolve_references.
/// Requires: the script was judged, and holds one statement.
TestQuery test_query_of(const Model& model, std::size_t test, const CustomTest& script);

/// The query of a test that is one; null if it has none.
const TestQuery* query_of_test(const Model& model, const Test& test);

/// Where a place in a test's query lies in its file. A query in the header is found there again by its characters but
/// blanks, which YAML folds; the whole test where that fails.
Span place_in_file(const Model& model, const TestQuery& query, Span place);

/// "tests/sane.sql" -> "tests/sane"
std::string path_without_extension(std::string_view path);

}  // namespace weir
