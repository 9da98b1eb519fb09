// The identity of a time partition as a strftime form that can be read back: rendered by DuckDB in queries and by this
// class in plans, so it holds only the parts whose text is the same in both.
#pragma once

#include <date/date.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "calendar/partition.h"

namespace weir::calendar {

class IdentityFormat {
 public:
  /// Errors: W0151 a part that is not known, that changes within a partition of this kind, or too few parts to tell
  /// partitions apart.
  static Result<IdentityFormat> parse(PartitionKind kind, std::string_view form, Span span = {});

  std::string render(date::local_seconds time) const;
  /// The wall time at which the period named `identity` begins; nothing if it names none of this kind. Exact inverse of
  /// render.
  std::optional<date::local_seconds> read(std::string_view identity) const;

 private:
  struct Part {
    char letter = 0;     // of strftime; 'Q' the quarter's number; 0 literal text
    bool padded = true;  // false: %-d and the like
    std::string literal;
  };
  struct Fields;
  IdentityFormat(PartitionKind kind, std::vector<Part> parts) : kind_(kind), parts_(std::move(parts)) {}
  static Result<std::vector<Part>> split(PartitionKind kind, std::string_view form, Span span);
  std::string fault() const;
  bool has(char letter) const;
  bool names_date() const;
  static bool take(const Part& part, std::string_view& rest, Fields& fields);
  static std::optional<date::local_days> date_of(const Fields& fields);
  std::optional<date::local_seconds> begin_of(const Fields& fields) const;

  PartitionKind kind_;
  std::vector<Part> parts_;
};

}  // namespace weir::calendar
