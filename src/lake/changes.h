// DuckLake's own list of what a version changed, read: `inserted_into_table:3,created_table:"main"."orders",…`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::lake {

struct Change {
  /// For example "inserted_into_table".
  std::string_view kind;
  /// The id it names, for the kinds that name one.
  std::optional<std::int64_t> id;
  /// Schema and name, for the kinds that create.
  std::string schema;
  std::string name;

  /// True if rows or columns of the table may differ afterwards: everything but compaction and flushing.
  bool alters_content() const;
};

/// Reads the list; parts that are not understood are left out. The kinds point into `text`.
std::vector<Change> parse_changes(std::string_view text);

}  // namespace weir::lake
