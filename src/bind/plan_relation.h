// What one operator of a plan gives out: columns with where they come from, and what decides the rows. Origins are kept
// once in an Origins table and named by number, so that operators pass columns on at the price of a few words.
#pragma once

#include <simdjson.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bind/lineage.h"

namespace weir::bind::plan {

using Element = simdjson::dom::element;

/// Sorted numbers without repeats.
using Numbers = std::vector<std::uint32_t>;

/// Adds the members of `more` to `all`.
void merge(Numbers& all, const Numbers& more);

/// Where a value comes from. `values` holds (column << 2 | ValueKind), one for each column; `rows` holds
/// (column << 2 | RowRole) of what decides the rows behind the value alone: those of a scalar subquery, which no other
/// column of the row depends on.
struct Origin {
  Numbers values;
  Numbers rows;
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Adds `more` to `all`; every kind is at least `floor`, and of two kinds for one column the stronger stays.
void merge(Origin& all, const Origin& more, ValueKind floor);
/// Adds to `rows`: the columns of the origin's values in this role, and what decides the rows behind the value.
void decide(Numbers& rows, const Origin& origin, RowRole role);

using OriginId = std::uint32_t;

/// All origins of one plan, and the base columns they name. Origin 0 is the empty one.
class Origins {
 public:
  Origins() : all_(1) {}
  const Origin& of(OriginId id) const { return all_[id]; }
  OriginId add(Origin origin);
  /// The number of a base column.
  std::uint32_t number_of(const std::string& table, const std::string& column);
  const TableColumn& column(std::uint32_t number) const { return *columns_[number]; }

 private:
  std::vector<Origin> all_;
  std::map<TableColumn, std::uint32_t> numbers_;
  std::vector<const TableColumn*> columns_;
};

/// A column of the row that a correlated subquery is evaluated for: within the subquery it is a constant, so grouping
/// by it or joining on it (which DuckDB adds when it rewrites the subquery as a join) decides nothing.
struct OuterColumn {
  std::uint32_t scope = 0;
  std::uint32_t index = 0;
  friend bool operator==(const OuterColumn&, const OuterColumn&) = default;
};

struct Column {
  /// How unresolved references name it.
  std::uint64_t table_index = 0;
  std::uint64_t column_index = 0;
  OriginId origin = 0;
  std::optional<OuterColumn> outer;
  /// A list that UNPIVOT made: its elements are unchanged values, and there is one for each column.
  bool is_unpivot_list = false;
  /// The value that a scalar subquery returns, behind the aggregate by which DuckDB counts its rows.
  bool is_single_value = false;
  /// Where its type is written; BOOLEAN if nowhere.
  std::optional<Element> type;
};

struct Relation {
  std::vector<Column> columns;
  Numbers rows;
  /// Made by DuckDB to be joined as the one value of a scalar or EXISTS subquery: what decides its rows concerns that
  /// value only.
  bool is_single_row = false;
};

}  // namespace weir::bind::plan
