// Options behind a keyword (`key=a,b append`) and lists of names, as written and with their places.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "project/header_keywords.h"
#include "project/piece.h"

namespace weir {

struct Option {
  Word name;
  /// Without quotes, except for lists of names, whose quotes belong to the names.
  Word value;
  bool has_value = false;
  bool is_unclosed = false;

  /// Name and value together.
  Span span() const { return {name.span.begin, has_value ? value.span.end : name.span.end}; }
};

/// What to do about a finding: words for people and, where one replacement does it, the same for an editor.
struct Advice {
  Advice() = default;
  explicit(false) Advice(std::string words) : hint(std::move(words)) {}
  explicit(false) Advice(const char* words) : hint(words) {}
  Advice(std::string words, Fix edit) : hint(std::move(words)), fix(std::move(edit)) {}
  bool empty() const { return hint.empty(); }

  std::string hint;
  std::optional<Fix> fix;
};

/// Collects what is wrong with one file.
class Findings {
 public:
  Findings(std::string path, Diagnostics& out) : path_(std::move(path)), out_(out) {}
  void add(Code code, Severity severity, Span span, std::string message, Advice advice = {}) {
    out_.push_back({code, severity, std::move(message), path_, span, std::move(advice.hint), std::move(advice.fix)});
  }
  void error(Code code, Span span, std::string message, Advice advice = {}) {
    add(code, Severity::Error, span, std::move(message), std::move(advice));
  }
  void warn(Code code, Span span, std::string message, Advice advice = {}) {
    add(code, Severity::Warning, span, std::move(message), std::move(advice));
  }
  void note(Code code, Span span, std::string message, Advice advice = {}) {
    add(code, Severity::Hint, span, std::move(message), std::move(advice));
  }
  const std::string& path() const { return path_; }
  Diagnostics& all() { return out_; }

 private:
  std::string path_;
  Diagnostics& out_;
};

/// Splits `tail` into options. A value that begins with a quote ends at the same quote; any other ends at a blank.
std::vector<Option> split_options(const KeywordEntry& keyword, Piece tail);

/// split_options, and says what is wrong with them: unknown or repeated ones, values outside the list. Returns those
/// that count: of a repeated one the last, none that is unknown or has a value outside its list.
std::vector<Option> read_options(const KeywordEntry& keyword, Piece tail, Findings& findings);

/// The option of that name; nothing if it was not given.
const Option* find_option(const std::vector<Option>& options, std::string_view name);

/// Where the options behind free text begin: the first word of the shape `<name>=` outside quotes whose name is an
/// option of `keyword` or nearly one. The size of `text` if there is none.
std::size_t options_begin(const KeywordEntry& keyword, std::string_view text);

/// Splits a comma list of bare or double-quoted names. Empty names are dropped with a warning.
/// Errors (into `findings`): W0148 a name whose quote is not closed, or text behind a closing quote.
std::vector<Word> split_names(Piece list, Findings& findings);

/// "`a`, `b` or `c`".
std::string one_of(const std::vector<std::string_view>& words);
/// "did you mean `x`?" for the nearest word, with the edit that writes it there, or nothing. `before` and `after` are
/// shown around it.
Advice did_you_mean(const Word& word, const std::vector<std::string_view>& known, std::string_view before = "",
                    std::string_view after = "");

}  // namespace weir
