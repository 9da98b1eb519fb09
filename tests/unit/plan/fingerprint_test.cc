#include "plan/fingerprint.h"

#include "support/loaded_project.h"

namespace weir::plan {
namespace {

const std::string kHeader = "-- materialize ducklake://main/t key=id\n";

// The fingerprint of the one model `m` with this text.
std::string print_of(const std::string& text) {
  LoadedProject project;
  project.model("m", text);
  const auto all = fingerprints(project.graph());
  const auto found = all.find("m");
  if (found != all.end()) return found->second;
  ADD_FAILURE() << "refused:\n" << text;
  return {};
}

TEST(Fingerprint, HasSixteenHexadecimalDigits) {
  const std::string print = print_of(kHeader + "SELECT 1 AS id");
  EXPECT_EQ(print.size(), 16U);
  EXPECT_EQ(print.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Fingerprint, CommentsLayoutKeywordCaseAndNeedlessQuotesDoNotCount) {
  const std::string print = print_of(kHeader + "SELECT id, v FROM src WHERE v > 1");
  for (const std::string query :
       {"select id, v from src where v > 1", "SELECT id,v\nFROM src -- why\nWHERE /* so */ v>1",
        "SELECT \"id\", \"v\" FROM \"src\" WHERE v > 1", "SELECT id, v FROM src WHERE v > 1;"})
    EXPECT_EQ(print_of(kHeader + query), print) << query;
}

TEST(Fingerprint, EditingALibraryChangesItsCallersAndNothingElse) {
  const auto prints = [](const std::string& body, const std::string& comment = "") {
    LoadedProject project;
    project.model("lib/money", "-- macros\nCREATE MACRO net(x) AS rate(x);" + comment + "\nCREATE MACRO rate(x) AS " +
                                   body + ";\nCREATE MACRO other(x) AS x;");
    project.model("caller", kHeader + "SELECT net(1) AS id");
    project.model("plain", "-- materialize ducklake://main/p\nSELECT other(1) AS id");
    project.model("reader", "-- materialize ducklake://main/r\nSELECT id FROM t");
    return fingerprints(project.graph());
  };
  const auto before = prints("x * 2");
  const auto after = prints("x * 3");
  EXPECT_NE(after.at("caller"), before.at("caller"));
  EXPECT_NE(after.at("reader"), before.at("reader"));
  EXPECT_EQ(after.at("plain"), before.at("plain"));
  EXPECT_EQ(prints("x*2", " -- why"), before);
}

TEST(Fingerprint, TestsDescriptionsTagsAndSchedulesDoNotCount) {
  const std::string query = "SELECT 1 AS id";
  const std::string print = print_of(kHeader + query);
  for (const std::string line : {"-- data_test not_null id", "-- tag heavy", "-- freshness 1h", "-- retry 3 30s"})
    EXPECT_EQ(print_of(kHeader + line + "\n" + query), print) << line;
}

TEST(Fingerprint, WhatChangesTheDataCounts) {
  const std::string window = "/*\nweir: {strategy: incremental_by_time, ";
  const std::string file = "/*\nweir: {materialise: file, ";
  const std::vector<std::string> texts = {
      kHeader + "SELECT id, v FROM src",
      kHeader + "SELECT id, v FROM src WHERE v > 1",
      kHeader + "SELECT id, v FROM src WHERE v > 2",
      kHeader + "SELECT id, v AS w FROM src",
      kHeader + "SELECT v, id FROM src",
      kHeader + "SELECT ID, v FROM src",
      kHeader + "SET TimeZone = 'UTC'; SELECT id, v FROM src",
      kHeader + "CREATE TEMP TABLE src AS SELECT 1 AS id, 2 AS v; SELECT id, v FROM src",
      kHeader + "-- $v (integer)\nSELECT id, $v AS v FROM src",
      kHeader + "-- $v (integer) = 1\nSELECT id, $v AS v FROM src",
      kHeader + "-- $v (integer) = 2\nSELECT id, $v AS v FROM src",
      kHeader + "-- $v (s3object) = s3:///a\nSELECT id, $v AS v FROM src",
      kHeader + "-- $v (s3object) = s3:///b\nSELECT id, $v AS v FROM src",
      "-- materialize ducklake://main/t key=v\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t append\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t2 key=id\nSELECT id, v FROM src",
      "-- materialize ducklake://w/t key=id\nSELECT id, v FROM src",
      "-- materialize scd2 ducklake://main/t key=id\nSELECT id, v FROM src",
      "-- materialize scd2 ducklake://main/t key=id track=v\nSELECT id, v FROM src",
      "-- materialize scd2 ducklake://main/t key=id track=id untracked=refresh\nSELECT id, v FROM src",
      "-- materialize scd2 ducklake://main/t key=id deletes=close\nSELECT id, v FROM src",
      "-- materialize scd2 ducklake://main/t key=id deletes=mark\nSELECT id, v FROM src",
      "-- materialize scd2 ducklake://main/t key=id valid_from=v\nSELECT id, v FROM src",
      "-- materialize scd2 ducklake://main/t key=id validity=a,b,c\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t key=id\n-- partitioned daily\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t key=id\n-- partitioned hourly\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t key=id\n-- partitioned daily tz=Europe/Paris\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t key=id duplicates=fail\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t key=id duplicates=last order=v\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t key=id duplicates=last order=w\nSELECT id, v FROM src",
      "-- materialize ducklake://main/t key=id\n-- partitioned daily format=%Y%m%d\nSELECT id, v FROM src",
      window + "time_column: v}\n*/\nSELECT id, v FROM src",
      window + "time_column: w}\n*/\nSELECT id, v FROM src",
      window + "time_column: v, interval: 1h}\n*/\nSELECT id, v FROM src",
      window + "time_column: v, lookback: 2d}\n*/\nSELECT id, v FROM src",
      window + "time_column: v, tz: Europe/Paris}\n*/\nSELECT id, v FROM src",
      file + "path: out/a.csv, format: csv}\n*/\nSELECT id, v FROM src",
      file + "path: out/b.csv, format: csv}\n*/\nSELECT id, v FROM src",
      file + "path: out/a.csv, format: json}\n*/\nSELECT id, v FROM src",
      file + "path: out/a.csv, format: csv, environments: [dev, prod]}\n*/\nSELECT id, v FROM src",
      "-- materialize manual ducklake://main/t\nINSERT INTO t SELECT 1",
      "-- materialize manual ducklake://main/t\nINSERT INTO t SELECT 2",
  };
  std::map<std::string, std::string> seen;
  for (const std::string& text : texts) {
    const auto [other, is_new] = seen.emplace(print_of(text), text);
    EXPECT_TRUE(is_new) << text << "\nhas the fingerprint of\n" << other->second;
  }
}

TEST(Fingerprint, TheOrderOfEnvironmentsDoesNotCount) {
  const auto print = [](const std::string& environments) {
    return print_of("/*\nweir: {materialise: file, path: out/a.csv, format: csv, environments: [" + environments +
                    "]}\n*/\nSELECT 1 AS id");
  };
  EXPECT_EQ(print("dev, prod"), print("prod, dev"));
  EXPECT_NE(print("dev, prod"), print("prod"));
}

// Tables and ledgers of earlier versions are found by these digits: what changes them changes kVersion too, on purpose.
TEST(Fingerprint, VersionOneOfIt) {
  EXPECT_EQ(print_of("-- materialize ducklake://main/t key=id\n-- partitioned daily tz=Europe/Paris\nSELECT id, v FROM "
                     "src WHERE v > 1"),
            "a5dd49d7d0349cd9");
}

TEST(Fingerprint, AnInputsFingerprintCountsAndOnlyAnInputs) {
  const auto prints = [](const std::string& a) {
    LoadedProject project;
    project.model("a", "-- materialize ducklake://main/a\nSELECT " + a + " AS id");
    project.model("b", "-- materialize ducklake://main/b\nSELECT * FROM a");
    project.model("c", "-- materialize ducklake://main/c\nSELECT * FROM b");
    project.model("x", "-- materialize ducklake://main/x\nSELECT 1 AS id");
    return fingerprints(project.graph());
  };
  const auto before = prints("1");
  const auto after = prints("2");
  for (const std::string path : {"a", "b", "c"}) EXPECT_NE(before.at(path), after.at(path)) << path;
  EXPECT_EQ(before.at("x"), after.at("x"));
}

}  // namespace
}  // namespace weir::plan
