// SQL that a user types at a command: it may read the lakes and nothing else, behind the gate that models pass.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "lake/lakes.h"
#include "parse/script.h"
#include "parse/splice.h"

namespace weir::ops {

/// Diagnostics about text of the command line carry this as their path.
inline constexpr std::string_view kTypedText = "query";

/// Leads names that begin with a configured lake to its read-only attachment; all others are left to the current
/// catalog.
std::vector<parse::Replacement> to_lakes(const parse::Statement& statement, const lake::Lakes& lakes);

/// Judges the parsed tree and the bound plan. Errors: W0302, W0303, W0305, W0308, W4003, W4001.
Result<void> pass_read_only_gate(duck::Connection& connection, const parse::Spliced& spliced,
                                 const parse::Statement& statement);

/// `relation` where a condition holds that a user typed. Requires: the lake that bare names mean is the connection's
/// current catalog. Errors: W6633 it is no single condition, or not one over these columns; the gate's.
Result<duck::Sql> rows_where(duck::Connection& connection, const lake::Lakes& lakes, const duck::Sql& relation,
                             const std::string& condition);

}  // namespace weir::ops
