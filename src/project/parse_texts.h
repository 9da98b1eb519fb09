// Many texts parsed at once, by two threads where there is enough to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parse/script.h"
#include "project/project.h"

namespace weir {

struct UnparsedText {
  std::string_view sql;
  /// Path that its faults are placed in.
  std::string_view path;
};

/// The script of each text, or what is wrong with it. Errors: W0201 DuckDB's parser cannot be asked at all.
/// `connection`: the parser's.
Result<std::vector<Result<parse::Script>>> parse_texts(ParserProvider& parser, duck::Connection& connection,
                                                       const std::vector<UnparsedText>& texts);

}  // namespace weir
