#include "project/block_node.h"

#include <algorithm>

namespace weir {
namespace {

std::string_view kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "text";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "nothing";
  }
}

}  // namespace

Span BlockText::place(const YAML::Mark& mark) const {
  const auto size = static_cast<std::uint32_t>(source_.size());
  const auto begin = std::min(size, at_ + static_cast<std::uint32_t>(std::max(mark.pos, 0)));
  auto end = begin;
  while (end < size && source_[end] != '\n' && source_[end] != '\r') ++end;
  const auto close = source_.substr(begin, end - begin).find("*/");
  if (close != std::string_view::npos) end = begin + static_cast<std::uint32_t>(close);
  while (end > begin && is_blank(source_[end - 1])) --end;
  return {begin, end};
}

Span BlockText::place(const YAML::Node& node, Span otherwise) const {
  if (!node.IsDefined() || node.IsNull() || node.Mark().is_null()) return otherwise;
  const Span line = place(node.Mark());
  if (line.empty()) return otherwise;
  const auto rest = source_.substr(line.begin, line.size());
  if (node.IsScalar() && (rest.front() == '"' || rest.front() == '\'')) {
    const auto close = rest.find(rest.front(), 1);
    if (close != std::string_view::npos) return {line.begin, line.begin + static_cast<std::uint32_t>(close) + 1};
  }
  if (node.IsScalar() && !node.Scalar().empty() && rest.starts_with(node.Scalar()))
    return {line.begin, line.begin + static_cast<std::uint32_t>(node.Scalar().size())};
  return line;
}

std::vector<BlockEntry> BlockText::entries(const YAML::Node& mapping) {
  std::vector<BlockEntry> all;
  for (const auto& pair : mapping) {
    const Span span = place(pair.first, place(mapping.Mark()));
    if (!pair.first.IsScalar()) {
      findings_.error(Code::W0132, span, "a key must be a word");
      continue;
    }
    Word key{pair.first.Scalar(), span};
    if (std::any_of(all.begin(), all.end(), [&](const BlockEntry& known) { return known.key.text == key.text; })) {
      findings_.warn(Code::W0134, key.span, "`" + key.text + "` is given twice: the first one counts");
      continue;
    }
    all.push_back({std::move(key), pair.second});
  }
  return all;
}

void BlockText::wrong_type(const BlockEntry& entry, std::string_view expected) {
  findings_.error(
      Code::W0132, place(entry.value, entry.key.span),
      "`" + entry.key.text + "` must be " + std::string(expected) + ", not " + std::string(kind_of(entry.value)));
}

void BlockText::unknown_key(const BlockEntry& entry, std::string_view where,
                            const std::vector<std::string_view>& known) {
  Advice hint = did_you_mean(entry.key, known);
  if (hint.empty() && known.size() <= 12) hint = "known are " + one_of(known);
  findings_.warn(Code::W0131, entry.key.span, "`" + entry.key.text + "` is no key of " + std::string(where),
                 std::move(hint));
}

std::optional<Word> BlockText::text(const BlockEntry& entry, std::string_view what) {
  if (!entry.value.IsScalar()) {
    wrong_type(entry, what);
    return std::nullopt;
  }
  return Word{entry.value.Scalar(), place(entry.value, entry.key.span)};
}

std::optional<std::vector<Word>> BlockText::words(const BlockEntry& entry) {
  if (entry.value.IsScalar()) return std::vector<Word>{{entry.value.Scalar(), place(entry.value, entry.key.span)}};
  if (!entry.value.IsSequence()) {
    wrong_type(entry, "a word or a list of words");
    return std::nullopt;
  }
  std::vector<Word> all;
  for (const auto& item : entry.value) {
    if (!item.IsScalar()) {
      findings_.error(Code::W0132, place(item, entry.key.span),
                      "an entry of `" + entry.key.text + "` must be text, not " + std::string(kind_of(item)));
      continue;
    }
    all.push_back({item.Scalar(), place(item, entry.key.span)});
  }
  return all;
}

std::optional<bool> BlockText::flag(const BlockEntry& entry) {
  bool value = false;
  if (entry.value.IsScalar() && YAML::convert<bool>::decode(entry.value, value)) return value;
  wrong_type(entry, "`true` or `false`");
  return std::nullopt;
}

}  // namespace weir
