#include "cli/drawing.h"

#include <gtest/gtest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace weir::cli {
namespace {

Drawing drawing() {
  return {.boxes = {{"mart/a \"b\"", "a \"b\"", "mart", Drawing::Box::Shape::Plain},
                    {"src", "x<y> & #1", "", Drawing::Box::Shape::Source},
                    {"file:a\\b", "a\\b", "", Drawing::Box::Shape::File}},
          .arrows = {{"src", "mart/a \"b\"", "", false}, {"file:a\\b", "mart/a \"b\"", "on", true}}};
}

TEST(Drawing, DotQuotesNames) {
  const std::string dot = to_dot(drawing());
  EXPECT_NE(dot.find("subgraph cluster_0 {\n    label=\"mart\";\n    \"mart/a \\\"b\\\"\" [label=\"a \\\"b\\\"\"];"),
            std::string::npos)
      << dot;
  EXPECT_NE(dot.find("\"file:a\\\\b\" [label=\"a\\\\b\", shape=note];"), std::string::npos) << dot;
  EXPECT_NE(dot.find("\"file:a\\\\b\" -> \"mart/a \\\"b\\\"\" [label=\"on\", style=dashed];"), std::string::npos)
      << dot;
}

TEST(Drawing, MermaidWritesCodesForItsOwnSigns) {
  const std::string text = to_mermaid(drawing());
  EXPECT_TRUE(text.starts_with("flowchart LR\n  subgraph g0[\"mart\"]\n    n0[\"a #quot;b#quot;\"]\n  end\n")) << text;
  EXPECT_NE(text.find("n1(\"x#lt;y#gt; #amp; #35;1\")"), std::string::npos) << text;
  EXPECT_NE(text.find("n2 -.->|\"on\"| n0"), std::string::npos) << text;
}

/// A PATH that holds nothing, or a program `dot` of this text.
class Graphviz {
 public:
  explicit Graphviz(const std::string& script) {
    std::string name = (std::filesystem::temp_directory_path() / "weir_dot_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    if (!script.empty()) {
      std::ofstream(folder_ + "/dot") << "#!/bin/sh\n" << script << "\n";
      std::filesystem::permissions(folder_ + "/dot", std::filesystem::perms::owner_all);
    }
    const char* before = std::getenv("PATH");
    before_ = before == nullptr ? "" : before;
    setenv("PATH", folder_.c_str(), 1);
  }
  ~Graphviz() {
    setenv("PATH", before_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  Graphviz(const Graphviz&) = delete;
  Graphviz& operator=(const Graphviz&) = delete;

 private:
  std::string folder_;
  std::string before_;
};

TEST(Drawing, SvgWithoutGraphvizIsRefusedWithAWayOut) {
  const Graphviz none("");
  const auto svg = to_svg(drawing());
  ASSERT_FALSE(svg.has_value());
  EXPECT_EQ(svg.error().front().code, Code::W8020);
  EXPECT_NE(svg.error().front().hint.find("graphviz"), std::string::npos);
}

TEST(Drawing, SvgIsWhatGraphvizMakesOfTheDot) {
  const Graphviz echo("echo \"<svg $1>\"; /bin/cat");
  const auto svg = to_svg(drawing());
  ASSERT_TRUE(svg.has_value());
  EXPECT_EQ(*svg, "<svg -Tsvg>\n" + to_dot(drawing()));
}

TEST(Drawing, AFailureOfGraphvizIsPassedOn) {
  const Graphviz broken("echo 'no fonts' >&2; exit 1");
  const auto svg = to_svg(drawing());
  ASSERT_FALSE(svg.has_value());
  EXPECT_NE(svg.error().front().message.find("no fonts"), std::string::npos);
}

}  // namespace
}  // namespace weir::cli
