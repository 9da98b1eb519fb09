// How a query's columns differ from a table's. Pure.
#include <algorithm>
#include <cctype>

#include "build/names.h"
#include "build/stage.h"
#include "build/types.h"

namespace weir::build {
namespace {

std::size_t place_of(const std::vector<lake::ColumnState>& columns, std::string_view name) {
  return static_cast<std::size_t>(
      std::find_if(columns.begin(), columns.end(), [&](const auto& column) { return same_name(column.name, name); }) -
      columns.begin());
}

}  // namespace

std::string folded(std::string_view name) {
  std::string lowered(name);
  for (char& c : lowered)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lowered;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const lake::ColumnState* find_column(const std::vector<lake::ColumnState>& columns, std::string_view name) {
  const std::size_t place = place_of(columns, name);
  return place == columns.size() ? nullptr : &columns[place];
}

Drift compare_columns(const std::vector<lake::ColumnState>& table, const std::vector<duck::Column>& query) {
  Drift drift;
  std::vector<bool> taken(table.size(), false);
  std::size_t last = 0;
  bool first = true;
  for (const duck::Column& column : query) {
    const std::size_t place = place_of(table, column.name);
    if (place == table.size()) {
      drift.added.push_back({.name = column.name, .type = column.type});
      continue;
    }
    taken[place] = true;
    if (!first && place < last) drift.reordered = true;
    last = place;
    first = false;
    const lake::ColumnState& had = table[place];
    if (had.name != column.name) drift.renamed_case.emplace_back(had.name, column.name);
    if (parse_type(had.type) != parse_type(column.type))
      drift.retyped.push_back({had.name, had.type, column.type, is_lossless_widening(had.type, column.type)});
  }
  for (std::size_t i = 0; i < table.size(); ++i)
    if (!taken[i]) drift.removed.push_back(table[i]);
  if (drift.added.size() == 1 && drift.removed.size() == 1 &&
      parse_type(drift.added[0].type) == parse_type(drift.removed[0].type))
    drift.likely_rename = {drift.removed[0].name, drift.added[0].name};
  return drift;
}

}  // namespace weir::build
