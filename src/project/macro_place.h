// Where a fault within a macro lies. DuckDB reports it at its place in the statement that made the macro, as if that
// were a place in the query that calls it: a reader would be sent to an innocent word, or nowhere.
//
// So every macro is made with blanks before it, as many that no statement calling it reaches that far and no two macros
// share a place: a place then tells by itself which text it belongs to, for faults of binding and of running alike. (To
// ask again with the macro moved tells it too, but only of faults that binding shows.) Blanks are read at 40 MB/s.
#pragma once

#include <optional>
#include <vector>

#include "parse/splice.h"

namespace weir {

class MacroPlaces {
 public:
  /// `longest`: bytes of the longest statement that will be sent, roughly.
  explicit MacroPlaces(std::size_t longest);

  /// The text to send for a statement of setup; only those that make a macro are changed. `again`: the macro may be
  /// there already, and is a temporary one.
  duck::Sql apart(const parse::Spliced& setup, bool again = false);

  struct Place {
    const parse::Spliced* macro;
    /// Byte of its text.
    std::uint32_t byte;
  };
  /// The macro that a reported place belongs to; nothing if to none.
  std::optional<Place> find(std::uint32_t position) const;

 private:
  struct Made {
    parse::Spliced sql;
    std::size_t begin;
    std::size_t end;
    /// What to take off a position to get a byte of `sql`.
    std::ptrdiff_t shift;
  };
  std::size_t next_;
  std::vector<Made> made_;
};

}  // namespace weir
