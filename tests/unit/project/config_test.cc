#include "project/config.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "io/files.h"

namespace weir {
namespace {

class Configuration : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "weir_config_XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  Result<Config> load(const std::string& yaml, const std::string& env = {}) {
    EXPECT_TRUE(io::write_file(root_ + "/weir.yaml", yaml).has_value());
    EXPECT_TRUE(io::write_file(root_ + "/.env", env).has_value());
    Diagnostics warnings;
    return load_config(root_, warnings);
  }
  Diagnostic error(const std::string& yaml) {
    auto config = load(yaml);
    if (!config.has_value()) return config.error().front();
    ADD_FAILURE() << "no error: " << yaml;
    return {.code = Code::W0001};
  }
  std::string root_;
};
const std::string kLake = "lakes: {main: {catalog: lake/main.sqlite, data: lake/main}}\n";

TEST_F(Configuration, PathsAreRelativeToTheProject) {
  const auto config = load(kLake + "storages: {default: files/}\nallow_paths: [../in]\n");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->default_lake().catalog.target, root_ + "/lake/main.sqlite");
  EXPECT_EQ(config->default_lake().data, root_ + "/lake/main");
  EXPECT_EQ(config->state.target, root_ + "/.weir/state.sqlite");
  EXPECT_EQ(config->storages.at("default"), root_ + "/files");
  EXPECT_NE(config->lake("MAIN"), nullptr);
  EXPECT_EQ(config->jobs, 2);
}

TEST_F(Configuration, UnknownKeysAreErrorsWithASuggestionAndAPlace) {
  const Diagnostic found = error(kLake + "jbos: 3\n");
  EXPECT_EQ(found.code, Code::W0003);
  EXPECT_EQ(found.hint, "did you mean `jobs`?");
  EXPECT_EQ(found.span.begin, kLake.size());
  EXPECT_EQ(error("lakes: {main: {catalogue: a.sqlite, data: d}}").code, Code::W0003);
}

TEST_F(Configuration, WrongValuesAreErrors) {
  for (const char* line :
       {"jobs: 0", "jobs: many", "audit: never", "strict: maybe", "contracts: fatal", "lakes: 3", "memory: {a: 1}"})
    EXPECT_EQ(error((std::string(line).starts_with("lakes") ? "" : kLake) + line).code, Code::W0004) << line;
  EXPECT_EQ(error("name: x\n").code, Code::W0004);
  EXPECT_EQ(error("a: [1\n").code, Code::W0002);
}

TEST_F(Configuration, VariablesComeFromTheEnvironmentThenTheFileThenTheDefault) {
  ::setenv("WEIR_TEST_NAME", "outer", 1);
  const auto config = load(kLake + "name: ${WEIR_TEST_NAME}-${WEIR_TEST_FILED}-${WEIR_TEST_NONE:-fallback}\n",
                           "export WEIR_TEST_FILED='filed'\nWEIR_TEST_NAME=inner\n");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->name, "outer-filed-fallback");
  const Diagnostic found = error(kLake + "name: ${WEIR_TEST_NONE}\n");
  EXPECT_EQ(found.code, Code::W0005);
  EXPECT_NE(found.message.find("WEIR_TEST_NONE"), std::string::npos);
}

TEST_F(Configuration, PasswordsAreNeverShown) {
  const auto config = load(
      "lakes: {main: {catalog: 'postgres://u:secret@host/db', data: d}}\nstate: 'postgres:host=h password=secret "
      "user=u'\n");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->default_lake().catalog.target, "postgres://u:secret@host/db");
  EXPECT_EQ(config->default_lake().catalog.shown, "postgres://u:***@host/db");
  EXPECT_EQ(config->state.shown.find("secret"), std::string::npos);
}

TEST_F(Configuration, DuckDbFilesAreNoCatalogs) {
  for (const char* catalog : {"lake.duckdb", "duckdb:lake", "lake.ducklake", "mysql:host=x"}) {
    const Diagnostic found = error("lakes: {main: {catalog: '" + std::string(catalog) + "', data: d}}");
    EXPECT_EQ(found.code, Code::W0006) << catalog;
    EXPECT_NE(found.hint.find("PostgreSQL"), std::string::npos);
    EXPECT_NE(found.hint.find("SQLite"), std::string::npos);
  }
}

TEST_F(Configuration, AProjectIsFoundFromBelow) {
  ASSERT_TRUE(load(kLake).has_value());
  ASSERT_TRUE(io::make_folder(root_ + "/models/deep").has_value());
  EXPECT_EQ(*find_project(root_ + "/models/deep"), root_);
  EXPECT_EQ(find_project("/proc").error().front().code, Code::W0001);
}

}  // namespace
}  // namespace weir
