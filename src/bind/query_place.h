// Places in a statement of the user's file: the name at a byte, the call around it, the lists and operands that the
// engine complains about without saying where.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "project/model.h"
#include "text/lexer.h"

namespace weir::bind {

/// A dotted name as the user wrote it.
struct NamedPlace {
  Span span;
  /// Its last part alone.
  Span last;
  std::vector<std::string> parts;
  /// A bracket follows.
  bool is_call = false;
  /// For a call: up to its closing bracket, FILTER and OVER included.
  Span call;
};

class StatementPlaces {
 public:
  StatementPlaces(std::string_view source, Span statement);

  /// The name that covers a byte of the file.
  std::optional<NamedPlace> name_at(std::uint32_t byte) const;
  /// The token that covers it, of whatever kind.
  std::optional<text::Token> token_at(std::uint32_t byte) const;
  /// Names in USING (…), EXCLUDE, REPLACE (… AS name) and RENAME (name AS …), in order.
  std::vector<NamedPlace> listed_columns() const;
  /// UNION, INTERSECT and EXCEPT with the operand to the right: first the keyword, then all of both.
  std::vector<std::pair<Span, Span>> set_operations() const;
  /// Every different name of the statement, in order; for trying qualifiers.
  std::vector<std::string> names() const;
  /// The first word.
  Span start() const;

 private:
  std::string_view word(std::size_t token) const;
  bool is(std::size_t token, std::string_view wanted) const;
  std::size_t behind_bracket(std::size_t open) const;

  std::string_view source_;
  Span statement_;
  std::vector<text::Token> tokens_;
};

/// Where `name` stands within `span`, as a whole word without case; `span` if nowhere.
Span place_of_word(std::string_view source, Span span, std::string_view name);
/// The same for the column of `<asset>.<column>`: the first that stands behind a dot.
Span place_of_column(std::string_view source, Span span, std::string_view name);

}  // namespace weir::bind
