// A commit of weir's own that is no step of a run: views, copies.
#pragma once

#include <string>
#include <vector>

#include "lake/commit.h"
#include "lake/lakes.h"

namespace weir::run {

/// Runs the statements in one transaction and commits it with the record, whose token is chosen here. Returns the
/// version, or the one before where nothing changed. Requires: the lake's lock is held. Errors: W6020 a statement
/// failed while `doing`, W6007, W6008.
Result<std::int64_t> change_lake(lake::Lakes& lakes, const lake::Lake& lake, const std::vector<duck::Sql>& statements,
                                 lake::CommitRecord record, const std::string& doing, const std::string& message);

}  // namespace weir::run
