// A slice to compute in a test: a model made of a text, an instance with a memory database for stages, and a real lake
// in a folder.
#pragma once

#include <gtest/gtest.h>
#include <filesystem>

#include "build/stage.h"

namespace weir::build {

class Slice : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string form = (std::filesystem::temp_directory_path() / "weir-build-XXXXXX").string();
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    folder_ = form;
    auto database = duck::Database::open({.extension_folder = WEIR_EXTENSION_FOLDER, .threads = 2});
    ASSERT_TRUE(database.has_value());
    database_ = *database;
    auto connection = database_->connect();
    ASSERT_TRUE(connection.has_value());
    clean_ = std::make_unique<duck::Connection>(std::move(*connection));
    auto step = database_->connect();
    ASSERT_TRUE(step.has_value());
    step_ = std::make_unique<duck::Connection>(std::move(*step));
    run("ATTACH ':memory:' AS _weir_stage");
  }
  void TearDown() override {
    step_.reset();
    clean_.reset();
    database_.reset();
    std::filesystem::remove_all(folder_);
  }

  void attach_lake() {
    ASSERT_TRUE(database_->load("ducklake").has_value());
    ASSERT_TRUE(database_->load("sqlite_scanner").has_value());
    run(duck::Sql("ATTACH {} AS lake (DATA_PATH {}, METADATA_CATALOG 'meta', DATA_INLINING_ROW_LIMIT 0)",
                  duck::Literal("ducklake:sqlite:" + folder_ + "/catalog.db"), duck::Literal(folder_ + "/data/")));
  }

  void run(const duck::Sql& sql) {
    auto done = clean_->execute(sql);
    ASSERT_TRUE(done.has_value()) << sql.text() << ": " << done.error().message;
  }
  /// One value as text; "NULL" for NULL, the message for a failure.
  std::string one(const duck::Sql& sql) {
    auto rows = clean_->query(sql);
    if (!rows) return rows.error().message;
    return rows->maybe_text(0, 0).value_or("NULL");
  }

  /// The model of this test with `query` as its only statement.
  void model_of(const std::string& query) {
    auto source = std::make_shared<Source>();
    source->path = "models/m.sql";
    source->text = "-- header\n" + query;
    model.source = source;
    model.plane = Plane::Managed;
    model.target = Asset{AssetKind::Lake, "main", "main", "t"};
    const Span span{10, static_cast<std::uint32_t>(source->text.size())};
    model.script.statements.clear();
    parse::Statement statement;
    statement.kind = parse::StatementKind::Result;
    statement.span = span;
    statement.query = span;
    model.script.statements.push_back(std::move(statement));
  }

  void target_of(const std::vector<lake::ColumnState>& columns) {
    target.exists = true;
    target.columns = columns;
  }

  StageRequest request_of(const std::string& partition = "") {
    return {.model = model,
            .partition = partition,
            .run = "RUN",
            .step = 7,
            .setup = setup,
            .query = parse::Spliced::make(model.source->text, model.result().span, {}),
            .target = target,
            .lake = lake,
            .earlier_rows = earlier_rows,
            .follows_query = follows_query,
            .scratch_folder = folder_};
  }

  /// Computes as a step does: in a transaction of its own connection, which then ends so that others see the stage.
  Result<Stage> compute_now(const std::string& query, const std::string& partition = "") {
    model_of(query);
    auto transaction = duck::Transaction::begin(*step_);
    auto stage = compute(*step_, request_of(partition));
    if (stage) {
      EXPECT_TRUE(transaction->commit().has_value());
    }
    return stage;
  }
  /// The codes of a failed computation, or "" if it worked.
  std::string codes_of(const std::string& query, const std::string& partition = "") {
    const auto stage = compute_now(query, partition);
    if (stage) {
      discard(*clean_, *stage, false);
      return "";
    }
    std::string codes;
    last = stage.error();
    for (const auto& found : stage.error()) codes += (codes.empty() ? "" : " ") + std::string(name_of(found.code));
    return codes;
  }
  bool has_note(const Stage& stage, Code code) const {
    for (const auto& note : stage.notes)
      if (note.code == code) return true;
    return false;
  }
  std::string folder_of_table(const std::string& table) const { return folder_ + "/data/main/" + table + "/"; }

  std::string folder_;
  std::shared_ptr<duck::Database> database_;
  std::unique_ptr<duck::Connection> clean_;
  std::unique_ptr<duck::Connection> step_;
  Model model;
  lake::TableState target;
  lake::Lake lake;
  std::vector<parse::Spliced> setup;
  std::optional<std::int64_t> earlier_rows = 0;
  bool follows_query = false;
  Diagnostics last;
};

}  // namespace weir::build
