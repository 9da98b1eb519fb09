#include "metric/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "duck/sql.h"
#include "metric/expression.h"
#include "metric/table_path.h"
#include "project/header.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir::metric {
namespace {

/// "1, 2, 3"
duck::Sql ordinals(std::size_t count) {
  std::vector<duck::Sql> parts;
  for (std::size_t i = 1; i <= count; ++i) parts.push_back(duck::Sql("{}", i));
  return duck::Sql::join(parts, ", ");
}

duck::Sql output(const Declaration& one) {
  return duck::Sql("{} AS {}", duck::Sql::verbatim(rendered(one.expression, one.filter)), duck::Identifier(one.name));
}

class Chooser {
 public:
  Chooser(const std::string& table, const std::vector<Declaration>& declared) : table_(table), declared_(declared) {}

  Result<std::vector<Declaration>> choose(const std::vector<std::string>& wanted, bool is_measure) {
    std::vector<Declaration> chosen;
    std::set<std::string> seen;
    Diagnostics problems;
    for (const std::string& name : names_in(wanted, is_measure)) {
      const std::vector<const Declaration*> found = named(name, is_measure);
      if (found.size() == 1) {
        if (seen.insert(found.front()->script + ":" + found.front()->name).second) chosen.push_back(*found.front());
      } else {
        problems.push_back(found.empty() ? unknown(name, is_measure) : ambiguous(name, found));
      }
    }
    if (!problems.empty()) return fail(std::move(problems));
    return chosen;
  }

 private:
  std::vector<const Declaration*> named(const std::string& name, bool is_measure) const {
    std::vector<const Declaration*> found;
    for (const Declaration& one : declared_)
      if (one.is_measure == is_measure && (one.name == name || one.script + ":" + one.name == name))
        found.push_back(&one);
    return found;
  }

  std::vector<std::string> names_in(const std::vector<std::string>& texts, bool is_measure) const {
    std::vector<std::string> names;
    for (const std::string& text : texts) {
      if (!named(text, is_measure).empty()) {
        names.push_back(text);
        continue;
      }
      for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const auto first = text.find_first_not_of(' ', at);
        const auto last = text.find_last_not_of(' ', end == 0 ? 0 : end - 1);
        if (first < end) names.push_back(text.substr(first, last - first + 1));
        at = end + 1;
      }
    }
    return names;
  }

  Diagnostic unknown(const std::string& name, bool is_measure) const {
    const std::string_view what = is_measure ? "measure" : "dimension";
    std::vector<std::string> names;
    bool is_the_other = false;
    for (const Declaration& one : declared_) {
      if (one.is_measure == is_measure) names.push_back(one.name);
      is_the_other = is_the_other || (one.is_measure != is_measure && one.name == name);
    }
    Diagnostic found{.code = is_measure ? Code::W2220 : Code::W2221,
                     .message = fmt::format("{} has no {} `{}`", table_, what, name)};
    const auto near = text::nearest(name, names);
    if (is_the_other)
      found.hint = fmt::format("`{}` is a {}", name, is_measure ? "dimension" : "measure");
    else if (near)
      found.hint = fmt::format("did you mean `{}`?", *near);
    else if (names.empty())
      found.hint = fmt::format("no {} is declared there", what);
    else
      found.hint = fmt::format("it has {}", fmt::join(names, ", "));
    return found;
  }

  Diagnostic ambiguous(const std::string& name, const std::vector<const Declaration*>& found) const {
    std::vector<std::string> choices;
    for (const Declaration* one : found) choices.push_back(one->script + ":" + one->name);
    return {.code = Code::W2222,
            .message = fmt::format("`{}` is declared on {} by {} models", name, table_, found.size()),
            .hint = fmt::format("say which: {}", fmt::join(choices, " or "))};
  }

  const std::string& table_;
  const std::vector<Declaration>& declared_;
};

}  // namespace

std::string compose(const Query& query) {
  const Asset table = table_of(query.table);
  std::vector<duck::Sql> outputs;
  for (const Declaration& one : query.dimensions) outputs.push_back(output(one));
  for (const Declaration& one : query.measures) outputs.push_back(output(one));
  duck::Sql sql;
  if (query.attach)
    sql += duck::Sql("ATTACH {} AS {};\n\n", duck::Literal("ducklake://" + table.place), duck::Identifier(query.alias));
  sql += duck::Sql("SELECT\n  {}\nFROM {}", duck::Sql::join(outputs, ",\n  "),
                   duck::TableName{query.alias, table.schema, table.name});
  if (!query.where.empty()) sql += duck::Sql("\nWHERE {}", duck::Sql::verbatim(query.where));
  if (!query.dimensions.empty()) {
    const duck::Sql all = ordinals(query.dimensions.size());
    sql += duck::Sql("\nGROUP BY {}\nORDER BY {}", all, all);
  }
  if (query.limit) sql += duck::Sql("\nLIMIT {}", *query.limit);
  sql += duck::Sql(";\n");
  return sql.text();
}

Result<Query> choose(const std::string& table, const std::vector<Declaration>& declared, const Wanted& wanted) {
  Query query{.table = table, .dimensions = {}, .measures = {}, .where = {}, .limit = {}};
  Chooser chooser(table, declared);
  auto measures = chooser.choose(wanted.measures, true);
  auto dimensions = chooser.choose(wanted.dimensions, false);
  Diagnostics problems;
  for (const auto* one : {&measures, &dimensions})
    if (!*one) problems.insert(problems.end(), one->error().begin(), one->error().end());
  if (!problems.empty()) return fail(std::move(problems));
  query.measures = std::move(*measures);
  query.dimensions = std::move(*dimensions);
  if (query.measures.empty() && query.dimensions.empty())
    return fail(Diagnostic{.code = Code::W2224,
                           .message = "a query needs at least one measure or dimension",
                           .hint = "--measures a,b --dimensions c"});
  return query;
}

Result<void> judge_predicate(duck::Connection& connection, const std::string& predicate) {
  auto flaw = lexical_flaw(predicate);
  if (!flaw) {
    parse::Trees trees;
    if (auto done = trees.fetch(connection, queries_for(predicate)); !done)
      return fail(Diagnostic{.code = Code::W4001, .message = "DuckDB's parser failed: " + done.error().message});
    flaw = expression_flaw(trees, predicate);
  }
  if (!flaw) return {};
  return fail(Diagnostic{.code = Code::W2226, .message = "the predicate " + flaw->message, .hint = flaw->hint});
}

std::optional<std::string> attached_alias(const parse::Script& script, std::string_view lake) {
  for (const parse::Statement& statement : script.statements) {
    if (statement.kind != parse::StatementKind::Attach || statement.alias.empty()) continue;
    const auto asset = parse_asset(statement.attach_uri);
    if (asset && asset->kind == AssetKind::Lake && asset->name.empty() && text::same_word(asset->place, lake))
      return statement.alias;
  }
  return std::nullopt;
}

std::vector<std::string> bound_aliases(const parse::Script& script) {
  std::vector<std::string> aliases;
  for (const parse::Statement& statement : script.statements)
    if (statement.kind == parse::StatementKind::Attach && !statement.alias.empty()) aliases.push_back(statement.alias);
  return aliases;
}

std::string free_alias(std::string_view lake, const std::vector<std::string>& taken) {
  const auto is_free = [&taken](std::string_view name) {
    return std::none_of(taken.begin(), taken.end(), [name](const auto& one) { return text::same_word(one, name); });
  };
  if (is_free("dl")) return "dl";
  if (is_free(lake)) return std::string(lake);
  std::size_t number = 2;
  while (!is_free(fmt::format("dl{}", number))) ++number;
  return fmt::format("dl{}", number);
}

std::string appended(const std::string& source, const std::string& composed) {
  std::string text = source;
  // The header holds comments of forms that SQL does not know, so it is blanked before the lexer reads.
  const std::vector<text::Token> tokens = text::lex_code(blank_header(source, find_header(source)));
  if (!tokens.empty() && tokens.back().kind != text::TokenKind::Semicolon) text.insert(tokens.back().span.end, ";");
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!text.empty()) text += '\n';
  return text + composed;
}

}  // namespace weir::metric
