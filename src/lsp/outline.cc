#include "lsp/outline.h"

#include <algorithm>
#include <array>

namespace weir::lsp {
namespace {

using text::Token;
using text::TokenKind;

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(), [word](std::string_view one) { return text::same_word(word, one); });
}

constexpr std::array<std::string_view, 8> kQueryStarts = {"select", "with",    "from",      "values",
                                                          "pivot",  "unpivot", "summarize", "table"};
// What ends a FROM clause or a select list.
constexpr std::array<std::string_view, 12> kClauses = {"select",  "from",  "where", "group",  "having",    "window",
                                                       "qualify", "order", "limit", "offset", "returning", "set"};
constexpr std::array<std::string_view, 15> kJoinWords = {"join",  "left",  "right",       "full", "inner",
                                                         "outer", "cross", "natural",     "asof", "positional",
                                                         "semi",  "anti",  "tablesample", "on",   "using"};
constexpr std::array<std::string_view, 6> kNoAlias = {"at", "pivot", "unpivot", "lateral", "as", "union"};
constexpr std::array<std::string_view, 3> kSetOperators = {"union", "intersect", "except"};

}  // namespace

/// Reads one text into an outline.
class OutlineReader {
 public:
  OutlineReader(std::string_view sql, Outline& out) : sql_(sql), out_(out), tokens_(out.code_) {}

  void read() {
    pair_parentheses();
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= tokens_.size(); ++i) {
      if (i < tokens_.size() && tokens_[i].kind != TokenKind::Semicolon) continue;
      if (i > begin) statement(begin, i);
      begin = i + 1;
    }
    for (std::size_t i = 0; i < out_.blocks_.size(); ++i) read_block(i);
  }

 private:
  std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? sql_.substr(tokens_[i].span.begin, tokens_[i].span.size()) : std::string_view();
  }
  bool is(std::size_t i, std::string_view text) const { return i < tokens_.size() && text::same_word(word(i), text); }
  bool is_name(std::size_t i) const { return i < tokens_.size() && tokens_[i].is_name(); }
  std::string name(std::size_t i) const { return text::name_of_token(word(i)); }

  /// Partners of parentheses; one that is never closed reaches to the end of its statement.
  void pair_parentheses() {
    partner_.assign(tokens_.size(), kNone);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto spelled = word(i);
      if (tokens_[i].kind == TokenKind::Semicolon) {
        for (const std::size_t one : open) partner_[one] = i;
        open.clear();
      }
      if (tokens_[i].kind != TokenKind::Punctuation) continue;
      if (spelled == "(" || spelled == "[" || spelled == "{") open.push_back(i);
      if ((spelled == ")" || spelled == "]" || spelled == "}") && !open.empty()) {
        partner_[open.back()] = i;
        open.pop_back();
      }
    }
    for (const std::size_t one : open) partner_[one] = tokens_.size();
  }

  /// The token behind `i`, or behind what it opens.
  std::size_t step(std::size_t i) const { return partner_[i] == kNone ? i + 1 : std::max(i + 1, partner_[i] + 1); }

  void statement(std::size_t begin, std::size_t end) {
    OutlinedStatement made;
    const std::uint32_t last = end < tokens_.size() ? tokens_[end].span.begin : static_cast<std::uint32_t>(sql_.size());
    made.span = {tokens_[begin].span.begin, last};
    std::size_t query = begin;
    if (is(begin, "create")) query = created(begin, end, made);
    while (query < end && !(is_one_of(word(query), kQueryStarts) || is(query, "("))) query = step(query);
    if (query < end) {
      made.block = out_.blocks_.size();
      add_block(query, end, last, kNone);
      // Groups of parentheses that begin like a query are queries, wherever they stand.
      std::vector<std::size_t> around{made.block};
      for (std::size_t i = query; i < end; ++i) {
        while (around.size() > 1 && ends_[around.back()] <= i) around.pop_back();
        if (!is(i, "(") || !is_one_of(word(i + 1), kQueryStarts) || i + 1 >= end) continue;
        const std::size_t close = std::min(partner_[i], end);
        const std::uint32_t until = close < tokens_.size() ? tokens_[close].span.begin : last;
        block_of_.emplace_back(i, out_.blocks_.size());
        around.push_back(out_.blocks_.size());
        add_block(i + 1, close, until, around[around.size() - 2]);
      }
    }
    out_.statements_.push_back(std::move(made));
  }

  std::size_t created(std::size_t begin, std::size_t end, OutlinedStatement& made) const {
    std::size_t i = begin + 1;
    while (i < end && !(is(i, "table") || is(i, "view") || is(i, "macro") || is(i, "function"))) ++i;
    made.is_macro = is(i, "macro") || is(i, "function");
    ++i;
    if (is(i, "if")) i += 3;  // IF NOT EXISTS
    while (is_name(i + 2) && is(i + 1, ".")) i += 2;
    if (is_name(i) && i < end) {
      made.created = name(i);
      made.created_span = tokens_[i].span;
    }
    while (i < end && !is(i, "as")) i = step(i);
    made.is_table_macro = made.is_macro && is(i + 1, "table");
    return i + 1;
  }

  void add_block(std::size_t begin, std::size_t end, std::uint32_t until, std::size_t parent) {
    Block block;
    block.span = {begin < tokens_.size() ? tokens_[begin].span.begin : until, until};
    block.parent = parent;
    block.statement = out_.statements_.size();
    out_.blocks_.push_back(std::move(block));
    begins_.push_back(begin);
    ends_.push_back(end);
  }

  std::size_t block_behind(std::size_t parenthesis) const {
    const auto found = std::lower_bound(block_of_.begin(), block_of_.end(), std::pair{parenthesis, std::size_t{0}});
    return found != block_of_.end() && found->first == parenthesis ? found->second : kNone;
  }

  void read_block(std::size_t index) {
    const std::size_t end = ends_[index];
    std::size_t i = begins_[index];
    // A parenthesis that is never closed leads beyond the end.
    if (is(i, "with")) i = std::min(common_tables(i + 1, end, out_.blocks_[index]), end);
    std::size_t begin = i;
    for (; i < end; i = step(i)) {
      // `* EXCEPT (…)` leaves columns out.
      const bool is_operator =
          is_one_of(word(i), kSetOperators) && tokens_[i].kind == TokenKind::Word && !(i > 0 && word(i - 1) == "*");
      if (!is_operator) continue;
      arm(begin, i, tokens_[i].span.begin, out_.blocks_[index]);
      while (is(i + 1, "all") || is(i + 1, "distinct") || is(i + 1, "by") || is(i + 1, "name")) ++i;
      begin = std::min(i + 1, end);
    }
    arm(begin, end, out_.blocks_[index].span.end, out_.blocks_[index]);
  }

  std::size_t common_tables(std::size_t i, std::size_t end, Block& block) const {
    const bool is_recursive = is(i, "recursive");
    if (is_recursive) ++i;
    while (i < end && is_name(i)) {
      CommonTable made{.name = name(i), .name_span = tokens_[i].span, .span = tokens_[i].span, .columns = {}};
      ++i;
      if (is(i, "(")) {
        made.columns = names_between(i + 1, std::min(partner_[i], end));
        i = step(i);
      }
      if (is(i, "using")) {  // USING KEY (…)
        while (i < end && !is(i, "(")) ++i;
        i = i < end ? step(i) : i;
      }
      if (!is(i, "as")) return i;
      ++i;
      if (is(i, "not")) ++i;
      if (is(i, "materialized")) ++i;
      if (i >= end || !is(i, "(")) return i;
      made.block = block_behind(i);
      made.is_recursive = is_recursive;
      const std::size_t close = std::min(partner_[i], end);
      made.span.end = close < tokens_.size() ? tokens_[close].span.end : static_cast<std::uint32_t>(sql_.size());
      block.tables.push_back(std::move(made));
      i = step(i);
      if (!is(i, ",")) return i;
      ++i;
    }
    return i;
  }

  std::vector<std::string> names_between(std::size_t begin, std::size_t end) const {
    std::vector<std::string> names;
    for (std::size_t i = begin; i < end; ++i)
      if (is_name(i)) names.push_back(name(i));
    return names;
  }

  Span span_of(std::size_t begin, std::size_t end, std::uint32_t until) const {
    const std::uint32_t first = begin < tokens_.size() && begin < end ? tokens_[begin].span.begin : until;
    return {first, std::max(first, until)};
  }

  void arm(std::size_t begin, std::size_t end, std::uint32_t until, Block& block) {
    Arm made;
    made.span = {begin > 0 ? tokens_[begin - 1].span.end : 0, until};
    if (is(begin, "(")) made.block = block_behind(begin);
    for (std::size_t i = begin; i < end;) {
      const bool is_table = is(i, "table") || is(i, "pivot") || is(i, "unpivot") || is(i, "summarize");
      const bool is_from =
          is(i, "from") && !(i > 0 && is(i - 1, "distinct") && i > 1 && (is(i - 2, "is") || is(i - 2, "not")));
      if (is(i, "select")) {
        i = select_list(i + 1, end, until, made);
      } else if (is_from || (is_table && i == begin)) {
        i = from_clause(i + 1, end, until, made);
      } else {
        i = step(i);
      }
    }
    block.arms.push_back(std::move(made));
  }

  /// A word right behind a dot is a name, whatever it spells; behind a dot and a blank it is what comes next while the
  /// name is being typed.
  bool follows_dot(std::size_t i) const {
    return i > 0 && is(i - 1, ".") && tokens_[i - 1].span.end == tokens_[i].span.begin;
  }

  std::size_t clause_end(std::size_t i, std::size_t end) const {
    const auto is_clause = [this](std::size_t at) {
      if (tokens_[at].kind != TokenKind::Word || !is_one_of(word(at), kClauses) || follows_dot(at)) return false;
      return !(is(at, "from") && at > 1 && is(at - 1, "distinct") && is(at - 2, "is"));
    };
    while (i < end && !is_clause(i)) i = step(i);
    return std::min(i, end);
  }

  std::uint32_t begin_of(std::size_t i, std::size_t end, std::uint32_t until) const {
    return i < end && i < tokens_.size() ? tokens_[i].span.begin : until;
  }

  std::size_t select_list(std::size_t i, std::size_t end, std::uint32_t until, Arm& arm) const {
    arm.has_select = true;
    const std::uint32_t first = tokens_[i - 1].span.end;
    if (is(i, "distinct") || is(i, "all")) {
      ++i;
      if (is(i, "on") && is(i + 1, "(")) i = step(i + 1);
    }
    const std::size_t stop = clause_end(i, end);
    arm.select = {first, begin_of(stop, end, until)};
    for (std::size_t begin = i; begin < stop;) {
      std::size_t comma = begin;
      while (comma < stop && !is(comma, ",")) comma = step(comma);
      comma = std::min(comma, stop);
      if (comma > begin) arm.items.push_back(item(begin, comma));
      begin = comma + 1;
    }
    return stop;
  }

  SelectItem item(std::size_t begin, std::size_t end) const {
    SelectItem made;
    made.span = {tokens_[begin].span.begin, tokens_[end - 1].span.end};
    if (is_name(begin) && is(begin + 1, ":") && begin + 2 < end) {  // name: expression
      named(made, begin);
      begin += 2;
    }
    const std::size_t chain = chain_end(begin, end);
    if (star(begin, chain, end, made)) return made;
    const bool is_column = chain > begin;
    if (is_column && (chain == end || is(chain, "as") || (chain + 1 == end && is_name(chain))))
      for (std::size_t i = begin; i < chain; i += 2) made.parts.push_back(name(i));
    if (!made.name.empty()) return made;
    const std::size_t last = end - 1;
    if (last > begin && is_name(last) && is(last - 1, "as"))
      named(made, last);
    else if (is_column && chain == end)
      named(made, last);
    else if (last > begin && is_name(last) && is_end_of_value(last - 1) && !is(last, "end"))
      named(made, last);
    return made;
  }

  void named(SelectItem& item, std::size_t i) const {
    item.name = name(i);
    item.name_span = tokens_[i].span;
  }

  bool is_end_of_value(std::size_t i) const {
    const TokenKind kind = tokens_[i].kind;
    const auto spelled = word(i);
    return kind == TokenKind::Word || kind == TokenKind::QuotedName || kind == TokenKind::Number ||
           kind == TokenKind::String || spelled == ")" || spelled == "]" || spelled == "}";
  }

  /// Behind `a.b.c` that begins at `i`; `i` itself if no name stands there.
  std::size_t chain_end(std::size_t i, std::size_t end) const {
    if (!is_name(i) || i >= end) return i;
    while (i + 2 < end && is(i + 1, ".") && is_name(i + 2) && follows_dot(i + 2)) i += 2;
    return i + 1;
  }

  bool star(std::size_t begin, std::size_t chain, std::size_t end, SelectItem& made) const {
    std::size_t at = begin;
    if (chain > begin && is(chain, ".") && is(chain + 1, "*") && chain + 1 < end) {
      made.star_of = name(chain - 1);
      at = chain + 1;
    } else if (!is(begin, "*")) {
      return false;
    }
    made.is_star = true;
    for (std::size_t i = at + 1; i + 1 < end; i = step(i)) {
      if (!is(i, "exclude") && !is(i, "except")) continue;
      const bool in_list = is(i + 1, "(");
      const std::size_t until = in_list ? std::min(partner_[i + 1], end) : i + 2;
      for (std::string& one : names_between(i + 1, until)) made.excluded.insert(text::lower(one));
    }
    return true;
  }

  std::size_t from_clause(std::size_t i, std::size_t end, std::uint32_t until, Arm& arm) const {
    const std::size_t stop = clause_end(i, end);
    arm.from = {tokens_[i - 1].span.end, begin_of(stop, end, until)};
    read_items(i, stop, arm);
    return stop;
  }

  void read_items(std::size_t i, std::size_t end, Arm& arm, int depth = 0) const {
    constexpr int kDeepest = 100;
    while (i < end) {
      while (i < end && (is(i, "lateral") || is(i, "only"))) ++i;
      if (i >= end) return;
      if (is(i, "(") && block_behind(i) == kNone) {
        if (depth < kDeepest) read_items(i + 1, std::min(partner_[i], end), arm, depth + 1);  // joins in parentheses
        i = step(i);
      } else {
        i = read_item(i, end, arm);
      }
      while (i < end && !is(i, ",") && !is(i, "join")) i = step(i);
      ++i;
    }
  }

  std::size_t read_item(std::size_t i, std::size_t end, Arm& arm) const {
    ReadItem made;
    if (is_name(i) && is(i + 1, ":") && i + 2 < end) {  // alias: table
      made.name = name(i);
      made.name_span = tokens_[i].span;
      i += 2;
    }
    const std::size_t chain = chain_end(i, end);
    if (is(i, "(")) {
      made.block = block_behind(i);
      made.span = {tokens_[i].span.begin, begin_of(partner_[i], end, tokens_[end - 1].span.end)};
      i = step(i);
    } else if (chain > i && is(chain, "(") && chain < end) {
      made.span = {tokens_[i].span.begin, tokens_[chain - 1].span.end};
      i = step(chain);
    } else if (chain > i) {
      for (std::size_t one = i; one < chain; one += 2) made.parts.push_back(name(one));
      made.span = {tokens_[i].span.begin, tokens_[chain - 1].span.end};
      if (made.name.empty()) {
        made.name = made.parts.back();
        made.name_span = tokens_[chain - 1].span;
      }
      i = chain;
    } else {
      made.span = tokens_[i].span;
      i = step(i);
    }
    if (is(i, "at") && is(i + 1, "(")) i = step(i + 1);
    const bool has_as = is(i, "as") && i < end;
    if (has_as) ++i;
    const bool is_alias = i < end && is_name(i) &&
                          (has_as || tokens_[i].kind == TokenKind::QuotedName ||
                           !(is_one_of(word(i), kJoinWords) || is_one_of(word(i), kNoAlias)));
    if (is_alias) {
      made.name = name(i);
      made.name_span = tokens_[i].span;
      ++i;
      if (is(i, "(") && i < end) {
        made.columns = names_between(i + 1, std::min(partner_[i], end));
        i = step(i);
      }
    }
    arm.reads.push_back(std::move(made));
    return i;
  }

  std::string_view sql_;
  Outline& out_;
  const std::vector<Token>& tokens_;
  std::vector<std::size_t> partner_;
  // Of each block, in tokens.
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> ends_;
  // Opening parenthesis -> block, ascending.
  std::vector<std::pair<std::size_t, std::size_t>> block_of_;
};

Outline::Outline(std::string_view sql, const std::vector<text::Token>& tokens) {
  for (const Token& token : tokens)
    if (!token.is_comment()) code_.push_back(token);
  OutlineReader(sql, *this).read();
}

std::size_t Outline::block_at(std::uint32_t at) const {
  std::size_t found = kNone;
  // Inner queries follow the outer ones.
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (at >= blocks_[i].span.begin && at <= blocks_[i].span.end) found = i;
  return found;
}

const Arm* Outline::arm_at(std::size_t block, std::uint32_t at) const {
  for (const Arm& arm : blocks_[block].arms)
    if (at >= arm.span.begin && at <= arm.span.end) return &arm;
  return nullptr;
}

}  // namespace weir::lsp
