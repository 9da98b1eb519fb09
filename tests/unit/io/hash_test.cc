#include "io/hash.h"

#include <gtest/gtest.h>

namespace weir::io {
namespace {

TEST(Hash, Sha256EqualsThePublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, Xxh3EqualsThePublishedVectorAndSeesEachByte) {
  EXPECT_EQ(xxh3_hex(""), "2d06800538d394c2");
  EXPECT_NE(xxh3_hex("select 1"), xxh3_hex("select 2"));
  EXPECT_NE(xxh3_hex(std::string("a\0b", 3)), xxh3_hex("a"));
}

}  // namespace
}  // namespace weir::io
