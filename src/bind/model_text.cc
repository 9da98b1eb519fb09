#include "bind/model_text.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "duck/sql.h"
#include "parse/functions.h"
#include "project/render.h"
#include "text/lexer.h"

namespace weir::bind {
namespace {

/// Words that may follow a table without being its alias.
bool begins_clause(std::string_view word) {
  static constexpr std::array<std::string_view, 36> kWords = {
      "WHERE",       "GROUP",  "ORDER",  "HAVING",    "LIMIT",  "OFFSET",  "JOIN",        "INNER",        "LEFT",
      "RIGHT",       "FULL",   "CROSS",  "NATURAL",   "ASOF",   "SEMI",    "ANTI",        "POSITIONAL",   "ON",
      "USING",       "UNION",  "EXCEPT", "INTERSECT", "WINDOW", "QUALIFY", "SELECT",      "PIVOT",        "UNPIVOT",
      "TABLESAMPLE", "SAMPLE", "FETCH",  "AT",        "WITH",   "FOR",     "PIVOT_WIDER", "PIVOT_LONGER", "LATERAL"};
  return std::any_of(kWords.begin(), kWords.end(), [word](std::string_view one) { return text::same_word(word, one); });
}

/// Tokens of the statement, with places in the source.
std::vector<text::Token> tokens_of(std::string_view source, Span span) {
  auto tokens = text::lex_code(source.substr(span.begin, span.size()));
  for (text::Token& token : tokens) {
    token.span.begin += span.begin;
    token.span.end += span.begin;
  }
  return tokens;
}

std::string_view piece(std::string_view source, Span span) { return source.substr(span.begin, span.size()); }

/// The index behind the bracket that `open` opens.
std::size_t behind_bracket(std::string_view source, const std::vector<text::Token>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string_view word = piece(source, tokens[i].span);
    if (word == "(") ++depth;
    if (word == ")" && --depth == 0) return i + 1;
  }
  return tokens.size();
}

bool has_alias(std::string_view source, const std::vector<text::Token>& tokens, std::size_t at) {
  if (at >= tokens.size() || !tokens[at].is_name()) return false;
  return tokens[at].kind == text::TokenKind::QuotedName || !begins_clause(piece(source, tokens[at].span));
}

/// The alias that DuckDB itself gives.
std::string own_alias(const parse::FunctionCall& call) {
  if (call.name != "replacement_scan" || !call.files || call.files->empty()) return call.name;
  const std::string& name = call.files->front();
  if (name.find_first_of("*?[") != std::string::npos) return "read_csv";
  std::filesystem::path path(name);
  if (path.extension() == ".gz" || path.extension() == ".zst") path = path.stem();
  return path.stem().string();
}

/// The rendered text of a range of the source.
std::string rendered(const parse::Spliced& sql, Span range) {
  std::string found;
  for (std::uint32_t at = 0; at < sql.text().size(); ++at) {
    const auto place = sql.source_of(at);
    if (place && place->begin >= range.begin && place->end <= range.end) found += sql.text()[at];
  }
  return found;
}

std::string asset_of(const std::vector<std::string>& files, const std::string& sql) {
  if (files.empty()) return "file:" + sql;
  std::string asset = "file:";
  for (const std::string& file : files) asset += (asset.size() > 5 ? "," : "") + file;
  return asset;
}

std::optional<FileCall> read_call(const Model& model, std::size_t index, const parse::FunctionCall& call,
                                  const std::vector<text::Token>& tokens) {
  const std::string_view source = model.source->text;
  const bool is_name = call.name == "replacement_scan";
  if (!call.is_table_function || !call.schema.empty() || (!is_name && !parse::reads_files(call.name)))
    return std::nullopt;
  const auto first = std::find_if(tokens.begin(), tokens.end(),
                                  [&](const auto& token) { return token.span.begin == call.span.begin; });
  if (first == tokens.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(first - tokens.begin());
  std::size_t end = at + 1;
  if (!is_name) {
    if (end >= tokens.size() || piece(source, tokens[end].span) != "(") return std::nullopt;
    end = behind_bracket(source, tokens, end);
  }
  FileCall made;
  made.span = {call.span.begin, tokens[end - 1].span.end};
  if (!has_alias(source, tokens, end)) made.alias = own_alias(call);
  const auto anywhere = [](const Reference& reference) { return duck::quote_identifier(reference.asset.key()); };
  made.sql = rendered(splice_statement(model, index, anywhere, "*", {}), made.span);
  for (const std::string& file : call.files.value_or(std::vector<std::string>())) {
    const auto storage = std::find_if(model.storage_paths.begin(), model.storage_paths.end(), [&](const auto& one) {
      return piece(source, one.first).find(file) != std::string_view::npos;
    });
    std::string name = storage == model.storage_paths.end() ? file : storage->second;
    for (auto token = name.find("{partition}"); token != std::string::npos; token = name.find("{partition}"))
      name.replace(token, std::string_view("{partition}").size(), "*");
    made.is_remote = made.is_remote || name.find("://") != std::string::npos;
    made.files.push_back(std::move(name));
  }
  made.asset = asset_of(made.files, made.sql);
  return made;
}

/// `AT (VERSION => 3)` behind a reference: stand-ins have no versions.
std::optional<Span> at_clause(std::string_view source, const std::vector<text::Token>& tokens, Span reference) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].span.begin < reference.end) continue;
    if (!text::same_word(piece(source, tokens[i].span), "AT")) return std::nullopt;
    const std::size_t end = behind_bracket(source, tokens, i + 1);
    return Span{tokens[i].span.begin, tokens[end - 1].span.end};
  }
  return std::nullopt;
}

WhereToRead where_to_read(const Places& places) {
  return [&places](const Reference& reference) {
    const std::string key = reference.asset.key();
    const auto named = places.tables.find(key);
    return duck::quote_identifier(named == places.tables.end() ? key : named->second);
  };
}

}  // namespace

std::vector<FileCall> file_calls(const Model& model, std::size_t statement) {
  const parse::Statement& looked = model.script.statements[statement];
  std::vector<FileCall> calls;
  if (looked.functions.empty() || looked.kind == parse::StatementKind::CreateTempMacro) return calls;
  std::optional<std::vector<text::Token>> tokens;
  for (const parse::FunctionCall& call : looked.functions) {
    if (!call.is_table_function || call.span.empty()) continue;
    if (!tokens) tokens = tokens_of(model.source->text, looked.span);
    if (auto read = read_call(model, statement, call, *tokens)) calls.push_back(std::move(*read));
  }
  return calls;
}

parse::Spliced text_for_binding(const Model& model, std::size_t index, const Places& places) {
  const parse::Statement& statement = model.script.statements[index];
  std::vector<parse::Replacement> more;
  if (const auto own = places.patches.find(""); own != places.patches.end()) more = own->second;
  for (const auto& [at, file] : places.files) {
    const auto& [call, name] = file;
    if (call.span.begin < statement.span.begin || call.span.end > statement.span.end) continue;
    std::string text = duck::quote_identifier(name);
    if (!call.alias.empty()) text += " AS " + duck::quote_identifier(call.alias);
    more.push_back({call.span, std::move(text)});
  }
  std::optional<std::vector<text::Token>> tokens;
  for (const Reference& reference : model.references) {
    if (reference.statement != index || !reference.has_at) continue;
    if (!tokens) tokens = tokens_of(model.source->text, statement.span);
    if (const auto clause = at_clause(model.source->text, *tokens, reference.span)) more.push_back({*clause, " "});
  }
  return splice_statement(model, index, where_to_read(places), places.partition.value_or(sample_partition(model)),
                          places.arguments, std::move(more));
}

std::vector<SetupStatement> macros_for_binding(const Model& model, std::size_t index, const Places& places,
                                               SetupFor purpose) {
  if (model.macros.empty()) return {};
  return macros_before(model, index, where_to_read(places), places.partition.value_or(sample_partition(model)), purpose,
                       places.patches);
}

parse::Spliced test_for_binding(const Model& model, const TestQuery& query, const Places& places) {
  std::vector<parse::Replacement> more;
  if (const auto own = places.patches.find(query.is_in_header ? "" : query.source->path); own != places.patches.end())
    more = own->second;
  std::optional<std::vector<text::Token>> tokens;
  for (const auto* references : {&query.references, &query.targets})
    for (const Reference& reference : *references) {
      if (!reference.has_at) continue;
      if (!tokens) tokens = tokens_of(query.source->text, query.statement.span);
      if (const auto clause = at_clause(query.source->text, *tokens, reference.span)) more.push_back({*clause, " "});
    }
  return splice_test(model, query, duck::quote_identifier(places.tables.at(kTarget)), where_to_read(places),
                     places.partition.value_or(sample_partition(model)), std::move(more));
}

std::uint32_t query_offset(const parse::Spliced& sql, const parse::Statement& statement) {
  if (statement.kind == parse::StatementKind::Result || statement.query.empty()) return 0;
  for (std::uint32_t at = 0; at < sql.text().size(); ++at) {
    const auto place = sql.source_of(at);
    if (place && place->begin >= statement.query.begin) return at;
  }
  return 0;
}

std::string sample_partition(const Model& model) {
  if (!model.partitioning) return "";
  if (model.partitioning->kind == calendar::PartitionKind::Dynamic) return "x";
  const calendar::Instant sample{std::chrono::seconds(1'704'164'400)};  // 2024-01-02 03:00 UTC
  return calendar::identity_of(*model.partitioning, sample);
}

}  // namespace weir::bind
