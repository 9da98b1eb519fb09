// Semantic tokens: what an editor cannot know from SQL's grammar alone. The words of header lines, and the tokens that
// weir fills in.
#include <algorithm>
#include <array>

#include "lsp/features.h"
#include "lsp/json.h"
#include "lsp/view.h"
#include "parse/script.h"
#include "project/header_block.h"
#include "project/header_options.h"
#include "project/references.h"

namespace weir::lsp {
namespace {

enum class Kind : std::uint32_t { Keyword, Property, EnumMember, String, Number, Parameter, Macro, Operator };
constexpr std::array<const char*, 8> kKinds = {"keyword", "property",  "enumMember", "string",
                                               "number",  "parameter", "macro",      "operator"};

struct Colored {
  Span span;
  Kind kind;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What one word of a header line is, by its looks and by the keyword's table.
Kind kind_of_word(std::string_view word, const KeywordEntry& keyword, bool is_first) {
  if (is_first && std::find(keyword.heads.begin(), keyword.heads.end(), word) != keyword.heads.end())
    return Kind::EnumMember;
  if (word == "->" || word == "<-" || word == "=") return Kind::Operator;
  if (word.find("://") != std::string_view::npos) return Kind::String;
  if (is_digit(word.front())) return Kind::Number;
  const OptionEntry* option = keyword.option(word);
  return option != nullptr && option->form == OptionForm::Flag ? Kind::Property : Kind::Parameter;
}

void color_line(const HeaderLine& line, std::vector<Colored>& out) {
  if (line.whole.view().starts_with('$')) {
    std::size_t size = 1;
    while (size < line.whole.view().size() && is_name_char(line.whole.view()[size])) ++size;
    if (size > 1) out.push_back({line.whole.sub(0, size).span(), Kind::Parameter});
    return;
  }
  if (line.keyword == nullptr) return;
  out.push_back({line.head.span(), Kind::Keyword});
  const bool holds_sql = line.keyword->name == "measure" || line.keyword->name == "dimension";
  Piece rest = line.tail;
  const std::size_t options = options_begin(*line.keyword, rest.view());
  Piece words = rest.sub(0, options);
  for (bool is_first = true; !words.trimmed().empty(); is_first = false) {
    words = words.trimmed();
    const Piece word = words.take_quoted_word();
    if (word.empty()) break;
    // Expressions keep the colour of a comment but for the name that they get.
    if (holds_sql && !is_first) break;
    out.push_back({word.span(), kind_of_word(word.view(), *line.keyword, is_first)});
  }
  if (holds_sql) return;
  for (const Option& option : split_options(*line.keyword, rest.sub(options))) {
    out.push_back({option.name.span, Kind::Property});
    if (option.has_value && !option.value.span.empty()) out.push_back({option.value.span, Kind::EnumMember});
  }
}

/// Keys of the block header, and values that their table lists.
void color_block(const View& view, std::vector<Colored>& out) {
  if (!view.header().block) return;
  const Span block = view.header().block->text;
  const std::string_view text = view.text();
  for (std::uint32_t begin = block.begin; begin < block.end;) {
    const auto newline = text.find('\n', begin);
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(newline, block.end));
    Piece rest = Piece(text, {begin, end}).trimmed();
    begin = end + 1;
    const auto colon = rest.view().find(':');
    if (colon == std::string_view::npos) continue;
    const Piece key = rest.sub(0, colon);
    const BlockKeyEntry* entry = block_key_named(key.view());
    const bool is_root = key.view() == "weir" || key.view() == "interlace";
    if (entry == nullptr && !is_root) continue;
    out.push_back({key.span(), Kind::Keyword});
    const Piece value = rest.sub(colon + 1).trimmed();
    if (entry == nullptr || value.empty()) continue;
    const bool is_listed = std::find(entry->values.begin(), entry->values.end(), value.view()) != entry->values.end();
    if (is_listed) out.push_back({value.span(), Kind::EnumMember});
    if (value.view().find("://") != std::string_view::npos) out.push_back({value.span(), Kind::String});
  }
}

}  // namespace

Json semantic_legend() { return {{"tokenTypes", kKinds}, {"tokenModifiers", Json::array()}}; }

Answer semantic_tokens(const Session& session, const Json& params) {
  const auto cursor = document_of(session, params);
  if (!cursor) return Json();
  const View& view = *cursor->view;
  std::vector<Colored> all;
  for (const HeaderLine& line : view.lines()) color_line(line, all);
  color_block(view, all);
  parse::Script whole;
  whole.statements.push_back({});
  whole.statements.back().span = {0, static_cast<std::uint32_t>(view.sql().size())};
  for (const Model::Token& token : find_tokens(view.sql(), whole)) all.push_back({token.span, Kind::Macro});
  for (const text::Token& token : view.tokens())
    if (token.kind == text::TokenKind::Parameter) all.push_back({token.span, Kind::Parameter});
  std::stable_sort(all.begin(), all.end(),
                   [](const Colored& a, const Colored& b) { return a.span.begin < b.span.begin; });
  Json data = Json::array();
  Place last;
  for (const Colored& one : all) {
    const Range range = view.positions().range(one.span);
    if (range.start.line != range.end.line || range.end.character <= range.start.character) continue;
    const std::uint32_t lines = range.start.line - last.line;
    data.push_back(lines);
    data.push_back(lines == 0 ? range.start.character - last.character : range.start.character);
    data.push_back(range.end.character - range.start.character);
    data.push_back(static_cast<std::uint32_t>(one.kind));
    data.push_back(0);
    last = range.start;
  }
  return Json{{"data", std::move(data)}};
}

}  // namespace weir::lsp
