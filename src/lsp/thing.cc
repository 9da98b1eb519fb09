#include "lsp/thing.h"

#include <algorithm>
#include <array>

#include "project/header_options.h"
#include "project/judge.h"

namespace weir::lsp {
namespace {

using text::same_word;
using text::Token;
using text::TokenKind;

bool holds(Span span, std::uint32_t byte) { return byte >= span.begin && byte <= span.end; }

bool is_word_char(char c) { return is_name_char(c) || std::string_view("/.:-$?*%").find(c) != std::string_view::npos; }

/// The run of bytes around `byte` within `whole` for which `keeps` holds.
template <class Keeps>
Span run_around(std::string_view text, Span whole, std::uint32_t byte, Keeps keeps) {
  Span run{byte, byte};
  while (run.begin > whole.begin && keeps(text[run.begin - 1])) --run.begin;
  while (run.end < whole.end && keeps(text[run.end])) ++run.end;
  return run;
}

bool takes_own_columns(std::string_view keyword) {
  return keyword == "materialize" || keyword == "data_test" || keyword == "column" || keyword == "measure" ||
         keyword == "dimension";
}

}  // namespace

std::optional<Thing> Reading::at(std::uint32_t byte) const {
  if (const auto line = view_.line_at(byte)) return in_line(*line, byte);
  if (view_.is_in_block(byte)) return in_block(byte);
  return in_sql(byte);
}

const Model& Reading::declared() const {
  if (declared_) return *declared_;
  auto source = std::make_shared<Source>();
  source->path = view_.path();
  source->text = view_.text();
  std::string path = view_.path().substr(0, view_.path().rfind('.'));
  for (const std::string& root : snapshot_.project.config.models)
    if (path.starts_with(root + "/")) path.erase(0, root.size() + 1);
  return declared_.emplace(judge_file(std::move(source), path, snapshot_.project.config).model);
}

// Header lines.

std::optional<Thing> Reading::in_line(const HeaderLine& line, std::uint32_t byte) const {
  const std::string_view whole = line.whole.view();
  if (whole.starts_with('$')) {
    std::size_t size = 1;
    while (size < whole.size() && is_name_char(whole[size])) ++size;
    const Span span = line.whole.sub(0, size).span();
    if (!holds(span, byte)) return std::nullopt;
    return Thing{
        .kind = ThingKind::Argument, .span = span, .own = span, .name = std::string(whole.substr(1, size - 1))};
  }
  if (line.keyword == nullptr) return std::nullopt;
  if (holds(line.head.span(), byte))
    return Thing{.kind = ThingKind::Keyword,
                 .span = line.head.span(),
                 .own = line.head.span(),
                 .name = std::string(line.keyword->name),
                 .keyword = line.keyword};
  const std::size_t options = options_begin(*line.keyword, line.tail.view());
  for (const Option& option : split_options(*line.keyword, line.tail.sub(options))) {
    const OptionEntry* entry = line.keyword->option(option.name.text);
    if (entry == nullptr) continue;
    Thing thing{.kind = ThingKind::Option,
                .span = option.name.span,
                .name = option.name.text,
                .keyword = line.keyword,
                .option = entry};
    if (holds(option.name.span, byte)) return thing;
    if (!option.has_value || !holds(option.value.span, byte)) continue;
    if (entry->form == OptionForm::Choice) {
      thing.span = option.value.span;
      return thing;
    }
  }
  const Span word = run_around(view_.text(), line.tail.span(), byte, is_word_char);
  if (word.empty()) return std::nullopt;
  return in_tail(line, Piece(view_.text(), word), word.begin == line.tail.span().begin, byte);
}

std::optional<Thing> Reading::in_tail(const HeaderLine& line, const Piece& word, bool is_first,
                                      std::uint32_t byte) const {
  if (word.view().find("://") != std::string_view::npos) return uri(word);
  const auto& heads = line.keyword->heads;
  if (is_first && std::find(heads.begin(), heads.end(), word.view()) != heads.end())
    return Thing{
        .kind = ThingKind::Option, .span = word.span(), .name = std::string(word.view()), .keyword = line.keyword};
  const std::string_view keyword = line.keyword->name;
  if (keyword == "use")
    return Thing{.kind = ThingKind::Library, .span = word.span(), .own = word.span(), .name = std::string(word.view())};
  if (keyword == "data_test" && is_first)
    return Thing{
        .kind = ThingKind::CustomTest, .span = word.span(), .own = word.span(), .name = std::string(word.view())};
  if ((keyword == "measure" || keyword == "dimension") && is_first)
    return Thing{.kind = ThingKind::Metric, .span = word.span(), .own = word.span(), .name = std::string(word.view())};
  if (!takes_own_columns(keyword)) return std::nullopt;
  const Span name = run_around(view_.text(), word.span(), byte, is_name_char);
  return own_column(std::string(view_.text().substr(name.begin, name.size())), name);
}

std::optional<Thing> Reading::uri(const Piece& word) const {
  std::string_view text = word.view();
  const auto thing_of = [&](Asset asset, std::string_view spelled) {
    Thing thing{.kind = ThingKind::Asset, .span = word.span(), .name = asset.name};
    const auto at = spelled.rfind(asset.name);
    if (at != std::string_view::npos && !asset.name.empty()) thing.own = word.sub(at, asset.name.size()).span();
    thing.asset = std::move(asset);
    return thing;
  };
  auto asset = parse_asset(text);
  if (!asset) return std::nullopt;
  if (snapshot_.asset(*asset) != nullptr) return thing_of(*std::move(asset), text);
  // `<asset>.<column>`, as relationships and declared lineage write it.
  const auto dot = text.rfind('.');
  if (dot != std::string_view::npos && dot > text.find("://")) {
    auto before = parse_asset(text.substr(0, dot));
    if (before && !before->name.empty() && snapshot_.asset(*before) != nullptr) {
      Thing thing = thing_of(*std::move(before), text.substr(0, dot));
      thing.kind = ThingKind::Column;
      thing.name = std::string(text.substr(dot + 1));
      const KnownAsset* known = snapshot_.asset(*thing.asset);
      if (known->columns != nullptr)
        for (const duck::Column& column : *known->columns)
          if (same_word(column.name, thing.name)) thing.type = column.type;
      return thing;
    }
  }
  return thing_of(*std::move(asset), text);
}

std::optional<Thing> Reading::own_column(const std::string& name, Span span) const {
  const std::size_t result = scope_.result();
  if (name.empty() || result == kNone) return std::nullopt;
  for (const ScopeColumn& column : scope_.output(result)) {
    if (!same_word(column.name, name)) continue;
    Thing thing{.kind = ThingKind::Column,
                .span = span,
                .own = span,
                .name = column.name,
                .asset = column.asset,
                .type = column.type,
                .made = column.made};
    if (model_ != nullptr && model_->target) thing.asset = model_->target;
    return thing;
  }
  return std::nullopt;
}

// The block header.

std::optional<Thing> Reading::in_block(std::uint32_t byte) const {
  const Span block = view_.header().block->text;
  const Span word = run_around(view_.text(), block, byte, [](char c) { return is_word_char(c) && c != ':'; });
  const Span with_scheme = run_around(view_.text(), block, byte, is_word_char);
  const Piece whole(view_.text(), with_scheme);
  if (whole.view().find("://") != std::string_view::npos) return uri(whole);
  if (word.empty()) return std::nullopt;
  const std::string name(view_.text().substr(word.begin, word.size()));
  const bool is_key = word.end < block.end && view_.text()[word.end] == ':';
  if (is_key)
    if (const BlockKeyEntry* key = block_key_named(name))
      return Thing{.kind = ThingKind::BlockKey, .span = word, .name = name, .key = key};
  // The value of `name:` or `target:`.
  const bool is_target = model_ != nullptr && model_->target && holds(model_->target_span, word.begin) &&
                         holds(model_->target_span, word.end) && name.ends_with(model_->target->name);
  if (is_target) {
    Thing thing{
        .kind = ThingKind::Asset, .span = word, .own = word, .name = model_->target->name, .asset = model_->target};
    thing.own.begin = word.end - static_cast<std::uint32_t>(model_->target->name.size());
    return thing;
  }
  if (auto path = path_of_project(name, word)) return path;
  return own_column(name, word);
}

std::optional<Thing> Reading::path_of_project(const std::string& path, Span span) const {
  for (const auto& [file, model] : snapshot_.models) {
    if (model->path != path) continue;
    Thing thing{.kind = ThingKind::Model, .span = span, .own = span, .name = path, .asset = model->target, .made = {}};
    const auto slash = path.rfind('/');
    if (slash != std::string::npos) thing.own.begin += static_cast<std::uint32_t>(slash + 1);
    return thing;
  }
  return std::nullopt;
}

// SQL.

std::optional<Thing> Reading::in_sql(std::uint32_t byte) const {
  for (const std::string_view token : {"{partition}", "{window_start}", "{window_end}"}) {
    const auto begin = byte >= token.size() ? byte - token.size() : 0;
    const auto found = view_.sql().find(token, begin);
    if (found == std::string_view::npos || found > byte) continue;
    const Span span{static_cast<std::uint32_t>(found), static_cast<std::uint32_t>(found + token.size())};
    return Thing{.kind = ThingKind::Token, .span = span, .name = std::string(token)};
  }
  const Token* token = view_.token_at(byte);
  if (token == nullptr) return std::nullopt;
  if (token->kind == TokenKind::Parameter)
    return Thing{.kind = ThingKind::Argument,
                 .span = token->span,
                 .own = token->span,
                 .name = std::string(view_.spelled(*token).substr(1))};
  if (!token->is_name()) return std::nullopt;
  // The dotted name around the token.
  const auto& code = scope_.outline().code();
  const auto here = std::lower_bound(code.begin(), code.end(), token->span.begin,
                                     [](const Token& one, std::uint32_t at) { return one.span.begin < at; });
  if (here == code.end()) return std::nullopt;
  const auto is_dot = [&](auto at) { return view_.spelled(*at) == "."; };
  auto first = here;
  while (first - code.begin() >= 2 && is_dot(first - 1) && (first - 2)->is_name()) first -= 2;
  auto last = here;
  while (code.end() - last > 2 && is_dot(last + 1) && (last + 2)->is_name()) last += 2;
  std::vector<Token> chain;
  for (auto one = first; one <= last; one += 2) chain.push_back(*one);
  const auto index = static_cast<std::size_t>((here - first) / 2);
  const bool is_call = code.end() - last > 1 && view_.spelled(*(last + 1)) == "(";
  if (is_call && index + 1 == chain.size()) {
    const std::string name = text::lower(text::name_of_token(view_.spelled(*token)));
    if (snapshot_.macro(name) != nullptr)
      return Thing{.kind = ThingKind::Macro, .span = token->span, .own = token->span, .name = name};
  }
  if (auto thing = table_name(chain, index)) return thing;
  if (auto thing = made_here(*token)) return thing;
  return column_name(chain, index);
}

std::optional<Thing> Reading::table_name(const std::vector<Token>& chain, std::size_t index) const {
  const Span whole{chain.front().span.begin, chain.back().span.end};
  for (const Block& block : scope_.outline().blocks())
    for (const Arm& arm : block.arms)
      for (const ReadItem& item : arm.reads) {
        const bool is_alias = item.name_span == chain[index].span && !holds(item.span, chain[index].span.begin);
        if (!(item.span == whole && !item.parts.empty()) && !is_alias) continue;
        if (!is_alias && index + 1 != chain.size()) return std::nullopt;
        const ScopeTable table = scope_.table(item);
        Thing thing{.kind = ThingKind::Query,
                    .span = is_alias ? chain[index].span : whole,
                    .own = chain[index].span,
                    .name = item.name,
                    .asset = table.asset,
                    .made = is_alias ? item.name_span : table.made};
        if (!is_alias && table.asset) thing.kind = ThingKind::Asset;
        return thing;
      }
  return std::nullopt;
}

/// A CTE's name, a temporary object's, the name that a select list gives.
std::optional<Thing> Reading::made_here(const Token& token) const {
  const auto made = [&](ThingKind kind, const std::string& name) {
    return Thing{.kind = kind, .span = token.span, .own = token.span, .name = name, .made = token.span};
  };
  for (const OutlinedStatement& one : scope_.outline().statements())
    if (one.created_span == token.span && !one.created.empty())
      return made(one.is_macro ? ThingKind::Macro : ThingKind::Query,
                  one.is_macro ? text::lower(one.created) : one.created);
  for (std::size_t i = 0; i < scope_.outline().blocks().size(); ++i) {
    const Block& block = scope_.outline().blocks()[i];
    for (const CommonTable& one : block.tables)
      if (one.name_span == token.span) return made(ThingKind::Query, one.name);
    for (const Arm& arm : block.arms)
      for (const SelectItem& item : arm.items) {
        if (item.name_span != token.span || item.name.empty() || (item.span == token.span && !item.parts.empty()))
          continue;
        if (!item.parts.empty() && item.name_span.end == item.span.end && item.name == item.parts.back() &&
            holds(item.span, token.span.begin) && view_.sql()[token.span.begin - 1] == '.')
          continue;  // `o.amount` names a column of o
        if (i == scope_.result())
          if (auto own = own_column(item.name, token.span)) return own;
        return made(ThingKind::Column, item.name);
      }
  }
  return std::nullopt;
}

std::optional<Thing> Reading::column_name(const std::vector<Token>& chain, std::size_t index) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i <= index; ++i) parts.push_back(text::name_of_token(view_.spelled(chain[i])));
  const std::uint32_t at = chain[index].span.begin;
  // A qualifier: the table's own name, or its alias.
  if (index + 1 < chain.size() || (chain.size() == 1 && !scope_.find(parts, at)))
    for (const ReadItem* item : scope_.visible(at)) {
      if (!same_word(item->name, parts.back())) continue;
      const ScopeTable table = scope_.table(*item);
      const bool is_alias = !holds(item->span, item->name_span.begin);
      Thing thing{.kind = ThingKind::Query,
                  .span = chain[index].span,
                  .own = chain[index].span,
                  .name = item->name,
                  .asset = table.asset,
                  .made = is_alias ? item->name_span : table.made};
      if (!is_alias && table.asset) thing.kind = ThingKind::Asset;
      return thing;
    }
  if (const auto column = scope_.find(parts, at))
    return Thing{.kind = ThingKind::Column,
                 .span = chain[index].span,
                 .own = chain[index].span,
                 .name = column->name,
                 .asset = column->asset,
                 .type = column->type,
                 .made = column->made};
  // GROUP BY and ORDER BY may name an output of the same query.
  const std::size_t block = scope_.outline().block_at(at);
  const Arm* arm = block == kNone ? nullptr : scope_.outline().arm_at(block, at);
  if (arm == nullptr || chain.size() > 1) return std::nullopt;
  for (const SelectItem& item : arm->items)
    if (same_word(item.name, parts[0]))
      return Thing{.kind = ThingKind::Column,
                   .span = chain[0].span,
                   .own = chain[0].span,
                   .name = item.name,
                   .made = item.name_span};
  return std::nullopt;
}

bool is_same(const Thing& a, const std::string& a_path, const Thing& b, const std::string& b_path) {
  const bool both_assets = (a.kind == ThingKind::Asset || a.kind == ThingKind::Model) &&
                           (b.kind == ThingKind::Asset || b.kind == ThingKind::Model);
  if (both_assets && a.asset && b.asset) return *a.asset == *b.asset;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ThingKind::Column:
      if (!same_word(a.name, b.name)) return false;
      if (a.asset && b.asset) return *a.asset == *b.asset;
      return !a.asset && !b.asset && a_path == b_path && a.made == b.made;
    case ThingKind::Query:
      return a_path == b_path && a.made == b.made;
    case ThingKind::Argument:
    case ThingKind::Metric:
      return a_path == b_path && same_word(a.name, b.name);
    case ThingKind::Macro:
    case ThingKind::Library:
    case ThingKind::CustomTest:
    case ThingKind::Model:
      return same_word(a.name, b.name);
    default:
      return false;
  }
}

}  // namespace weir::lsp
