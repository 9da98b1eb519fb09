// What DuckDB's binder says of a query: its plan with the names of its columns, or why there is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "duck/database.h"

namespace weir::bind {

/// A refusal with the parts that the engine names apart from its message.
struct Refusal {
  duck::FailureType type = duck::FailureType::Other;
  /// COLUMN_NOT_FOUND, NO_MATCHING_FUNCTION, MISSING_ENTRY; empty where the engine gives none.
  std::string subtype;
  /// Of MISSING_ENTRY: "Table", "Scalar Function", "Type", ….
  std::string entry;
  std::string name;
  std::vector<std::string> candidates;
  std::string message;
  /// Byte of the query.
  std::optional<std::uint32_t> position;
  /// Byte of what was sent: of a statement that made a macro, where the fault lies in one.
  std::optional<std::uint32_t> position_in_sent;
  /// The engine writes no plan for such a statement, whether or not it is right.
  bool is_unsupported = false;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct PlanAnswer {
  /// JSON of the plan of `CREATE TABLE … AS query`.
  std::string plan;
  /// Of the query's columns, in order.
  std::vector<std::string> names;
  /// The text that was bound, which positions in the plan count from.
  std::string sql;
  std::optional<Refusal> refusal;
};

/// Binds queries without running them, many in one call: 1,000 simple ones take 60 ms, of seven joins and windows each
/// 290 ms. Errors: the call itself failed (interrupted, out of memory).
duck::Outcome<std::vector<PlanAnswer>> bind_queries(duck::Connection& connection,
                                                    const std::vector<std::string>& queries);

/// The engine's message without the lines of advice behind its first.
std::string first_line(const std::string& message);

}  // namespace weir::bind
