#include "project/header_options.h"

#include <algorithm>

#include "text/suggest.h"

namespace weir {
namespace {

bool is_names(const KeywordEntry& keyword, std::string_view name) {
  const auto* entry = keyword.option(name);
  return entry != nullptr && entry->form == OptionForm::Names;
}

/// The size of a list of names: blanks end it unless they stand between double quotes.
std::size_t names_size(std::string_view text) {
  bool quoted = false;
  std::size_t size = 0;
  while (size < text.size() && (quoted || !is_blank(text[size])))
    if (text[size++] == '"') quoted = !quoted;
  return size;
}

Option take_option(const KeywordEntry& keyword, Piece& rest) {
  const auto text = rest.view();
  std::size_t size = 0;
  while (size < text.size() && text[size] != '=' && !is_blank(text[size])) ++size;
  if (size == text.size() || text[size] != '=' || size == 0) {
    // No value follows: the whole word, up to a blank.
    return {rest.take_word().word(), {}, false, false};
  }
  Option option{rest.sub(0, size).word(), {}, true, false};
  rest = rest.sub(size + 1);
  const auto value = rest.view();
  if (is_names(keyword, option.name.text) && !value.starts_with('\'')) {
    const auto length = names_size(value);
    option.value = rest.sub(0, length).word();
    rest = rest.sub(length);
  } else if (value.starts_with('"') || value.starts_with('\'')) {
    const auto close = value.find(value.front(), 1);
    option.is_unclosed = close == std::string_view::npos;
    const auto length = option.is_unclosed ? value.size() : close + 1;
    option.value = {std::string(value.substr(1, option.is_unclosed ? value.size() : close - 1)),
                    rest.sub(0, length).span()};
    rest = rest.sub(length);
  } else {
    std::size_t length = 0;
    while (length < value.size() && !is_blank(value[length])) ++length;
    option.value = rest.sub(0, length).word();
    rest = rest.sub(length);
  }
  rest = rest.trimmed();
  return option;
}

/// Says what is wrong with one option; true if it counts.
bool check_option(const KeywordEntry& keyword, const Option& option, Findings& findings) {
  const auto& name = option.name.text;
  const auto* entry = keyword.option(name);
  const std::string keyword_name(keyword.name);
  if (entry == nullptr) {
    Advice hint = did_you_mean(option.name, keyword.option_names());
    if (hint.empty() && !option.has_value) hint = "a value has no blanks around `=` or `,`; put it in quotes otherwise";
    findings.warn(Code::W0108, option.span(), "`" + name + "` is no option of `" + keyword_name + "`", hint);
    return false;
  }
  if (entry->form == OptionForm::Flag) {
    if (!option.has_value) return true;
    findings.warn(Code::W0107, option.span(), "`" + name + "` takes no value",
                  {"write `" + name + "` alone", {option.span(), name}});
    return false;
  }
  if (!option.has_value || (option.value.text.empty() && !option.is_unclosed)) {
    const std::string shape = entry->values.empty() ? "…" : std::string(entry->values.front());
    findings.warn(Code::W0107, option.span(), "`" + name + "` has no value",
                  "write `" + name + "=" + shape + "`, without blanks around `=`");
    return false;
  }
  if (option.is_unclosed)
    findings.warn(Code::W0123, option.value.span, "the quote is not closed: the value is the rest of the line");
  if (entry->form == OptionForm::Choice &&
      std::find(entry->values.begin(), entry->values.end(), option.value.text) == entry->values.end()) {
    Advice hint = did_you_mean(option.value, entry->values, name + "=");
    if (hint.empty()) hint = "it is " + one_of(entry->values);
    findings.warn(Code::W0107, option.value.span, "`" + option.value.text + "` is no value of `" + name + "`", hint);
    return false;
  }
  return true;
}

}  // namespace

std::vector<Option> split_options(const KeywordEntry& keyword, Piece tail) {
  std::vector<Option> options;
  for (Piece rest = tail.trimmed(); !rest.empty();) options.push_back(take_option(keyword, rest));
  return options;
}

std::vector<Option> read_options(const KeywordEntry& keyword, Piece tail, Findings& findings) {
  std::vector<Option> counting;
  for (auto& option : split_options(keyword, tail)) {
    if (!check_option(keyword, option, findings)) continue;
    const auto earlier = std::find_if(counting.begin(), counting.end(),
                                      [&](const Option& o) { return o.name.text == option.name.text; });
    if (earlier != counting.end()) {
      findings.warn(Code::W0109, earlier->span(), "`" + option.name.text + "` is given twice: the last one counts");
      counting.erase(earlier);
    }
    counting.push_back(std::move(option));
  }
  return counting;
}

const Option* find_option(const std::vector<Option>& options, std::string_view name) {
  for (const auto& option : options)
    if (option.name.text == name) return &option;
  return nullptr;
}

std::size_t options_begin(const KeywordEntry& keyword, std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
      continue;
    }
    if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
      continue;
    }
    if (is_blank(text[i]) || (i > 0 && !is_blank(text[i - 1]))) continue;
    std::size_t end = i;
    while (end < text.size() && is_name_char(text[end])) ++end;
    if (end == i || end == text.size() || text[end] != '=') continue;
    const auto name = text.substr(i, end - i);
    if (keyword.option(name) != nullptr || (name.size() > 2 && text::nearest(name, keyword.option_names()))) return i;
  }
  return text.size();
}

std::vector<Word> split_names(Piece list, Findings& findings) {
  std::vector<Word> names;
  Piece rest = list.trimmed();
  while (true) {
    const auto text = rest.view();
    const bool quoted = text.starts_with('"');
    const Piece before = rest;
    Piece name;
    if (quoted) {
      name = rest.take_quoted_word();
      const auto raw = name.view();
      if (raw.size() < 2 || raw.back() != '"') {
        findings.error(Code::W0148, name.span(), "the quote of this name is not closed");
        return names;
      }
      if (!rest.empty() && !rest.view().starts_with(',')) {
        findings.error(Code::W0148, rest.span(), "a comma must stand between two names",
                       "double a quote that belongs to a name: `\"a \"\"b\"\"\"`");
        return names;
      }
    } else {
      const auto comma = text.find(',');
      name = rest.sub(0, comma).trimmed();
      rest = rest.sub(name.empty() && comma == std::string_view::npos ? text.size() : std::min(comma, text.size()));
    }
    if (!name.empty()) names.push_back(name.name());
    const bool at_comma = rest.view().starts_with(',');
    if (name.empty())
      findings.warn(Code::W0148, at_comma ? rest.sub(0, 1).span() : list.span(), "a name is missing in this list",
                    "take the comma away");
    if (!at_comma) return names;
    rest = rest.sub(1).trimmed();
    if (rest.empty()) {
      findings.warn(Code::W0148, before.span(), "a name is missing behind the last comma", "take the comma away");
      return names;
    }
  }
}

std::string one_of(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += '`';
    text += words[i];
    text += '`';
  }
  return text;
}

Advice did_you_mean(const Word& word, const std::vector<std::string_view>& known, std::string_view before,
                    std::string_view after) {
  const auto near = text::nearest(word.text, known);
  if (!near) return {};
  return {"did you mean `" + std::string(before) + *near + std::string(after) + "`?", {word.span, *near}};
}

}  // namespace weir
