// One connection of the state store and all that differs between its two databases: how a write begins, how an error is
// told apart, which clock leases go by. Internal to this folder, as it brings in SOCI.
#pragma once

// SOCI's optional adapters for Boost types are left out: weir uses none, and their headers would have to be installed.
#include <soci/soci-config.h>
#undef SOCI_HAVE_BOOST
#undef SOCI_HAVE_BOOST_DATE_TIME
#include <soci/soci.h>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weir::state {

struct Target {
  bool postgres = false;
  std::string address;  // file or libpq connection string
  std::string shown;    // without password
  std::string schema;   // PostgreSQL
};

/// The one value type of all statements: text or null. Both databases convert it to the type of the column.
using Field = std::optional<std::string>;
using Row = std::vector<Field>;

/// Threads: one at a time.
class Session {
 public:
  /// Errors: W7001, W7003.
  static Result<std::unique_ptr<Session>> open(Target target);

  bool postgres() const { return target_.postgres; }
  const std::string& shown() const { return target_.shown; }
  /// A file that this user may not write: what it knows can be looked at.
  bool is_read_only() const { return is_read_only_; }

  /// Runs `work` in one transaction that no other writer of this kind overlaps; rolls back if it fails. A lost
  /// connection is made anew and the work tried once more: every write of the store may be repeated. Errors: those of
  /// `work`, W7001 in a store that can only be read, W7004, W7005.
  Result<void> write(std::string_view lock, const std::function<Result<void>()>& work);
  /// Runs `work`, which only reads. Errors: as write.
  Result<void> read(const std::function<Result<void>()>& work);

  // Inside read and write; these throw what SOCI throws, which read and write turn into diagnostics.
  void run(const std::string& sql, const Row& values = {});
  /// Every row of the answer; `columns` is their number.
  std::vector<Row> ask(const std::string& sql, const Row& values, std::size_t columns);
  /// `head` VALUES (…),(…) `tail` for all rows, in as few statements as pay; measured: 64 rows a statement.
  void insert(const std::string& head, const std::vector<Row>& rows, const std::string& tail);
  /// Like ask, where `head` (VALUES (…),(…)) `tail` holds the keys.
  std::vector<Row> ask_keys(const std::string& head, const std::vector<Row>& keys, const std::string& tail,
                            std::size_t columns);
  /// Now by the clock that all holders of leases share: the server's, or this machine's.
  std::string lease_now();

 private:
  explicit Session(Target target) : target_(std::move(target)) {}
  void connect();
  void begin(std::string_view lock);
  void roll_back();
  Result<void> attempt(std::optional<std::string_view> lock, const std::function<Result<void>()>& work, bool& lost);
  Diagnostic explain(const std::exception& error, Code otherwise) const;

  Target target_;
  bool is_read_only_ = false;
  soci::session sql_;
};

}  // namespace weir::state
