#include "audit/custom.h"

#include <algorithm>

#include "build/names.h"
#include "parse/readers.h"
#include "text/lexer.h"

namespace weir::audit {
namespace {

using parse::Replacement;
using parse::StatementKind;

bool names_target(const std::vector<std::string>& parts) {
  return parts.size() >= 2 && (build::same_name(parts[0], "_wm_target") || build::same_name(parts[0], "weir_target"));
}

std::string example(const Model& model) {
  return "for example: SELECT * FROM _wm_target." +
         duck::quote_identifier(model.target ? model.target->name : "my_table") + " WHERE amount < 0";
}

Diagnostic breach(const CustomTest& test, const Model& model, Span span, const std::string& message) {
  return {.code = Code::W5001,
          .message = "custom test " + test.path + " " + message,
          .path = test.source->path,
          .span = span,
          .hint = example(model)};
}

/// The table that a reference to the target names: the last part; a schema may stand before it.
bool is_table_of(const Model& model, const std::vector<std::string>& parts) {
  return model.target && build::same_name(parts.back(), model.target->name);
}

/// Names made by the model's setup: not assets.
const parse::Statement* made_by_setup(const Model& model, const std::string& name) {
  for (const auto& macro : model.macros)
    if (!macro.statement.object_name.empty() && build::same_name(macro.statement.object_name, name))
      return &macro.statement;
  for (const auto& statement : model.script.statements)
    if (!statement.object_name.empty() && build::same_name(statement.object_name, name)) return &statement;
  return nullptr;
}

/// The asset that a table of the test names, through the model's aliases or its default lake.
std::optional<Asset> asset_of(const Model& model, const std::vector<std::string>& parts) {
  std::string used;
  for (const auto& statement : model.script.statements) {
    if (statement.kind == StatementKind::Use) used = statement.alias;
    if (statement.kind != StatementKind::Attach || parts.size() < 2 || !build::same_name(statement.alias, parts[0]))
      continue;
    auto asset = parse_asset(statement.attach_uri);
    if (!asset) return std::nullopt;
    asset->schema = parts.size() > 2 ? parts[1] : "main";
    asset->name = parts.back();
    return asset;
  }
  if (!used.empty() && parts.size() < 3) {
    std::vector<std::string> whole = {used.substr(0, used.find('.'))};
    if (parts.size() == 1 && used.find('.') != std::string::npos) whole.push_back(used.substr(used.find('.') + 1));
    whole.insert(whole.end(), parts.begin(), parts.end());
    for (const auto& statement : model.script.statements)
      if (statement.kind == StatementKind::Attach && build::same_name(statement.alias, whole[0]))
        return asset_of(model, whole);
  }
  if (parts.size() > 2 || !model.target) return std::nullopt;
  Asset asset;
  // Names of a test without ATTACH lead to a lake, also where the model delivers elsewhere.
  asset.place = model.target->kind == AssetKind::Lake ? model.target->place : model.relation.place;
  asset.schema = parts.size() == 2 ? parts[0] : "main";
  asset.name = parts.back();
  return asset;
}

/// `{partition}` in the three forms of the language: bare, a whole string, inside a longer string.
void add_tokens(std::string_view source, Span range, const std::string& partition,
                std::vector<Replacement>& replacements) {
  constexpr std::string_view kToken = "{partition}";
  const std::string literal = duck::quote_text(partition);
  const std::string inside = literal.substr(1, literal.size() - 2);
  Span bare{};
  int expected = 0;  // of `{`, `partition`, `}`
  for (const auto& token : text::lex(source)) {
    if (token.span.begin < range.begin || token.span.end > range.end) continue;
    const auto piece = source.substr(token.span.begin, token.span.size());
    if (token.kind == text::TokenKind::String) {
      if (piece == "'{partition}'") {
        replacements.push_back({token.span, literal});
        continue;
      }
      for (auto at = piece.find(kToken); at != std::string_view::npos; at = piece.find(kToken, at + kToken.size())) {
        const auto begin = token.span.begin + static_cast<std::uint32_t>(at);
        replacements.push_back({{begin, begin + static_cast<std::uint32_t>(kToken.size())}, inside});
      }
      continue;
    }
    if (piece == "{") {
      bare.begin = token.span.begin;
      expected = 1;
    } else if (expected == 1 && piece == "partition" && token.span.begin == bare.begin + 1) {
      expected = 2;
    } else if (expected == 2 && piece == "}" && token.span.begin == bare.begin + kToken.size() - 1) {
      replacements.push_back({{bare.begin, token.span.end}, literal});
      expected = 0;
    } else {
      expected = 0;
    }
  }
}

}  // namespace

Diagnostics check_custom_test(const CustomTest& test, const Model& model) {
  const auto& statements = test.script.statements;
  if (statements.empty()) return {breach(test, model, {}, "is empty")};
  if (statements.size() > 1)
    return {breach(test, model, statements[1].span,
                   "has " + std::to_string(statements.size()) + " statements; it must be one SELECT")};
  if (statements[0].kind != StatementKind::Result)
    return {breach(test, model, statements[0].span, "is no SELECT but " + statements[0].what)};
  Diagnostics found;
  bool reads = false;
  for (const auto& table : statements[0].tables) {
    if (!names_target(table.parts)) continue;
    if (is_table_of(model, table.parts))
      reads = true;
    else
      found.push_back(breach(test, model, table.span,
                             "reads `" + table.parts.back() + "`, which " + model.path + " does not write"));
  }
  if (!reads && found.empty()) found.push_back(breach(test, model, statements[0].span, "never reads _wm_target"));
  return found;
}

const CustomTest* find_custom_test(const std::vector<CustomTest>& tests, const std::string& path) {
  const auto matches = [&path](const CustomTest& test) {
    const std::string bare = test.path.ends_with(".sql") ? test.path.substr(0, test.path.size() - 4) : test.path;
    return test.path == path || bare == path;
  };
  if (const auto found = std::find_if(tests.begin(), tests.end(), matches); found != tests.end()) return &*found;
  // A path below its root: the file's own path has one folder more.
  for (const auto& test : tests) {
    const std::string& whole = test.source != nullptr ? test.source->path : test.path;
    if (whole.ends_with("/" + path) || whole.ends_with("/" + path + ".sql")) return &test;
  }
  return nullptr;
}

Result<CustomQuery> splice_custom_test(const CustomTest& test, const Test& declared, const AuditRequest& request) {
  if (auto breaches = check_custom_test(test, request.model); !breaches.empty()) return fail(std::move(breaches));
  const auto& statement = test.script.statements.front();
  std::vector<Replacement> replacements = parse::guard_readers(test.source->text, statement.span);
  bool needs_setup = false;
  for (const auto& table : statement.tables) {
    duck::Sql relation;
    if (names_target(table.parts)) {
      relation = declared.scope == TestScope::Table ? request.table : request.slice;
    } else {
      if (table.parts.size() == 1 && made_by_setup(request.model, table.parts[0]) != nullptr) {
        needs_setup = true;
        continue;
      }
      const auto asset = asset_of(request.model, table.parts);
      if (!asset)
        return fail(
            breach(test, request.model, table.span, "reads a table that no alias of " + request.model.path + " names"));
      WEIR_TRY(relation, request.resolve(*asset));
    }
    const duck::Sql spliced =
        table.has_alias ? duck::Sql("(SELECT * FROM {})", relation)
                        : duck::Sql("(SELECT * FROM {}) AS {}", relation, duck::Identifier(table.parts.back()));
    replacements.push_back({table.span, (table.is_table_form ? "FROM " : "") + spliced.text()});
  }
  for (const auto& column : statement.columns) {
    for (const auto& table : statement.tables) {
      const std::size_t size = table.parts.size();
      if (size < 2 || column.parts.size() <= size ||
          !std::equal(table.parts.begin(), table.parts.end(), column.parts.begin(), build::same_name))
        continue;
      std::vector<std::string> rest(column.parts.begin() + static_cast<std::ptrdiff_t>(size) - 1, column.parts.end());
      std::string text;
      for (const auto& part : rest) text += (text.empty() ? "" : ".") + duck::quote_identifier(part);
      replacements.push_back({column.span, text});
      break;
    }
  }
  for (const auto& call : statement.functions)
    if (made_by_setup(request.model, call.name) != nullptr) needs_setup = true;
  if (!request.partition.empty()) add_tokens(test.source->text, statement.span, request.partition, replacements);
  return CustomQuery{parse::Spliced::make(test.source->text, statement.span, std::move(replacements)), test.path,
                     test.source, statement, needs_setup};
}

}  // namespace weir::audit
