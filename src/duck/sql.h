// The one path by which weir writes SQL: fixed templates filled with typed pieces.
// A plain std::string cannot be put into a statement; it must first say what it is: a name, a value, or SQL itself.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir::duck {

/// One name, always rendered in double quotes with inner quotes doubled.
struct Identifier {
  explicit Identifier(std::string text) : text(std::move(text)) {}
  std::string text;
};

/// One value, rendered as a complete literal. Text may hold anything: quotes are doubled, nothing can leave the
/// literal.
class Literal {
 public:
  explicit Literal(std::string_view text);
  // Without this a string literal would convert to bool.
  explicit Literal(const char* text) : Literal(std::string_view(text)) {}
  explicit Literal(std::int64_t number) : rendered_(std::to_string(number)) {}
  explicit Literal(bool truth) : rendered_(truth ? "true" : "false") {}
  static Literal null();
  const std::string& rendered() const { return rendered_; }

 private:
  std::string rendered_;
};

/// A relation by its full name; empty leading parts are left out.
struct TableName {
  std::string catalog;
  std::string schema;
  std::string table;
  friend bool operator==(const TableName&, const TableName&) = default;
};

/// SQL text made of a template and typed pieces. `{}` takes the next piece; `{{` and `}}` stand for braces.
class Sql {
 public:
  Sql() = default;
  template <std::size_t N, class... Pieces>
  explicit(false) Sql(const char (&form)[N], const Pieces&... pieces) {
    const std::initializer_list<std::string> rendered = {render(pieces)...};
    fill(std::string_view(form, N - 1), rendered.begin(), rendered.size());
  }

  /// SQL that a user wrote, possibly with references spliced (parse/splice.h). The only way to bring in foreign text.
  static Sql verbatim(std::string text);
  /// Joins pieces of SQL with a fixed separator.
  static Sql join(const std::vector<Sql>& parts, std::string_view separator);
  /// The names, quoted and joined by ", "; each preceded by `prefix.` when given.
  static Sql names(const std::vector<std::string>& names, std::string_view prefix = {});

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  Sql& operator+=(const Sql& more);

 private:
  static std::string render(const Identifier& name);
  static std::string render(const Literal& value) { return value.rendered(); }
  static std::string render(const TableName& name);
  static std::string render(const Sql& sql) { return sql.text_; }
  template <std::integral Number>
    requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
  static std::string render(Number number) {
    return std::to_string(number);
  }
  void fill(std::string_view form, const std::string* pieces, std::size_t count);

  std::string text_;
};

/// Quotes one name for DuckDB: "a""b".
std::string quote_identifier(std::string_view name);
/// Quotes one text value for DuckDB: 'it''s'.
std::string quote_text(std::string_view value);

}  // namespace weir::duck
