// Each strategy into each kind of database: what the table holds afterwards, what is counted, and that the image which
// the audit sees is the table as it will be.
#include <random>

#include "delivering.h"

namespace weir::deliver {
namespace {

class Strategies : public Delivering {};

INSTANTIATE_TEST_SUITE_P(Into, Strategies,
                         ::testing::Values(DatabaseLocation::Kind::DuckDb, DatabaseLocation::Kind::Sqlite,
                                           DatabaseLocation::Kind::Postgres),
                         name_of_kind);

TEST_P(Strategies, FullReplacesTheRowsAndWritesNothingForTheSameOnes) {
  model.strategy = Strategy::Replace;
  auto first = deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (1, 'a'), (NULL, 'n')) t(id, name)");
  ASSERT_TRUE(first);
  EXPECT_EQ(held(), "1|a 1|a NULL|n");
  auto again = deliver("SELECT * FROM (VALUES (NULL::BIGINT, 'n'), (1, 'a'), (1, 'a')) t(id, name)");
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->changes);
  auto other = deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (NULL, 'n'), (NULL, 'n')) t(id, name)");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->counts.deleted, 3);
  EXPECT_EQ(held(), "1|a NULL|n NULL|n");
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'x' AS name WHERE false"));
  EXPECT_EQ(held(), "");
}

TEST_P(Strategies, WindowsBecomeTheResultsRowsAndOthersStay) {
  model.strategy = Strategy::IncrementalByTime;
  model.key.clear();
  model.time_column = "day";
  model.interval = "1d";
  // SQLite keeps dates as texts.
  const bool is_text = GetParam() == DatabaseLocation::Kind::Sqlite;
  ask(std::string("CREATE OR REPLACE TEMP MACRO day_of(d) AS CAST(d AS ") + (is_text ? "VARCHAR" : "DATE") + ")");
  windows = "all";
  ASSERT_TRUE(deliver("SELECT day_of(DATE '2026-07-01' + i::INTEGER) AS day, 'a' AS v FROM range(3) r(i)"));
  windows = "2026-07-02/2026-07-03";
  const auto effect = deliver("SELECT day_of('2026-07-02') AS day, v FROM (VALUES ('a'), ('a'), ('b')) t(v)");
  ASSERT_TRUE(effect) << message();
  EXPECT_EQ(effect->counts.deleted, 1);
  EXPECT_EQ(effect->counts.inserted, 3);
  EXPECT_EQ(held(), "2026-07-01|a 2026-07-02|a 2026-07-02|a 2026-07-02|b 2026-07-03|a");
  EXPECT_FALSE(deliver("SELECT day_of('2026-07-02') AS day, v FROM (VALUES ('b'), ('a'), ('a')) t(v)")->changes);
  ASSERT_TRUE(deliver("SELECT day_of('2026-07-02') AS day, 'a' AS v WHERE false"));
  EXPECT_EQ(held(), "2026-07-01|a 2026-07-03|a");
  model.strategy = Strategy::HashMerge;
  EXPECT_FALSE(deliver("SELECT day_of('2026-07-02') AS day, 'a' AS v"));
  EXPECT_EQ(code(), Code::W6026);
}

TEST_P(Strategies, AppendAddsAndNotesEachDelivery) {
  model.strategy = Strategy::Append;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id"));
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(held(), "1 1");
  EXPECT_EQ(values("SELECT token FROM " + name_of("weir_delivery") + " ORDER BY 1"), "t1 t2");
  model.ledger = false;
  into("other");
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(values("SELECT token FROM " + name_of("weir_delivery") + " ORDER BY 1"), "t1 t2");
}

TEST_P(Strategies, ADeliveryThatIsNotedAlreadyIsNotMadeAgain) {
  model.strategy = Strategy::Append;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id"));
  tokens_ = 0;
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(code(), Code::W6504) << message();
  EXPECT_EQ(held(), "1");
}

TEST_P(Strategies, MergeChangesRowsWhereTheyStandAndKeepsColumnsOfOthers) {
  model.strategy = Strategy::Merge;
  ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (2, 'b'), (NULL, 'n')) t(id, name)"));
  ask("ALTER TABLE " + table() + " ADD COLUMN note VARCHAR");
  ask("UPDATE " + table() + " SET note = 'mine ' || name");
  auto effect = deliver("SELECT * FROM (VALUES ('B', 2::BIGINT), ('c', 3), ('N', NULL)) t(name, id)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(held(), "1|a|mine a 2|B|mine b 3|c|NULL NULL|N|mine n");
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.updated, 2);
  EXPECT_EQ(effect->counts.unchanged, 0);
  effect = deliver("SELECT * FROM (VALUES ('B', 2::BIGINT), ('c', 3), ('N', NULL)) t(name, id)");
  ASSERT_TRUE(effect);
  EXPECT_FALSE(effect->changes);
  EXPECT_EQ(effect->counts.unchanged, 3);
}

TEST_P(Strategies, MergeWithNothingButAKeyAddsWhatIsMissing) {
  model.strategy = Strategy::Merge;
  model.key = {"id", "part"};
  ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (1, NULL)) t(id, part)"));
  ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, NULL), (2, 'a')) t(id, part)"));
  EXPECT_EQ(held(), "1|a 1|NULL 2|a");
}

TEST_P(Strategies, DuplicatesAreKeptExactlyWhereTheModelSaysSo) {
  model.strategy = Strategy::Merge;
  EXPECT_FALSE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (1, 'b')) t(id, name)"));
  EXPECT_EQ(code(), Code::W6010) << message();
  model.duplicates = Duplicates::Keep;
  ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (1, 'b'), (2, 'x')) t(id, name)"));
  auto effect = deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (1, 'c'), (1, 'c')) t(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(held(), "1|a 1|c 1|c 2|x");
}

TEST_P(Strategies, FullMergeDeletesWhatTheResultLacksAlsoNullKeys) {
  model.strategy = Strategy::FullMerge;
  ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (2, 'b'), (NULL, 'n')) t(id, name)"));
  auto effect = deliver("SELECT * FROM (VALUES (2::BIGINT, 'B'), (3, 'c')) t(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(held(), "2|B 3|c");
  EXPECT_EQ(effect->counts.deleted, 2);
  EXPECT_EQ(effect->counts.updated, 1);
  EXPECT_EQ(effect->counts.inserted, 1);
}

TEST_P(Strategies, NewColumnsComeAndMissingOnesStay) {
  model.strategy = Strategy::Replace;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
  ASSERT_TRUE(deliver("SELECT 1.5::DOUBLE AS score, 2::BIGINT AS id"));
  EXPECT_EQ(values("SELECT id, name, score FROM " + table()), "2|NULL|1.5");
}

TEST_P(Strategies, ARefusalByTheAuditLeavesNothingBehind) {
  model.strategy = Strategy::Append;
  refuses = true;
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(code(), Code::W5001) << message();
  EXPECT_FALSE(clean_->describe(duck::Sql::verbatim("FROM " + table())).has_value());
  EXPECT_FALSE(clean_->describe(duck::Sql::verbatim("FROM " + name_of("weir_delivery"))).has_value());
}

TEST_P(Strategies, ScdRefreshesWhatIsNotTrackedInItsOpenVersions) {
  model.strategy = Strategy::History;
  model.track = {"name"};
  model.refreshes_untracked = true;
  model.validity = {"since", "until"};
  ASSERT_TRUE(
      deliver("SELECT * FROM (VALUES (1::BIGINT, 'a', 1::BIGINT), (2, 'b', 1), (NULL, 'n', 1)) t(id, name, v)"));
  clock += 1'000'000;
  const std::string next =
      "SELECT * FROM (VALUES (1::BIGINT, 'A', 2::BIGINT), (2, 'b', NULL), (NULL, 'n', 1)) t(id, name, v)";
  auto effect = deliver(next);
  ASSERT_TRUE(effect) << message();
  EXPECT_EQ(effect->counts.updated, 1);
  EXPECT_EQ(effect->counts.closed, 1);
  EXPECT_EQ(values("SELECT id, name, v, until IS NULL FROM " + table() + " ORDER BY ALL"),
            "1|A|2|true 1|a|1|false 2|b|NULL|true NULL|n|1|true");
  clock += 1'000'000;
  EXPECT_FALSE(deliver(next)->changes);
}

TEST_P(Strategies, ScdClosesAndOpensVersionsByKey) {
  model.strategy = Strategy::History;
  model.deletes = Deletes::Close;
  ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (NULL, 'n')) t(id, name)"));
  auto same = deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (NULL, 'n')) t(id, name)");
  ASSERT_TRUE(same);
  EXPECT_FALSE(same->changes);
  clock += 1'000'000;
  auto effect = deliver("SELECT * FROM (VALUES (1::BIGINT, 'b'), (2, 'x')) t(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.closed, 2);
  EXPECT_EQ(effect->counts.inserted, 2);
  EXPECT_EQ(effect->rows, 2);
  clock += 1'000'000;
  ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'b'), (2, 'x'), (NULL, 'n')) t(id, name)"));
  EXPECT_EQ(values("SELECT id, name, date_part('second', CAST(_valid_from AS TIMESTAMP))::INTEGER, date_part('second', "
                   "CAST(_valid_to AS TIMESTAMP))::INTEGER FROM " +
                   table() + " ORDER BY ALL"),
            "1|a|20|21 1|b|21|NULL 2|x|21|NULL NULL|n|20|21 NULL|n|22|NULL");
}

TEST_P(Strategies, ScdNeverLetsVersionsOverlapWhenTheClockGoesBack) {
  model.strategy = Strategy::History;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
  clock -= 5'000'000;
  auto effect = deliver("SELECT 1::BIGINT AS id, 'b' AS name");
  ASSERT_TRUE(effect);
  ASSERT_FALSE(effect->warnings.empty());
  EXPECT_EQ(effect->warnings.front().code, Code::W6022);
  EXPECT_EQ(values("SELECT count(*) FROM " + table() +
                   " WHERE CAST(_valid_to AS TIMESTAMP) <= CAST(_valid_from AS TIMESTAMP)"),
            "0");
}

TEST_P(Strategies, ScdTakesAddedColumnsInWhereTheModelSaysSync) {
  model.strategy = Strategy::History;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
  clock += 1'000'000;
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id, 'a' AS name, 2::BIGINT AS size"));
  EXPECT_EQ(code(), Code::W6013) << message();
  model.on_schema_change = SchemaChange::Sync;
  auto effect = deliver("SELECT 1::BIGINT AS id, 'a' AS name, 2::BIGINT AS size");
  ASSERT_TRUE(effect);
  EXPECT_EQ(values("SELECT id, name, size, _valid_to IS NULL FROM " + table()), "1|a|2|true");
}

TEST_P(Strategies, ATableWithoutValidityColumnsIsNoHistory) {
  model.strategy = Strategy::Replace;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
  model.strategy = Strategy::History;
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
  EXPECT_EQ(code(), Code::W6514) << message();
}

TEST_P(Strategies, NamesOfAnyKindAreTakenAsTheyAre) {
  const std::string longest(63, 't');
  for (const std::string& name :
       {std::string("we\"ird 'table'; --"), std::string("select"), std::string("Größe"), longest}) {
    into(name);
    model.key = {"a \"key\""};
    model.strategy = Strategy::FullMerge;
    const std::string columns = R"(t("a ""key""", "from", "it's", "%s {} $1"))";
    ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a', 'b', 'c'), (NULL, 'd', 'e', 'f')) " + columns))
        << name << ": " << message();
    ASSERT_TRUE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'A', 'b', 'c'), (2, 'x', 'y', 'z')) " + columns))
        << name << ": " << message();
    EXPECT_EQ(held(), "1|A|b|c 2|x|y|z") << name;
    model.key = {"from"};
    model.strategy = Strategy::History;
    into(name.substr(0, 60) + " h");
    ASSERT_TRUE(deliver("SELECT 1::BIGINT AS \"it's\", 'a' AS \"from\"")) << name << ": " << message();
    clock += 1'000'000;
    ASSERT_TRUE(deliver("SELECT 2::BIGINT AS \"it's\", 'a' AS \"from\"")) << name << ": " << message();
    EXPECT_EQ(values("SELECT \"it's\", _valid_to IS NULL FROM " + table() + " ORDER BY 1"), "1|false 2|true") << name;
  }
}

TEST_P(Strategies, ATypeWithoutAPlaceIsFoundByItsName) {
  const auto target = Target::of(outlet_, model, true);
  EXPECT_EQ(target->kept_as("INTEGER"), target->holder() == build::Holder::Sqlite ? "BIGINT" : "INTEGER");
  const auto nested = build::kept_as(target->holder(), build::parse_type("STRUCT(a INTEGER)"));
  EXPECT_EQ(nested.has_value(), target->holder() == build::Holder::DuckDb);
}

/// Random results, one strategy after another step by step, against the naive statement of each.
TEST_P(Strategies, RandomSequencesHoldWhatTheNaiveStatementsSay) {
  std::mt19937 random(20261130);
  for (const Strategy strategy : {Strategy::Merge, Strategy::FullMerge, Strategy::Replace}) {
    model.strategy = strategy;
    model.duplicates = Duplicates::Keep;
    into("t" + std::to_string(static_cast<int>(strategy)));
    ask("CREATE OR REPLACE TABLE _weir_stage.main.oracle (id BIGINT, name VARCHAR)");
    for (int round = 0; round < 6; ++round) {
      const std::string rows = std::to_string(random() % 12);
      const std::string seed = std::to_string(random());
      const std::string select = "SELECT nullif((hash(i, " + seed + ") % 6)::BIGINT, 0) AS id, 'v' || (hash(i, " +
                                 seed + ", 1) % 3) AS name FROM range(" + rows + ") r(i)";
      ASSERT_TRUE(deliver(select)) << test::messages(failure);
      ask("CREATE OR REPLACE TABLE _weir_stage.main.given AS " + select);
      ask(strategy == Strategy::Merge
              ? "DELETE FROM _weir_stage.main.oracle AS o USING _weir_stage.main.given AS g WHERE o.id IS NOT DISTINCT "
                "FROM g.id"
              : "DELETE FROM _weir_stage.main.oracle");
      ask("INSERT INTO _weir_stage.main.oracle FROM _weir_stage.main.given");
      EXPECT_EQ(held(), values("FROM _weir_stage.main.oracle ORDER BY ALL"));
    }
  }
}

}  // namespace
}  // namespace weir::deliver
