#include "run/test_tables.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "calendar/resolve.h"
#include "io/clock.h"
#include "project/setup.h"
#include "project/validity.h"
#include "text/lexer.h"

namespace weir::run {
namespace {

/// Where an asset is read: in a lake, or in a configured database.
Result<duck::TableName> readable(lake::Lakes& lakes, const Asset& asset) {
  if (asset.kind == AssetKind::Datatable) return lakes.datatable(asset.place, asset.schema, asset.name);
  return lakes.lake(asset.place).readable(asset.schema, asset.name);
}

/// Setup of a model for custom tests, with every reference read as it is now.
Result<std::vector<parse::Spliced>> setup_of(const Model& model, lake::Lakes& lakes, const std::string& partition) {
  Diagnostics closed;
  const auto where = [&](const Reference& reference) {
    auto table = readable(lakes, reference.asset);
    if (table) return duck::Sql("{}", *table).text();
    closed = std::move(table).error();
    return std::string();
  };
  std::map<std::string, std::string> arguments;
  for (const Argument& argument : model.arguments)
    if (argument.default_value) arguments[argument.name] = *argument.default_value;
  std::vector<parse::Spliced> setup;
  for (const SetupStatement& one : setup_statements(model, where, partition, arguments, SetupFor::Tests))
    setup.push_back(one.sql);
  if (!closed.empty()) return fail(std::move(closed));
  return setup;
}

/// True for a model whose rows can be asked for: a lake holds them, in a table or as a view, or they were delivered
/// into a database.
bool has_tables(const Model& model) {
  return model.plane == Plane::Managed || model.plane == Plane::Virtual || model.plane == Plane::View ||
         model.plane == Plane::Table;
}

/// The lake tells the columns of tables; those of a view the engine binds.
Result<std::vector<lake::ColumnState>> columns_of(duck::Connection& connection, const lake::TableState& state,
                                                  const duck::TableName& table) {
  if (!state.is_view) return state.columns;
  const auto described = connection.describe(duck::Sql("SELECT * FROM {}", table));
  if (!described) return fail(lake::explain(Code::W4001, "binding a view", described.error()));
  std::vector<lake::ColumnState> columns;
  for (const duck::Column& one : *described) columns.push_back({.name = one.name, .type = one.type});
  return columns;
}

struct Published {
  duck::TableName table;
  std::vector<lake::ColumnState> columns;
};

/// Nothing: it is not there.
Result<std::optional<Published>> published(duck::Connection& connection, lake::Lakes& lakes, const Asset& target) {
  const lake::Lake& lake = lakes.lake(target.place);
  WEIR_TRY(const std::int64_t version, lake.current_version(connection));
  WEIR_TRY(const auto states, lake.observe(connection, {target}, version));
  const lake::TableState& state = states.at(target.key());
  if (!state.exists) return std::optional<Published>();
  const duck::TableName table = lake.readable(target.schema, target.name);
  WEIR_TRY(const std::vector<lake::ColumnState> columns, columns_of(connection, state, table));
  return std::optional<Published>({table, columns});
}

/// The same for a table in a configured database, of which a file comes with the first delivery.
Result<std::optional<Published>> delivered(duck::Connection& connection, lake::Lakes& lakes, const Config& config,
                                           const Asset& target) {
  const DatabaseLocation& location = config.databases.at(target.place);
  std::error_code error;
  if (location.kind != DatabaseLocation::Kind::Postgres && !std::filesystem::exists(location.target, error))
    return std::optional<Published>();
  WEIR_TRY(const duck::TableName table, readable(lakes, target));
  const auto described = connection.describe(duck::Sql("FROM {}", table));
  if (!described && described.error().type == duck::FailureType::Catalog) return std::optional<Published>();
  if (!described) return fail(lake::explain(Code::W6006, target.uri() + " cannot be read", described.error()));
  Published found{.table = table};
  for (const duck::Column& one : *described) found.columns.push_back({.name = one.name, .type = one.type});
  return std::optional<Published>(std::move(found));
}

Result<void> test_one(const Project& project, const env::Placed& placed, const Model& model, lake::Lakes& lakes,
                      TestedTable& tested) {
  WEIR_TRY(duck::Connection connection, lakes.connect());
  WEIR_TRY(const std::optional<Published> found, model.plane == Plane::Table
                                                     ? delivered(connection, lakes, project.config, *model.target)
                                                     : published(connection, lakes, *model.target));
  if (!found) {
    tested.skipped = "the table does not exist yet";
    return {};
  }
  duck::Sql slice("{}", found->table);
  if (!tested.partition.empty())
    slice = duck::Sql("(SELECT * FROM {} WHERE {} = {})", found->table,
                      duck::Identifier(std::string(lake::kPartitionColumn)), duck::Literal(tested.partition));
  if (model.is_history()) {
    const auto& columns = found->columns;
    const ValidityColumns validity = validity_columns(model).of_table([&columns](std::string_view name) {
      return std::any_of(columns.begin(), columns.end(),
                         [name](const lake::ColumnState& one) { return text::same_word(one.name, name); });
    });
    slice = duck::Sql("(SELECT * FROM {} WHERE {})", found->table, validity.is_live());
  }
  WEIR_TRY(tested.verdicts, test_relation(project, placed, model, lakes, connection,
                                          {.slice = slice,
                                           .table = duck::Sql("{}", found->table),
                                           .columns = found->columns,
                                           .partition = tested.partition}));
  return {};
}

/// Each time is a run of its own, so that outcomes of earlier ones stay.
Result<void> record(state::Store& store, const std::string& environment, const std::string& started,
                    const std::vector<TestedTable>& all) {
  state::RunRecord run{.run = state::new_run_id(),
                       .environment = environment,
                       .status = "done",
                       .started = started,
                       .finished = state::now_text(),
                       .command = "test",
                       .host = state::host_identity(),
                       .pid = ::getpid(),
                       .result_json = "{}",
                       .verified = {}};
  state::Store::Outcome outcome;
  for (const TestedTable& tested : all) {
    for (const audit::Verdict& verdict : tested.verdicts) {
      const nlohmann::json json = to_json(verdict);
      if (verdict.blocks()) run.status = "failed";
      outcome.tests.push_back({run.run, tested.model, parse_asset(tested.asset)->key(), tested.partition, verdict.test,
                               json["status"].get<std::string>(), json["severity"].get<std::string>(),
                               verdict.violating, verdict.sample_json, verdict.ms, state::now_text()});
    }
  }
  if (outcome.tests.empty()) return {};
  WEIR_CHECK(store.put_run(run));
  return store.record(outcome);
}

}  // namespace

Result<std::vector<audit::Verdict>> test_relation(const Project& project, const env::Placed& placed, const Model& model,
                                                  lake::Lakes& lakes, duck::Connection& connection,
                                                  const TestedRelation& tested) {
  WEIR_TRY(std::vector<parse::Spliced> setup, setup_of(model, lakes, tested.partition));
  const audit::AuditRequest request{.model = model,
                                    .slice = tested.slice,
                                    .table = tested.table,
                                    .columns = tested.columns,
                                    .partition = tested.partition,
                                    .resolve = [&lakes, &placed](const Asset& named) -> Result<duck::Sql> {
                                      WEIR_TRY(const duck::TableName table, readable(lakes, placed.where(named)));
                                      return duck::Sql("{}", table);
                                    },
                                    .setup = std::move(setup),
                                    .samples = project.config.samples,
                                    .private_columns = project.config.private_columns};
  return audit::audit(
      connection, [&lakes] { return lakes.connect(); }, request);
}

Result<std::vector<TestedTable>> test_tables(const Project& project, const env::Placed& placed,
                                             const std::set<std::string>& selected, lake::Lakes& lakes,
                                             state::Store& store, const std::string& environment,
                                             const std::optional<std::string>& partition) {
  const std::string started = state::now_text();
  std::vector<TestedTable> all;
  for (const Model& model : placed.graph->models()) {
    if (!selected.contains(model.path) || !has_tables(model) || model.tests.empty()) continue;
    const Asset& shown = model.plane == Plane::Table ? *model.target : model.relation;
    TestedTable tested{.model = model.path, .asset = shown.uri()};
    if (model.partitioning && partition) {
      WEIR_TRY(const auto choice,
               calendar::choose_partition(*model.partitioning, {.value = partition, .now = io::now()}));
      tested.partition = choice.value;
    }
    WEIR_CHECK(test_one(project, placed, model, lakes, tested));
    all.push_back(std::move(tested));
  }
  WEIR_CHECK(record(store, environment, started, all));
  return all;
}

}  // namespace weir::run
