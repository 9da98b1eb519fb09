// What other programs get of lineage. OpenLineage publishes JSON schemas (OpenLineage 2-0-2, ColumnLineageDatasetFacet
// 1-2-0, SchemaDatasetFacet 1-2-0); their required members, types and words are checked here one by one.
#include "ops/lineage_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

namespace weir::ops {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOrders = "ducklake://main/raw.orders";
constexpr const char* kRevenue = "ducklake://main/mart.revenue";
constexpr const char* kFile = "file:data/orders.csv";

LineageReport report() {
  LineageReport report{.asset = kRevenue, .model = "mart/revenue", .columns = {{"total", "HUGEINT"}, {"n", "BIGINT"}}};
  report.up = {
      {{kOrders, "amount"},
       {kRevenue, "total"},
       bind::ValueKind::Aggregate,
       false,
       false,
       "mart/revenue",
       1,
       bind::ValueKind::Aggregate},
      {{kOrders, "day"},
       {kRevenue, "total"},
       bind::ValueKind::Window,
       true,
       false,
       "mart/revenue",
       1,
       bind::ValueKind::Window},
      {{kOrders, "note"},
       {kRevenue, "total"},
       bind::ValueKind::Copy,
       false,
       true,
       "mart/revenue",
       1,
       bind::ValueKind::Copy},
      {{kFile, "amount"},
       {kOrders, "amount"},
       bind::ValueKind::Copy,
       false,
       false,
       "raw/orders",
       2,
       bind::ValueKind::Aggregate},
      {{kFile, "day"},
       {kOrders, "day"},
       bind::ValueKind::Expression,
       false,
       false,
       "raw/orders",
       2,
       bind::ValueKind::Window},
  };
  report.rows = {{{kOrders, "paid"}, bind::RowRole::Where, "mart/revenue", kRevenue},
                 {{kOrders, "paid"}, bind::RowRole::Group, "mart/revenue", kRevenue},
                 {{kOrders, "id"}, bind::RowRole::Join, "mart/revenue", kRevenue},
                 {{kFile, "day"}, bind::RowRole::Order, "raw/orders", kOrders}};
  report.gaps = {{"scripts/load", "a manual script"}};
  report.schemas = {
      {kRevenue, {{"total", "HUGEINT"}, {"n", "BIGINT"}}}, {kOrders, {{"amount", "INTEGER"}}}, {kFile, {}}};
  return report;
}

bool is_uri(const Json& value) {
  return value.is_string() && std::regex_match(value.get<std::string>(), std::regex("[a-z][a-z0-9+.-]*:[^ ]+"));
}

void expect_facet(const Json& facet, const std::string& definition) {
  EXPECT_TRUE(is_uri(facet.at("_producer")));
  ASSERT_TRUE(is_uri(facet.at("_schemaURL")));
  const auto url = facet.at("_schemaURL").get<std::string>();
  EXPECT_TRUE(url.ends_with("/" + definition + ".json#/$defs/" + definition)) << url;
}

void expect_input_field(const Json& field) {
  for (const char* name : {"namespace", "name", "field"}) EXPECT_TRUE(field.at(name).is_string()) << field;
  ASSERT_TRUE(field.at("transformations").is_array());
  for (const Json& change : field.at("transformations")) {
    const auto type = change.at("type").get<std::string>();
    const auto subtype = change.at("subtype").get<std::string>();
    EXPECT_TRUE(change.at("description").is_string());
    EXPECT_TRUE(change.at("masking").is_boolean());
    const std::set<std::string> direct{"IDENTITY", "TRANSFORMATION", "AGGREGATION"};
    const std::set<std::string> indirect{"JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"};
    EXPECT_TRUE((type == "DIRECT" && direct.contains(subtype)) || (type == "INDIRECT" && indirect.contains(subtype)))
        << change;
  }
}

void expect_dataset(const Json& dataset) {
  EXPECT_TRUE(dataset.at("namespace").is_string());
  EXPECT_TRUE(dataset.at("name").is_string());
  const Json& schema = dataset.at("facets").at("schema");
  expect_facet(schema, "SchemaDatasetFacet");
  for (const Json& field : schema.at("fields")) EXPECT_TRUE(field.at("name").is_string());
}

void expect_job_event(const Json& event) {
  EXPECT_TRUE(std::regex_match(event.at("eventTime").get<std::string>(),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))")));
  EXPECT_TRUE(is_uri(event.at("producer")));
  EXPECT_EQ(event.at("schemaURL"), "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent");
  EXPECT_FALSE(event.contains("run"));
  EXPECT_TRUE(event.at("job").at("namespace").is_string());
  EXPECT_TRUE(event.at("job").at("name").is_string());
  for (const Json& input : event.at("inputs")) expect_dataset(input);
  ASSERT_EQ(event.at("outputs").size(), 1U);
  for (const Json& output : event.at("outputs")) {
    expect_dataset(output);
    const Json& lineage = output.at("facets").at("columnLineage");
    expect_facet(lineage, "ColumnLineageDatasetFacet");
    ASSERT_TRUE(lineage.at("fields").is_object());
    for (const auto& [column, field] : lineage.at("fields").items())
      for (const Json& input : field.at("inputFields")) expect_input_field(input);
    for (const Json& input : lineage.value("dataset", Json::array())) expect_input_field(input);
  }
}

TEST(OpenLineage, EventsHaveWhatTheSchemasDemand) {
  const Json events = to_openlineage(report(), "shop", "2026-07-05T08:00:00.000000Z", "1.0");
  ASSERT_EQ(events.size(), 2U);
  for (const Json& event : events) expect_job_event(event);
}

TEST(OpenLineage, EachModelIsAJobWithItsDatasets) {
  const Json events = to_openlineage(report(), "shop", "2026-07-05T08:00:00Z", "1.0");
  EXPECT_EQ(events[0]["job"], (Json{{"namespace", "weir://shop"}, {"name", "mart/revenue"}}));
  EXPECT_EQ(events[0]["outputs"][0]["namespace"], "ducklake://main");
  EXPECT_EQ(events[0]["outputs"][0]["name"], "mart.revenue");
  EXPECT_EQ(events[1]["job"]["name"], "raw/orders");
  EXPECT_EQ(events[1]["inputs"][0]["namespace"], "file");
  EXPECT_EQ(events[1]["inputs"][0]["name"], "data/orders.csv");
}

TEST(OpenLineage, KindsAndRolesBecomeTransformationsAndWhatIsOverruledIsLeftOut) {
  const Json lineage =
      to_openlineage(report(), "shop", "2026-07-05T08:00:00Z", "1.0")[0]["outputs"][0]["facets"]["columnLineage"];
  const Json& inputs = lineage["fields"]["total"]["inputFields"];
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0]["field"], "amount");
  EXPECT_EQ(inputs[0]["transformations"][0]["subtype"], "AGGREGATION");
  EXPECT_EQ(inputs[1]["transformations"][0]["subtype"], "WINDOW");
  // One column in two roles is one field with two transformations.
  ASSERT_EQ(lineage["dataset"].size(), 2U);
  EXPECT_EQ(lineage["dataset"][0]["transformations"][0]["subtype"], "FILTER");
  EXPECT_EQ(lineage["dataset"][0]["transformations"][1]["subtype"], "GROUP_BY");
}

TEST(OpenLineage, AModelOfConstantsIsAJobToo) {
  LineageReport constant{.asset = kRevenue, .model = "mart/revenue", .columns = {{"one", "INTEGER"}}};
  const Json events = to_openlineage(constant, "shop", "2026-07-05T08:00:00Z", "1.0");
  ASSERT_EQ(events.size(), 1U);
  expect_job_event(events[0]);
  EXPECT_TRUE(events[0]["outputs"][0]["facets"]["columnLineage"]["fields"].empty());
}

TEST(LineageJson, NamesBothEndsOriginAndWay) {
  const Json object = to_json(report());
  EXPECT_EQ(object["asset"], kRevenue);
  EXPECT_EQ(object["columns"][0], (Json{{"name", "total"}, {"type", "HUGEINT"}}));
  const Json& declared = object["up"][1];
  EXPECT_EQ(declared["origin"], "declared");
  EXPECT_EQ(object["up"][2]["overruled"], true);
  EXPECT_EQ(object["up"][3]["kind"], "copy");
  EXPECT_EQ(object["up"][3]["way"], "aggregate");
  EXPECT_EQ(object["rows"][0]["role"], "where");
  EXPECT_EQ(object["not_known"][0]["model"], "scripts/load");
}

}  // namespace
}  // namespace weir::ops
