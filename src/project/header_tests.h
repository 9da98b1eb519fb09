// Data tests: what both notations share, so that a line and an entry of `checks:` mean the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "project/header_options.h"
#include "project/model.h"

namespace weir {

/// What a test needs besides the options that every test takes.
struct TestEntry {
  std::string_view name;
  TestKind kind;
  bool takes_columns;
  bool takes_several_columns;
  /// Its own parameters, the needed ones first.
  std::vector<std::string_view> parameters;
  /// An example of a line that is right.
  std::string_view example;
};

const std::vector<TestEntry>& test_table();
const TestEntry* test_named(std::string_view name);
const TestEntry& entry_of(TestKind kind);

/// Sets one option or parameter from its text. Returns what is wrong with the value, in words; nothing if it was taken.
/// Requires: `name` is an option of every test, or a parameter of this one.
std::optional<std::string> set_test_option(Test& test, std::string_view name, std::string_view value);
/// Sets the violations that are tolerated, from `n` or `n%`. Returns what is wrong with the value, in words.
std::optional<std::string> set_tolerance(Test& test, std::string_view value);
/// True for where, severity, max, scope, name.
bool is_common_test_option(std::string_view name);

/// Says what a test still lacks; nothing if it is complete.
std::optional<std::string> missing_in(const Test& test);

/// The name that results show, unless the user gave one: `unique(a, b)`, `relationships(c -> lake/schema.table.c)`,
/// `custom(path)`.
std::string default_name(const Test& test);

/// Reads what follows `data_test`. Nothing if the line is malformed (said in `findings`). Requires: `tail` is not
/// empty.
std::optional<Test> read_test_line(Piece tail, Findings& findings);

/// Reads `<asset>.<column>`; the column stands behind the last dot.
std::optional<std::pair<Asset, std::string>> read_column_reference(std::string_view text);

/// True for a name within a lake or a database: what a test can read. Storage objects and other URIs are no tables.
bool may_be_table(const Asset& asset);

}  // namespace weir
