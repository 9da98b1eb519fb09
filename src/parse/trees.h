// DuckDB's parse trees, fetched in batches: one call for many queries costs a sixth of one call each (53 ms against 336
// for 1,000 queries of medium size).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "duck/database.h"

namespace weir::parse {

/// A serialised tree or plan with the largest number in place of each infinity: DuckDB writes `Infinity`, which is no
/// JSON. To be looked at only; never to be made a query of.
std::string finite_json(std::string json);

/// What the parser says about one query text.
struct Tree {
  /// JSON of json_serialize_sql; empty if there is none.
  std::string json;
  /// DuckDB's own rendering of the query; empty without a tree.
  std::string canonical;
  /// Set if the text is no SQL.
  std::optional<duck::Failure> failure;
  /// The text is SQL, but DuckDB serialises no tree for it (PIVOT without IN, statements that write).
  bool is_opaque = false;
};

/// Remembers trees by text. Threads: one at a time.
class Trees {
 public:
  /// Fetches those not yet known. Requires: a connection with the json functions.
  duck::Outcome<void> fetch(duck::Connection& connection, const std::vector<std::string>& queries);
  /// Requires: fetched.
  const Tree& of(const std::string& query) const { return trees_.at(query); }

 private:
  duck::Outcome<void> fetch_batch(duck::Connection& connection, const std::vector<std::string>& queries);
  std::map<std::string, Tree, std::less<>> trees_;
};

}  // namespace weir::parse
