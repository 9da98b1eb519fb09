// Unit tests of models: a file under a tests root that says what a model's query returns for given rows.
//
//     model: sales/orders_daily
//     partition: 2026-07-05
//     now: 2026-07-05T12:00:00Z
//     inputs:
//       main.orders:
//         - {id: 1, amount: 5}
//     expect:
//       - {day: 2026-07-05, total: 5}
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "project/config.h"
#include "project/model.h"
#include "project/piece.h"

namespace weir {

/// A value as YAML gives it, before it has a type.
struct UnitValue {
  Span span;
  bool is_null = false;
  /// Lists and mappings are JSON.
  bool is_nested = false;
  std::string text;
};

struct UnitRow {
  Span span;
  std::vector<std::pair<Word, UnitValue>> cells;
};

/// Rows of an input, or those that are expected.
struct UnitRows {
  /// Of an input: as the test names it.
  Word name;
  /// Types that the test gives itself.
  std::vector<std::pair<Word, Word>> columns;
  std::vector<UnitRow> rows;
};

struct UnitTest {
  /// The file's path below its root without extension.
  std::string name;
  std::shared_ptr<const Source> source;
  Word model;
  std::string description;
  std::optional<Word> partition;
  std::optional<Word> window_start;
  std::optional<Word> window_end;
  std::vector<std::pair<Word, Word>> arguments;
  std::optional<Word> now;
  std::vector<UnitRows> inputs;
  UnitRows expected;
  /// The rows must come in this order.
  bool is_ordered = false;
  /// What is wrong with the file itself.
  Diagnostics diagnostics;
};

/// Reads one file. Errors, among its diagnostics: W2410 no YAML, W2411 an unknown key, W2412 a wrong or missing value.
UnitTest read_unit_test(std::shared_ptr<const Source> source, const std::string& name);

/// Reads all `.yaml` and `.yml` files under the tests roots, sorted by path. Errors: a folder or file that cannot be
/// read.
Result<std::vector<UnitTest>> read_unit_tests(const Config& config);

}  // namespace weir
