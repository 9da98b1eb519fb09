#include <gtest/gtest.h>

#include "project/unit_test.h"
#include "text/line_index.h"

namespace weir {
namespace {

UnitTest read(const std::string& text) {
  auto source = std::make_shared<Source>();
  source->path = "tests/t.yaml";
  source->text = text;
  return read_unit_test(source, "t");
}

// "3:5 W2412" of each complaint.
std::vector<std::string> said(const std::string& text) {
  const UnitTest test = read(text);
  std::vector<std::string> lines;
  for (const Diagnostic& one : test.diagnostics) {
    const auto place = text::LineIndex(test.source->text).position(one.span.begin);
    lines.push_back(std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                    std::string(name_of(one.code)));
  }
  return lines;
}
using Lines = std::vector<std::string>;

TEST(UnitTestFile, EverythingIsReadWithItsPlace) {
  const UnitTest test = read(
      "model: a/b\ndescription: why\npartition: 2026-07-05\nnow: 2026-07-05T12:00:00Z\nargs: {cutoff: 5}\n"
      "window: {start: 2026-07-05, end: 2026-07-06}\ninputs:\n  main.x:\n    - {id: 1, name: \"null\", gone: ~, list: "
      "[1, "
      "'2', ~], map: {b: 1, a: x}}\n  y: {columns: {id: INT}, rows: []}\nexpect:\n  ordered: true\n  rows:\n  - {id: "
      "7}\n");
  EXPECT_TRUE(test.diagnostics.empty());
  EXPECT_EQ(test.model.text, "a/b");
  EXPECT_EQ(test.source->text.substr(test.model.span.begin, test.model.span.size()), "a/b");
  EXPECT_EQ(test.partition->text, "2026-07-05");
  EXPECT_EQ(test.window_end->text, "2026-07-06");
  EXPECT_EQ(test.now->text, "2026-07-05T12:00:00Z");
  EXPECT_EQ(test.arguments.at(0).second.text, "5");
  ASSERT_EQ(test.inputs.size(), 2U);
  const auto& cells = test.inputs[0].rows.at(0).cells;
  EXPECT_EQ(cells[0].second.text, "1");
  EXPECT_FALSE(cells[1].second.is_null);
  EXPECT_EQ(cells[1].second.text, "null");
  EXPECT_TRUE(cells[2].second.is_null);
  EXPECT_EQ(cells[3].second.text, "[1,\"2\",null]");
  EXPECT_EQ(cells[4].second.text, "{\"b\":1,\"a\":\"x\"}");
  EXPECT_EQ(test.inputs[1].columns.at(0).second.text, "INT");
  EXPECT_TRUE(test.is_ordered);
  EXPECT_EQ(test.expected.rows.size(), 1U);
}

TEST(UnitTestFile, NumbersKeepTheirDigits) {
  const UnitTest test = read("model: m\nexpect: [{a: [0.10, 12345678901234567890123, 1e3]}]");
  EXPECT_EQ(test.expected.rows.at(0).cells[0].second.text, "[\"0.10\",\"12345678901234567890123\",\"1e3\"]");
}

TEST(UnitTestFile, SlipsAreToldAtTheirPlace) {
  EXPECT_EQ(said("model: m\nexpects: []\nexpect: []"), Lines{"2:1 W2411"});
  EXPECT_EQ(said("expect: []"), Lines{"1:1 W2412"});
  EXPECT_EQ(said("model: m"), Lines{"1:1 W2412"});
  EXPECT_EQ(said("model: m\ninputs: 5\nexpect: []"), Lines{"2:9 W2412"});
  EXPECT_EQ(said("model: m\ninputs:\n  x: {row: []}\nexpect: []"), Lines{"3:7 W2411"});
  EXPECT_EQ(said("model: m\nexpect: {ordered: maybe, rows: []}"), Lines{"2:19 W2412"});
  EXPECT_EQ(said("model: m\nwindow: 5\nexpect: []"), Lines{"2:9 W2412"});
  EXPECT_EQ(said("- model: m"), Lines{"1:1 W2410"});
  EXPECT_EQ(said("model: [\nexpect: []").size(), 1U);
  EXPECT_EQ(read("model: m\nexpects: []\nexpect: []").diagnostics[0].hint, "did you mean `expect`?");
}

}  // namespace
}  // namespace weir
