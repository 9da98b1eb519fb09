#include "project/custom_test.h"

#include <algorithm>

#include "text/lexer.h"

namespace weir {
namespace {

using parse::StatementKind;
using parse::TableReference;

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string example(const std::vector<const Model*>& users) {
  std::string table = "table";
  if (!users.empty() && users.front()->target) table = users.front()->target->name;
  return "for example: SELECT * FROM _wm_target." + table + " WHERE amount < 0";
}

}  // namespace

bool is_target(const TableReference& table) {
  return table.parts.size() > 1 &&
         (text::same_word(table.parts[0], "_wm_target") || text::same_word(table.parts[0], "weir_target"));
}

TestQuery test_query_of(const Model& model, std::size_t test, const CustomTest& script) {
  TestQuery made;
  made.test = test;
  made.path = script.path;
  made.source = script.source;
  made.is_in_header = model.tests[test].kind == TestKind::Sql;
  made.statement = script.script.statements.front();
  return made;
}

const TestQuery* query_of_test(const Model& model, const Test& test) {
  const auto found = std::find_if(model.test_queries.begin(), model.test_queries.end(),
                                  [&](const TestQuery& one) { return &model.tests[one.test] == &test; });
  return found == model.test_queries.end() ? nullptr : &*found;
}

Span place_in_file(const Model& model, const TestQuery& query, Span place) {
  if (!query.is_in_header) return place;
  const Span whole = model.tests[query.test].span;
  const std::string_view file = model.source->text;
  const std::string_view sql = query.source->text;
  std::string dense;
  std::vector<std::uint32_t> at;
  for (std::uint32_t i = whole.begin; i < file.size(); ++i) {
    if (is_white(file[i])) continue;
    dense += file[i];
    at.push_back(i);
  }
  std::string wanted;
  std::size_t before = 0;
  std::size_t within = 0;
  for (std::uint32_t i = 0; i < sql.size(); ++i) {
    if (is_white(sql[i])) continue;
    wanted += sql[i];
    if (i < place.begin) ++before;
    if (i >= place.begin && i < place.end) ++within;
  }
  const auto found = dense.find(wanted);
  if (wanted.empty() || found == std::string::npos || before >= wanted.size()) return whole;
  const std::uint32_t begin = at[found + before];
  return {begin, at[found + before + std::max<std::size_t>(within, 1) - 1] + 1};
}

bool reads_target(const parse::Script& script) {
  return std::any_of(script.statements.begin(), script.statements.end(), [](const parse::Statement& statement) {
    return std::any_of(statement.tables.begin(), statement.tables.end(), is_target);
  });
}

std::string path_without_extension(std::string_view path) {
  if (path.ends_with(".sql")) path.remove_suffix(4);
  return std::string(path);
}

bool names_custom_test(std::string_view text, const CustomTest& test) {
  const std::string wanted = path_without_extension(text);
  if (wanted == test.path) return true;
  return test.path.size() > wanted.size() && test.path.ends_with(wanted) &&
         test.path[test.path.size() - wanted.size() - 1] == '/';
}

Diagnostics judge_custom_test(const CustomTest& test, const std::vector<const Model*>& users) {
  Diagnostics found;
  const auto report = [&](Span span, std::string message) {
    found.push_back({Code::W0217, Severity::Error, std::move(message), test.source->path, span, example(users)});
  };
  const auto& statements = test.script.statements;
  if (statements.empty()) {
    report({}, "this test holds no query");
    return found;
  }
  if (statements.size() > 1) {
    report(statements[1].span,
           "a test is one query; this file holds " + std::to_string(statements.size()) + " statements");
    return found;
  }
  const parse::Statement& query = statements.front();
  if (query.kind != StatementKind::Result) {
    report(query.span, "a test is a query that returns the violating rows; this is " + query.what);
    return found;
  }
  if (!reads_target(test.script)) report(query.span, "this test never reads the model's table");
  for (const TableReference& table : query.tables) {
    if (!is_target(table)) continue;
    for (const Model* user : users)
      if (user->target && !text::same_word(table.parts.back(), user->target->name))
        report(table.span, "the table behind " + table.parts.front() + " is `" + user->target->name +
                               "` for the model " + user->path);
  }
  return found;
}

}  // namespace weir
