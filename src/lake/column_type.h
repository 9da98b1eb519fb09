// DuckLake's names of types, spelled as duck::Column spells them, so that what a lake holds and what a query returns
// can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::lake {

/// One row of the lake's column records: a column, or a part of a nested one.
struct ColumnRecord {
  std::int64_t id = 0;
  std::optional<std::int64_t> parent;
  std::string name;
  std::string type;  // DuckLake's
};

/// Spells the type of `records[index]`, whose parts are found among `records` by their parent.
std::string spell_type(const std::vector<ColumnRecord>& records, std::size_t index);

}  // namespace weir::lake
