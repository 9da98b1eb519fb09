// Cases of column lineage as text: a query, and every edge that it has. What a case lists is the whole answer: an edge
// too few or too many fails.
//
//   case a name for the case
//     SELECT … (indented; the query, or nothing if the caller has it)
//   output <- table.column:kind, …     one line an output, in order; `a + b:kind` gives both that kind
//   one, two <- copy                   outputs that are copies of the columns of their names
//   where: table.column, …             row-deciding columns by role, as many lines as needed
// Where tables are known, the name of a column alone stands for the one table that has it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bind/lineage.h"
#include "duck/database.h"

namespace weir::bind::cases {

struct Case {
  std::string name;
  std::string sql;
  std::vector<std::string> outputs;  // "name <- a.b:copy, c.d:copy", as written
  std::set<std::string> rows;        // "where a.b"
};

inline std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

inline std::vector<std::string> items(const std::string& list) {
  std::vector<std::string> all;
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ',');)
    if (!trimmed(item).empty()) all.push_back(trimmed(item));
  return all;
}

/// Table by column, for columns that one table alone has.
using Tables = std::map<std::string, std::string>;

inline std::string whole(const std::string& column, const Tables& tables) {
  const auto table = tables.find(column);
  return table == tables.end() ? column : table->second + "." + column;
}

/// "a + b:kind" as "a:kind" and "b:kind".
inline std::set<std::string> sources_of(const std::string& list, const Tables& tables) {
  std::set<std::string> all;
  for (const std::string& item : items(list)) {
    const auto colon = item.rfind(':');
    std::stringstream columns(item.substr(0, colon));
    for (std::string column; std::getline(columns, column, '+');)
      all.insert(whole(trimmed(column), tables) + item.substr(colon));
  }
  return all;
}

inline std::string output_line(const std::string& name, const std::set<std::string>& sources) {
  std::string line = name + " <-";
  for (const std::string& source : sources) line += (line.back() == '-' ? " " : ", ") + source;
  return line;
}

/// Reads cases; lines that begin with # are comments. Lines of sources that end in a comma go on in the next line.
inline std::vector<Case> read_cases(const std::string& path, const Tables& tables = {}) {
  std::vector<Case> all;
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::string held;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("case ")) {
      all.push_back({line.substr(5), "", {}, {}});
      continue;
    }
    if (all.empty()) continue;
    Case& current = all.back();
    if (line.front() == ' ' && held.empty() && current.outputs.empty()) {
      current.sql += line + "\n";
      continue;
    }
    held += line;
    if (trimmed(line).back() == ',') continue;
    const std::string entry = std::move(held);
    held.clear();
    const auto arrow = entry.find("<-");
    if (arrow != std::string::npos) {
      const std::string outputs = trimmed(entry.substr(0, arrow));
      const std::string list = trimmed(entry.substr(arrow + 2));
      if (list == "copy")
        for (const std::string& output : items(outputs))
          current.outputs.push_back(output_line(output, {whole(output, tables) + ":copy"}));
      else
        current.outputs.push_back(output_line(outputs, sources_of(list, tables)));
      continue;
    }
    const auto colon = entry.find(':');
    EXPECT_NE(colon, std::string::npos) << path << ": " << entry;
    for (const std::string& item : items(entry.substr(colon + 1)))
      current.rows.insert(trimmed(entry.substr(0, colon)) + " " + whole(item, tables));
  }
  return all;
}

/// What DuckDB says of a query: its plan and its output names.
struct Planned {
  std::string json;
  std::vector<std::string> names;
  std::string failure;
};

inline Planned plan(duck::Connection& connection, const std::string& sql) {
  Planned planned;
  auto rows = connection.query(duck::Sql("SELECT json_serialize_plan({})", duck::Literal(sql)));
  if (!rows) {
    planned.failure = rows.error().message;
    return planned;
  }
  planned.json = rows->text(0, 0);
  auto columns = connection.describe(duck::Sql::verbatim(sql));
  if (!columns) {
    planned.failure = columns.error().message;
    return planned;
  }
  for (const duck::Column& column : *columns) planned.names.push_back(column.name);
  return planned;
}

inline Result<QueryLineage> lineage_of(duck::Connection& connection, const std::string& sql) {
  const Planned planned = plan(connection, sql);
  EXPECT_EQ(planned.failure, "") << sql;
  return trace(planned.json, planned.names, sql);
}

/// Compares the lineage with the case, edge by edge.
inline void expect_lineage(const Case& wanted, const Result<QueryLineage>& found) {
  ASSERT_TRUE(found.has_value()) << wanted.name << ": " << found.error().front().message;
  std::vector<std::string> outputs;
  for (const OutputColumn& output : found->outputs) {
    std::set<std::string> sources;
    for (const ValueSource& source : output.from)
      sources.insert(source.from.table + "." + source.from.column + ":" + std::string(name_of(source.kind)));
    outputs.push_back(output_line(output.name, sources));
  }
  EXPECT_EQ(wanted.outputs, outputs) << "case " << wanted.name << wanted.sql;
  std::set<std::string> rows;
  for (const RowSource& source : found->rows)
    rows.insert(std::string(name_of(source.role)) + " " + source.from.table + "." + source.from.column);
  EXPECT_EQ(wanted.rows, rows) << "case " << wanted.name << wanted.sql;
}

}  // namespace weir::bind::cases
