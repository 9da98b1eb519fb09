#include "run/test_tables.h"

#include <nlohmann/json.hpp>

#include "calendar/resolve.h"
#include "io/clock.h"
#include "project/setup.h"
#include "project/validity.h"

namespace weir::run {
namespace {

/// Setup of a model for custom tests, with every reference read from the lakes.
std::vector<parse::Spliced> setup_of(const Model& model, const lake::Lakes& lakes, const std::string& partition) {
  const auto where = [&lakes](const Reference& reference) {
    return duck::Sql("{}", lakes.lake(reference.asset.place).readable(reference.asset.schema, reference.asset.name))
        .text();
  };
  std::map<std::string, std::string> arguments;
  for (const Argument& argument : model.arguments)
    if (argument.default_value) arguments[argument.name] = *argument.default_value;
  std::vector<parse::Spliced> setup;
  for (const SetupStatement& one : setup_statements(model, where, partition, arguments, SetupFor::Tests))
    setup.push_back(one.sql);
  return setup;
}

/// True for a model whose rows a lake holds, in a table or as a view.
bool has_tables(const Model& model) {
  return model.plane == Plane::Managed || model.plane == Plane::Virtual || model.plane == Plane::View;
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

Result<void> test_one(const Project& project, const env::Placed& placed, const Model& model, lake::Lakes& lakes,
                      TestedTable& tested) {
  const lake::Lake& lake = lakes.lake(model.target->place);
  WEIR_TRY(duck::Connection connection, lakes.connect());
  WEIR_TRY(const std::int64_t version, lake.current_version(connection));
  WEIR_TRY(const auto states, lake.observe(connection, {*model.target}, version));
  const lake::TableState& state = states.at(model.target->key());
  if (!state.exists) {
    tested.skipped = "the table does not exist yet";
    return {};
  }
  const duck::TableName table = lake.readable(model.target->schema, model.target->name);
  WEIR_TRY(const std::vector<lake::ColumnState> columns, columns_of(connection, state, table));
  duck::Sql slice("{}", table);
  if (!tested.partition.empty())
    slice = duck::Sql("(SELECT * FROM {} WHERE {} = {})", table, duck::Identifier(std::string(lake::kPartitionColumn)),
                      duck::Literal(tested.partition));
  if (model.is_history())
    slice = duck::Sql("(SELECT * FROM {} WHERE {})", table, validity_columns(model.plane).is_open());
  WEIR_TRY(tested.verdicts,
           test_relation(
               project, placed, model, lakes, connection,
               {.slice = slice, .table = duck::Sql("{}", table), .columns = columns, .partition = tested.partition}));
  return {};
}

Result<void> record(state::Store& store, const std::vector<TestedTable>& all) {
  state::Store::Outcome outcome;
  for (const TestedTable& tested : all) {
    for (const audit::Verdict& verdict : tested.verdicts) {
      const nlohmann::json json = to_json(verdict);
      outcome.tests.push_back({"", tested.model, parse_asset(tested.asset)->key(), tested.partition, verdict.test,
                               json["status"].get<std::string>(), json["severity"].get<std::string>(),
                               verdict.violating, verdict.sample_json, verdict.ms, state::now_text()});
    }
  }
  return store.record(outcome);
}

}  // namespace

Result<std::vector<audit::Verdict>> test_relation(const Project& project, const env::Placed& placed, const Model& model,
                                                  lake::Lakes& lakes, duck::Connection& connection,
                                                  const TestedRelation& tested) {
  const audit::AuditRequest request{.model = model,
                                    .slice = tested.slice,
                                    .table = tested.table,
                                    .columns = tested.columns,
                                    .partition = tested.partition,
                                    .resolve = [&lakes, &placed](const Asset& named) -> Result<duck::Sql> {
                                      const Asset asset = placed.where(named);
                                      return duck::Sql("{}",
                                                       lakes.lake(asset.place).readable(asset.schema, asset.name));
                                    },
                                    .setup = setup_of(model, lakes, tested.partition),
                                    .samples = project.config.samples,
                                    .private_columns = project.config.private_columns};
  return audit::audit(
      connection, [&lakes] { return lakes.connect(); }, request);
}

Result<std::vector<TestedTable>> test_tables(const Project& project, const env::Placed& placed,
                                             const std::set<std::string>& selected, lake::Lakes& lakes,
                                             state::Store& store, const std::optional<std::string>& partition) {
  std::vector<TestedTable> all;
  for (const Model& model : placed.graph->models()) {
    if (!selected.contains(model.path) || !has_tables(model) || model.tests.empty()) continue;
    TestedTable tested{.model = model.path, .asset = model.relation.uri()};
    if (model.partitioning && partition) {
      WEIR_TRY(const auto choice,
               calendar::choose_partition(*model.partitioning, {.value = partition, .now = io::now()}));
      tested.partition = choice.value;
    }
    WEIR_CHECK(test_one(project, placed, model, lakes, tested));
    all.push_back(std::move(tested));
  }
  WEIR_CHECK(record(store, all));
  return all;
}

}  // namespace weir::run
