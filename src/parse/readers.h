// Names of files that user SQL puts together: the expression that makes one is wrapped in the guard of the instance
// (duck::kFileGuard), so that what it says is judged whenever a statement binds, also within macros and views. Constant
// names stay as they are: they are judged before anything runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "parse/splice.h"

namespace weir::parse {

/// Insertions around the first argument of every reader of files in `range`, unless it is one plain text without a
/// token.
std::vector<Replacement> guard_readers(std::string_view sql, Span range);
/// The whole text with them.
std::string with_guarded_readers(const std::string& sql);

}  // namespace weir::parse
