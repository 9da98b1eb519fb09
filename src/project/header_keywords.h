// The words of line annotations: one table that the reader, the documentation and an editor's completion share.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace weir {

/// How an option is written after its keyword.
enum class OptionForm {
  Flag,    // a bare word
  Text,    // name=value
  Choice,  // name=one of `values`
  Names,   // name=a,"b c": a list of column names
};

struct OptionEntry {
  std::string_view name;
  OptionForm form;
  /// Choices, or a shape such as "YYYY-MM-DD".
  std::vector<std::string_view> values;
  std::string_view meaning;
};

/// What a second line of the same keyword does.
enum class Repeats { Adds, FirstWins, LastWins, Flag };

struct KeywordEntry {
  std::string_view name;
  Repeats repeats;
  /// How the line is written.
  std::string_view shape;
  std::string_view meaning;
  /// Words that may follow the keyword directly.
  std::vector<std::string_view> heads;
  std::vector<OptionEntry> options;

  const OptionEntry* option(std::string_view name) const;
  std::vector<std::string_view> option_names() const;
};

const std::vector<KeywordEntry>& header_keywords();
/// Nothing for a word that is none; exact, case-sensitive.
const KeywordEntry* keyword_named(std::string_view name);

}  // namespace weir
