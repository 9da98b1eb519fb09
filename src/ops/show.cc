#include "ops/show.h"

#include "calendar/resolve.h"
#include "io/clock.h"
#include "plan/fingerprint.h"
#include "project/setup.h"

namespace weir::ops {

Result<Shown> show(Workspace& workspace, const std::string& name, const std::optional<std::string>& partition,
                   const std::vector<std::string>& arguments) {
  WEIR_TRY(const Graph* graph, workspace.sound_graph());
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(const Model* found, find_model(*project, name));
  WEIR_TRY(const auto* blocked, workspace.blocked());
  const Model& model = graph->models()[graph->index_of(found->path)];
  const bool is_prod = workspace.environment() == env::kProd;
  const env::Placed* placed = nullptr;
  if (!is_prod) {
    WEIR_TRY(placed, workspace.placed());
  }
  Shown shown{.model = &model};
  // What it needs is part of its definition.
  if (const auto fault = blocked->find(model.path); fault != blocked->end())
    shown.blocked_by = fault->second.by();
  else
    shown.fingerprint = plan::fingerprints(*graph).at(model.path);
  if (model.partitioning) {
    WEIR_TRY(const auto choice,
             calendar::choose_partition(*model.partitioning, {.value = partition, .now = io::now()}));
    shown.partition = choice.value;
  }
  for (const Asset& asset : inputs_of(model)) shown.reads.push_back(asset.uri());
  std::map<std::string, std::string> values;
  for (const Argument& argument : model.arguments)
    if (argument.default_value) values[argument.name] = *argument.default_value;
  for (const std::string& text : arguments) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
      return fail(Diagnostic{.code = Code::W8003, .message = "--arg " + text + " is not name=value"});
    values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  const auto where = [lakes, placed](const Reference& reference) {
    const Asset asset = placed == nullptr ? reference.asset : placed->where(reference.asset);
    return duck::Sql("{}", lakes->lake(asset.place).readable(asset.schema, asset.name)).text();
  };
  const std::size_t size = model.script.statements.size();
  if (model.plane == Plane::Manual) {
    for (std::size_t i = 0; i <= size; ++i) {
      for (const SetupStatement& one : macros_before(model, i, where, shown.partition))
        shown.sql.push_back(one.sql.text());
      if (i < size) shown.sql.push_back(splice_manual(model, i, shown.partition, values).text());
    }
    return shown;
  }
  for (const SetupStatement& one : setup_statements(model, where, shown.partition, values))
    shown.sql.push_back(one.sql.text());
  if (size > 0) shown.sql.push_back(splice_statement(model, size - 1, where, shown.partition, values).text());
  return shown;
}

}  // namespace weir::ops
