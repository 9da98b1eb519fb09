// The text that a {partition} token becomes where it stands: a literal, text inside a longer string, or a literal with
// a range beside it.
#pragma once

#include <string>
#include <vector>

#include "parse/splice.h"
#include "project/model.h"

namespace weir {

/// The replacements for the tokens of one statement. Beside `wm_partition(column) = {partition}`, standing as a whole
/// condition in a model whose identities have weir's own format, goes the equal range of time, so that files outside it
/// are not read.
std::vector<parse::Replacement> token_replacements(const Model& model, const parse::Statement& statement,
                                                   const std::string& partition);
/// The same for what the model takes from a library.
std::vector<parse::Replacement> token_replacements(const Model& model, const MacroDefinition& macro,
                                                   const std::string& partition);

/// The same for the query of a test.
std::vector<parse::Replacement> token_replacements(const Model& model, const TestQuery& query,
                                                   const std::string& partition);

}  // namespace weir
