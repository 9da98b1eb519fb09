// Random results through replace and append, whole and by partition, against the naive statements: the table is what
// "delete the slice, insert the result by name" makes of it, whatever columns come and go.
#include <array>
#include <random>

#include "publishing.h"

namespace weir::publish {
namespace {

/// A column that a random result may hold, and the forms of its values.
struct Candidate {
  const char* name;
  const char* sql;
};

// {} stands for a whole number that is different for each row and column.
constexpr std::array<Candidate, 7> kCandidates{{
    {"n", "CASE {} % 5 WHEN 0 THEN NULL ELSE {} % 100 END"},
    {"text", "[NULL, '', 'null', 'a''b', '√ ∑', 'x'][{} % 6 + 1]"},
    {"real", "[NULL, 'nan', 'inf', '-0.0', '1.5'][{} % 5 + 1]::DOUBLE"},
    {"day", "CASE {} % 4 WHEN 0 THEN NULL ELSE DATE '2024-02-27' + ({} % 5)::INTEGER END"},
    {"list", "[NULL, [], [NULL], [1, 2]][{} % 4 + 1]::INTEGER[]"},
    {"gap", "CASE {} % 3 WHEN 0 THEN NULL ELSE INTERVAL (({} % 3)::INTEGER) MONTH END"},
    {"amount", "CASE {} % 3 WHEN 0 THEN NULL ELSE ({} % 1000) / 10 END::DECIMAL(12, 2)"},
}};

class Random : public Publishing {
 protected:
  std::mt19937 generator{20240229};

  std::size_t below(std::size_t limit) { return generator() % limit; }

  /// A SELECT of some of the columns in any order, their types narrower or wider, of 0 to 40 rows. `columns`: whether
  /// they may differ from result to result.
  std::string result(bool columns_vary) {
    std::vector<std::string> columns{"i AS id"};
    for (const Candidate& candidate : kCandidates) {
      if (columns_vary && below(4) == 0) continue;
      std::string sql = candidate.sql;
      const std::string number = "(hash(i, " + std::to_string(generator()) + ") % 1000)::INTEGER";
      for (auto at = sql.find("{}"); at != std::string::npos; at = sql.find("{}", at + number.size()))
        sql.replace(at, 2, number);
      const bool is_wide = std::string_view(candidate.name) == "n" && (!columns_vary || below(2) == 0);
      columns.push_back((is_wide ? "CAST(" + sql + " AS BIGINT)" : sql) + " AS " + candidate.name);
    }
    std::shuffle(columns.begin(), columns.end(), generator);
    std::string select = "SELECT ";
    for (const std::string& column : columns) select += column + ", ";
    select.resize(select.size() - 2);
    const std::size_t rows = below(4) == 0 ? 0 : below(40);
    return select + " FROM range(" + std::to_string(rows) + ") t(i)";
  }

  std::vector<duck::Column> columns_of(const std::string& relation) {
    return *clean().describe(duck::Sql::verbatim("SELECT * FROM " + relation));
  }

  /// What the rows of `staged` make of oracle.expected under the model's mode.
  void expect(const build::Stage& staged, bool replaces, bool by_partition) {
    const std::string rows = staged.relation.text();
    const bool exists = number("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'expected'") > 0;
    if (!exists || (replaces && !by_partition)) return run("CREATE OR REPLACE TABLE oracle.expected AS FROM " + rows);
    const auto now = columns_of("oracle.expected");
    const auto found = [](const std::vector<duck::Column>& columns, const std::string& name) {
      return std::find_if(columns.begin(), columns.end(), [&](const auto& column) { return column.name == name; });
    };
    const auto fresh = columns_of(rows);
    for (const duck::Column& column : fresh) {
      const auto known = found(now, column.name);
      if (known == now.end()) run("ALTER TABLE oracle.expected ADD COLUMN " + column.name + " " + column.type);
      if (known != now.end() && known->type == "INTEGER" && column.type == "BIGINT")
        run("ALTER TABLE oracle.expected ALTER COLUMN " + column.name + " TYPE BIGINT");
    }
    for (const duck::Column& column : now)
      if (model.on_schema_change == SchemaChange::Sync && found(fresh, column.name) == fresh.end())
        run("ALTER TABLE oracle.expected DROP COLUMN " + column.name);
    if (replaces)
      ask(duck::Sql("DELETE FROM oracle.expected WHERE _wm_partition = {}", duck::Literal(staged.partition)));
    run("INSERT INTO oracle.expected BY NAME FROM " + rows);
  }

  /// Six results in a row, into one table.
  void play(Strategy strategy, bool by_partition, SchemaChange mode) {
    SCOPED_TRACE(std::string(name_of(strategy)) + (by_partition ? " by partition " : " whole ") +
                 std::string(name_of(mode)));
    static int tables = 0;
    model.target->name = "t" + std::to_string(tables++);
    model.strategy = strategy;
    model.on_schema_change = mode;
    model.partitioning.reset();
    if (by_partition) partitioned();
    run("DROP TABLE IF EXISTS oracle.expected");
    for (int round = 0; round < 6; ++round) {
      const char* partitions[] = {"2024-02-29", "a'b", "null"};
      const build::Stage staged = stage(result(round > 1), by_partition ? partitions[below(3)] : "");
      expect(staged, strategy == Strategy::Replace, by_partition);
      const auto effect = publish(staged);
      ASSERT_TRUE(effect) << failure.front().message;
      same_rows("oracle.expected", table());
      EXPECT_EQ(effect->counts.inserted.value_or(0), effect->changes ? staged.content.rows : 0);
      const bool adds_again = strategy == Strategy::Append && staged.content.rows > 0;
      if (adds_again) continue;
      EXPECT_FALSE(publish(staged)->changes) << "the same rows once more wrote";
    }
  }
};

TEST_F(Random, ReplaceOfTheWholeTableIsTheResult) { play(Strategy::Replace, false, SchemaChange::Warn); }

TEST_F(Random, ReplaceOfAPartitionLeavesTheOthers) {
  for (const auto mode : {SchemaChange::Warn, SchemaChange::Sync}) play(Strategy::Replace, true, mode);
}

TEST_F(Random, AppendOnlyAdds) {
  play(Strategy::Append, false, SchemaChange::Warn);
  play(Strategy::Append, true, SchemaChange::Sync);
}

}  // namespace
}  // namespace weir::publish
