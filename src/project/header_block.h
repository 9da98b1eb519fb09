// The block header: a YAML mapping under `weir:` or `interlace:` in a block comment, as written, every key and value
// with its place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "project/header.h"
#include "project/header_options.h"
#include "project/model.h"

namespace weir {

/// What a key's value must be.
enum class BlockForm {
  Text,
  Choice,
  Words,
  Flag,
  Duration,
  Partitioned,
  Columns,
  Checks,
  Measures,
  Dimensions,
  Schedule,
  Retry,
  Triggers,
  Assets
};

struct BlockKeyEntry {
  std::string_view name;
  BlockForm form;
  /// Other spellings of the key.
  std::vector<std::string_view> synonyms;
  /// Choices, synonyms among them.
  std::vector<std::string_view> values;
  /// True if it takes part in deciding plane, target, strategy and partitioning, which only one notation may do.
  bool decides;
  std::string_view meaning;
};

/// Every key under `weir:`; the editor completes from it.
const std::vector<BlockKeyEntry>& block_keys();
const BlockKeyEntry* block_key_named(std::string_view name);

struct BlockHeader {
  Span span;
  /// Every key that was given, by its first spelling: the place of the key.
  std::map<std::string, Span, std::less<>> keys;
  /// Values of the forms Text, Choice and Duration.
  std::map<std::string, Word, std::less<>> texts;
  /// Values of the form Words.
  std::map<std::string, std::vector<Word>, std::less<>> lists;
  std::map<std::string, bool, std::less<>> flags;
  std::optional<calendar::Partitioning> partitioning;
  std::vector<Test> tests;
  std::vector<ContractColumn> contract;
  std::vector<Metric> metrics;
  std::vector<Trigger> triggers;
  std::vector<Asset> muted;
  bool mute_all = false;
  Word schedule_cron;
  Word schedule_every;
  Word schedule_tz;
  int retry_count = 0;
  std::string retry_delay;

  const Word* text(std::string_view key) const;
  const std::vector<Word>* list(std::string_view key) const;
  std::optional<Span> key(std::string_view key) const;
};

/// True if the text of a block comment is a header: a mapping with a top-level `weir` or `interlace`, or text that
/// begins like one and is no YAML (which read_block_header then says).
bool is_block_header(std::string_view comment);

/// Reads the header. `default_lake` is where a relation of a check that is no URI lies. What is wrong is left out and
/// said in `findings`.
BlockHeader read_block_header(std::string_view text, const HeaderRegion::Block& block, const std::string& default_lake,
                              Findings& findings);

}  // namespace weir
