#include "text/render.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weir::text {
namespace {

constexpr std::string_view kText = "-- é\tkey=x\nSELECT 1";

std::optional<std::string_view> only_a(std::string_view path) {
  if (path == "a.sql") return kText;
  return std::nullopt;
}

TEST(Render, ShowsTheLineAndMarksThePlace) {
  const Diagnostics found = {
      {.code = Code::W0001, .message = "odd", .path = "a.sql", .span = {6, 9}, .hint = "drop it"}};
  EXPECT_EQ(render_text(found, only_a), "a.sql:1:6: error W0001: odd\n  -- é\tkey=x\n      \t^^^\n  hint: drop it\n");
}

TEST(Render, WithoutAPlaceNamesTheFileAlone) {
  const Diagnostics found = {
      {.code = Code::W0001, .severity = Severity::Warning, .message = "odd", .path = "b.sql", .span = {6, 9}},
      {.code = Code::W0001, .message = "none"}};
  EXPECT_EQ(render_text(found, only_a), "b.sql: warning W0001: odd\nerror W0001: none\n");
}

TEST(Render, AVeryLongLineIsCutAroundThePlace) {
  const std::string text = std::string(5000, 'x') + "HERE" + std::string(5000, 'y');
  const auto source = [&](std::string_view) { return std::optional<std::string_view>(text); };
  const auto shown =
      render_text({{.code = Code::W0001, .message = "m", .path = "a.sql", .span = {5000, 5004}}}, source);
  EXPECT_LT(shown.size(), 400u);
  EXPECT_NE(shown.find("xHEREy"), std::string::npos);
  EXPECT_NE(shown.find(" ^^^^\n"), std::string::npos);
}

TEST(Render, JsonHasBothEndsOfThePlace) {
  const auto json = render_json({{.code = Code::W0001, .message = "odd", .path = "a.sql", .span = {6, 19}}}, only_a);
  EXPECT_EQ(
      json.dump(),
      R"([{"code":"W0001","column":6,"end_column":8,"end_line":2,"line":1,"message":"odd","path":"a.sql","severity":"error"}])");
}

TEST(Render, SortsByPathAndPlaceAndDropsRepetitions) {
  Diagnostics found = {{.code = Code::W0001, .message = "2", .path = "b.sql", .span = {1, 2}},
                       {.code = Code::W0001, .message = "1", .path = "a.sql", .span = {9, 10}},
                       {.code = Code::W0001, .message = "0", .path = "a.sql", .span = {2, 3}},
                       {.code = Code::W0001, .message = "1", .path = "a.sql", .span = {9, 10}}};
  sort_diagnostics(found);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].message + found[1].message + found[2].message, "012");
}

}  // namespace
}  // namespace weir::text
