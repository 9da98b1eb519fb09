// A table that has a past, and rows that have none: what the loss of a word must not do.
#include "publishing.h"

namespace weir::publish {
namespace {

class Past : public Publishing {
 protected:
  void write_history() {
    model.strategy = Strategy::History;
    model.duplicates = Duplicates::Fail;
    model.key = {"id"};
    ASSERT_TRUE(publish("SELECT 1 AS id, 'a' AS name")) << failure.front().message;
    clock += 1'000'000;
    ASSERT_TRUE(publish("SELECT 1 AS id, 'b' AS name"));
  }
};

TEST_F(Past, AHistoryIsNotWrittenAnotherWay) {
  write_history();
  for (const Strategy other : {Strategy::Merge, Strategy::Append, Strategy::Replace}) {
    model.strategy = other;
    EXPECT_FALSE(publish("SELECT 1 AS id, 'c' AS name"));
    EXPECT_TRUE(failed_with(Code::W6028)) << name_of(other);
    EXPECT_NE(failure.front().hint.find("--full-refresh"), std::string::npos);
  }
  EXPECT_EQ(number("SELECT count(*) FROM " + table() + " WHERE valid_from IS NOT NULL"), 2);
  rebuild = true;
  EXPECT_TRUE(publish("SELECT 1 AS id, 'c' AS name"));
}

TEST_F(Past, ColumnsOfTheUsersOwnMakeNoHistory) {
  model.strategy = Strategy::Merge;
  model.key = {"id"};
  const std::string rows =
      "SELECT 1 AS id, NULL::TIMESTAMP AS valid_from, NULL::TIMESTAMP AS valid_to, true AS is_current";
  ASSERT_TRUE(publish(rows));
  EXPECT_TRUE(publish(rows + " UNION ALL SELECT 2, NULL, NULL, true")) << failure.front().message;
}

TEST_F(Past, RowsWithoutValidityAreNoHistory) {
  model.strategy = Strategy::Merge;
  model.key = {"id"};
  ASSERT_TRUE(publish(
      "SELECT 1 AS id, NULL::TIMESTAMP AS valid_from, NULL::TIMESTAMP AS valid_to, NULL::BOOLEAN AS is_current"));
  model.strategy = Strategy::History;
  model.duplicates = Duplicates::Fail;
  EXPECT_FALSE(publish("SELECT 1 AS id"));
  EXPECT_TRUE(failed_with(Code::W6018));
  EXPECT_NE(failure.front().message.find("1 row has no validity"), std::string::npos) << failure.front().message;
}

TEST_F(Past, RowsThatAMergeTakesFromAKeyAreCounted) {
  model.strategy = Strategy::Append;
  ASSERT_TRUE(publish("SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, 'c'), (1, 'a'), (2, 'b')) v(id, name)"));
  model.strategy = Strategy::Merge;
  model.key = {"id"};
  const auto effect = publish("SELECT * FROM (VALUES (1, 'a'), (2, 'B')) v(id, name)");
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->counts.updated, 2);
  EXPECT_EQ(effect->counts.deleted, 2);
  EXPECT_EQ(effect->rows, 3);
  ASSERT_EQ(effect->warnings.size(), 1U);
  EXPECT_EQ(effect->warnings[0].code, Code::W6029);
  const auto again = publish("SELECT * FROM (VALUES (1, 'A'), (1, 'AA')) v(id, name)");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->counts.deleted, std::nullopt);
}

TEST_F(Past, PrivateKeysAreVeiledInMessages) {
  model.strategy = Strategy::Merge;
  model.key = {"id", "n"};
  build::Stage staged = stage("SELECT * FROM (VALUES ('ada', 1), ('ada', 1)) v(id, n)");
  PrepareRequest request = request_for(staged);
  request.private_columns = {"ID"};
  auto effect = prepared(request);
  ASSERT_TRUE(effect.has_value());
  EXPECT_EQ(effect->warnings[0].message, "1 key (id, n) has several rows in the result: (•••, 1) ×2");
  discard(clean(), *effect);
  request.samples = false;
  effect = prepared(request);
  ASSERT_TRUE(effect.has_value());
  EXPECT_EQ(effect->warnings[0].message, "1 key (id, n) has several rows in the result");
  discard(clean(), *effect);
}

}  // namespace
}  // namespace weir::publish
