#include "ops/model_rules.h"

#include <algorithm>

#include "build/layout.h"
#include "parse/functions.h"

namespace weir::ops {

Diagnostics judge_stored_columns(const Model& model, const bind::BoundModel& bound) {
  if (model.plane != Plane::Managed || bound.state != bind::BoundModel::State::Bound) return {};
  std::vector<duck::Column> columns;
  for (const bind::BoundColumn& column : bound.columns) columns.push_back({column.name, column.type});
  return build::judge_columns(model, columns);
}

Diagnostics note_self_reads(const Graph& graph, const Model& model) {
  Diagnostics found;
  if (model.plane == Plane::Manual) return found;
  for (const Reference& reference : model.references)
    if (graph.producer(reference.asset) == &model)
      found.push_back({.code = Code::W2004,
                       .severity = Severity::Hint,
                       .message = "the query reads the table that it writes, as it was before the run",
                       .path = model.source->path,
                       .span = reference.span});
  return found;
}

bool reads_files(const Model& model) {
  const auto reads = [](const parse::Statement& one) {
    return std::any_of(one.functions.begin(), one.functions.end(), [](const parse::FunctionCall& call) {
      return call.is_table_function && (parse::reads_files(call.name) || call.name == "replacement_scan");
    });
  };
  return std::any_of(model.script.statements.begin(), model.script.statements.end(), reads) ||
         std::any_of(model.macros.begin(), model.macros.end(),
                     [&reads](const MacroDefinition& macro) { return reads(macro.statement); }) ||
         std::any_of(model.test_queries.begin(), model.test_queries.end(),
                     [&reads](const TestQuery& query) { return reads(query.statement); });
}

}  // namespace weir::ops
