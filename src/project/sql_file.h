// Which files are models and tests.
#pragma once

#include <string_view>

#include "text/lexer.h"

namespace weir {

/// True for a name that ends in .sql, in any case: on many systems x.SQL and x.sql are one file.
inline bool is_sql_file(std::string_view name) {
  constexpr std::string_view kEnd = ".sql";
  return name.size() > kEnd.size() && text::same_word(name.substr(name.size() - kEnd.size()), kEnd);
}

}  // namespace weir
