#include <random>

#include "publishing.h"

namespace weir::publish {
namespace {

class History : public Publishing {
 protected:
  void SetUp() override {
    Publishing::SetUp();
    model.strategy = Strategy::History;
    model.duplicates = Duplicates::Fail;
    model.key = {"id"};
  }
  std::string current() const { return table().substr(0, table().size() - 1) + "_current\""; }
  void advance() { clock += 1'000'000; }
  void holds_invariants(const std::string& key = "id") {
    EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE valid_to IS NOT NULL AND valid_from >= valid_to"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE is_current <> (valid_to IS NULL)"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM (SELECT 1 FROM " + table() + " WHERE is_current GROUP BY " + key +
                     " HAVING count(*) > 1)"),
              0);
    EXPECT_EQ(number("SELECT count(*) FROM (SELECT valid_from, lag(coalesce(valid_to, TIMESTAMP 'infinity')) OVER "
                     "(PARTITION BY " +
                     key +
                     " ORDER BY valid_from) AS "
                     "before FROM " +
                     table() + ") WHERE before > valid_from"),
              0);
  }
};

TEST_F(History, FirstRunOpensEveryRow) {
  const auto effect = publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)");
  ASSERT_TRUE(effect) << failure.front().message;
  EXPECT_EQ(effect->counts.inserted, 2);
  same_rows(
      "(SELECT id, name, make_timestamp(1000000) AS valid_from, NULL::TIMESTAMP AS valid_to, true AS is_current FROM "
      "(VALUES (1, 'a'), (2, 'b')) v(id, name))",
      table());
  same_rows(table(), current());
}

TEST_F(History, ATrackedChangeClosesAndOpensAtOneInstant) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)"));
  advance();
  const auto effect = publish("SELECT * FROM (VALUES (1, 'A'), (2, 'b')) v(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.closed, 1);
  EXPECT_EQ(effect->counts.unchanged, 1);
  EXPECT_EQ(effect->rows, 2);
  EXPECT_EQ(number("SELECT count(*) FROM " + table()), 3);
  EXPECT_EQ(text("SELECT (SELECT valid_to FROM " + table() + " WHERE name = 'a') = (SELECT valid_from FROM " + table() +
                 " WHERE name = 'A')"),
            "true");
  same_rows("(SELECT * FROM " + table() + " WHERE is_current)", current());
  holds_invariants();
  advance();
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (1, 'A'), (2, 'b')) v(id, name)")->changes);
}

TEST_F(History, UntrackedChangesAreIgnored) {
  model.track = {"name"};
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name, 'here' AS address"));
  advance();
  EXPECT_FALSE(publish("SELECT 1 AS id, 'a' AS name, 'there' AS address")->changes);
  EXPECT_EQ(text("SELECT address FROM " + table()), "here");
}

TEST_F(History, AbsentKeysStayUnlessDeletesClose) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)"));
  advance();
  EXPECT_FALSE(publish("SELECT 1 AS id, 'a' AS name")->changes);
  model.deletes = Deletes::Close;
  advance();
  const auto effect = publish("SELECT 1 AS id, 'a' AS name");
  EXPECT_EQ(effect->counts.closed, 1);
  EXPECT_EQ(effect->counts.inserted, 0);
  advance();
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)"));
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE id = 2"), 2);
  EXPECT_EQ(text("SELECT max(valid_from) > min(valid_to) FROM " + table() + " WHERE id = 2"), "true")
      << "a gap while the key was absent";
  holds_invariants();
}

TEST_F(History, NullsAreValues) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (NULL::INTEGER, 'n'), (1, NULL)) v(id, name)"));
  advance();
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (NULL::INTEGER, 'n'), (1, NULL)) v(id, name)")->changes);
  const auto effect = publish("SELECT * FROM (VALUES (NULL::INTEGER, 'm'), (1, NULL)) v(id, name)");
  EXPECT_EQ(effect->counts.closed, 1);
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE id IS NULL"), 2);
}

TEST_F(History, SpellingsThatTheLakeMergesOpenNoVersion) {
  compares_images = false;
  const std::string rows = "SELECT i AS id, [0.0, -0.0][i % 2 + 1]::DOUBLE AS x FROM range(60) t(i)";
  ASSERT_TRUE(publish(rows));
  advance();
  EXPECT_FALSE(publish(rows)->changes);
}

TEST_F(History, AClockThatWentBackDoesNotOverlap) {
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name"));
  for (const char* name : {"b", "c"}) {
    clock = 5;
    const auto effect = publish(std::string("SELECT 1 AS id, '") + name + "' AS name");
    ASSERT_EQ(effect->warnings.size(), 1U);
    EXPECT_EQ(effect->warnings[0].code, Code::W6022);
    holds_invariants();
  }
  EXPECT_EQ(text("SELECT epoch_us(max(valid_from)) FROM " + table()), "1000002");
}

TEST_F(History, ReservedColumnsAreRefused) {
  EXPECT_FALSE(publish("SELECT 1 AS id, true AS Is_Current"));
  EXPECT_TRUE(failed_with(Code::W6012));
}

TEST_F(History, DuplicateKeysFail) {
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (1, 'a'), (1, 'b')) v(id, name)"));
  EXPECT_TRUE(failed_with(Code::W6010));
}

TEST_F(History, ATableInTheWayOfTheCurrentViewIsNotHidden) {
  run("CREATE TABLE " + target().substr(0, target().size() - 1) + "_current\" (id INTEGER)");
  EXPECT_FALSE(publish("SELECT 1 AS id"));
  EXPECT_TRUE(failed_with(Code::W6014));
}

TEST_F(History, ATableThatIsNoHistoryIsRefused) {
  model.strategy = Strategy::Replace;
  ASSERT_TRUE(publish("SELECT 1 AS id"));
  model.strategy = Strategy::History;
  EXPECT_FALSE(publish("SELECT 1 AS id"));
  EXPECT_TRUE(failed_with(Code::W6018));
}

TEST_F(History, ColumnsAreFixedUnlessSync) {
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name"));
  for (const auto mode : {SchemaChange::Warn, SchemaChange::Ignore, SchemaChange::Fail}) {
    model.on_schema_change = mode;
    EXPECT_FALSE(publish("SELECT 1 AS id, 'a' AS name, 3 AS tier"));
    ASSERT_TRUE(failed_with(Code::W6013));
    EXPECT_NE(failure[0].hint.find("on_schema_change=sync"), std::string::npos);
    EXPECT_NE(failure[0].hint.find("--full-refresh"), std::string::npos);
  }
}

TEST_F(History, SyncAddsColumnsRefreshesOpenRowsAndComparesThemNextTime) {
  model.on_schema_change = SchemaChange::Sync;
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)"));
  advance();
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'A'), (2, 'b')) v(id, name)"));
  advance();
  const auto effect = publish("SELECT * FROM (VALUES (7, 1, 'AA'), (8, 2, 'b')) v(tier, id, name)");
  ASSERT_TRUE(effect) << failure.front().message;
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.closed, 1);
  EXPECT_EQ(effect->counts.updated, 1);
  same_rows("(SELECT * FROM (VALUES (1, 'a', NULL), (1, 'A', NULL), (1, 'AA', 7), (2, 'b', 8)) v(id, name, tier))",
            "(SELECT id, name, tier FROM " + table() + ")");
  same_rows("(SELECT * FROM " + table() + " WHERE is_current)", current());
  advance();
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (7, 1, 'AA'), (8, 2, 'b')) v(tier, id, name)")->changes);
  EXPECT_EQ(publish("SELECT * FROM (VALUES (7, 1, 'AA'), (9, 2, 'b')) v(tier, id, name)")->counts.closed, 1);
  advance();
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'AB')) v(id, name)")) << "a removed column stays";
  EXPECT_EQ(text("SELECT tier IS NULL FROM " + table() + " WHERE name = 'AB'"), "true");
  holds_invariants();
}

TEST_F(History, ADroppedViewComesBackWithTheNextVersion) {
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name"));
  run("DROP VIEW " + target().substr(0, target().size() - 1) + "_current\"");
  advance();
  ASSERT_TRUE(publish("SELECT 1 AS id, 'b' AS name"));
  same_rows("(SELECT * FROM " + table() + " WHERE is_current)", current());
}

// Random snapshots against the definition, row by row: close what differs or is gone, open what is not open.
TEST_F(History, EqualsTheDefinitionOnRandomSnapshots) {
  for (const bool closes : {false, true}) {
    model.deletes = closes ? Deletes::Close : Deletes::Leave;
    model.track = closes ? std::vector<std::string>{"a"} : std::vector<std::string>{};
    model.target->name = closes ? "closing" : "keeping";
    const std::string same_key = "s.id IS NOT DISTINCT FROM e.id";
    const std::string same_values =
        closes ? "s.a IS NOT DISTINCT FROM e.a" : "s.a IS NOT DISTINCT FROM e.a AND s.b IS NOT DISTINCT FROM e.b";
    run("CREATE OR REPLACE TABLE oracle.expected (id BIGINT, a INTEGER, b VARCHAR, valid_from TIMESTAMP, valid_to "
        "TIMESTAMP, is_current BOOLEAN)");
    for (int round = 0; round < 9; ++round) {
      clock += 1 + round % 3;
      const std::string random = "(hash(i * 31 + " + std::to_string(round * 104729) + " + ";
      const build::Stage staged = stage("SELECT CASE WHEN " + random + "2) % 3) = 0 THEN NULL ELSE 'v' || " + random +
                                        "3) % 2) END AS b, CASE i WHEN 0 THEN NULL ELSE i END AS id, CASE " + random +
                                        "4) % 3) WHEN 0 THEN NULL ELSE 1 END::INTEGER AS a FROM range(12) t(i) WHERE " +
                                        random + "5) % 4) <> 0");
      const std::string s = staged.relation.text() + " AS s";
      const std::string now = "make_timestamp(" + std::to_string(clock) + ")";
      run("UPDATE oracle.expected AS e SET valid_to = " + now +
          ", is_current = false WHERE is_current AND NOT EXISTS (SELECT 1 FROM " + s + " WHERE " + same_key + " AND " +
          same_values + ")" + (closes ? "" : " AND EXISTS (SELECT 1 FROM " + s + " WHERE " + same_key + ")"));
      run("INSERT INTO oracle.expected BY NAME SELECT *, " + now +
          " AS valid_from, NULL::TIMESTAMP AS valid_to, true AS is_current FROM " + s +
          " WHERE NOT EXISTS (SELECT 1 FROM oracle.expected AS e WHERE e.is_current AND " + same_key + ")");
      ASSERT_TRUE(publish(staged)) << failure.front().message;
      same_rows("oracle.expected", table());
      holds_invariants();
      advance();
      EXPECT_FALSE(publish(staged)->changes);
    }
  }
}

// Whatever snapshots come, and whenever: each version of the lake shows what was live then, and so does the last one,
// by the times of its rows.
TEST_F(History, EveryVersionAndEveryTimeShowsWhatWasLiveThen) {
  model.key = {"id", "part"};
  model.deletes = Deletes::Close;
  model.on_schema_change = SchemaChange::Sync;
  std::mt19937 generator(77);
  std::vector<std::pair<std::int64_t, std::string>> runs;  // version, when it took effect
  for (int round = 0; round < 10; ++round) {
    clock += static_cast<std::int64_t>(generator() % 4) - 1;  // it may stand still, and go back
    const std::string seed = std::to_string(generator() % 1000);
    std::string select =
        "SELECT CASE i % 5 WHEN 0 THEN NULL ELSE i % 5 END AS id, CASE WHEN i < 5 THEN 'p' END AS part, hash(i, " +
        seed + ") % 2 AS a, CASE hash(i, 1 + " + seed + ") % 3 WHEN 0 THEN NULL ELSE 'b' END AS b" +
        (round > 4 ? ", i % 2 AS late" : "") + " FROM range(10) t(i) WHERE hash(i, 2 + " + seed + ") % 3 <> 0";
    const build::Stage staged = stage(select);
    const auto effect = publish(staged);
    ASSERT_TRUE(effect) << failure.front().message;
    holds_invariants("id, part");
    run("CREATE OR REPLACE TABLE oracle.live" + std::to_string(round) + " AS SELECT id, part, a, b FROM " +
        staged.relation.text());
    runs.emplace_back(version(), text("SELECT epoch_us(greatest(max(valid_from), max(valid_to))) FROM " + table()));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string live = "oracle.live" + std::to_string(i);
    same_rows(live, "(SELECT id, part, a, b FROM " + table() + " AT (VERSION => " + std::to_string(runs[i].first) +
                        ") WHERE is_current)");
    const std::string at = "make_timestamp(" + runs[i].second + ")";
    same_rows(live, "(SELECT id, part, a, b FROM " + table() + " WHERE valid_from <= " + at +
                        " AND (valid_to IS NULL OR valid_to > " + at + "))");
  }
}

TEST_F(History, AViewOfTheCurrentViewsNameIsReplacedAndSaid) {
  run("CREATE VIEW " + target().substr(0, target().size() - 1) + "_current\" AS SELECT 1 AS mine");
  const auto effect = publish("SELECT 1 AS id, 'a' AS name");
  ASSERT_TRUE(effect) << failure.front().message;
  ASSERT_EQ(effect->warnings.size(), 1U);
  EXPECT_EQ(effect->warnings.front().code, Code::W6025);
  same_rows(table(), current());
}

TEST_F(History, DeletedKeysAreMarkedAndComeBack) {
  model.deletes = Deletes::Mark;
  const auto shown = [&] {
    return text(
        "SELECT string_agg(name || ' ' || epoch(valid_from)::INTEGER || '-' || coalesce(epoch(valid_to)::INTEGER"
        "::VARCHAR, '') || CASE WHEN is_deleted THEN ' gone' ELSE '' END, '; ' ORDER BY id, valid_from) FROM " +
        table());
  };
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (NULL, 'n')) v(id, name)")) << failure.front().message;
  advance();
  const auto gone = publish("SELECT 1 AS id, 'a' AS name");
  ASSERT_TRUE(gone) << failure.front().message;
  EXPECT_EQ(gone->counts.deleted, 2);
  EXPECT_EQ(gone->counts.closed, 2);
  EXPECT_EQ(gone->counts.inserted, 0);
  EXPECT_EQ(gone->rows, 1) << "a mark is no row that is true now";
  EXPECT_EQ(shown(), "a 1-; b 1-2; b 2- gone; n 1-2; n 2- gone");
  same_rows("(SELECT 1 AS id, 'a' AS name)", "(SELECT id, name FROM " + current() + ")");
  holds_invariants();
  advance();
  EXPECT_FALSE(publish("SELECT 1 AS id, 'a' AS name")->changes);
  const auto back = publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)");
  EXPECT_EQ(back->counts.inserted, 1);
  EXPECT_EQ(back->counts.closed, 1);
  EXPECT_EQ(back->rows, 2);
  EXPECT_EQ(shown(), "a 1-; b 1-2; b 2-3 gone; b 3-; n 1-2; n 2- gone");
  holds_invariants();
  advance();
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)")->changes);
  model.deletes = Deletes::Close;
  EXPECT_FALSE(publish("SELECT 1 AS id, 'a' AS name"));
  EXPECT_TRUE(failed_with(Code::W6018)) << "its marks would count as rows";
}

TEST_F(History, MarksBeginInAHistoryThatHadNone) {
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)"));
  advance();
  model.deletes = Deletes::Mark;
  const auto effect = publish("SELECT 1 AS id, 'a' AS name");
  ASSERT_TRUE(effect) << failure.front().message;
  EXPECT_EQ(effect->counts.deleted, 1);
  EXPECT_EQ(effect->rows, 1);
  EXPECT_EQ(number("SELECT count(*) FROM " + current()), 1);
  advance();
  EXPECT_FALSE(publish("SELECT 1 AS id, 'a' AS name")->changes);
}

TEST_F(History, UntrackedColumnsAreRefreshedInTheOpenVersion) {
  model.track = {"name"};
  model.refreshes_untracked = true;
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a', 1), (2, 'b', 1)) v(id, name, visits)"));
  advance();
  const auto effect = publish("SELECT * FROM (VALUES (1, 'a', 2), (2, 'B', NULL)) v(id, name, visits)");
  ASSERT_TRUE(effect) << failure.front().message;
  EXPECT_EQ(effect->counts.updated, 1);
  EXPECT_EQ(effect->counts.closed, 1);
  EXPECT_EQ(effect->rows, 2);
  EXPECT_EQ(
      text("SELECT string_agg(name || coalesce(visits::VARCHAR, '-'), ' ' ORDER BY id, valid_from) FROM " + table()),
      "a2 b1 B-");
  EXPECT_EQ(number("SELECT count(DISTINCT valid_from) FROM " + table() + " WHERE is_current"), 2);
  advance();
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (1, 'a', 2), (2, 'B', NULL)) v(id, name, visits)")->changes);
  holds_invariants();
}

TEST_F(History, ItsColumnsMayHaveOtherNames) {
  model.validity = {"begins", "ends", "is live"};
  ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name, true AS is_current")) << failure.front().message;
  advance();
  ASSERT_TRUE(publish("SELECT 1 AS id, 'b' AS name, true AS is_current"));
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE \"is live\" AND ends IS NULL AND name = 'b'"), 1);
  EXPECT_EQ(text("SELECT name FROM " + current()), "b");
  model.validity = {"starts", "ends", "is live"};
  EXPECT_FALSE(publish("SELECT 1 AS id, 'b' AS name, true AS is_current"));
  EXPECT_TRUE(failed_with(Code::W6018));
}

TEST_F(History, OnOtherPlanesTwoColumnsTellTheVersionsApart) {
  model.plane = Plane::Virtual;
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, name)")) << failure.front().message;
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE _valid_to IS NULL"), 2);
  const auto effect = publish("SELECT * FROM (VALUES (1, 'A'), (2, 'b')) v(id, name)");
  ASSERT_TRUE(effect) << failure.front().message;
  EXPECT_EQ(effect->counts.closed, 1);
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE _valid_to IS NULL"), 2);
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " a JOIN " + table() +
                   " b ON a.id = b.id AND a._valid_to = b._valid_from AND a.name = 'a' AND b.name = 'A'"),
            1);
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (1, 'A'), (2, 'b')) v(id, name)")->changes);
  EXPECT_FALSE(publish("SELECT * FROM (VALUES (1, 'A')) v(id, name)")->changes);
}

}  // namespace
}  // namespace weir::publish
