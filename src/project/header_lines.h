// Line annotations (`-- pipeline`, `// partitioned daily`, `# tag heavy`) and arguments (`-- $cutoff (date) =
// 2024-01-01`), as written: each with its place, not yet judged together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "project/header.h"
#include "project/header_options.h"
#include "project/model.h"

namespace weir {

struct MaterializeLine {
  /// From the keyword to the end of the line.
  Span span;
  bool is_manual = false;
  /// `scd2` or `history`.
  bool is_history = false;
  bool is_append = false;
  Asset target;
  Span target_span;
  std::vector<Option> options;
};

struct PartitionedLine {
  Span span;
  calendar::Partitioning partitioning;
  std::vector<Option> options;
};

struct RetryLine {
  Span span;
  int count = 0;
  std::string delay;
};

struct LineHeader {
  std::optional<Span> pipeline;
  std::optional<Span> macros;
  std::vector<Word> uses;
  std::vector<Trigger> triggers;
  bool mute_all = false;
  std::vector<Asset> muted;
  std::optional<PartitionedLine> partitioned;
  std::optional<Word> freshness;
  std::optional<Word> trigger;
  std::optional<Word> debounce;
  std::optional<Word> tag;
  std::optional<RetryLine> retry;
  std::optional<MaterializeLine> materialize;
  std::vector<Test> tests;
  std::vector<DeclaredLineage> lineage;
  std::vector<Metric> metrics;
  std::vector<Argument> arguments;
  /// True if any line is an annotation or argument, accepted or not; prose does not count.
  bool is_present = false;
};

/// Reads every line of the header; what is not accepted is left out and said in `findings`.
LineHeader read_header_lines(std::string_view text, const HeaderRegion& region, Findings& findings);

/// True if the line, without its comment marks, is an annotation that nothing is wrong with.
bool reads_as_annotation(std::string_view line);

/// Splits `<aggregate> [where <predicate>]` at the first `where` outside quotes and parentheses. Both parts are
/// trimmed; the second is empty if there is none. Nothing for a `where` without predicate, or an empty aggregate.
std::optional<std::pair<Piece, Piece>> split_measure(Piece body);

}  // namespace weir
