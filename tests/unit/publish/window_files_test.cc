// Windows that are computed into files: each has files of its own, which the lake ends as a whole.
#include "build/files.h"
#include "build/stage.h"
#include "publishing.h"

namespace weir::publish {
namespace {

struct Shape {
  std::string type;
  std::string interval;
  std::string tz;
  /// Three windows and the middle one, by name.
  std::string slice;
  std::string middle;
};

class WindowFiles : public Publishing {
 protected:
  void take(const Shape& shape) {
    model.strategy = Strategy::IncrementalByTime;
    model.time_column = "t";
    model.interval = shape.interval;
    model.tz = shape.tz;
    computes("SELECT CAST(t AS " + shape.type + ") AS t, i, v FROM rows");
  }

  /// The rows of three days of 2026-07, those of the second one by `factor`.
  void have_rows(int factor) {
    run("CREATE OR REPLACE TABLE _weir_stage.main.rows AS SELECT TIMESTAMP '2026-07-01' + INTERVAL (i % 3) DAY + "
        "INTERVAL "
        "(i % 20) HOUR AS t, i, i * CASE WHEN i % 3 = 1 THEN " +
        std::to_string(factor) + " ELSE 1 END AS v FROM range(66000) r(i)");
  }

  std::optional<Effect> write(const std::string& slice) {
    build::StageRequest request{.model = model,
                                .windows = slice,
                                .run = "RUN",
                                .step = static_cast<std::size_t>(steps_++),
                                .setup = {parse::Spliced::generated("USE _weir_stage.main")},
                                .query = parse::Spliced::make(model.source->text, model.result().span, {}),
                                .target = state(),
                                .lake = lake(),
                                .earlier_rows = 100'000};
    auto transaction = duck::Transaction::begin(clean());
    auto staged = build::compute(clean(), request);
    EXPECT_TRUE(transaction->commit().has_value());
    run("USE memory.main");
    EXPECT_TRUE(staged.has_value()) << staged.error().front().message;
    pieces = staged->pieces.size();
    auto effect = publish(*staged);
    EXPECT_TRUE(effect.has_value()) << failure.front().message;
    const bool is_taken = effect && effect->changes && effect->takes_files;
    build::discard(clean(), *staged, is_taken);
    if (is_taken) build::remove_files(effect->files_left);
    return effect;
  }

  /// Files that live, and delete files of any version.
  std::pair<std::int64_t, std::int64_t> files() {
    const std::string of_table = " WHERE table_id = " + std::to_string(state().table_id);
    return {
        number("SELECT count(*) FROM " + duck::Sql("{}", lake().metadata("ducklake_data_file")).text() + of_table +
               " AND end_snapshot IS NULL"),
        number("SELECT count(*) FROM " + duck::Sql("{}", lake().metadata("ducklake_delete_file")).text() + of_table)};
  }

  std::size_t pieces = 0;

 private:
  int steps_ = 0;
};

TEST_F(WindowFiles, OfEveryTypeGoAsAWholeWhenTheirWindowChanges) {
  const Shape shapes[] = {
      {"DATE", "1d", "", "2026-07-01/2026-07-04", "2026-07-02/2026-07-03"},
      {"TIMESTAMP", "1d", "", "2026-07-01/2026-07-04", "2026-07-02/2026-07-03"},
      {"TIMESTAMP WITH TIME ZONE", "1d", "Etc/GMT-3", "2026-07-01/2026-07-05", "2026-07-02/2026-07-04"}};
  int tables = 0;
  for (const Shape& shape : shapes) {
    model.target->name = "t" + std::to_string(++tables);
    take(shape);
    have_rows(1);
    ASSERT_TRUE(write("all"));
    EXPECT_GE(pieces, 3U) << shape.type;
    const auto first = files();
    EXPECT_EQ(first.first, std::int64_t(pieces)) << shape.type;
    const bool is_date = shape.type == "DATE";
    EXPECT_EQ(state().partitioned_by, is_date ? std::vector<std::string>{"t"} : std::vector<std::string>{});
    have_rows(2);
    const auto changed = write(shape.slice);
    EXPECT_GT(changed->counts.deleted.value_or(0), 0) << shape.type;
    EXPECT_LT(changed->counts.deleted.value_or(0), 66'000) << shape.type;
    EXPECT_EQ(changed->counts.inserted, changed->counts.deleted) << shape.type;
    EXPECT_EQ(files().second, 0) << shape.type;
    EXPECT_FALSE(write(shape.slice)->changes) << shape.type;
    have_rows(3);
    ASSERT_TRUE(write(shape.middle)->changes) << shape.type;
    EXPECT_EQ(files(), std::pair(first.first, std::int64_t{0})) << shape.type;
    same_rows("(SELECT CAST(t AS " + shape.type + ") AS t, i, v FROM _weir_stage.main.rows)", table());
  }
}

// Small windows share a file: each file costs its commit more than rows that are marked.
TEST_F(WindowFiles, AreNotMadeForFewRows) {
  take({"DATE", "1d", "", "", ""});
  run("CREATE OR REPLACE TABLE _weir_stage.main.rows AS SELECT DATE '2026-01-01' + CAST(i % 90 AS INTEGER) AS t, i, i "
      "AS v "
      "FROM range(110000) r(i)");
  ASSERT_TRUE(write("all"));
  EXPECT_EQ(pieces, 0U);
  EXPECT_EQ(files().first, 1);
  EXPECT_TRUE(state().partitioned_by.empty());
  run("UPDATE _weir_stage.main.rows SET v = -1 WHERE t = DATE '2026-01-05'");
  const auto effect = write("2026-01-05/2026-01-06");
  EXPECT_EQ(effect->counts.deleted, 1223);
  same_rows("(SELECT t, i, v FROM _weir_stage.main.rows)", table());
}

TEST_F(WindowFiles, ThatPeoplePartitionedOtherwiseAreWrittenByTheLake) {
  take({"DATE", "1d", "", "", ""});
  have_rows(1);
  ASSERT_TRUE(write("all"));
  run("ALTER TABLE " + target() + " SET PARTITIONED BY (month(t))");
  have_rows(2);
  ASSERT_TRUE(write("2026-07-01/2026-07-04")->changes);
  EXPECT_EQ(pieces, 0U);
  EXPECT_TRUE(state().has_other_partitioning);
  same_rows("(SELECT CAST(t AS DATE) AS t, i, v FROM _weir_stage.main.rows)", table());
}

}  // namespace
}  // namespace weir::publish
