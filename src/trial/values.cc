#include "trial/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/lexer.h"
#include "text/suggest.h"

namespace weir::trial {
namespace {

using duck::Sql;

constexpr std::size_t kRowsAtOnce = 500;

Diagnostic about(Code code, Span span, std::string message, std::string hint, const UnitTest& test) {
  return {code, Severity::Error, std::move(message), test.source->path, span, std::move(hint)};
}

/// Where a batch failed: the values that the engine does not take, one by one.
void blame_values(duck::Connection& connection, const bind::Columns& columns, const std::vector<UnitRow>& rows,
                  const UnitTest& test, Diagnostics& problems) {
  for (const UnitRow& row : rows)
    for (const auto& [name, value] : row.cells) {
      const auto column = std::find_if(columns.begin(), columns.end(), [&name = name](const duck::Column& one) {
        return text::same_word(one.name, name.text);
      });
      if (column == columns.end()) continue;
      const auto one = connection.query(Sql("SELECT {}", value_as(value, column->type)));
      if (one) continue;
      problems.push_back(about(Code::W2416, value.span,
                               fmt::format("`{}` is no {}, the type of {}: {}", value.text, column->type, column->name,
                                           one.error().message.substr(0, one.error().message.find('\n'))),
                               "", test));
    }
}

}  // namespace

Sql value_as(const UnitValue& value, const std::string& type) {
  const Sql to = Sql::verbatim(type);
  if (value.is_null) return {"CAST(NULL AS {})", to};
  if (value.is_nested) return {"CAST(CAST({} AS JSON) AS {})", duck::Literal(std::string_view(value.text)), to};
  return {"CAST({} AS {})", duck::Literal(std::string_view(value.text)), to};
}

std::optional<std::size_t> find_column(const bind::Columns& columns, const Word& name, const std::string& owner,
                                       const UnitTest& test, Diagnostics& problems) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (text::same_word(columns[i].name, name.text)) return i;
    known.push_back(columns[i].name);
  }
  const auto near = text::nearest(name.text, known);
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  problems.push_back(about(Code::W2414, name.span, fmt::format("{} has no column `{}`", owner, name.text),
                           near ? fmt::format("did you mean `{}`?", *near) : "it has " + list, test));
  if (near) problems.back().fix = Fix{name.span, *near};
  return std::nullopt;
}

bind::Columns guess_columns(duck::Connection& connection, const UnitRows& rows) {
  static constexpr std::array<const char*, 6> kTypes = {"BIGINT", "DOUBLE",    "BOOLEAN",
                                                        "DATE",   "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"};
  bind::Columns columns;
  for (const UnitRow& row : rows.rows)
    for (const auto& cell : row.cells)
      if (std::none_of(columns.begin(), columns.end(),
                       [&cell](const duck::Column& one) { return text::same_word(one.name, cell.first.text); }))
        columns.push_back({cell.first.text, "VARCHAR"});
  for (duck::Column& column : columns) {
    std::vector<Sql> values;
    bool is_nested = false;
    for (const UnitRow& row : rows.rows)
      for (const auto& [name, value] : row.cells) {
        if (!text::same_word(name.text, column.name) || value.is_null) continue;
        is_nested = is_nested || value.is_nested;
        values.push_back(Sql("({})", duck::Literal(std::string_view(value.text))));
      }
    if (is_nested) column.type = "JSON";
    if (is_nested || values.empty()) continue;
    for (const char* type : kTypes) {
      const auto fits = connection.query(Sql("SELECT bool_and(TRY_CAST(v AS {}) IS NOT NULL) FROM (VALUES {}) AS t(v)",
                                             Sql::verbatim(type), Sql::join(values, ", ")));
      if (!fits || !fits->boolean(0, 0)) continue;
      column.type = type;
      break;
    }
  }
  return columns;
}

void insert_rows(duck::Connection& connection, const std::string& table, const bind::Columns& columns,
                 const UnitRows& rows, const UnitTest& test, Diagnostics& problems) {
  std::vector<Sql> lines;
  for (const UnitRow& row : rows.rows) {
    std::vector<Sql> values;
    for (const duck::Column& column : columns) values.push_back(value_as({.is_null = true}, column.type));
    for (const auto& [name, value] : row.cells)
      if (const auto at = find_column(columns, name, rows.name.text, test, problems))
        values[*at] = value_as(value, columns[*at].type);
    lines.push_back(Sql("({})", Sql::join(values, ", ")));
  }
  if (!problems.empty()) return;
  for (std::size_t begin = 0; begin < lines.size(); begin += kRowsAtOnce) {
    const std::size_t end = std::min(lines.size(), begin + kRowsAtOnce);
    const std::vector<Sql> batch(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                 lines.begin() + static_cast<std::ptrdiff_t>(end));
    const auto done =
        connection.execute(Sql("INSERT INTO {} VALUES {}", duck::Identifier(table), Sql::join(batch, ", ")));
    if (done) continue;
    blame_values(connection, columns, rows.rows, test, problems);
    if (problems.empty())
      problems.push_back(about(Code::W2416, rows.name.span,
                               fmt::format("the rows of {} cannot be read: {}", rows.name.text, done.error().message),
                               "", test));
    return;
  }
}

std::vector<UnitCells> expected_cells(duck::Connection& connection, const bind::Columns& columns,
                                      const std::vector<std::size_t>& wanted, const UnitTest& test,
                                      Diagnostics& problems) {
  std::vector<UnitCells> cells;
  for (const UnitRow& row : test.expected.rows) {
    std::vector<Sql> values;
    for (const std::size_t column : wanted) values.push_back(value_as({.is_null = true}, columns[column].type));
    for (const auto& [name, value] : row.cells)
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (text::same_word(columns[wanted[i]].name, name.text)) values[i] = value_as(value, columns[wanted[i]].type);
    for (Sql& value : values) value = Sql("CAST({} AS VARCHAR)", value);
    const auto read = connection.query(Sql("SELECT {}", Sql::join(values, ", ")));
    if (!read) {
      blame_values(connection, columns, {row}, test, problems);
      if (problems.empty())
        problems.push_back(about(Code::W2416, row.span, "this row cannot be read: " + read.error().message, "", test));
      continue;
    }
    UnitCells& made = cells.emplace_back();
    for (std::size_t i = 0; i < wanted.size(); ++i) made.push_back(read->maybe_text(0, i));
  }
  return cells;
}

}  // namespace weir::trial
