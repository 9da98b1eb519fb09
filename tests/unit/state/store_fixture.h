// The same tests on SQLite and on a real PostgreSQL. The file that WEIR_TEST_POSTGRES_FILE names holds the connection
// string of a server.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "state/session.h"
#include "state/store.h"

namespace weir::state {

enum class Database { Sqlite, Postgres };

class StoreTest : public testing::TestWithParam<Database> {
 protected:
  void SetUp() override {
    std::string form = (std::filesystem::temp_directory_path() / "weir_state_XXXXXX").string();
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    folder_ = form;
    if (GetParam() == Database::Sqlite) {
      target_ = (folder_ / "a folder" / "state.sqlite").string();
      return;
    }
    const char* file = std::getenv("WEIR_TEST_POSTGRES_FILE");
    if (file == nullptr) GTEST_SKIP() << "WEIR_TEST_POSTGRES_FILE is not set";
    std::getline(std::ifstream(file), target_);
    static std::atomic<int> count = 0;
    schema_ = "state \"test\" " + std::to_string(getpid()) + "_" + std::to_string(count++);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<Store>> open() const {
    return open_store(GetParam() == Database::Postgres, target_, "the test's", schema_);
  }
  /// Changes the tables behind the store's back, as another program would.
  void execute_in_store(const std::string& statement) const;
  std::unique_ptr<Store> opened() const {
    auto store = open();
    if (!store.has_value()) throw std::runtime_error(store.error().front().message);
    return std::move(*store);
  }

  std::filesystem::path folder_;
  std::string target_;
  std::string schema_ = "weir";
};

inline void StoreTest::execute_in_store(const std::string& statement) const {
  auto session = Session::open(
      {.postgres = GetParam() == Database::Postgres, .address = target_, .shown = "test", .schema = schema_});
  ASSERT_TRUE(session.has_value());
  ASSERT_TRUE((*session)
                  ->write("",
                          [&]() -> Result<void> {
                            (*session)->run(statement);
                            return {};
                          })
                  .has_value());
}

template <class T>
Code code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? Code::W0001 : result.error().front().code;
}

inline std::string name_of_database(const testing::TestParamInfo<Database>& info) {
  return info.param == Database::Sqlite ? "Sqlite" : "Postgres";
}

}  // namespace weir::state
