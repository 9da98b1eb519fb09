#include "graph/graph.h"

#include <map>

#include "support/loaded_project.h"

namespace weir {
namespace {

using Paths = std::vector<std::string>;

Paths order_of(const Graph& graph) {
  Paths paths;
  for (const Model& model : graph.models()) paths.push_back(model.path);
  return paths;
}

Paths producers_of(const Graph& graph, const std::string& path) {
  Paths paths;
  for (const std::size_t i : graph.producers_of(graph.index_of(path))) paths.push_back(graph.models()[i].path);
  return paths;
}

std::string managed(const std::string& table, const std::string& rest) {
  return "-- materialize ducklake://main/" + table + "\n" + rest;
}

TEST(Graph, ProducersComeFirstAndTiesGoByPath) {
  LoadedProject project;
  project.model("a_mart", managed("mart", "SELECT * FROM z_source JOIN b_source USING (id)"));
  project.model("z", managed("z_source", "SELECT 1 AS id"));
  project.model("b", managed("b_source", "SELECT 1 AS id"));
  const Graph graph = project.graph();
  EXPECT_EQ(order_of(graph), (Paths{"b", "z", "a_mart"}));
  EXPECT_EQ(producers_of(graph, "a_mart"), (Paths{"b", "z"}));
  EXPECT_EQ(graph.readers_of(graph.index_of("z")), (std::vector<std::size_t>{graph.index_of("a_mart")}));
}

TEST(Graph, ReadsAreFoundInSubqueriesCtesSetupTestsAndTriggers) {
  LoadedProject project;
  for (const std::string name : {"s1", "s2", "s3", "s4", "s5", "s6"})
    project.model(name, managed(name, "SELECT 1 AS id"));
  project.model("m", managed("m",
                             "-- data_test relationships id -> ducklake://main/s5.id\n"
                             "-- on ducklake://main/s6\n"
                             "CREATE TEMP TABLE t AS SELECT * FROM s1;\n"
                             "CREATE TEMP VIEW v AS SELECT * FROM s2;\n"
                             "WITH c AS (SELECT * FROM s3) SELECT id FROM c WHERE EXISTS (SELECT 1 FROM s4)"));
  EXPECT_EQ(producers_of(project.graph(), "m"), (Paths{"s1", "s2", "s3", "s4", "s5", "s6"}));
}

TEST(Graph, SpellingAndCaseOfANameDoNotMatter) {
  LoadedProject project;
  project.model("a", managed("Orders", "SELECT 1 AS id"));
  project.model("b", managed("b", "ATTACH 'ducklake://main' AS dl; SELECT * FROM dl.MAIN.\"oRDERS\""));
  project.model("c", managed("c", "SELECT * FROM main.orders"));
  const Graph graph = project.graph();
  EXPECT_EQ(producers_of(graph, "b"), (Paths{"a"}));
  EXPECT_EQ(producers_of(graph, "c"), (Paths{"a"}));
}

TEST(Graph, ACteOfATablesNameHidesIt) {
  LoadedProject project;
  project.model("a", managed("orders", "SELECT 1 AS id"));
  project.model("b", managed("b", "WITH orders AS (SELECT 2 AS id) SELECT * FROM orders"));
  EXPECT_EQ(producers_of(project.graph(), "b"), Paths{});
}

TEST(Graph, TheCurrentViewLeadsToItsHistory) {
  LoadedProject project;
  project.model("dim", "-- materialize scd2 ducklake://main/dim key=id\nSELECT 1 AS id, 2 AS v");
  project.model("b", managed("b", "SELECT * FROM dim_current"));
  const Graph graph = project.graph();
  EXPECT_EQ(producers_of(graph, "b"), (Paths{"dim"}));
  EXPECT_EQ(graph.producer(*parse_asset("ducklake://main/dim_current"))->path, "dim");
  EXPECT_EQ(graph.producer(*parse_asset("ducklake://main/elsewhere")), nullptr);
}

TEST(Graph, WhatAModelProduces) {
  LoadedProject project;
  project.model("a", "-- materialize ducklake://main/a key=id history\nSELECT 1 AS id");
  project.model("b", "-- materialize ducklake://main/b key=id\nSELECT 1 AS id");
  project.model("c", "-- materialize manual ducklake://main/c key=id history\nSELECT 1 AS id");
  std::map<std::string, std::string> produced;
  const Graph graph = project.graph();
  for (const Model& model : graph.models())
    for (const Asset& asset : outputs_of(model)) produced[model.path] += asset.name + " ";
  EXPECT_EQ(produced, (std::map<std::string, std::string>{{"a", "a a_current "}, {"b", "b "}, {"c", "c "}}));
}

TEST(Graph, AModelMayReadWhatItWroteBefore) {
  LoadedProject project;
  project.model("a", managed("a", "SELECT id + 1 AS id FROM a"));
  EXPECT_EQ(producers_of(project.graph(), "a"), Paths{});
}

TEST(Graph, CycleIsBlamedOnAMemberNotOnItsReaders) {
  LoadedProject project;
  project.model("a_reader", managed("r", "SELECT * FROM x"));
  project.model("m", managed("x", "SELECT * FROM y"));
  project.model("n", managed("y", "SELECT * FROM x"));
  const auto graph = project.link();
  ASSERT_FALSE(graph.has_value());
  ASSERT_EQ(graph.error().size(), 1U);
  const Diagnostic& found = graph.error().front();
  EXPECT_EQ(found.code, Code::W2003);
  EXPECT_EQ(found.path, "models/m.sql");
  EXPECT_EQ(found.message, "these models read each other in a cycle: m → n → m");
  EXPECT_GT(found.span.size(), 0U);
}

TEST(Graph, TwoProducersOfOneAssetAreBothNamed) {
  LoadedProject project;
  project.model("a", managed("t", "SELECT 1 AS id"));
  project.model("b", managed("u", "SELECT 1 AS id"));
  std::vector<Model> models = project.load().models;
  models[1].target = parse_asset("ducklake://main/T");
  const auto graph = Graph::link(std::move(models));
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().front().code, Code::W2001);
  EXPECT_NE(graph.error().front().message.find("models/a.sql and models/b.sql"), std::string::npos);
}

TEST(Graph, ManyModelsInARowAreOrdered) {
  LoadedProject project;
  for (int i = 0; i < 200; ++i)
    project.model(
        "m" + std::to_string(1199 - i),
        managed("t" + std::to_string(i), i == 0 ? "SELECT 1 AS id" : "SELECT * FROM t" + std::to_string(i - 1)));
  const Graph graph = project.graph();
  ASSERT_EQ(graph.models().size(), 200U);
  EXPECT_EQ(graph.models().front().path, "m1199");
  EXPECT_EQ(graph.models().back().path, "m1000");
}

TEST(Graph, DependsOnMakesAnEdgeByPathOrShortName) {
  LoadedProject project;
  project.model("z/first", managed("first", "SELECT 1 AS id"));
  project.model("a", "/* weir: {depends_on: [first]} */\nSELECT 1 AS id");
  const Graph graph = project.graph();
  EXPECT_EQ(order_of(graph), (Paths{"z/first", "a"}));
  EXPECT_EQ(producers_of(graph, "a"), (Paths{"z/first"}));
}

TEST(Graph, DependsOnOfNoModelIsRefused) {
  LoadedProject project;
  project.model("a", "/* weir: {depends_on: [nothing]} */\nSELECT 1 AS id");
  const auto linked = project.link();
  ASSERT_FALSE(linked.has_value());
  EXPECT_EQ(linked.error().front().code, Code::W2010);
  EXPECT_EQ(linked.error().front().path, "models/a.sql");
}

}  // namespace
}  // namespace weir
