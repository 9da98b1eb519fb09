#include "parse/readers.h"

#include <gtest/gtest.h>

#include "duck/database.h"

namespace weir::parse {
namespace {

TEST(Readers, ANameThatIsPutTogetherIsGuarded) {
  EXPECT_EQ(with_guarded_readers("FROM read_csv('a' || $x)"), "FROM read_csv(_weir_file('a' || $x))");
  EXPECT_EQ(with_guarded_readers("FROM READ_JSON ( f(1, [2, 3]) , a = 1)"),
            "FROM READ_JSON ( _weir_file(f(1, [2, 3])) , a = 1)");
  EXPECT_EQ(with_guarded_readers("FROM \"read_csv\"(header := false, -- (\n x)"),
            "FROM \"read_csv\"(header := false, -- (\n _weir_file(x))");
  EXPECT_EQ(with_guarded_readers("FROM system.main.read_text(a.b)"), "FROM system.main.read_text(_weir_file(a.b))");
  EXPECT_EQ(with_guarded_readers("FROM read_csv('data/{partition}.csv')"),
            "FROM read_csv(_weir_file('data/{partition}.csv'))");
  EXPECT_EQ(with_guarded_readers("FROM read_csv(['a', 'b'])"), "FROM read_csv(_weir_file(['a', 'b']))");
}

TEST(Readers, AConstantNameAndWhatIsNoCallStayAsTheyAre) {
  for (const char* sql : {"FROM read_csv('a.csv', header = true)", "SELECT read_csv FROM t", "SELECT 'read_csv(x)'",
                          "CREATE TEMP MACRO read_csv(p) AS TABLE SELECT p", "FROM glob('a' || 'b')",
                          "SELECT 1 -- read_csv(x)", "FROM read_csv()", "FROM read_csv(a = 1)", "FROM read_csv(x"})
    EXPECT_EQ(with_guarded_readers(sql), sql);
}

TEST(Readers, TheBodyOfAMacroIsGuarded) {
  EXPECT_EQ(with_guarded_readers("CREATE TEMP MACRO m(p) AS TABLE FROM read_csv(p)"),
            "CREATE TEMP MACRO m(p) AS TABLE FROM read_csv(_weir_file(p))");
}

TEST(Readers, TheGuardStopsANameWhereverItIsBound) {
  auto database = duck::Database::open({.threads = 1});
  ASSERT_TRUE(database.has_value());
  auto connection = (*database)->connect();
  ASSERT_TRUE(connection.has_value());
  const auto run = [&](const std::string& sql) {
    return connection->query(duck::Sql::verbatim(with_guarded_readers(sql)));
  };
  EXPECT_TRUE(run("FROM read_text('/proc/self/' || 'stat')").has_value());
  (*database)->guard_files([](const std::string& file) {
    return file.ends_with("stat") ? std::optional<std::string>("not this one") : std::nullopt;
  });
  for (const char* sql : {"FROM read_text('/proc/self/' || 'stat')", "FROM read_csv(['/dev/null', '/proc/self/stat'])",
                          "CREATE TEMP MACRO m(p) AS TABLE FROM read_csv(p || 'at'); FROM m('/proc/self/st')"}) {
    const auto rows = run(sql);
    ASSERT_FALSE(rows.has_value()) << sql;
    EXPECT_EQ(rows.error().type, duck::FailureType::Refused) << sql;
    EXPECT_EQ(rows.error().message, "not this one") << sql;
  }
  EXPECT_TRUE(run("FROM read_text('/proc/self/' || 'cmdline')").has_value());
  const auto other = run("SELECT nonsense");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().type, duck::FailureType::Binder);
}

}  // namespace
}  // namespace weir::parse
