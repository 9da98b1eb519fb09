#include "io/connection_string.h"

#include <gtest/gtest.h>

namespace weir::io {
namespace {

TEST(ConnectionString, BothSpellingsBecomePairs) {
  EXPECT_EQ(as_pairs("postgres://a%27b@host:5432/db"), "user='a\\'b' dbname='db' host='host' port='5432' ");
  EXPECT_EQ(as_pairs("dbname=db host=host"), "dbname='db' host='host' ");
}

TEST(ConnectionString, OptionsOfTheAddressComeLastAndWin) {
  EXPECT_EQ(as_pairs("dbname=db", "-c lock_timeout=1"), "dbname='db' options='-c lock_timeout=1' ");
  EXPECT_EQ(as_pairs("postgres:///db?options=-c%20lock_timeout%3D2", "-c lock_timeout=1"),
            "dbname='db' options='-c lock_timeout=1 -c lock_timeout=2' ");
}

TEST(ConnectionString, WhatIsNoneIsPassedOn) { EXPECT_EQ(as_pairs("no pairs"), "no pairs"); }

}  // namespace
}  // namespace weir::io
