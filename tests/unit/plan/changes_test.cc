#include "plan/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "bind/binder.h"
#include "io/files.h"
#include "parse/functions.h"
#include "plan/fingerprint.h"
#include "project/cache.h"
#include "project/project.h"
#include "text/lexer.h"

namespace weir::plan {
namespace {

/// Parser, binder and data of all tests: opened once.
struct Engine : ParserProvider {
  Engine() : database(*duck::Database::open({.threads = 1})), link(*database->connect()) {
    config.root = "/nowhere";
    config.models = {"models"};
    config.lakes.push_back({.name = "main"});
    const auto source = [&](const std::string& name, bind::Columns columns, const char* rows) {
      surroundings.sources["ducklake://main/main." + name] = {columns, std::nullopt, ""};
      EXPECT_TRUE(link.execute(duck::Sql("CREATE TABLE {} AS {}", duck::Identifier(name), duck::Sql::verbatim(rows))));
    };
    source(
        "raw",
        {{"id", "INTEGER"}, {"customer", "INTEGER"}, {"amount", "DOUBLE"}, {"status", "VARCHAR"}, {"day", "DATE"}},
        "SELECT i::INTEGER AS id, (i % 7)::INTEGER AS customer, (i * 37 % 11 - 3)::DOUBLE AS amount, "
        "CASE i % 3 WHEN 0 THEN 'paid' WHEN 1 THEN 'open' END AS status, DATE '2026-01-01' + (i % 5)::INTEGER AS day "
        "FROM range(40) t(i)");
    source("customers", {{"id", "INTEGER"}, {"name", "VARCHAR"}, {"country", "VARCHAR"}},
           "SELECT i::INTEGER AS id, 'n' || i % 4 AS name, 'c' || i % 2 AS country FROM range(6) t(i)");
    source("events", {{"id", "INTEGER"}, {"tags", "VARCHAR[]"}},
           "SELECT i::INTEGER AS id, ['a', 'b', 'c'][: i % 4] AS tags FROM range(9) t(i)");
    surroundings.captured = [] { return bind::KnownSchemas(); };
  }
  duck::Outcome<duck::Connection*> connection() override { return &link; }

  std::shared_ptr<duck::Database> database;
  duck::Connection link;
  Config config;
  bind::Surroundings surroundings;
  bind::Binder binder{bind::BinderOptions{}};
  ParseCache cache{""};
};

Engine& engine() {
  // Never destroyed: at the end of the process DuckDB's own thread state is gone before statics are.
  static Engine* const one = new Engine;
  return *one;
}

using Texts = std::map<std::string, std::string>;

/// One side: a project, linked and bound.
class Side {
 public:
  explicit Side(const Texts& texts) {
    OpenTexts files;
    for (const auto& [path, text] : texts) files["models/" + path + ".sql"] = text;
    project_ = std::move(*load_texts(engine().config, engine(), files, engine().cache));
    graph_ = std::make_unique<Graph>(std::move(*Graph::link(project_.models)));
    bound_ = std::move(*engine().binder.bind(project_, *graph_, engine().surroundings));
  }

  const Graph& graph() const { return *graph_; }
  const bind::Bound& bound() const { return bound_; }
  void expect_sound() const {
    for (const Diagnostics* all : {&project_.diagnostics, &bound_.diagnostics})
      for (const Diagnostic& one : *all)
        if (one.severity == Severity::Error) ADD_FAILURE() << one.path << ": " << one.message;
  }

  std::vector<state::DeployedModel> records() const {
    const auto prints = fingerprints(*graph_);
    std::vector<state::DeployedModel> records;
    for (const Model& model : graph_->models()) {
      state::DeployedModel& record = records.emplace_back();
      record.model = model.path;
      record.plane = weir::name_of(model.plane);
      if (model.target) record.asset = model.target->key();
      record.fingerprint = prints.at(model.path);
    }
    return records;
  }

  /// Makes the table of every model in `schema`; returns those that it made.
  std::set<std::string> compute(const std::string& schema) const {
    std::set<std::string> made;
    const duck::Identifier name(schema);
    const auto run = [](const duck::Sql& sql) { return engine().link.execute(sql).has_value(); };
    run(duck::Sql("DROP SCHEMA IF EXISTS {} CASCADE", name));
    run(duck::Sql("CREATE SCHEMA {}", name));
    run(duck::Sql("SET search_path = {}", duck::Literal(schema + ",main")));
    for (const MacroLibrary& library : project_.libraries)
      for (const parse::Statement& one : library.script.statements) run(text_of(*library.source, one.span));
    for (const Model& model : graph_->models()) {
      if (model.plane == Plane::Manual) continue;
      for (std::size_t i = 0; i + 1 < model.script.statements.size(); ++i)
        run(text_of(*model.source, model.script.statements[i].span));
      const duck::Sql query = text_of(*model.source, model.result().span);
      if (run(duck::Sql("CREATE TABLE {}.{} AS {}", name, duck::Identifier(model.relation.name), query)))
        made.insert(model.path);
    }
    run("RESET search_path");
    return made;
  }

 private:
  static duck::Sql text_of(const Source& source, Span span) {
    return duck::Sql::verbatim(source.text.substr(span.begin, span.size()));
  }

  Project project_;
  std::unique_ptr<Graph> graph_;
  bind::Bound bound_;
};

/// Both sides, and what was found.
struct Edit {
  Edit(const Texts& before_texts, const Texts& after_texts, bool forward_only = false)
      : before(before_texts), after(after_texts), records(before.records()) {
    const DeployedProject deployed{.records = &records, .graph = &before.graph(), .bound = &before.bound()};
    const CurrentProject current{.graph = &after.graph(), .bound = &after.bound()};
    parse::Trees trees;
    EXPECT_TRUE(trees.fetch(engine().link, queries_to_compare(deployed, current)).has_value());
    changes = classify(deployed, current, trees,
                       {.forward_only = forward_only, .functions = *parse::function_kinds(engine().link)});
  }
  const ModelChange& of(const std::string& path) const {
    static const ModelChange nothing;
    for (const ModelChange& one : changes)
      if (one.path == path) return one;
    ADD_FAILURE() << path;
    return nothing;
  }

  /// Computes both sides over data, and holds what is claimed to stay against it. Returns how many columns were
  /// claimed.
  int verify(bool at_one_time = true) const {
    int claims = 0;
    if (at_one_time) engine().link.execute("BEGIN");
    const auto before_made = before.compute("before");
    const auto after_made = after.compute("after");
    for (const ModelChange& change : changes) {
      if (change.model == nullptr || change.before == nullptr || change.is_everything) continue;
      if (!before_made.contains(change.before->path) || !after_made.contains(change.path)) continue;
      std::set<std::string> impacted;
      for (const std::string& column : change.impacted) impacted.insert(text::lower(column));
      std::vector<duck::Sql> kept;
      for (const bind::BoundColumn& column :
           before.bound().models[before.graph().index_of(change.before->path)].columns)
        if (!impacted.contains(text::lower(column.name))) kept.emplace_back("{}", duck::Identifier(column.name));
      EXPECT_TRUE(!change.reuse || impacted.empty()) << change.path;
      if (kept.empty()) continue;
      claims += static_cast<int>(kept.size());
      const auto rows = [&](const char* schema) {
        return duck::Sql("SELECT {} FROM {}.{}", duck::Sql::join(kept, ", "), duck::Identifier(schema),
                         duck::Identifier(change.model->relation.name));
      };
      const auto differing =
          engine().link.query(duck::Sql("SELECT count(*) FROM (({} EXCEPT ALL {}) UNION ALL ({} EXCEPT ALL {}))",
                                        rows("before"), rows("after"), rows("after"), rows("before")));
      EXPECT_EQ(differing ? differing->integer(0, 0) : -1, 0) << change.path << ": " << change.reason;
    }
    if (at_one_time) engine().link.execute("ROLLBACK");
    return claims;
  }

  Side before;
  Side after;
  std::vector<state::DeployedModel> records;
  std::vector<ModelChange> changes;
};

/// "orders: modified additive build [status] column `status` is new"
std::string in_words(const ModelChange& change) {
  std::string line =
      change.path + ": " + std::string(name_of(change.kind)) + " " + std::string(name_of(change.category));
  line += change.kind == ChangeKind::Unchanged ? " -"
          : change.kind == ChangeKind::Removed ? " demote"
          : change.reuse                       ? " reuse"
                                               : " build";
  std::string columns;
  for (const std::string& column : change.impacted) columns += (columns.empty() ? "" : ", ") + column;
  return line + " [" + columns + "] " + change.reason;
}

struct Case {
  std::string title;
  Texts before;
  Texts after;
  std::vector<std::string> expected;
};

std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  std::istringstream lines(*io::read_file(path));
  std::vector<std::string*> open;
  bool is_expected = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({.title = line.substr(4)});
      open.clear();
      is_expected = false;
    } else if (line == "@ expect") {
      is_expected = true;
    } else if (line.starts_with("@ ")) {
      std::istringstream words(line.substr(2));
      std::string model, side;
      words >> model >> side;
      open.clear();
      if (side != "after") open.push_back(&cases.back().before[model]);
      if (side != "before") open.push_back(&cases.back().after[model]);
    } else if (is_expected) {
      if (!line.empty()) cases.back().expected.push_back(line);
    } else {
      for (std::string* text : open) *text += line + "\n";
    }
  }
  return cases;
}

class Edits : public testing::TestWithParam<Case> {};

TEST_P(Edits, AreClassifiedAsListed) {
  const Case& one = GetParam();
  const Edit edit(one.before, one.after);
  edit.before.expect_sound();
  edit.after.expect_sound();
  edit.verify();
  std::vector<std::string> found;
  for (const ModelChange& change : edit.changes) found.push_back(in_words(change));
  EXPECT_EQ(found.size(), one.expected.size());
  for (const std::string& expected : one.expected) {
    const bool has = std::any_of(found.begin(), found.end(), [&](const std::string& line) {
      // A case that names no reason takes any.
      return expected.ends_with(']') ? line.starts_with(expected) : line == expected;
    });
    std::string all;
    for (const std::string& line : found) all += "\n  " + line;
    EXPECT_TRUE(has) << "expected\n  " << expected << "\nfound" << all;
  }
}

INSTANTIATE_TEST_SUITE_P(Listed, Edits, testing::ValuesIn(read_cases(WEIR_TEST_FOLDER "/changes.txt")),
                         [](const auto& info) {
                           std::string name;
                           bool is_start = true;
                           for (const char c : info.param.title) {
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0)
                               name += is_start ? static_cast<char>(std::toupper(c)) : c;
                             is_start = std::isalnum(static_cast<unsigned char>(c)) == 0;
                           }
                           return name;
                         });

/// Queries that are each other's edits, one a line.
std::vector<std::string> read_variants(const std::string& path) {
  std::vector<std::string> variants;
  std::istringstream lines(*io::read_file(path));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with('#')) variants.push_back(line);
  return variants;
}

// Any two of the queries are an edit. What is claimed of it is held against data, for readers of many kinds as well.
TEST(Changes, WhatIsClaimedToStayStays) {
  const std::vector<std::string> variants = read_variants(WEIR_TEST_FOLDER "/query_variants.txt");
  const Texts readers = {
      {"r_ids", "SELECT id FROM m"},
      {"r_all", "SELECT * FROM m"},
      {"r_count", "SELECT count(*) AS n FROM m"},
      {"r_sum", "SELECT status, sum(amount) AS amount FROM m GROUP BY ALL"},
      {"r_where", "SELECT id FROM m WHERE amount > 1"},
      {"r_distinct", "SELECT DISTINCT customer FROM m"},
      {"r_join", "SELECT m.id, c.name FROM m JOIN customers c ON c.id = m.customer"},
      {"r_natural", "SELECT count(*) AS n FROM m NATURAL JOIN customers"},
      {"r_window", "SELECT id, sum(amount) OVER (PARTITION BY customer) AS s FROM m"},
      {"r_union", "SELECT id, status FROM m UNION ALL SELECT id, name FROM customers"},
      {"r_union_all", "SELECT * FROM m UNION BY NAME SELECT * FROM customers"},
      {"r_exists",
       "SELECT name FROM customers WHERE EXISTS (FROM m WHERE m.customer = customers.id AND status = 'paid')"},
      {"r_row", "SELECT m AS packed FROM m"},
      {"r_columns", "SELECT max(COLUMNS(*)) FROM m"},
      {"r_cte", "WITH c AS (SELECT * FROM m) SELECT id, status FROM c"},
      {"r_chain", "SELECT n + 1 AS n FROM r_count"},
  };
  // All pairs take an hour; the stride meets every query on both sides in time.
  const char* stride = std::getenv("WEIR_PAIR_STRIDE");
  const std::size_t every = stride != nullptr ? std::stoul(stride) : 1009;
  int claims = 0;
  for (std::size_t pair = 0; pair < variants.size() * variants.size(); pair += every) {
    const std::string& was = variants[pair / variants.size()];
    const std::string& is = variants[pair % variants.size()];
    if (was == is) continue;
    SCOPED_TRACE(was + "\n  became\n" + is);
    Texts before = readers;
    Texts after = readers;
    before["m"] = was;
    after["m"] = is;
    claims += Edit(before, after).verify(false);
    if (HasFailure()) return;
  }
  std::cout << claims << " columns claimed to stay\n";
  EXPECT_GT(claims, 10);
}

const std::string kMerge = "/* weir: {strategy: merge, key: id} */\n";

TEST(Changes, ForwardOnlyKeepsRowsWhereTheStrategyAddsToThemAndTheColumnsFit) {
  const Texts before = {{"orders", kMerge + "SELECT id, amount FROM raw"}};
  const Edit changed(before, {{"orders", kMerge + "SELECT id, amount * 2 AS amount FROM raw"}}, true);
  EXPECT_EQ(changed.of("orders").category, ChangeCategory::ForwardOnly);
  EXPECT_FALSE(changed.of("orders").is_everything);
  const Edit wider(before, {{"orders", kMerge + "SELECT id, amount, status FROM raw WHERE id > 1"}}, true);
  EXPECT_EQ(wider.of("orders").category, ChangeCategory::ForwardOnly);
  const Edit narrower(before, {{"orders", kMerge + "SELECT id FROM raw"}}, true);
  EXPECT_EQ(narrower.of("orders").category, ChangeCategory::Breaking);
  const Edit other_key(before, {{"orders", "/* weir: {strategy: merge, key: amount} */ SELECT id, amount FROM raw"}},
                       true);
  EXPECT_EQ(other_key.of("orders").category, ChangeCategory::Breaking);
  const Edit whole({{"orders", "SELECT id FROM raw"}}, {{"orders", "SELECT id + 1 AS id FROM raw"}}, true);
  EXPECT_EQ(whole.of("orders").category, ChangeCategory::Breaking);
}

TEST(Changes, ATextThatIsNotTheOneDeployedProvesNothing) {
  Edit edit({{"orders", "SELECT id FROM raw"}}, {{"orders", "SELECT id, amount FROM raw"}});
  EXPECT_EQ(edit.of("orders").category, ChangeCategory::Additive);
  edit.records[0].fingerprint = "of another time";
  const DeployedProject deployed{
      .records = &edit.records, .graph = &edit.before.graph(), .bound = &edit.before.bound()};
  const CurrentProject current{.graph = &edit.after.graph(), .bound = &edit.after.bound()};
  const auto functions = parse::function_kinds(engine().link);
  const auto changes = classify(deployed, current, {}, {.functions = *functions});
  EXPECT_EQ(changes[0].category, ChangeCategory::Breaking);
  EXPECT_TRUE(changes[0].is_everything);
}

TEST(Changes, WithoutAnyDeployedTextEveryChangeBreaks) {
  const Edit edit({{"orders", "SELECT id FROM raw"}}, {{"orders", "SELECT id, amount FROM raw"}});
  const DeployedProject deployed{.records = &edit.records};
  const CurrentProject current{.graph = &edit.after.graph(), .bound = &edit.after.bound()};
  EXPECT_TRUE(queries_to_compare(deployed, current).empty());
  const auto changes = classify(deployed, current, {}, {});
  EXPECT_EQ(changes[0].category, ChangeCategory::Breaking);
}

}  // namespace
}  // namespace weir::plan
