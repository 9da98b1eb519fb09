// Deliveries into each kind of database while weir or the server dies around them: after the next run nothing is there
// twice and nothing is missing, and what the database notes agrees with the state.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "shop.h"

namespace weir::faults {
namespace {

using namespace std::chrono_literals;

/// One statement over a database that is opened for that long only: weir may need the file for itself.
class Target {
 public:
  explicit Target(std::string type, std::string address) : type_(std::move(type)), address_(std::move(address)) {
    auto database =
        duck::Database::open({.extension_folder = WEIR_EXTENSION_FOLDER, .memory_limit = "500MB", .threads = 1});
    for (const char* name : {"sqlite_scanner", "postgres_scanner"}) EXPECT_TRUE((*database)->load(name).has_value());
    connection_ = std::make_unique<duck::Connection>(std::move(*(*database)->connect()));
  }
  std::string rows(const std::string& sql) {
    ask(duck::Sql("ATTACH {} AS crm (TYPE {}, READ_ONLY)", duck::Literal(address_), duck::Identifier(type_)));
    std::string text = ask(duck::Sql::verbatim(sql));
    ask(duck::Sql("DETACH crm"));
    return text;
  }
  std::string url() const { return address_.find("://") == std::string::npos ? type_ + ":" + address_ : address_; }
  std::string schema() const { return type_ == "postgres" ? "public" : "main"; }

 private:
  std::string ask(const duck::Sql& sql) {
    const auto rows = connection_->query(sql);
    if (!rows) {
      ADD_FAILURE() << rows.error().message << "\n" << sql.text();
      return {};
    }
    std::string text;
    for (std::size_t row = 0; row < rows->size(); ++row)
      for (std::size_t column = 0; column < rows->columns().size(); ++column)
        text += (column > 0 ? "|" : row > 0 ? " " : "") + rows->maybe_text(row, column).value_or("NULL");
    return text;
  }

  std::string type_;
  std::string address_;
  std::unique_ptr<duck::Connection> connection_;
};

/// Models of four strategies over one file, delivered one behind the other: events, merged, versions, whole.
class Deliveries {
 public:
  Deliveries(Target& target, Shop& shop) : target_(target), shop_(shop) {
    model("events", "append");
    model("merged", "merge, key: id");
    model("versions", "scd, key: id");
    model("whole", "full");
  }

  /// The n-th batch: three keys, two of which the batch before had with another value.
  void write(int n) {
    std::string rows = "id,v\n";
    for (int id = n; id < n + 3; ++id) rows += std::to_string(id) + "," + std::to_string(n) + "\n";
    shop_.write("data.csv", rows);
    newest_ = n;
  }

  /// What is not as it must be, now that batches 1 to the newest were delivered once each.
  std::string wrong() {
    const std::string n = std::to_string(newest_);
    const std::string batches = "(SELECT i + k AS id, i AS v FROM range(1, " + n + " + 1) r(i), range(3) q(k))";
    std::string found;
    const auto expect = [&](const std::string& what, const std::string& sql, const std::string& expected) {
      if (const std::string rows = target_.rows(sql); rows != expected) found += what + ": " + rows + "\n";
    };
    const auto expect_same = [&](const std::string& table, const std::string& columns, const std::string& oracle) {
      const std::string held = "(SELECT " + columns + " FROM crm." + target_.schema() + "." + table + ")";
      expect(table,
             "(FROM " + held + " EXCEPT ALL FROM " + oracle + ") UNION ALL (FROM " + oracle + " EXCEPT ALL FROM " +
                 held + ") ORDER BY ALL",
             "");
    };
    expect_same("events", "id, v", batches);
    expect_same("merged", "id, v", "(SELECT id, max(v) FROM " + batches + " GROUP BY id)");
    expect_same("whole", "id, v", "(FROM " + batches + " WHERE v = " + n + ")");
    // Keys that a batch lacks stay open.
    expect_same("versions", "id, v, _valid_to IS NULL",
                "(SELECT id, v, v = max(v) OVER (PARTITION BY id) FROM " + batches + ")");
    expect("notes", "SELECT count(*), count(DISTINCT token) FROM crm." + target_.schema() + ".weir_delivery",
           n + "|" + n);
    const std::string noted =
        target_.rows("SELECT record ->> '$.steps[0].definition', record ->> '$.steps[0].rows' FROM crm." +
                     target_.schema() + ".weir_delivery ORDER BY delivered DESC LIMIT 1");
    const std::string recorded = shop_.rows("SELECT fingerprint, row_count FROM state.slice WHERE model = 'events'");
    if (noted != recorded) found += "the database notes " + noted + ", the state " + recorded + "\n";
    return found + shop_.disagreements();
  }

 private:
  void model(const std::string& name, const std::string& strategy) {
    shop_.write("models/" + name + ".sql", "/* weir: {materialise: table, target: crm." + target_.schema() + "." +
                                               name + ", strategy: " + strategy +
                                               "} */\nSELECT id, v FROM read_csv('data.csv')\n");
  }

  Target& target_;
  Shop& shop_;
  int newest_ = 0;
};

class Delivery : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "postgres") {
      if (!Shop::can(Catalog::Postgres)) GTEST_SKIP() << "no server";
      database_ = test::TemporaryDatabase::make();
      target_ = std::make_unique<Target>("postgres", database_->target());
    } else {
      target_ = std::make_unique<Target>(GetParam(), folder_.path() + "/crm.db");
    }
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<test::TemporaryDatabase> database_;
  std::unique_ptr<Target> target_;
};

std::string settings(const Target& target) {
  return "jobs: 1\nallow_paths: any\ndatabases:\n  crm: \"" + target.url() + "\"\n";
}

TEST_P(Delivery, ADeathAnywhereIsMadeUpForByTheNextRun) {
  Shop shop(Catalog::Sqlite, settings(*target_));
  Deliveries deliveries(*target_, shop);
  int batch = 0;
  // The first death finds no table there; the number says which model is being delivered.
  for (const std::string& at : std::vector<std::string>{
           "before_deliver_commit", "after_hold", "deliver_statement", "after_deliver_commit", "before_record",
           "deliver_statement@4", "after_deliver_commit@2", "before_deliver_commit@3", "after_deliver_commit@3",
           "after_deliver_commit@4", "before_record@4"}) {
    SCOPED_TRACE(at);
    deliveries.write(++batch);
    const Ended died = shop.weir("run", {{"WEIR_FAILPOINT", at + "=exit"}});
    ASSERT_EQ(died.code, 137) << died.err;
    const Ended again = shop.weir("run");
    ASSERT_EQ(again.code, 0) << again.err;
    ASSERT_EQ(deliveries.wrong(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Into, Delivery, testing::Values("sqlite", "duckdb", "postgres"),
                         [](const auto& info) { return info.param; });

/// A server of the test's own, so that nobody else misses it.
class OwnServer {
 public:
  OwnServer() { control("start"); }
  ~OwnServer() { control("stop"); }
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;
  void control(const std::string& verb) const {
    std::vector<std::string> arguments{WEIR_POSTGRES_CONTROL, verb, folder_.path()};
    if (verb == "start") arguments.emplace_back("synchronous_commit=on");
    const auto process = scenario::Process::start(arguments, folder_.path(), {});
    EXPECT_EQ(process->wait(60s), 0) << process->err();
  }
  std::string address() const {
    std::string text;
    std::ifstream stream(folder_.path() + "/connection");
    std::getline(stream, text);
    return text;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST(DeliveryServer, AServerThatDiesInTheMiddleIsDeliveredToOnceWhenItIsBack) {
  if (!Shop::can(Catalog::Postgres)) GTEST_SKIP() << "no server";
  const OwnServer server;
  Target target("postgres", server.address());
  Shop shop(Catalog::Sqlite, settings(target));
  Deliveries deliveries(target, shop);
  deliveries.write(1);
  const Ended first = shop.weir("run");
  ASSERT_EQ(first.code, 0) << first.err;
  int batch = 1;
  // At a merge that holds its table, before the answer of an append, and with the rows of an append there already.
  for (const std::string& at : std::vector<std::string>{"after_hold@2=stop", "before_deliver_commit=stop",
                                                        "after_deliver_commit=stop,lost_answer=error"}) {
    SCOPED_TRACE(at);
    deliveries.write(++batch);
    const auto delivering = shop.start("run", {{"WEIR_FAILPOINT", at}});
    until_stopped(*delivering);
    server.control("kill");
    delivering->signal(SIGCONT);
    EXPECT_EQ(delivering->wait(60s), 1) << delivering->err();
    // While it is away nothing is taken for delivered.
    EXPECT_EQ(shop.weir("run").code, 1);
    server.control("restart");
    const Ended again = shop.weir("run");
    ASSERT_EQ(again.code, 0) << again.err;
    ASSERT_EQ(deliveries.wrong(), "");
  }
}

}  // namespace
}  // namespace weir::faults
