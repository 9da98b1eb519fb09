#include "project/private_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weir {
namespace {

TEST(PrivateFiles, AreFoundUnderEverySpelling) {
  std::string root = "/tmp/weir-private.XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  Config config;
  config.root = root;
  config.state = {.kind = DatabaseLocation::Kind::Sqlite, .target = root + "/books/state.db", .shown = {}};
  std::ofstream(root + "/.env") << "A=1";
  std::filesystem::create_directory(root + "/.weir");
  std::filesystem::create_symlink(".env", root + "/link.csv");
  const PrivateFiles files(config);
  for (const std::string& name :
       {std::string(".env"), std::string("./a/../.env"), std::string(".en*"), std::string("**/.env"), root + "/.env",
        "file:" + root + "/.env", "file://" + root + "/.env", "FILE://localhost" + root + "/.env",
        std::string("link.csv"), std::string(".weir/x"), std::string(".weir/*"), std::string("sub/.env"),
        std::string("books/state.db"), std::string("books/state.db-wal")})
    EXPECT_TRUE(files.hold(name)) << name;
  for (const char* name : {"a.env", "env", "data/*.csv", "s3://bucket/.env", "https://host/.env", "books/other.db"})
    EXPECT_FALSE(files.hold(name)) << name;
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace weir
