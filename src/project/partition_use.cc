#include "project/partition_use.h"

#include <algorithm>
#include <string>

#include "project/piece.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir {
namespace {

using text::Token;
using text::TokenKind;

bool is_partition_token(const Model::Token& token) { return token.name == "partition"; }

/// `$partition`, or a macro that renders its identity.
bool mentions_partition(std::string_view sql) {
  for (const Token& token : text::lex_code(sql)) {
    const auto word = sql.substr(token.span.begin, token.span.size());
    if (token.kind == TokenKind::Parameter && text::same_word(word, "$partition")) return true;
    if (!token.is_name()) continue;
    const std::string name = text::lower(text::name_of_token(word));
    if (name == "wm_partition" || name == "weir_partition") return true;
  }
  return false;
}

bool uses_partition(const Model& model) {
  if (std::any_of(model.tokens.begin(), model.tokens.end(), is_partition_token)) return true;
  const std::string_view source = model.source->text;
  for (const parse::Statement& statement : model.script.statements)
    if (mentions_partition(source.substr(statement.span.begin, statement.span.size()))) return true;
  return std::any_of(model.macros.begin(), model.macros.end(), [](const MacroDefinition& macro) {
    const auto& span = macro.statement.span;
    return std::any_of(macro.tokens.begin(), macro.tokens.end(), is_partition_token) ||
           mentions_partition(std::string_view(macro.source->text).substr(span.begin, span.size()));
  });
}

/// `{partitoin}` within the texts of a statement.
void note_near_tokens(const Model& model, Span statement, Diagnostics& found) {
  const std::string_view source = model.source->text;
  static const std::vector<std::string_view> kNames = {"partition"};
  for (const Token& token : text::lex_code(source.substr(statement.begin, statement.size()))) {
    if (token.kind != TokenKind::String) continue;
    const Span whole{statement.begin + token.span.begin, statement.begin + token.span.end};
    for (auto open = source.find('{', whole.begin); open < whole.end; open = source.find('{', open + 1)) {
      auto close = open + 1;
      while (close < whole.end && is_name_char(source[close])) ++close;
      const auto name = source.substr(open + 1, close - open - 1);
      if (close >= whole.end || source[close] != '}' || name == "partition" || !text::nearest(name, kNames)) continue;
      const Span span{static_cast<std::uint32_t>(open), static_cast<std::uint32_t>(close + 1)};
      found.push_back({.code = Code::W0214,
                       .severity = Severity::Warning,
                       .message = "{" + std::string(name) + "} is no token: it stays as it is",
                       .path = model.source->path,
                       .span = span,
                       .hint = "did you mean `{partition}`?",
                       .fix = Fix{span, "{partition}"}});
    }
  }
}

}  // namespace

Diagnostics judge_partition_use(const Model& model) {
  Diagnostics found;
  if (!model.partitioning || model.plane != Plane::Managed) return found;
  for (const parse::Statement& statement : model.script.statements) note_near_tokens(model, statement.span, found);
  if (!uses_partition(model))
    found.push_back({.code = Code::W0229,
                     .severity = Severity::Warning,
                     .message = "the query is the same for every partition: each one gets all its rows",
                     .path = model.source->path,
                     .span = model.partitioning->span,
                     .hint = "filter by the partition: WHERE wm_partition(<time column>) = {partition}"});
  return found;
}

}  // namespace weir
