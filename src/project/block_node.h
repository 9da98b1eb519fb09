// YAML nodes that know their place in the file. Only the reader of block headers and of checks includes this.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "project/header_options.h"
#include "project/model.h"

namespace weir {

/// A key of a mapping with its value.
struct BlockEntry {
  Word key;
  YAML::Node value;
};

/// The YAML of one block comment: finds the place of a node in the file.
class BlockText {
 public:
  /// `at` is where `yaml` begins in `source`.
  BlockText(std::string_view source, std::uint32_t at, Findings& findings)
      : source_(source), at_(at), findings_(findings) {}

  /// The place of a node; `otherwise` for one that has none, such as an empty value.
  Span place(const YAML::Node& node, Span otherwise) const;
  Span place(const YAML::Mark& mark) const;

  /// The entries of a mapping in their order; a repeated key is said and left out.
  std::vector<BlockEntry> entries(const YAML::Node& mapping);
  /// A scalar. Nothing, and W0132 in the findings, if it is none.
  std::optional<Word> text(const BlockEntry& entry, std::string_view what = "text");
  /// A scalar or a list of scalars.
  std::optional<std::vector<Word>> words(const BlockEntry& entry);
  std::optional<bool> flag(const BlockEntry& entry);
  /// Says that the value has the wrong type.
  void wrong_type(const BlockEntry& entry, std::string_view expected);
  /// Says that the key is not known; `known` for a suggestion.
  void unknown_key(const BlockEntry& entry, std::string_view where, const std::vector<std::string_view>& known);

  Findings& findings() { return findings_; }

 private:
  std::string_view source_;
  std::uint32_t at_;
  Findings& findings_;
};

/// Reads the list under `checks:`.
std::vector<Test> read_checks(BlockText& block, const BlockEntry& entry, const std::string& default_lake);

}  // namespace weir
