// Rows that go by files into the table are the rows that go by memory, whatever the partition is called.
#include "build/stage.h"
#include "publishing.h"

namespace weir::publish {
namespace {

class ByFiles : public Publishing {
 protected:
  void SetUp() override {
    Publishing::SetUp();
    partitioned();
    computes("SELECT i AS id, [NULL, '', 'x/%é'][i % 3 + 1] AS text, (i / 2)::DOUBLE AS real FROM t");
  }

  /// Computes `rows` rows as a step does: into files if an earlier run had many, and publishes them.
  std::optional<Effect> write(const std::string& table_name, const std::string& partition, std::int64_t rows,
                              bool by_files) {
    model.target->name = table_name;
    run("CREATE OR REPLACE TABLE _weir_stage.main.t AS SELECT i FROM range(" + std::to_string(rows) + ") r(i)");
    build::StageRequest request{.model = model,
                                .partition = partition,
                                .run = "RUN",
                                .step = static_cast<std::size_t>(steps_++),
                                .setup = {parse::Spliced::generated("USE _weir_stage.main")},
                                .query = parse::Spliced::make(model.source->text, model.result().span, {}),
                                .target = state(),
                                .lake = lake(),
                                .earlier_rows = by_files ? 100'000 : 0};
    auto transaction = duck::Transaction::begin(clean());
    auto staged = build::compute(clean(), request);
    EXPECT_TRUE(transaction->commit().has_value());
    run("USE memory.main");
    if (!staged) {
      failure = staged.error();
      return std::nullopt;
    }
    used_files = !staged->files.empty();
    auto effect = publish(*staged);
    build::discard(clean(), *staged, effect && effect->changes && effect->takes_files);
    return effect;
  }

  bool used_files = false;

 private:
  int steps_ = 0;
};

TEST_F(ByFiles, EveryPartitionValueGivesTheTableThatMemoryGives) {
  const std::string values[] = {"a b", " ",    "..",    "../up", "a/b", "50%",  "%2F",   "é ∑",
                                "a=b", "it's", "\"q\"", "a\nb",  "NaN", "*?[{", "'; --", "\\"};
  for (const std::string& value : values) {
    for (const bool by_files : {true, false}) {
      const auto effect = write(by_files ? "by_files" : "by_memory", value, 7, by_files);
      ASSERT_TRUE(effect) << value << ": " << failure.front().message;
      EXPECT_EQ(used_files, by_files) << value;
      EXPECT_EQ(effect->takes_files, by_files) << value;
    }
  }
  model.target->name = "by_memory";
  const std::string by_memory = table();
  model.target->name = "by_files";
  same_rows(by_memory, table());
  EXPECT_EQ(number("SELECT count(DISTINCT _wm_partition) FROM " + table()), std::ssize(values));
  EXPECT_FALSE(write("by_files", "50%", 7, true)->changes);
  for (const bool by_files : {true, false}) ASSERT_TRUE(write(by_files ? "by_files" : "by_memory", "%2F", 3, by_files));
  same_rows(by_memory, table());
}

// Read back from a folder's name these are no value.
TEST_F(ByFiles, APartitionCalledNullGoesByMemory) {
  for (const char* value : {"null", "NULL", "Null"}) {
    ASSERT_TRUE(write("by_files", value, 4, true));
    EXPECT_FALSE(used_files);
    EXPECT_EQ(ask(duck::Sql("SELECT count(*) FROM {} WHERE _wm_partition = {}", duck::Sql::verbatim(table()),
                            duck::Literal(std::string(value))))
                  .integer(0, 0),
              4);
  }
}

TEST_F(ByFiles, APartitionThatNoFolderCanNameIsRefusedOnBothWays) {
  for (const std::string& value : {std::string(), std::string("__HIVE_DEFAULT_PARTITION__"), std::string(100, '\'')}) {
    for (const bool by_files : {true, false}) {
      EXPECT_FALSE(write("by_files", value, 4, by_files)) << value;
      EXPECT_TRUE(failed_with(Code::W4106)) << value;
    }
  }
}

TEST_F(ByFiles, ReplaceAndAppendOfTheWholeTableAgree) {
  model.partitioning.reset();
  for (const auto strategy : {Strategy::Replace, Strategy::Append}) {
    model.strategy = strategy;
    for (const std::int64_t rows : {9, 0, 5})
      for (const bool by_files : {true, false})
        ASSERT_TRUE(write(by_files ? "by_files" : "by_memory", "", rows, by_files)) << failure.front().message;
    model.target->name = "by_memory";
    const std::string by_memory = table();
    model.target->name = "by_files";
    same_rows(by_memory, table());
  }
}

}  // namespace
}  // namespace weir::publish
