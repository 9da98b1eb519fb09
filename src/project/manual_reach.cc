#include "project/manual_reach.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "project/gate.h"
#include "project/references.h"
#include "text/lexer.h"

namespace weir {
namespace {

using parse::Statement;
using parse::StatementKind;
using text::Token;
using text::TokenKind;

/// The words of one statement, without comments.
class Words {
 public:
  Words(const Model& model, const Statement& statement)
      : sql_(std::string_view(model.source->text).substr(statement.span.begin, statement.span.size())),
        tokens_(text::lex_code(sql_)) {}

  std::size_t size() const { return tokens_.size(); }
  std::string_view text(std::size_t at) const {
    return at < tokens_.size() ? sql_.substr(tokens_[at].span.begin, tokens_[at].span.size()) : std::string_view();
  }
  bool is(std::size_t at, std::string_view word) const {
    return at < tokens_.size() && tokens_[at].kind != TokenKind::QuotedName && text::same_word(text(at), word);
  }
  bool is_name(std::size_t at) const { return at < tokens_.size() && tokens_[at].is_name(); }
  std::string name(std::size_t at) const { return text::name_of_token(text(at)); }
  /// True for a word outside of all parentheses.
  bool is_outer(std::size_t at) const {
    int depth = 0;
    for (std::size_t i = 0; i < at; ++i) depth += is(i, "(") ? 1 : is(i, ")") ? -1 : 0;
    return depth == 0;
  }
  /// The parts of the dotted name that begins at `at`.
  std::vector<std::string> dotted(std::size_t at) const {
    std::vector<std::string> parts;
    for (; is_name(at); at += 2) {
      parts.push_back(name(at));
      if (!is(at + 1, ".")) break;
    }
    return parts;
  }

 private:
  std::string_view sql_;
  std::vector<Token> tokens_;
};

/// Where the name of what the statement writes begins, behind its verb.
struct Target {
  std::size_t at = 0;
  bool is_made = false;
  bool is_kept = false;
};

/// Skips `IF EXISTS` and `IF NOT EXISTS`.
void skip_condition(const Words& words, Target& target) {
  if (!words.is(target.at, "IF")) return;
  target.is_kept = words.is(target.at + 1, "NOT");
  target.at += target.is_kept ? 3 : 2;
}

std::optional<Target> target_behind(const Words& words, std::size_t verb) {
  const auto next = [&](std::size_t at, std::string_view word) { return words.is(at, word); };
  Target target{.at = verb + 1};
  if (words.is(verb, "CREATE")) {
    if (next(target.at, "OR")) target.at += 2;
    if (!next(target.at, "TABLE") && !next(target.at, "VIEW")) return std::nullopt;
    target.is_made = true;
    ++target.at;
  } else if (words.is(verb, "DROP") || words.is(verb, "ALTER")) {
    if (!next(target.at, "TABLE") && !next(target.at, "VIEW")) return std::nullopt;
    ++target.at;
  } else if (words.is(verb, "COMMENT")) {
    if (!next(target.at, "ON") || !next(target.at + 1, "TABLE")) return std::nullopt;
    target.at += 2;
  } else if (words.is(verb, "TRUNCATE")) {
    if (next(target.at, "TABLE")) ++target.at;
  } else if (words.is(verb, "INSERT") || words.is(verb, "UPDATE")) {
    if (next(target.at, "OR")) target.at += 2;
    if (words.is(verb, "INSERT") && !next(target.at, "INTO")) return std::nullopt;
    if (words.is(verb, "INSERT")) ++target.at;
  } else if (words.is(verb, "MERGE")) {
    if (!next(target.at, "INTO")) return std::nullopt;
    ++target.at;
  } else if (words.is(verb, "DELETE")) {
    if (!next(target.at, "FROM")) return std::nullopt;
    ++target.at;
  } else if (!words.is(verb, "COPY")) {
    return std::nullopt;
  }
  skip_condition(words, target);
  return words.is_name(target.at) ? std::optional(target) : std::nullopt;
}

/// The verb leads the statement, or stands behind its WITH.
std::optional<Target> target_of(const Words& words) {
  if (!words.is(0, "WITH")) return target_behind(words, 0);
  for (std::size_t at = 1; at < words.size(); ++at)
    if (words.is_outer(at))
      if (auto target = target_behind(words, at)) return target;
  return std::nullopt;
}

bool writes_file(const Words& words) {
  if (words.is(0, "EXPORT")) return true;
  if (!words.is(0, "COPY")) return false;
  for (std::size_t at = 1; at < words.size(); ++at)
    if (words.is(at, "TO") && words.is_outer(at)) return true;
  return false;
}

}  // namespace

Diagnostics judge_manual_reach(const Model& model, const Config& config) {
  Diagnostics found = judge_gate(model, config);
  for (const Statement& statement : model.script.statements)
    if (writes_file(Words(model, statement)))
      found.push_back({.code = Code::W5423,
                       .message = model.path + " writes a file, which everybody would see",
                       .path = model.source->path,
                       .span = statement.span});
  for (Diagnostic& one : found) one.hint = "leave it to prod: --exclude " + model.path;
  return found;
}

std::vector<WrittenTable> written_tables(const Model& model, const Config& config) {
  const auto aliases = lake_aliases(model.script, config);
  std::vector<WrittenTable> written;
  std::vector<std::string> used;
  for (const Statement& statement : model.script.statements) {
    const Words words(model, statement);
    if (statement.kind == StatementKind::Use) used = words.dotted(1);
    if (statement.kind != StatementKind::Other) continue;
    const auto target = target_of(words);
    if (!target) continue;
    std::vector<std::string> parts = words.dotted(target->at);
    const bool is_qualified = parts.size() > 1 && aliases.contains(text::lower(parts.front()));
    if (!is_qualified) parts.insert(parts.begin(), used.begin(), used.end() - (parts.size() > 1 && used.size() > 1));
    const auto alias = parts.empty() ? aliases.end() : aliases.find(text::lower(parts.front()));
    if (alias == aliases.end() || parts.size() < 2 || parts.size() > 3) continue;
    const Asset asset{AssetKind::Lake, alias->second, parts.size() == 3 ? parts[1] : "main", parts.back()};
    const auto known = std::find_if(written.begin(), written.end(),
                                    [&asset](const WrittenTable& one) { return one.asset.key() == asset.key(); });
    // What comes first decides: a table that is made may be filled later.
    if (known == written.end()) written.push_back({asset, target->is_made, target->is_kept});
  }
  return written;
}

}  // namespace weir
