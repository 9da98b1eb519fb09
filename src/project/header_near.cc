#include "project/header_near.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "project/header_block.h"
#include "project/header_lines.h"
#include "project/header_prose.h"
#include "project/header_tests.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kDataTest = "data_test";

/// Letters of a word alone, small: `Data-Test:` is `datatest`.
std::string folded(std::string_view word) {
  std::string letters;
  for (const char c : text::lower(word))
    if (c != '-' && c != '_' && c != ':') letters += c;
  return letters;
}

/// Words that people write for a keyword and that are too far from it to be slips.
std::string_view synonym_of(std::string_view letters) {
  for (const std::string_view word : {"test"sv, "tests"sv, "check"sv, "checks"sv, "datatests"sv})
    if (letters == word) return kDataTest;
  for (const std::string_view word : {"partition"sv, "partitions"sv, "partitionedby"sv, "partitionby"sv})
    if (letters == word) return "partitioned";
  for (const std::string_view word : {"materialise"sv, "materialised"sv, "materialized"sv})
    if (letters == word) return "materialize";
  return {};
}

std::string_view keyword_of_letters(std::string_view letters) {
  for (const KeywordEntry& keyword : header_keywords())
    if (folded(keyword.name) == letters) return keyword.name;
  return {};
}

struct Near {
  std::string_view keyword;
  /// What stands in its place.
  Span span;
  Piece tail;
  /// Nothing but an attempt at the keyword is written so: `datatest`, `data_tests`.
  bool is_certain = false;
  /// A word of everyday language that stands for the keyword.
  bool is_everyday = false;
};

std::optional<Near> near_keyword(const Piece& head, const Piece& tail) {
  const std::string letters = folded(head.view());
  const bool has_mark = head.view().find('_') != std::string_view::npos;
  if (letters.starts_with("datatest") && letters.size() <= "datatests"sv.size())
    return Near{kDataTest, head.span(), tail, head.view().find('-') == std::string_view::npos, false};
  if (const auto keyword = keyword_of_letters(letters); !keyword.empty())
    return Near{keyword, head.span(), tail, has_mark, false};
  Piece rest = tail;
  const Piece second = rest.take_word();
  const std::string two = letters + folded(second.view());
  if (letters == "data" && (two == "datatest" || two == "datatests"))
    return Near{kDataTest, {head.span().begin, second.span().end}, rest, false, false};
  if (const auto keyword = synonym_of(letters); !keyword.empty())
    return Near{keyword, head.span(), tail, has_mark, keyword == kDataTest};
  if (head.view().size() <= 3) return std::nullopt;
  std::vector<std::string_view> names;
  for (const KeywordEntry& keyword : header_keywords()) names.push_back(keyword.name);
  const auto nearest = text::nearest(head.view(), names);
  if (!nearest) return std::nullopt;
  return Near{keyword_named(*nearest)->name, head.span(), tail, has_mark && *nearest == kDataTest, false};
}

bool begins_with_a_test(Piece tail) {
  const auto word = tail.take_word().view();
  const TestEntry* entry = test_named(text::lower(word));
  return entry != nullptr && entry->kind != TestKind::Custom && entry->kind != TestKind::Sql;
}

bool is_well_formed(std::string_view keyword, const Piece& tail) {
  return reads_as_annotation(std::string(keyword) + " " + std::string(tail.view()));
}

/// True for a line that is written like an annotation of the keyword, not like a sentence or a heading.
bool is_attempt(const Near& near) {
  const std::string_view tail = near.tail.view();
  if (tail.empty() || near.keyword == "pipeline" || near.keyword == "macros" || near.keyword == "tag") return false;
  if (near.is_certain) return true;
  if (near.keyword == kDataTest) {
    if (begins_with_a_test(near.tail)) return !near.is_everyday || is_well_formed(near.keyword, near.tail);
    return !near.is_everyday && tail.find('/') != std::string_view::npos && is_well_formed(near.keyword, near.tail);
  }
  if (near.keyword == "materialize") return tail.find("://") != std::string_view::npos;
  if (near.keyword == "partitioned" && is_partition_in_words(tail)) return true;
  return is_well_formed(near.keyword, near.tail);
}

Advice meaning(const Near& near) {
  return {"did you mean `" + std::string(near.keyword) + "`?", {near.span, std::string(near.keyword)}};
}

/// Below the query, where most comments are sentences, only what no sentence looks like counts.
bool is_attempt_below(const Near& near) {
  constexpr std::array kMarked = {kDataTest,   "materialize"sv, "partitioned"sv, "column"sv,
                                  "measure"sv, "dimension"sv,   "on"sv,          "mute"sv};
  if (std::find(kMarked.begin(), kMarked.end(), near.keyword) == kMarked.end()) return false;
  const bool needs_asset = near.keyword == "on" || near.keyword == "mute";
  if (needs_asset && near.tail.view().find("://") == std::string_view::npos) return false;
  return is_attempt(near);
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

/// `word:` at the beginning of a comment, with a mapping behind it.
std::optional<Piece> key_of(const Piece& comment) {
  Piece rest = comment.trimmed();
  const auto view = rest.view();
  std::size_t size = view.starts_with('{') ? 1 : 0;
  const std::size_t begin = size;
  while (size < view.size() && is_name_char(view[size])) ++size;
  if (size == begin || size >= view.size() || view[size] != ':') return std::nullopt;
  return rest.sub(begin, size - begin);
}

/// True if a line of the comment begins with a key of the header.
bool holds_header_key(std::string_view comment) {
  std::size_t at = comment.find(':');
  while (at < comment.size()) {
    std::size_t begin = at;
    while (begin > 0 && is_name_char(comment[begin - 1])) --begin;
    if (block_key_named(comment.substr(begin, at - begin)) != nullptr) return true;
    at = comment.find(':', at + 1);
  }
  return false;
}

}  // namespace

void judge_near_keyword(Piece head, Piece tail, Findings& findings) {
  const auto near = near_keyword(head, tail);
  if (!near) return;
  const std::string_view source = head.source();
  const std::string written(source.substr(near->span.begin, near->span.size()));
  const std::string message = "`" + written + "` is no annotation: the line is an ordinary comment";
  if (is_attempt(*near)) return findings.warn(Code::W0125, near->span, message, meaning(*near));
  // A word with an underscore is no word of a sentence, and a keyword in another case may be a heading.
  const bool may_be_meant = has_annotation_shape(tail.view()) || written.find('_') != std::string::npos ||
                            (folded(written) == "tag" && is_well_formed("tag", near->tail));
  if (may_be_meant && written.size() > 2) findings.note(Code::W0124, near->span, message, meaning(*near));
}

std::string_view kind_in_words(std::string_view tail) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kUnits = {{{"hour", "hourly"},
                                                                                     {"hours", "hourly"},
                                                                                     {"day", "daily"},
                                                                                     {"days", "daily"},
                                                                                     {"date", "daily"},
                                                                                     {"week", "weekly"},
                                                                                     {"weeks", "weekly"},
                                                                                     {"month", "monthly"},
                                                                                     {"months", "monthly"},
                                                                                     {"quarter", "quarterly"},
                                                                                     {"quarters", "quarterly"},
                                                                                     {"year", "yearly"},
                                                                                     {"years", "yearly"}}};
  const std::size_t last = tail.find_last_of(" \t");
  const std::string word = text::lower(last == std::string_view::npos ? tail : tail.substr(last + 1));
  for (const auto& [unit, kind] : kUnits)
    if (word == unit) return kind;
  for (const std::string_view kind : keyword_named("partitioned")->heads)
    if (word == kind) return kind;
  return {};
}

bool is_partition_in_words(std::string_view tail) {
  Piece rest(tail, {0, static_cast<std::uint32_t>(tail.size())});
  const std::string first = text::lower(rest.take_word().view());
  const auto second = rest.take_word().view();
  if (!rest.empty() || first.empty()) return false;
  return (first == "by" && !second.empty()) || !kind_in_words(tail).empty();
}

void judge_lines_below(std::string_view text, const HeaderRegion& region, Findings& findings) {
  const auto is_in_header = [&region](Span span) {
    return std::any_of(region.comments.begin(), region.comments.end(), [span](const HeaderRegion::Comment& comment) {
      return comment.whole.begin <= span.begin && span.begin < comment.whole.end;
    });
  };
  const std::size_t end = region.comments.empty() ? 0 : region.comments.back().whole.end;
  if (text.find("--", end) == std::string_view::npos) return;
  for (const text::Token& token : text::lex(text)) {
    if (token.kind != text::TokenKind::LineComment || is_in_header(token.span)) continue;
    const auto before = text.substr(0, token.span.begin);
    const auto line = before.substr(before.find_last_of('\n') + 1);
    if (!std::all_of(line.begin(), line.end(), is_blank)) continue;
    Piece tail = Piece(text, {token.span.begin + 2, token.span.end}).trimmed();
    const Span whole = tail.span();
    const Piece head = tail.take_word();
    const KeywordEntry* keyword = keyword_named(head.view());
    const auto near =
        keyword != nullptr ? Near{keyword->name, head.span(), tail, false, false} : near_keyword(head, tail);
    if (!near || !is_attempt_below(*near)) continue;
    findings.warn(Code::W0126, whole, "this line stands below the header: it is an ordinary comment and does nothing",
                  "move `" + std::string(near->keyword) + " …` above the first statement");
  }
}

void judge_near_block(std::string_view text, Findings& findings) {
  if (text.find("/*") == std::string_view::npos) return;
  const std::vector<std::string_view> names = {"weir", "interlace"};
  for (const text::Token& token : text::lex(text)) {
    if (token.kind == text::TokenKind::LineComment) continue;
    if (token.kind != text::TokenKind::BlockComment) return;
    const Piece comment(text, {token.span.begin + 2, token.span.end > 3 ? token.span.end - 2 : token.span.end});
    const auto key = key_of(comment);
    if (!key || !text::nearest(key->view(), names) || !holds_header_key(comment.view())) continue;
    const std::string near = *text::nearest(key->view(), names);
    findings.warn(Code::W0137, key->span(),
                  "`" + first_line(key->view()) + "` heads no block header: the comment has no effect",
                  {"did you mean `" + near + "`?", {key->span(), near}});
  }
}

}  // namespace weir
