// The rules that a model's header must keep: what each plane and strategy needs, refuses, and does not use.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "project/config.h"
#include "project/header_options.h"
#include "project/model.h"

namespace weir {

/// What either notation gave, with places, before the rules made a model of it.
struct Given {
  /// Where the header stands: the `materialize` line or the block header; for what has no place of its own.
  Span header;
  /// Options and keys by name.
  std::map<std::string, Span, std::less<>> places;
  std::vector<Word> key;
  std::vector<Word> track;
  std::vector<Word> order;
  std::vector<Word> valid_from;
  std::vector<Word> validity;
  std::optional<Duplicates> duplicates;
  std::vector<Option> partition_options;
  /// `strategy:` as written.
  std::string strategy_word;
  /// `target:` of a block header.
  Word target;
  Word schedule_cron;
  Word schedule_tz;
  /// The name that the path or `name:` gives.
  Asset relation;
  /// True if a header says how the result is written.
  bool decided = false;

  Span place(std::string_view name) const;
};

/// Completes `model` (target, keys, defaults) and says what is refused or has no effect.
void apply_rules(Model& model, const Given& given, const Config& config, Findings& findings);

}  // namespace weir
