#include "graph/select.h"

#include "support/loaded_project.h"

namespace weir {
namespace {

using Paths = std::set<std::string>;
using Codes = std::vector<Code>;

// raw/a → stage/b → stage/c → mart/d; raw/e → mart/d; other/b apart.
class Selecting : public testing::Test {
 protected:
  void SetUp() override {
    put("raw/a", "a", "-- tag night", "1 AS id");
    put("raw/e", "e", "", "1 AS id");
    put("stage/b", "b", "-- tag night", "* FROM a");
    put("stage/c", "c", "-- tag heavy", "* FROM b");
    put("mart/d", "d", "", "c.id FROM c JOIN e USING (id)");
    put("other/b", "other_b", "", "1 AS id");
    graph_ = std::make_unique<Graph>(project_.graph());
  }
  void put(const std::string& path, const std::string& table, const std::string& header, const std::string& query) {
    project_.model(path, "-- materialize ducklake://main/" + table + "\n" + header + "\nSELECT " + query);
  }
  Paths chosen(std::vector<std::string> select, std::vector<std::string> exclude = {}) {
    return chosen(Selection{std::move(select), std::move(exclude), {}, {}});
  }
  Paths chosen(const Selection& selection) {
    auto paths = weir::select(*graph_, selection, warnings_);
    if (paths.has_value()) return *paths;
    for (const Diagnostic& one : paths.error()) codes_.push_back(one.code);
    return {};
  }
  LoadedProject project_;
  std::unique_ptr<Graph> graph_;
  Diagnostics warnings_;
  Codes codes_;
};

TEST_F(Selecting, NothingMeansEverything) { EXPECT_EQ(chosen(std::vector<std::string>{}).size(), 6U); }

TEST_F(Selecting, NamesPathsAndGlobs) {
  EXPECT_EQ(chosen({"stage/b"}), (Paths{"stage/b"}));
  EXPECT_EQ(chosen({"d"}), (Paths{"mart/d"}));
  EXPECT_EQ(chosen({"stage/*"}), (Paths{"stage/b", "stage/c"}));
  EXPECT_EQ(chosen({"**/b"}), (Paths{"other/b", "stage/b"}));
  EXPECT_EQ(chosen({"?a?/*"}), (Paths{"raw/a", "raw/e"}));
}

TEST_F(Selecting, TagsFoldersUnionsAndIntersections) {
  EXPECT_EQ(chosen({"tag:night"}), (Paths{"raw/a", "stage/b"}));
  EXPECT_EQ(chosen({"folder:raw"}), (Paths{"raw/a", "raw/e"}));
  EXPECT_EQ(chosen({"tag:night", "mart/d"}), (Paths{"mart/d", "raw/a", "stage/b"}));
  EXPECT_EQ(chosen({"tag:night,folder:stage"}), (Paths{"stage/b"}));
}

TEST_F(Selecting, WhatLiesAboveAndBelow) {
  EXPECT_EQ(chosen({"+stage/c"}), (Paths{"raw/a", "stage/b", "stage/c"}));
  EXPECT_EQ(chosen({"1+stage/c"}), (Paths{"stage/b", "stage/c"}));
  EXPECT_EQ(chosen({"stage/b+1"}), (Paths{"stage/b", "stage/c"}));
  EXPECT_EQ(chosen({"e+"}), (Paths{"mart/d", "raw/e"}));
  EXPECT_EQ(chosen({"+d"}, {"tag:heavy"}), (Paths{"mart/d", "raw/a", "raw/e", "stage/b"}));
}

TEST_F(Selecting, FromAndToKeepThePathBetween) {
  EXPECT_EQ(chosen(Selection{{}, {}, "stage/b", {"mart/d"}}), (Paths{"mart/d", "stage/b", "stage/c"}));
  EXPECT_EQ(chosen(Selection{{}, {}, "raw/a", {"ducklake://main/c"}}), (Paths{"raw/a", "stage/b", "stage/c"}));
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(Selecting, AnEndThatIsNotBelowTheStartIsLeftOutAndSaid) {
  EXPECT_EQ(chosen(Selection{{}, {}, "raw/e", {"mart/d", "stage/b"}}), (Paths{"mart/d", "raw/e"}));
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_EQ(warnings_.front().code, Code::W2014);
}

TEST_F(Selecting, UnknownAndAmbiguousNamesAreErrors) {
  chosen({"stage/bb"});
  chosen({"b"});
  chosen({"tag:nihgt"});
  EXPECT_EQ(codes_, (Codes{Code::W2010, Code::W2011, Code::W2010}));
}

TEST_F(Selecting, TakesModelsByState) {
  Selection selection{{"state:modified+"}, {"state:failed"}, {}, {}};
  std::vector<std::string> asked;
  selection.in_state = [&asked](const std::string& state) -> Result<Paths> {
    asked.push_back(state);
    return state == "modified" ? Paths{"stage/b"} : Paths{"mart/d"};
  };
  EXPECT_EQ(chosen(selection), (Paths{"stage/b", "stage/c"}));
  EXPECT_EQ(asked, (std::vector<std::string>{"modified", "failed"}));
}

TEST_F(Selecting, StateThatHoldsNothingIsNoMistake) {
  Selection selection{{"state:modified"}, {}, {}, {}};
  selection.in_state = [](const std::string&) -> Result<Paths> { return Paths{}; };
  EXPECT_EQ(chosen(selection), Paths{});
  EXPECT_EQ(codes_, Codes{});
}

TEST_F(Selecting, StateOfAnotherNameIsRefused) {
  Selection selection{{"state:odd"}, {}, {}, {}};
  selection.in_state = [](const std::string&) -> Result<Paths> { return Paths{}; };
  EXPECT_EQ(chosen(selection), Paths{});
  EXPECT_EQ(codes_, Codes{Code::W2010});
}

}  // namespace
}  // namespace weir
