// What only a server does to a delivery: partitions, rows that point at rows, locks, triggers, rights, long names.
#include <libpq-fe.h>

#include "delivering.h"

namespace weir::deliver {
namespace {

/// A session beside weir's.
class Session {
 public:
  explicit Session(const std::string& target) : connection_(PQconnectdb(target.c_str())) {}
  ~Session() { PQfinish(connection_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  void run(const char* sql) {
    PGresult* result = PQexec(connection_, sql);
    EXPECT_LE(PQresultStatus(result), PGRES_TUPLES_OK) << PQerrorMessage(connection_);
    PQclear(result);
  }

 private:
  PGconn* connection_;
};

class Server : public Delivering {
 protected:
  /// Connections that are open already do not know a new setting.
  void open_new_connections() {
    ask("FROM postgres_configure_pool(catalog_name = '" + outlet_.attachment + "', max_connections = 0)");
  }
};

INSTANTIATE_TEST_SUITE_P(On, Server, ::testing::Values(DatabaseLocation::Kind::Postgres), name_of_kind);

TEST_P(Server, PartitionsShareRowNumbersAndAreChangedByKeyAllTheSame) {
  on_server("CREATE TABLE public.scores (id bigint, day date, name text) PARTITION BY RANGE (day)");
  on_server("CREATE TABLE public.scores_1 PARTITION OF public.scores FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')");
  on_server("CREATE TABLE public.scores_2 PARTITION OF public.scores FOR VALUES FROM ('2021-01-01') TO ('2022-01-01')");
  model.strategy = Strategy::FullMerge;
  ASSERT_TRUE(deliver(
      "SELECT * FROM (VALUES (1::BIGINT, DATE '2020-05-05', 'a'), (2, DATE '2021-05-05', 'b')) t(id, day, name)"));
  ASSERT_TRUE(deliver("SELECT 2::BIGINT AS id, DATE '2021-05-05' AS day, 'B' AS name")) << message();
  EXPECT_EQ(held(), "2|2021-05-05|B");
}

TEST_P(Server, RowsThatPointAtChangedRowsStay) {
  on_server("CREATE TABLE public.scores (id bigint PRIMARY KEY, name text, made timestamp DEFAULT '2020-01-01')");
  on_server("CREATE TABLE public.notes (id bigint REFERENCES public.scores(id) ON DELETE CASCADE)");
  filled = "made";
  model.strategy = Strategy::Merge;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
  on_server("INSERT INTO public.notes VALUES (1)");
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'b' AS name"));
  EXPECT_EQ(held(), "1|b|2020-01-01 00:00:00");
  EXPECT_EQ(values("SELECT count(*) FROM " + name_of("notes")), "1");
}

TEST_P(Server, NamesInAnotherCaseAreFound) {
  on_server("CREATE TABLE public.\"Scores\" (\"Id\" bigint, name text)");
  model.strategy = Strategy::Merge;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id, 'b' AS name")) << message();
  EXPECT_EQ(held(), "1|b");
}

// The bound is in the connection string of the tests: 300 ms.
TEST_P(Server, ATableThatAnotherSessionHoldsIsWaitedForNoLongerThanTheBound) {
  on_server("CREATE TABLE public.scores (id bigint, name text)");
  Session other(server());
  other.run("BEGIN; LOCK TABLE public.scores IN EXCLUSIVE MODE");
  for (const Strategy strategy : {Strategy::Merge, Strategy::Append}) {
    model.strategy = strategy;
    EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id, 'a' AS name"));
    EXPECT_EQ(code(), strategy == Strategy::Merge ? Code::W6503 : Code::W6501) << message();
    EXPECT_NE(message().find("lock timeout"), std::string::npos) << message();
  }
  other.run("ROLLBACK");
  model.strategy = Strategy::Merge;
  EXPECT_TRUE(deliver("SELECT 1::BIGINT AS id, 'a' AS name")) << message();
}

TEST_P(Server, TheLedgerIsWaitedForNoLongerThanTheBoundEither) {
  model.strategy = Strategy::Append;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id"));
  Session other(server());
  other.run("BEGIN; LOCK TABLE public.weir_delivery");
  const auto newest = Target::of(outlet_, model, true)->newest(*clean_, "prod");
  ASSERT_FALSE(newest.has_value());
  EXPECT_EQ(newest.error().front().code, Code::W6505);
  EXPECT_NE(newest.error().front().message.find("lock timeout"), std::string::npos);
}

TEST_P(Server, ADatabaseThatOnlyReadsSaysSo) {
  on_server("CREATE TABLE public.scores (id bigint)");
  Session setting(server());
  setting.run(("ALTER DATABASE " + server().substr(server().rfind('=') + 1) + " SET default_transaction_read_only = on")
                  .c_str());
  open_new_connections();
  for (const Strategy strategy : {Strategy::Replace, Strategy::Append}) {
    model.strategy = strategy;
    EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id"));
    EXPECT_EQ(code(), strategy == Strategy::Append ? Code::W6504 : Code::W6501) << message();
    EXPECT_NE(message().find("read-only"), std::string::npos) << message();
  }
  setting.run(("SET default_transaction_read_only = off; ALTER DATABASE " + server().substr(server().rfind('=') + 1) +
               " RESET default_transaction_read_only")
                  .c_str());
  open_new_connections();
  EXPECT_EQ(held(), "");
}

// What a transaction made that was rolled back, and what others make, is no longer or not yet what the engine knows.
TEST_P(Server, ALedgerThatComesAndGoesBetweenDeliveriesIsSeen) {
  on_server("CREATE TABLE public.scores (id bigint CHECK (id <> 13))");
  model.strategy = Strategy::Append;
  EXPECT_FALSE(deliver("SELECT 13::BIGINT AS id"));
  EXPECT_TRUE(deliver("SELECT 1::BIGINT AS id")) << message();
  Session other(server());
  other.run("DROP TABLE public.weir_delivery");
  EXPECT_TRUE(deliver("SELECT 2::BIGINT AS id")) << message();
  other.run("DROP TABLE public.weir_delivery");
  const auto target = Target::of(outlet_, model, true);
  const auto none = target->newest(*clean_, "prod");
  ASSERT_TRUE(none.has_value()) << test::messages(none.error());
  EXPECT_FALSE(none->has_value());
  other.run(
      "CREATE TABLE public.weir_delivery (token text PRIMARY KEY, model text, run text, environment text, delivered "
      "text, record text)");
  EXPECT_TRUE(deliver("SELECT 3::BIGINT AS id")) << message();
  EXPECT_EQ(held(), "1 2 3");
}

TEST_P(Server, ATriggerThatRejectsARowRollsAllOfItBack) {
  on_server("CREATE TABLE public.scores (id bigint, name text)");
  on_server(
      "CREATE FUNCTION public.reject() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no thirteen''; "
      "END'");
  on_server(
      "CREATE TRIGGER no_13 BEFORE INSERT ON public.scores FOR EACH ROW WHEN (NEW.id = 13) EXECUTE FUNCTION "
      "public.reject()");
  model.strategy = Strategy::Append;
  EXPECT_FALSE(deliver("SELECT * FROM (VALUES (1::BIGINT, 'a'), (13, 'b')) t(id, name)"));
  EXPECT_EQ(code(), Code::W6501) << message();
  EXPECT_NE(message().find("no thirteen"), std::string::npos) << message();
  EXPECT_EQ(held(), "");
}

TEST_P(Server, AConstraintThatIsLookedAtLastIsNoDelivery) {
  on_server("CREATE TABLE public.parents (id bigint PRIMARY KEY)");
  on_server("CREATE TABLE public.scores (id bigint REFERENCES public.parents(id) DEFERRABLE INITIALLY DEFERRED)");
  model.strategy = Strategy::Append;
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(code(), Code::W6501) << message();
  EXPECT_EQ(held(), "");
}

TEST_P(Server, WithoutTheRightToNoteDeliveriesNothingLeavesUnlessTheHeaderSaysSo) {
  on_server("CREATE TABLE public.scores (id bigint)");
  on_server("CREATE TABLE public.weir_delivery (other int)");
  model.strategy = Strategy::Append;
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(code(), Code::W6504) << message();
  EXPECT_NE(failure.front().hint.find("ledger: false"), std::string::npos);
  EXPECT_EQ(held(), "");
  model.ledger = false;
  EXPECT_TRUE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(held(), "1");
}

TEST_P(Server, ASessionThatIsKilledInTheMiddleLeavesNothingAndTheNextDeliversOnce) {
  model.strategy = Strategy::Merge;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS id"));
  Session other(server());
  during = [&other] {
    other.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
        "pg_backend_pid()");
  };
  EXPECT_FALSE(deliver("SELECT 2::BIGINT AS id"));
  during = nullptr;
  EXPECT_TRUE(deliver("SELECT 2::BIGINT AS id")) << message();
  EXPECT_EQ(held(), "1 2");
}

TEST_P(Server, AColumnWhoseNameWouldBeCutIsRefused) {
  const std::string longest(63, 'c');
  model.strategy = Strategy::Replace;
  ASSERT_TRUE(deliver("SELECT 1::BIGINT AS " + longest)) << message();
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS " + longest + "d"));
  EXPECT_EQ(code(), Code::W6506) << message();
}

TEST_P(Server, ATargetThatChangesItsColumnsMeanwhileIsNotWrittenTo) {
  on_server("CREATE TABLE public.scores (id bigint)");
  const auto target = Target::of(outlet_, model, true);
  const auto before = target->observe(*clean_);
  ASSERT_TRUE(before.has_value());
  Session(server()).run("ALTER TABLE public.scores ADD COLUMN more text");
  const build::Stage staged = stage("SELECT 1::BIGINT AS id");
  model.strategy = Strategy::Replace;
  publish::PrepareRequest prepare{.model = model, .stage = staged, .lake = lakes().lake("main"), .target = *before};
  prepare.prefix = "moved";
  prepare.attached = target->table();
  auto writer = lakes().connect();
  const auto done = deliver::deliver(
      *clean_, *writer, *target,
      {.prepare = prepare, .audit = {}, .check_fence = []() -> Result<void> { return {}; }, .note = {}});
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().front().code, Code::W6509);
}

TEST_P(Server, AViewIsNoTarget) {
  on_server("CREATE VIEW public.scores AS SELECT 1 AS id");
  model.strategy = Strategy::Replace;
  EXPECT_FALSE(deliver("SELECT 1::BIGINT AS id"));
  EXPECT_EQ(code(), Code::W6508) << message();
}

TEST_P(Server, TypesOfItsOwnTakeWhatTheQueryGives) {
  on_server("CREATE TYPE public.mood AS ENUM ('good', 'bad')");
  on_server(
      "CREATE TABLE public.scores (id bigint PRIMARY KEY, n numeric, c varchar(5), j jsonb, tags int[], at "
      "timestamptz, "
      "flag boolean, doubled bigint GENERATED ALWAYS AS (id * 2) STORED)");
  filled = "doubled";
  model.strategy = Strategy::Merge;
  const std::string select =
      "SELECT 1::BIGINT AS id, 1.25::DOUBLE AS n, 'abc' AS c, '{\"a\": 1}' AS j, [1, 2] AS tags, TIMESTAMPTZ "
      "'2020-01-01 00:00:00+00' AS at, true AS flag";
  ASSERT_TRUE(deliver(select)) << message();
  EXPECT_EQ(values("SELECT id, n, c, tags, flag, doubled FROM " + table()), "1|1.25|abc|[1, 2]|true|2");
}

}  // namespace
}  // namespace weir::deliver
