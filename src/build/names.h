// Column names compare without case, as DuckDB does it: ASCII letters only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lake/lakes.h"

namespace weir::build {

/// ASCII letters in lower case.
std::string folded(std::string_view name);
bool same_name(std::string_view a, std::string_view b);
/// Nothing if there is no such column.
const lake::ColumnState* find_column(const std::vector<lake::ColumnState>& columns, std::string_view name);

}  // namespace weir::build
