#include "build/files.h"

#include <set>

#include "build/content.h"
#include "slice.h"

namespace weir::build {
namespace {

class Files : public Slice {
 protected:
  void SetUp() override {
    Slice::SetUp();
    attach_lake();
    target.folder = folder_of_table("t");
    earlier_rows = 100'000;
  }
  std::set<std::string> parquet_files() const {
    std::set<std::string> found;
    if (!std::filesystem::exists(folder_ + "/data")) return found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/data"))
      if (entry.is_regular_file()) found.insert(entry.path().string());
    return found;
  }
  void add(const Stage& stage) {
    for (const auto& file : stage.files)
      run(duck::Sql("CALL ducklake_add_data_files('lake', 't', {}, hive_partitioning => {})", duck::Literal(file),
                    duck::Literal(!stage.partition.empty())));
  }
};

constexpr const char* kEveryType =
    "SELECT range::INTEGER AS i, range::UBIGINT AS ub, (range / 4)::DECIMAL(38,10) AS d, (range / 3)::DOUBLE AS f, 'v' "
    "|| range AS v, DATE '2020-01-01' + (range % 100)::INTEGER AS dt, "
    "TIMESTAMP '2020-01-01 00:00:00.123456' AS ts, '2020-01-01 00:00:01'::TIMESTAMP_S AS tss, '2020-01-01 "
    "00:00:01.5'::TIMESTAMP_MS AS tms, '2020-01-01 00:00:00.123456789'::TIMESTAMP_NS AS tns, "
    "'2020-01-01 00:00:00+00'::TIMESTAMPTZ AS tz, TIME '10:00:00' AS t, true AS b, 'x'::BLOB AS bl, '{\"a\": 1}'::JSON "
    "AS j, [range, NULL] AS l, {'a b': range, 'q': ['x']} AS s, MAP {'k': range} AS m, "
    "CASE WHEN range % 2 = 0 THEN range END AS half, NULL::VARCHAR AS n, sum(range) OVER () AS h FROM range(120000)";

TEST_F(Files, LargeReplaceIsFilesInTheTablesFolderThatTheLakeTakes) {
  const auto stage = compute_now(kEveryType);
  ASSERT_TRUE(stage.has_value()) << stage.error()[0].message;
  ASSERT_FALSE(stage->files.empty());
  for (const auto& file : stage->files) EXPECT_TRUE(file.starts_with(target.folder + "weir-RUN-7-")) << file;
  EXPECT_EQ(stage->content.rows, 120000);
  EXPECT_EQ(stage->content.columns.at("half").nulls, 60000);
  EXPECT_EQ(stage->content.columns.at("n").nulls, 120000);
  EXPECT_EQ(stage->content.columns.at("l").nulls, 0);
  EXPECT_EQ(stage->content.columns.at("i").maximum, "119999");
  EXPECT_GT(stage->bytes, 0);

  std::vector<duck::Sql> columns;
  for (const auto& column : stage->columns)
    columns.emplace_back("{} {}", duck::Identifier(column.name), duck::Sql::verbatim(column.type));
  run(duck::Sql("CREATE TABLE lake.t ({})", duck::Sql::join(columns, ", ")));
  add(*stage);
  EXPECT_EQ(one("SELECT count(*) FROM lake.t"), "120000");
  EXPECT_EQ(one(duck::Sql("SELECT count(*) FROM (FROM lake.t EXCEPT ALL FROM {})", stage->relation)), "0");
  EXPECT_EQ(one(duck::Sql("SELECT count(*) FROM (FROM {} EXCEPT ALL ({}))", stage->relation,
                          duck::Sql::verbatim(kEveryType))),
            "0");
}

TEST_F(Files, MemoryAndFilesAddUpTheSame) {
  auto by_files = compute_now(kEveryType);
  ASSERT_TRUE(by_files.has_value());
  ASSERT_FALSE(by_files->files.empty());
  ASSERT_TRUE(add_hashes(*clean_, *by_files).has_value());
  discard(*clean_, *by_files, false);
  earlier_rows = 0;
  auto by_memory = compute_now(kEveryType);
  ASSERT_TRUE(by_memory.has_value());
  ASSERT_TRUE(by_memory->files.empty());
  ASSERT_TRUE(add_hashes(*clean_, *by_memory).has_value());
  // Of rows in memory hashes are kept, not bounds.
  auto counted = sum_up(*clean_, by_memory->relation, by_memory->columns, Sums::Bounds);
  ASSERT_TRUE(counted.has_value());
  counted->sum = by_memory->content.sum;
  counted->sum_of_hashes = by_memory->content.sum_of_hashes;
  EXPECT_EQ(to_json(by_files->content), to_json(*counted));
  EXPECT_EQ(by_files->columns, by_memory->columns);
}

TEST_F(Files, PartitionSlicesLieBelowTheirHiveFolderWithTheColumnInside) {
  model.partitioning.emplace();
  const std::string value = "a/b 'c'%é=..";
  const auto stage = compute_now("SELECT range AS id FROM range(150000)", value);
  ASSERT_TRUE(stage.has_value()) << stage.error()[0].message;
  ASSERT_FALSE(stage->files.empty());
  EXPECT_TRUE(stage->files[0].starts_with(target.folder + "_wm_partition=a%2Fb%20%27c%27%25%C3%A9%3D../weir-RUN-7-"))
      << stage->files[0];
  run("CREATE TABLE lake.t (id BIGINT, _wm_partition VARCHAR)");
  run("ALTER TABLE lake.t SET PARTITIONED BY (_wm_partition)");
  add(*stage);
  EXPECT_EQ(one(duck::Sql("SELECT count(*) FROM lake.t WHERE _wm_partition = {}", duck::Literal(value))), "150000");
  EXPECT_EQ(one("SELECT count(DISTINCT _wm_partition) FROM lake.t"), "1");
  EXPECT_EQ(one(duck::Sql("SELECT DISTINCT _wm_partition FROM {}", stage->relation)), value);
}

TEST_F(Files, EstimateDecidesWhereNoEarlierCountIsKnown) {
  earlier_rows.reset();
  const auto large = compute_now("SELECT range AS id FROM range(200000)");
  ASSERT_TRUE(large.has_value());
  EXPECT_FALSE(large->files.empty());
  const auto small = compute_now("SELECT range AS id FROM range(2000)");
  ASSERT_TRUE(small.has_value());
  EXPECT_TRUE(small->files.empty());
}

TEST_F(Files, OnlyReplaceAndAppendIntoAPlainLocalFolderUseThem) {
  const auto uses_files = [&](const std::string& query = "SELECT range AS id FROM range(10)") {
    const auto stage = compute_now(query);
    EXPECT_TRUE(stage.has_value()) << query << (stage ? "" : stage.error()[0].message);
    if (!stage) return false;
    const bool files = !stage->files.empty();
    discard(*clean_, *stage, false);
    return files;
  };
  EXPECT_TRUE(uses_files());
  EXPECT_FALSE(uses_files("SELECT '10:00:00+00'::TIMETZ AS t"));
  EXPECT_FALSE(uses_files("SELECT INTERVAL '1 day' AS t"));
  model.strategy = Strategy::Append;
  EXPECT_TRUE(uses_files());
  model.strategy = Strategy::Merge;
  EXPECT_FALSE(uses_files());
  model.strategy = Strategy::Replace;
  target.partitioned_by = {"id"};
  EXPECT_FALSE(uses_files());
  target.partitioned_by.clear();
  target.has_other_partitioning = true;
  EXPECT_FALSE(uses_files());
  target.has_other_partitioning = false;
  target.has_plain_folder = false;
  EXPECT_FALSE(uses_files());
  target.has_plain_folder = true;
  target.folder = "s3://bucket/data/main/t/";
  EXPECT_FALSE(uses_files());
}

TEST_F(Files, NoRowsLeaveNoFile) {
  const auto stage = compute_now("SELECT range AS id FROM range(10) WHERE range > 100");
  ASSERT_TRUE(stage.has_value());
  EXPECT_TRUE(stage->files.empty());
  EXPECT_TRUE(parquet_files().empty());
  EXPECT_EQ(one(duck::Sql("SELECT count(*) FROM {}", stage->relation)), "0");
  EXPECT_EQ(stage->columns[0].type, "BIGINT");
}

TEST_F(Files, AFailedWriteLeavesNoFile) {
  EXPECT_EQ(codes_of("SELECT CASE WHEN range = 499999 THEN error('late') ELSE range END AS id FROM range(500000)"),
            "W4001");
  EXPECT_TRUE(parquet_files().empty());
}

TEST_F(Files, RequiredColumnsAreCheckedAndTheFilesRemoved) {
  target_of({{.name = "id", .type = "BIGINT", .nullable = false}});
  EXPECT_EQ(codes_of("SELECT CASE WHEN range <> 5 THEN range END AS id FROM range(150000)"), "W4203");
  EXPECT_TRUE(parquet_files().empty());
}

TEST_F(Files, ALossyCastIsProvenInMemory) {
  target_of({{.name = "n", .type = "BIGINT"}});
  const auto stage = compute_now("SELECT range::VARCHAR AS n FROM range(150000)");
  ASSERT_TRUE(stage.has_value());
  EXPECT_TRUE(stage->files.empty());
  const auto exact = compute_now("SELECT sum(range) AS n FROM range(10)");
  ASSERT_TRUE(exact.has_value());
  EXPECT_FALSE(exact->files.empty());
  EXPECT_EQ(codes_of("SELECT 9223372036854775808::HUGEINT AS n"), "W4001");
  EXPECT_NE(last[0].hint.find("from HUGEINT to the table's type BIGINT"), std::string::npos) << last[0].hint;
}

TEST_F(Files, DiscardRemovesWhatWasNotPublishedOnly) {
  const auto kept = compute_now("SELECT range AS id FROM range(10)");
  ASSERT_TRUE(kept.has_value());
  discard(*clean_, *kept, true);
  const auto files = parquet_files();
  EXPECT_EQ(files.size(), kept->files.size());
  const auto gone = compute_now("SELECT range AS id FROM range(10)");
  ASSERT_TRUE(gone.has_value());
  EXPECT_NE(gone->files, kept->files);
  discard(*clean_, *gone, false);
  EXPECT_EQ(parquet_files(), files);
}

TEST_F(Files, ADiskThatIsKnownToBeTooSmallIsAskedBeforeAnythingIsWritten) {
  earlier_rows = 1'000'000'000'000'000;
  EXPECT_EQ(codes_of("SELECT range AS id FROM range(10)"), "W9012");
  EXPECT_TRUE(parquet_files().empty());
}

}  // namespace
}  // namespace weir::build
