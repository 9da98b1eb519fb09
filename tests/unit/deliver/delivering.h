// A target in a database of its own kind for each test, stages made by hand, one delivery the way a run makes it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "deliver/deliver.h"
#include "support/test_lake.h"

namespace weir::deliver {

class Delivering : public ::testing::TestWithParam<DatabaseLocation::Kind> {
 protected:
  using Kind = DatabaseLocation::Kind;

  void SetUp() override {
    Config config = lake_.config();
    if (GetParam() == Kind::Postgres) {
      database_ = test::TemporaryDatabase::make();
      if (database_ == nullptr) GTEST_SKIP() << "no server";
      config.databases["crm"] = {Kind::Postgres, database_->target(), "crm"};
    } else {
      config.databases["crm"] = {GetParam(), lake_.path("crm.db"), "crm"};
    }
    auto opened =
        lake::Lakes::open(config, {.extension_folder = WEIR_EXTENSION_FOLDER, .write = true, .outlets = {"crm"}});
    ASSERT_TRUE(opened.has_value()) << test::messages(opened.error());
    lakes_ = std::move(*opened);
    clean_.emplace(std::move(*lakes_->connect()));
    auto outlet = lakes_->outlet("crm");
    ASSERT_TRUE(outlet.has_value()) << test::messages(outlet.error());
    outlet_ = *outlet;
    schema_ = GetParam() == Kind::Postgres ? "public" : "main";
    model.plane = Plane::Table;
    model.path = "scores";
    model.key = {"id"};
    model.duplicates = Duplicates::Fail;
    into("scores");
  }

  void into(const std::string& table) { model.target = Asset{AssetKind::Datatable, "crm", schema_, table}; }
  /// The name of a table of the target's database.
  std::string name_of(const std::string& table) const { return duck::Sql("{}", outlet_.table(schema_, table)).text(); }
  std::string table() const { return name_of(model.target->name); }

  duck::Rows ask(const std::string& sql) {
    auto rows = clean_->query(duck::Sql::verbatim(sql));
    EXPECT_TRUE(rows.has_value()) << rows.error().message << "\n" << sql;
    if (!rows) throw std::runtime_error("the statement of the test failed");
    return std::move(*rows);
  }
  std::string values(const std::string& sql) { return lake_.values(*clean_, duck::Sql::verbatim(sql)); }
  std::string held(const std::string& order = "ALL") {
    return values("SELECT * FROM " + table() + " ORDER BY " + order);
  }
  /// Statements of PostgreSQL's own.
  void on_server(const std::string& sql) {
    ask(duck::Sql("CALL postgres_execute({}, {})", duck::Literal(outlet_.attachment), duck::Literal(sql)).text());
    ask("CALL pg_clear_cache()");
  }

  build::Stage stage(const std::string& select) {
    build::Stage made;
    made.table = {std::string(lake::kStageDatabase), "main", "stage" + std::to_string(++stages_)};
    made.relation = duck::Sql("{}", made.table);
    ask(duck::Sql("CREATE OR REPLACE TABLE {} AS {}", made.table, duck::Sql::verbatim(select)).text());
    const auto columns = clean_->describe(duck::Sql("FROM {}", made.table));
    for (const duck::Column& column : *columns) {
      made.columns.push_back({.name = column.name, .type = column.type});
      made.content.columns[column.name].nulls = 0;
    }
    made.content.rows = ask(duck::Sql("SELECT count(*) FROM {}", made.table).text()).integer(0, 0);
    return made;
  }

  /// Delivers the rows of `select`, and checks that the after-image that the audit saw is what the table holds then.
  std::optional<publish::Effect> deliver(const std::string& select) {
    failure.clear();
    const auto target = Target::of(outlet_, model, true);
    auto before = target->observe(*clean_);
    if (!before) return failed(std::move(before).error());
    const build::Stage staged = stage(select);
    publish::PrepareRequest prepare{.model = model, .stage = staged, .lake = lakes_->lake("main"), .target = *before};
    prepare.effective_micros = clock;
    prepare.prefix = "step" + std::to_string(stages_);
    prepare.attached = target->table();
    const DeliveryRequest request{
        .prepare = prepare,
        .audit = [&](const publish::Effect& effect) -> Result<void> {
          ask("CREATE OR REPLACE TABLE _weir_stage.main.image AS SELECT * FROM " + effect.table_image.text());
          if (during) during();
          if (refuses) return fail(Diagnostic{.code = Code::W5001, .message = "refused"});
          return {};
        },
        .check_fence = []() -> Result<void> { return {}; },
        .note =
            [&](const publish::Effect&) {
              return DeliveryRow{"t" + std::to_string(++tokens_), "scores", "r", "prod", std::to_string(tokens_), "{}"};
            }};
    auto writer = lakes_->connect();
    auto effect = deliver::deliver(*clean_, *writer, *target, request);
    if (!effect) return failed(std::move(effect).error());
    const std::string image = values("SELECT * FROM _weir_stage.main.image ORDER BY ALL");
    EXPECT_EQ(image, held());
    if (model.strategy != Strategy::History && model.strategy != Strategy::Append) {
      EXPECT_EQ(effect->rows, ask("SELECT count(*) FROM " + table()).integer(0, 0));
    }
    publish::discard(*clean_, *effect);
    return std::move(*effect);
  }

  std::nullopt_t failed(Diagnostics problems) {
    failure = std::move(problems);
    return std::nullopt;
  }

  Model model;
  std::int64_t clock = 1'700'000'000'000'000;
  bool refuses = false;
  /// Happens between the comparison and the first write.
  std::function<void()> during;
  Diagnostics failure;

 protected:
  test::TestLake lake_;
  std::unique_ptr<test::TemporaryDatabase> database_;
  std::unique_ptr<lake::Lakes> lakes_;
  std::optional<duck::Connection> clean_;
  lake::Outlet outlet_;
  std::string schema_;
  int stages_ = 0;
  int tokens_ = 0;
};

inline std::string name_of_kind(const ::testing::TestParamInfo<DatabaseLocation::Kind>& info) {
  switch (info.param) {
    case DatabaseLocation::Kind::Postgres:
      return "postgres";
    case DatabaseLocation::Kind::Sqlite:
      return "sqlite";
    case DatabaseLocation::Kind::DuckDb:
      break;
  }
  return "duckdb";
}

}  // namespace weir::deliver
