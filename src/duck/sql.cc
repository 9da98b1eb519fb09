#include "duck/sql.h"

#include <cassert>

namespace weir::duck {
namespace {

std::string quote(std::string_view text, char mark) {
  std::string quoted;
  quoted.reserve(text.size() + 2);
  quoted += mark;
  for (const char c : text) {
    if (c == mark) quoted += mark;
    quoted += c;
  }
  quoted += mark;
  return quoted;
}

}  // namespace

std::string quote_identifier(std::string_view name) { return quote(name, '"'); }
std::string quote_text(std::string_view value) { return quote(value, '\''); }

// A NUL byte would end the statement for the C interface: such text is assembled with chr(0).
Literal::Literal(std::string_view text) {
  if (text.find('\0') == std::string_view::npos) {
    rendered_ = quote_text(text);
    return;
  }
  rendered_ = "(";
  while (true) {
    const auto nul = text.find('\0');
    rendered_ += quote_text(text.substr(0, nul));
    if (nul == std::string_view::npos) break;
    rendered_ += " || chr(0) || ";
    text.remove_prefix(nul + 1);
  }
  rendered_ += ')';
}

Literal Literal::null() {
  Literal value(false);
  value.rendered_ = "NULL";
  return value;
}

Sql Sql::verbatim(std::string text) {
  Sql sql;
  sql.text_ = std::move(text);
  return sql;
}

Sql Sql::join(const std::vector<Sql>& parts, std::string_view separator) {
  Sql joined;
  for (const Sql& part : parts) {
    if (&part != &parts.front()) joined.text_ += separator;
    joined.text_ += part.text_;
  }
  return joined;
}

Sql Sql::names(const std::vector<std::string>& names, std::string_view prefix) {
  Sql joined;
  for (const std::string& name : names) {
    if (&name != &names.front()) joined.text_ += ", ";
    if (!prefix.empty()) joined.text_.append(prefix).append(".");
    joined.text_ += quote_identifier(name);
  }
  return joined;
}

Sql& Sql::operator+=(const Sql& more) {
  text_ += more.text_;
  return *this;
}

std::string Sql::render(const Identifier& name) { return quote_identifier(name.text); }

std::string Sql::render(const TableName& name) {
  std::string rendered;
  if (!name.catalog.empty()) rendered += quote_identifier(name.catalog) + ".";
  if (!name.schema.empty()) rendered += quote_identifier(name.schema) + ".";
  return rendered + quote_identifier(name.table);
}

void Sql::fill(std::string_view form, const std::string* pieces, std::size_t count) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const char c = form[i];
    const char after = i + 1 < form.size() ? form[i + 1] : '\0';
    if ((c == '{' && after == '{') || (c == '}' && after == '}')) {
      text_ += c;
      ++i;
    } else if (c == '{' && after == '}') {
      assert(next < count);
      text_ += pieces[next++];
      ++i;
    } else {
      text_ += c;
    }
  }
  assert(next == count);
  (void)count;
}

}  // namespace weir::duck
