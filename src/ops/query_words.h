// DESCRIBE, SUMMARIZE and SHOW, which DuckDB's grammar keeps apart from queries and which read like them: `weir query`
// runs the query that returns the same, behind the same gate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "duck/sql.h"
#include "lake/lakes.h"

namespace weir::ops {

struct QueryText {
  std::string sql;
  /// The text from here on is the user's own from `typed_from` on.
  std::uint32_t same_from = 0;
  std::uint32_t typed_from = 0;

  /// A place in `sql` as one of what was typed.
  Span typed(Span span) const;
};

/// `DESCRIBE t`, `SUMMARIZE SELECT …`, `SHOW t` as a query; any other text as it is.
QueryText as_query(const std::string& typed);

/// `SHOW [ALL] TABLES`, `SHOW TABLES FROM [lake.]schema`, `SHOW DATABASES`, `SHOW SCHEMAS` over the configured lakes:
/// the engine's own would list its attachments. Nothing for any other text.
std::optional<duck::Sql> listing(const std::string& typed, const lake::Lakes& lakes, const std::string& default_lake);

}  // namespace weir::ops
