// The partition of a run: who says it, and what is refused.
#include "calendar/resolve.h"

#include <gtest/gtest.h>

namespace weir::calendar {
namespace {

Partitioning daily(std::string tz = "UTC") {
  Partitioning partitioning;
  partitioning.tz = std::move(tz);
  partitioning.format = "%Y-%m-%d";
  return partitioning;
}
Partitioning dynamic(std::string key) {
  Partitioning partitioning;
  partitioning.kind = PartitionKind::Dynamic;
  partitioning.key_path = std::move(key);
  return partitioning;
}
PartitionRequest at_time(std::string_view now) {
  PartitionRequest request;
  request.now = *parse_instant(now);
  return request;
}
template <class T>
Code code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? Code::W0001 : result.error().front().code;
}

TEST(Resolve, NowInTheZoneIsTheLastResort) {
  auto request = at_time("2026-05-16T00:30Z");
  EXPECT_EQ(choose_partition(daily("America/New_York"), request)->value, "2026-05-15");
  request.at = *parse_instant("2026-01-02T12:00Z");
  EXPECT_EQ(choose_partition(daily(), request)->value, "2026-01-02");
  request.value = "2025-12-24";
  const auto choice = *choose_partition(daily(), request);
  EXPECT_EQ(choice.value, "2025-12-24");
  ASSERT_TRUE(choice.slot.has_value());
  EXPECT_EQ(choice.slot->local_begin, "2025-12-24 00:00:00");
}

TEST(Resolve, GivenValueIsValidated) {
  auto request = at_time("2026-05-16T00:30Z");
  request.value = "16.05.2026";
  EXPECT_EQ(code_of(choose_partition(daily(), request)), Code::W0153);
}

TEST(Resolve, BeforeStartIsSkippedWithTheReason) {
  auto partitioning = daily();
  partitioning.start = "2026-06-01";
  const auto early = *choose_partition(partitioning, at_time("2026-05-16T12:00Z"));
  EXPECT_EQ(early.value, "");
  EXPECT_EQ(early.skipped, "2026-05-16 is before start=2026-06-01");
  EXPECT_EQ(choose_partition(partitioning, at_time("2026-06-02T12:00Z"))->value, "2026-06-02");
  auto request = at_time("2026-06-02T12:00Z");
  request.value = "2026-05-31";
  EXPECT_EQ(choose_partition(partitioning, request)->skipped, "2026-05-31 is before start=2026-06-01");
  partitioning.end = "2026-06-30";
  EXPECT_EQ(choose_partition(partitioning, at_time("2026-07-01"))->skipped, "2026-07-01 is after end=2026-06-30");
}

TEST(Resolve, RunBeforeStartIsSkippedEvenIfItsPartitionHoldsStart) {
  auto monthly = daily();
  monthly.kind = PartitionKind::Monthly;
  monthly.format = "%Y-%m";
  monthly.start = "2026-05-15";
  EXPECT_FALSE(choose_partition(monthly, at_time("2026-05-10"))->skipped.empty());
  EXPECT_EQ(choose_partition(monthly, at_time("2026-05-15"))->value, "2026-05");
}

TEST(Resolve, DynamicTakesTheLeafOfThePayload) {
  for (const auto& [path, payload, value] : {std::tuple{"$.a.b", R"({"a":{"b":42}})", "42"},
                                             {"a.b", R"({"a":{"b":"x y"}})", "x y"},
                                             {".a", R"({"a":true})", "true"},
                                             {"$a", R"({"a":1.5})", "1.5"},
                                             {"$.a", R"({"a":"'; DROP TABLE x; --"})", "'; DROP TABLE x; --"}}) {
    auto request = at_time("2026-05-16");
    request.payload = payload;
    const auto choice = choose_partition(dynamic(path), request);
    ASSERT_TRUE(choice.has_value()) << path;
    EXPECT_EQ(choice->value, value);
    EXPECT_FALSE(choice->slot.has_value());
  }
}

TEST(Resolve, DynamicWithoutALeafIsAnError) {
  for (const auto& [path, payload, code] : {std::tuple{"$.a.c", R"({"a":{"b":42}})", Code::W0159},
                                            {"$.a", R"({"a":{"b":42}})", Code::W0159},
                                            {"$.a", R"({"a":[1]})", Code::W0159},
                                            {"$.a", R"({"a":null})", Code::W0159},
                                            {"$.a", R"({"a":""})", Code::W0159},
                                            {"$.a.b", R"({"a":"text"})", Code::W0159},
                                            {"$.a", "not json", Code::W0159},
                                            {"$.items[0]", R"({"items":[1]})", Code::W0158},
                                            {"$.a..b", R"({"a":1})", Code::W0158},
                                            {"$.*", R"({"a":1})", Code::W0158},
                                            {"$", R"({"a":1})", Code::W0158}})
    EXPECT_EQ(code_of(value_in_payload(path, payload)), code) << path;
  EXPECT_EQ(code_of(choose_partition(dynamic("$.a"), at_time("2026-05-16"))), Code::W0159);
}

TEST(Resolve, GivenDynamicValueNeedsNoPayload) {
  auto request = at_time("2026-05-16");
  request.value = "north";
  EXPECT_EQ(choose_partition(dynamic("$.a"), request)->value, "north");
  request.value = "";
  EXPECT_EQ(code_of(choose_partition(dynamic("$.a"), request)), Code::W0159);
}

}  // namespace
}  // namespace weir::calendar
