// History by the times of the source: whatever the order and the batches in which versions arrive, the table is what
// all of them make when they are laid out by time.
#include <array>
#include <map>
#include <random>
#include <set>

#include "publishing.h"

namespace weir::publish {
namespace {

class ByTime : public Publishing {
 protected:
  void SetUp() override {
    Publishing::SetUp();
    model.strategy = Strategy::History;
    model.duplicates = Duplicates::Fail;
    model.key = {"id"};
    model.valid_from = "at";
  }
  /// Rows (id, hour of 2024-01-01, name).
  static std::string rows(const std::string& values) {
    return "SELECT id, TIMESTAMP '2024-01-01' + to_hours(h) AS at, name FROM (VALUES " + values + ") v(id, h, name)";
  }
  /// `id name from-until` and the reported hours, in order; an open version ends with a dash.
  std::string shown(const std::string& where = "true") {
    return text(
        "SELECT coalesce(string_agg(coalesce(id::VARCHAR, 'NULL') || ' ' || coalesce(name, 'NULL') || ' ' || "
        "hour(valid_from) || '-' || coalesce(hour(valid_to)::VARCHAR, '') || coalesce(' ' || "
        "list_transform(reported_at, lambda x: hour(x))::VARCHAR, ''), '; ' ORDER BY id, valid_from), '') FROM " +
        table() + " WHERE " + where);
  }
  /// Whether the rows would change anything, without the rest of what a publication costs.
  bool would_write(const std::string& select) {
    const build::Stage staged = stage(select);
    PrepareRequest request = request_for(staged);
    const auto effect = prepared(request);
    EXPECT_TRUE(effect.has_value());
    if (!effect) return true;
    discard(clean(), *effect);
    return effect->changes;
  }
  void holds_invariants(const std::string& key) {
    const std::string t = table();
    EXPECT_EQ(number("SELECT count(*) FROM " + t + " WHERE valid_from >= valid_to OR is_current <> (valid_to IS NULL)"),
              0);
    EXPECT_EQ(number("SELECT count(*) FROM (SELECT lead(valid_from) OVER (PARTITION BY " + key +
                     " ORDER BY valid_from) AS next, valid_to FROM " + t + ") WHERE next IS DISTINCT FROM valid_to"),
              0)
        << "versions touch, one is open";
    same_rows("(SELECT * FROM " + t + " WHERE is_current)", t.substr(0, t.size() - 1) + "_current\"");
  }
};

TEST_F(ByTime, LateVersionsAreSpliced) {
  ASSERT_TRUE(publish(rows("(1, 5, 'c'), (1, 1, 'a'), (2, 2, 'x')"))) << failure.front().message;
  EXPECT_EQ(shown(), "1 a 1-5; 1 c 5-; 2 x 2-");
  const auto effect = publish(rows("(1, 3, 'b')"));
  ASSERT_TRUE(effect) << failure.front().message;
  EXPECT_EQ(shown(), "1 a 1-3; 1 b 3-5; 1 c 5-; 2 x 2-");
  EXPECT_EQ(effect->counts.inserted, 1);
  EXPECT_EQ(effect->counts.closed, 0);
  EXPECT_EQ(effect->counts.updated, 1) << "the version before it ends earlier";
  EXPECT_EQ(effect->rows, 2);
  const auto newest = publish(rows("(1, 0, '0'), (1, 9, 'd')"));
  EXPECT_EQ(newest->counts.inserted, 2);
  EXPECT_EQ(newest->counts.closed, 1);
  EXPECT_EQ(shown("id = 1"), "1 0 0-1; 1 a 1-3; 1 b 3-5; 1 c 5-9; 1 d 9-");
  EXPECT_FALSE(would_write(rows("(1, 3, 'b'), (1, 9, 'd'), (2, 2, 'x')")));
  EXPECT_FALSE(would_write(rows("(1, 3, 'b')") + " WHERE false"));
}

TEST_F(ByTime, AReportThatChangesNothingMakesNoVersionAndIsNotForgotten) {
  ASSERT_TRUE(publish(rows("(1, 1, 'a')")));
  const auto again = publish(rows("(1, 3, 'a')"));
  EXPECT_EQ(again->counts.inserted, 0);
  EXPECT_EQ(shown(), "1 a 1- [3]");
  EXPECT_FALSE(would_write(rows("(1, 3, 'a')")));
  ASSERT_TRUE(publish(rows("(1, 2, 'b')")));
  EXPECT_EQ(shown(), "1 a 1-2; 1 b 2-3; 1 a 3-") << "at 3 the source said a";
  const auto joins = publish(rows("(1, 2, 'b'), (1, 0, 'a')"));
  EXPECT_EQ(joins->counts.deleted, 1) << "the version from 1 joins the earlier one";
  EXPECT_EQ(shown(), "1 a 0-2 [1]; 1 b 2-3; 1 a 3-");
  holds_invariants("id");
}

TEST_F(ByTime, TrackedTimesAreVersionsOfTheirOwn) {
  model.track = {"name", "at"};
  ASSERT_TRUE(publish(rows("(1, 1, 'a')")));
  ASSERT_TRUE(publish(rows("(1, 3, 'a')")));
  EXPECT_EQ(shown(), "1 a 1-3; 1 a 3-");
}

TEST_F(ByTime, TwoRowsOfOneTimeAreRefused) {
  EXPECT_FALSE(publish(rows("(1, 1, 'a'), (1, 1, 'b'), (2, 1, 'x')")));
  ASSERT_TRUE(failed_with(Code::W6037));
  EXPECT_NE(failure[0].message.find("(1) from 2024-01-01 01:00:00"), std::string::npos) << failure[0].message;
  ASSERT_TRUE(publish(rows("(1, 1, 'a'), (1, 1, 'a')"))) << "the same row twice is one report";
  EXPECT_FALSE(publish(rows("(1, 1, 'b')")));
  ASSERT_TRUE(failed_with(Code::W6037));
  EXPECT_NE(failure[0].message.find("in the history"), std::string::npos);
  model.duplicates = Duplicates::Last;
  model.order = {"name"};
  ASSERT_TRUE(publish(rows("(2, 1, 'x'), (2, 1, 'y')"))) << failure.front().message;
  EXPECT_EQ(shown(), "1 a 1-; 2 y 1-");
}

TEST_F(ByTime, RowsWithoutATimeAreRefused) {
  EXPECT_FALSE(publish("SELECT 1 AS id, NULL::TIMESTAMP AS at, 'a' AS name FROM range(2)"));
  ASSERT_TRUE(failed_with(Code::W6036));
  EXPECT_NE(failure[0].message.find("2 rows"), std::string::npos);
  for (const char* type : {"DATE", "TIMESTAMP", "TIMESTAMPTZ"}) {
    EXPECT_FALSE(publish(std::string("SELECT 1 AS id, 'infinity'::") + type + " AS at, 'a' AS name"));
    EXPECT_TRUE(failed_with(Code::W6036)) << type;
  }
  EXPECT_FALSE(publish("SELECT 1 AS id, '2024-01-01' AS at, 'a' AS name"));
  EXPECT_TRUE(failed_with(Code::W6036));
  EXPECT_FALSE(publish("SELECT 1 AS id, 'a' AS name"));
  EXPECT_TRUE(failed_with(Code::W6011));
}

TEST_F(ByTime, TimesAreThoseOfUtcWhateverTheZone) {
  const char* forms[] = {"DATE '2024-06-01'", "TIMESTAMP '2024-06-01'", "TIMESTAMPTZ '2024-06-01 02:00:00+02'",
                         "TIMESTAMP_S '2024-06-01'", "TIMESTAMP_NS '2024-06-01'"};
  run("SET TimeZone = 'Asia/Kolkata'");
  for (const char* form : forms) {
    model.target->name = "t" + std::to_string(version());
    const std::string select = std::string("SELECT 1 AS id, 'a' AS name, ") + form + " AS at";
    ASSERT_TRUE(publish(select)) << failure.front().message;
    EXPECT_EQ(text("SELECT epoch_us(valid_from) FROM " + table()), "1717200000000000") << form;
    EXPECT_FALSE(would_write(select)) << form;
  }
}

TEST_F(ByTime, UntrackedColumnsStayOrFollowTheNewestReport) {
  const auto row = [](int hour, const char* name, int visits) {
    return "SELECT 1 AS id, TIMESTAMP '2024-01-01' + to_hours(" + std::to_string(hour) + ") AS at, '" + name +
           "' AS name, " + std::to_string(visits) + " AS visits";
  };
  model.track = {"name"};
  ASSERT_TRUE(publish(row(1, "a", 10)));
  ASSERT_TRUE(publish(row(3, "a", 30)));
  EXPECT_EQ(number("SELECT visits FROM " + table()), 10) << "ignored";
  model.target->name = "refreshing";
  model.refreshes_untracked = true;
  ASSERT_TRUE(publish(row(1, "a", 10)));
  ASSERT_TRUE(publish(row(5, "a", 50)));
  ASSERT_TRUE(publish(row(3, "a", 30)));
  EXPECT_EQ(text("SELECT visits || ' ' || hour(\"at\") FROM " + table()), "50 5") << "an older report is no news";
  EXPECT_EQ(publish(row(5, "a", 51))->counts.updated, 1);
  EXPECT_FALSE(would_write(row(5, "a", 51)));
  EXPECT_FALSE(would_write(row(3, "a", 33)));
  ASSERT_TRUE(publish(row(4, "b", 40)));
  EXPECT_EQ(text("SELECT string_agg(name || visits, ' ' ORDER BY valid_from) FROM " + table()), "a51 b40 a51");
  holds_invariants("id");
}

TEST_F(ByTime, AnAddedColumnIsFilledWhereTheResultTells) {
  model.on_schema_change = SchemaChange::Sync;
  ASSERT_TRUE(publish(rows("(1, 1, 'a'), (1, 2, 'b'), (2, 1, 'x')")));
  const std::string wider = "SELECT 7 AS w, * FROM (" + rows("(1, 2, 'b'), (1, 4, 'b'), (2, 1, 'x')") + ")";
  ASSERT_TRUE(publish(wider)) << failure.front().message;
  EXPECT_EQ(shown(), "1 a 1-2; 1 b 2- [4]; 2 x 1-");
  EXPECT_EQ(text("SELECT string_agg(coalesce(w::VARCHAR, '-'), '' ORDER BY id, valid_from) FROM " + table()), "-77");
  EXPECT_FALSE(would_write(wider));
  holds_invariants("id");
}

TEST_F(ByTime, AHistoryKeepsTheKindThatItHas) {
  ASSERT_TRUE(publish(rows("(1, 1, 'a')")));
  model.valid_from.clear();
  EXPECT_FALSE(publish(rows("(1, 1, 'a')")));
  EXPECT_TRUE(failed_with(Code::W6018));
  model.target->name = "other";
  ASSERT_TRUE(publish(rows("(1, 1, 'a')")));
  model.valid_from = "at";
  EXPECT_FALSE(publish(rows("(1, 1, 'a')")));
  EXPECT_TRUE(failed_with(Code::W6018));
}

// The oracle knows every version that was told and nothing of the table: by key and time, equal neighbours joined.
struct Told {
  std::optional<int> id;
  int part = 0;
  int at = 0;
  std::optional<int> a;
  int b = 0;
  auto key() const { return std::pair(id.value_or(-1), part); }
};

class ByTimeAtRandom : public ByTime {
 protected:
  static std::string value(const std::optional<int>& v) { return v ? std::to_string(*v) : "NULL"; }

  static std::string select(const std::vector<Told>& batch, bool reversed) {
    const char* columns = reversed ? "b, make_timestamp(h * 1000000) AS at, a, part, id"
                                   : "id, part, a, b, make_timestamp(h * 1000000) AS at";
    std::string values;
    for (const Told& one : batch)
      values += (values.empty() ? "(" : ", (") + value(one.id) + "::BIGINT, " + std::to_string(one.part) + ", " +
                std::to_string(one.at) + "::BIGINT, " + value(one.a) + "::INTEGER, " + std::to_string(one.b) + ")";
    if (values.empty()) values = "(NULL::BIGINT, 0, NULL::BIGINT, NULL::INTEGER, 0)";
    return std::string("SELECT ") + columns + " FROM (VALUES " + values + ") v(id, part, h, a, b)" +
           (batch.empty() ? " WHERE false" : "");
  }

  static std::string expected(std::vector<Told> told) {
    std::sort(told.begin(), told.end(),
              [](const Told& x, const Told& y) { return std::pair(x.key(), x.at) < std::pair(y.key(), y.at); });
    std::vector<Told> versions;
    for (const Told& one : told) {
      const bool joins = !versions.empty() && versions.back().key() == one.key() && versions.back().a == one.a &&
                         versions.back().b == one.b;
      if (!joins) versions.push_back(one);
    }
    std::string values;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const Told& one = versions[i];
      const bool ends = i + 1 < versions.size() && versions[i + 1].key() == one.key();
      values += (values.empty() ? "(" : ", (") + value(one.id) + "::BIGINT, " + std::to_string(one.part) + ", " +
                value(one.a) + "::INTEGER, " + std::to_string(one.b) + ", " + std::to_string(one.at) + "::BIGINT, " +
                (ends ? std::to_string(versions[i + 1].at) : "NULL") + "::BIGINT)";
    }
    return "(SELECT id, part, a, b, make_timestamp(f * 1000000) AS valid_from, make_timestamp(u * 1000000) AS valid_to "
           "FROM (VALUES " +
           values + ") v(id, part, a, b, f, u))";
  }
};

TEST_F(ByTimeAtRandom, OrderAndBatchesDecideNothing) {
  model.key = {"id", "part"};
  std::mt19937 generator(424242);
  const auto below = [&](unsigned limit) { return static_cast<int>(generator() % limit); };
  for (int round = 0; round < 2; ++round) {
    model.target->name = "t" + std::to_string(round);
    std::map<std::pair<std::pair<int, int>, int>, Told> all;
    for (int i = 0; i < 60; ++i) {
      const int id = below(4);
      const Told one{.id = id == 0 ? std::nullopt : std::optional(id),
                     .part = below(2),
                     .at = below(14),
                     .a = below(3) == 0 ? std::nullopt : std::optional(below(2)),
                     .b = below(2)};
      all.emplace(std::pair(one.key(), one.at), one);
    }
    std::vector<Told> told;
    for (const auto& [key, one] : all) told.push_back(one);
    std::shuffle(told.begin(), told.end(), generator);
    std::vector<Told> arrived;
    for (std::size_t next = 0; next < told.size();) {
      std::vector<Told> batch;
      const std::size_t size = static_cast<std::size_t>(below(round == 0 ? 20 : 50));
      for (; next < told.size() && batch.size() < size; ++next) batch.push_back(told[next]);
      arrived.insert(arrived.end(), batch.begin(), batch.end());
      // Versions that came before come again, at random.
      for (int again = below(3); again > 0 && !arrived.empty(); --again)
        batch.push_back(arrived[static_cast<std::size_t>(below(static_cast<unsigned>(arrived.size())))]);
      const auto effect = publish(select(batch, below(2) == 0));
      ASSERT_TRUE(effect) << failure.front().message;
      if (arrived.empty()) continue;
      same_rows(expected(arrived), "(SELECT id, part, a, b, valid_from, valid_to FROM " + table() + ")");
      holds_invariants("id, part");
      EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE \"at\" <> valid_from"), 0);
    }
    EXPECT_FALSE(would_write(select(told, true))) << "the same rows once more write";
  }
}

}  // namespace
}  // namespace weir::publish
