#include "duck/database.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace weir::duck {
namespace {

/// What an instance that was opened with a limit says of it, in GiB or MiB as it likes.
double mebibytes(const std::string& limit) {
  auto database = Database::open({.memory_limit = limit, .threads = 1});
  EXPECT_TRUE(database.has_value()) << limit;
  if (!database) return 0;
  auto connection = (*database)->connect();
  const auto rows = connection->query("SELECT current_setting('memory_limit')");
  EXPECT_TRUE(rows.has_value());
  const std::string text = rows->text(0, 0);
  const double number = std::strtod(text.c_str(), nullptr);
  return text.ends_with("GiB") ? number * 1024 : text.ends_with("TiB") ? number * 1024 * 1024 : number;
}

TEST(Database, AShareOfTheMemoryIsTaken) {
  const double whole = mebibytes("100%");
  EXPECT_GT(whole, 0);
  EXPECT_NEAR(mebibytes("50%") / whole, 0.5, 0.05);
  EXPECT_NEAR(mebibytes("20%") / whole, 0.2, 0.05);
  EXPECT_NEAR(mebibytes("512 MiB"), 512, 1);
}

TEST(Database, ASettingThatDuckDbDoesNotTakeIsAFailure) {
  EXPECT_FALSE(Database::open({.memory_limit = "lots", .threads = 1}).has_value());
}

}  // namespace
}  // namespace weir::duck
