// Built-in tests as SQL: which rows violate, or which aggregate decides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/audit.h"

namespace weir::audit {

/// How a test is answered. Rows and Aggregate tests of one relation share a single scan.
enum class ProbeShape { Rows, Aggregate, Groups, Parents, Query };

struct Probe {
  ProbeShape shape = ProbeShape::Rows;
  /// Rows: true for a violating row. Aggregate: an expression that is 1 if the test fails, 0 if not.
  duck::Sql violation;
  /// Rows that the test looks at; `true` without `where`.
  duck::Sql scope;
  /// Groups: the grouped columns; Parents: the one column.
  std::vector<std::string> columns;
  /// Parents: `FROM`-able relation and column to be found in it.
  duck::Sql parent;
  std::string parent_column;
};

/// Builds the probe of a built-in test, with every piece of user text checked against the relation without reading its
/// rows. The failing side is what a user reads: an unknown column, a value that is none of the column's type, an
/// expression that does not bind.
tl::expected<Probe, std::string> make_probe(duck::Connection& clean, const Test& test, const AuditRequest& request);

/// The relation that the test looks at.
const duck::Sql& relation_of(const Test& test, const AuditRequest& request);

/// Seconds of a duration such as `90`, `30s`, `5m`, `2h`, `1d`, `1w`; nothing if it is none or not positive.
std::optional<std::int64_t> seconds_of(const std::string& duration);

}  // namespace weir::audit
