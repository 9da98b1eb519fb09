#include "project/asset.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

std::string canonical(std::string_view uri) {
  const auto asset = parse_asset(uri);
  return asset ? asset->uri() : "none";
}

TEST(Asset, ALakeTableWithoutSchemaIsInMain) {
  EXPECT_EQ(canonical("ducklake://sales/orders"), "ducklake://sales/main.orders");
  EXPECT_EQ(canonical("ducklake://sales/main.orders"), "ducklake://sales/main.orders");
  EXPECT_EQ(canonical("ducklake://sales/analytics.orders"), "ducklake://sales/analytics.orders");
  EXPECT_EQ(canonical("datatable://crm/people"), "datatable://crm/main.people");
}

TEST(Asset, OnlyTheFirstDotSeparates) {
  const auto asset = parse_asset("ducklake://w/a.b.c");
  ASSERT_TRUE(asset);
  EXPECT_EQ(asset->schema, "a");
  EXPECT_EQ(asset->name, "b.c");
}

TEST(Asset, NamesCompareWithoutCase) {
  EXPECT_EQ(parse_asset("ducklake://Main/Orders"), parse_asset("ducklake://main/main.ORDERS"));
  EXPECT_EQ(parse_asset("ducklake://Main/Orders")->name, "Orders");
}

TEST(Asset, ShorthandsNameThePlaceMainAndNoTable) {
  for (const auto* word : {"ducklake", "datatable"}) {
    const auto asset = parse_asset(word);
    ASSERT_TRUE(asset);
    EXPECT_EQ(asset->place, "main");
    EXPECT_EQ(asset->name, "");
  }
  EXPECT_EQ(canonical("ducklake://wh"), "ducklake://wh");
}

TEST(Asset, LeadingSlashesOfADefaultStorageKeyDoNotCount) {
  for (const auto* uri : {"s3:///k", "s3://k", "s3:////k"}) EXPECT_EQ(canonical(uri), "s3:///k") << uri;
  EXPECT_EQ(canonical("s3:///t/year=2024/f"), "s3:///t/year=2024/f");
}

TEST(Asset, AStorageMayBeNamed) {
  const auto asset = parse_asset("s3://archive/2024/f.parquet");
  ASSERT_TRUE(asset);
  EXPECT_EQ(asset->place, "archive");
  EXPECT_EQ(asset->name, "2024/f.parquet");
  EXPECT_EQ(asset->uri(), "s3://archive/2024/f.parquet");
}

TEST(Asset, OtherKindsKeepTheirPath) {
  EXPECT_EQ(canonical("res://f/foo"), "res://f/foo");
  EXPECT_EQ(canonical("$res:f/foo"), "res://f/foo");
  EXPECT_EQ(canonical("volume://v/x"), "volume://v/x");
}

TEST(Asset, WhatNamesNothingIsNone) {
  for (const auto* uri :
       {"", "orders", "ducklake://", "ducklake:///t", "s3://", "s3:///", "res://", "$res:", "http://x/y"})
    EXPECT_EQ(canonical(uri), "none") << uri;
}

}  // namespace
}  // namespace weir
