// What the text of a query tells and its plan does not.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::bind::plan {

/// True if the expression at byte `at` stands in the ON of a join, not in a WHERE, HAVING or QUALIFY.
bool is_in_on(std::string_view sql, std::size_t at);

}  // namespace weir::bind::plan
