#include "ops/lineage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ops/check.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir::ops {
namespace {

using bind::AssetColumn;
using bind::BoundModel;

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

/// What the user named: an asset, and one of its columns or all.
struct Named {
  std::string asset;
  std::optional<std::size_t> model;
  std::optional<std::string> column;
};

const Model* model_named(const Graph& graph, std::string_view name) {
  const Model* found = nullptr;
  for (const Model& model : graph.models()) {
    if (model.path == name) return &model;
    if (!text::same_word(model.path.substr(model.path.rfind('/') + 1), name)) continue;
    // Two of a short name are none.
    if (found != nullptr) return nullptr;
    found = &model;
  }
  return found;
}

std::string resolved_asset(const Graph& graph, const Asset& asset) {
  const Model* producer = graph.producer(asset);
  return producer == nullptr ? asset.uri() : bind::asset_of(*producer);
}

/// Whether the project reads or makes it.
bool is_known(const BoundGraph& bound, const bind::ColumnGraph& columns, const std::string& asset) {
  if (columns.model_of(asset)) return true;
  for (const Model& model : bound.graph.models())
    for (const Asset& input : inputs_of(model))
      if (text::same_word(input.uri(), asset)) return true;
  for (const BoundModel& model : bound.bound.models)
    for (const bind::BoundColumn& column : model.columns)
      for (const bind::ColumnOrigin& origin : column.from)
        if (origin.from.asset == asset) return true;
  return false;
}

/// The text read as an asset or model: a model's path or short name, a URI, `schema.table` or a table.
std::optional<std::string> asset_named(Workspace& workspace, const BoundGraph& bound, const bind::ColumnGraph& columns,
                                       const std::string& name) {
  if (const Model* model = model_named(bound.graph, name)) return bind::asset_of(*model);
  if (name.starts_with("file:")) return is_known(bound, columns, name) ? std::optional(name) : std::nullopt;
  std::optional<Asset> asset = parse_asset(name);
  if (!asset) {
    if (name.find('/') != std::string::npos) return std::nullopt;
    auto found = workspace.asset_named(name);
    if (!found) return std::nullopt;
    asset = *found;
  }
  if (asset->name.empty()) return std::nullopt;
  const std::string uri = resolved_asset(bound.graph, *asset);
  return is_known(bound, columns, uri) ? std::optional(uri) : std::nullopt;
}

std::vector<LineageColumn> columns_of(const BoundGraph& bound, const bind::ColumnGraph& columns,
                                      const std::string& asset) {
  std::vector<LineageColumn> all;
  if (const auto model = columns.model_of(asset)) {
    for (const bind::BoundColumn& column : bound.bound.models[*model].columns)
      all.push_back({column.name, column.type});
    return all;
  }
  if (const auto parsed = parse_asset(asset))
    if (const bind::Columns* known = bound.bound.columns_of(*parsed))
      for (const duck::Column& column : *known) all.push_back({column.name, column.type});
  if (!all.empty()) return all;
  // Of a file or an unknown source, what the project reads.
  std::set<std::string> names;
  const auto take = [&](const AssetColumn& from) {
    if (text::same_word(from.asset, asset) && names.insert(text::lower(from.column)).second)
      all.push_back({from.column, {}});
  };
  for (const BoundModel& model : bound.bound.models) {
    for (const bind::BoundColumn& column : model.columns)
      for (const bind::ColumnOrigin& origin : column.from) take(origin.from);
    for (const bind::RowOrigin& row : model.rows) take(row.from);
  }
  return all;
}

/// MODEL, then MODEL.COLUMN by its last dot, so that a name that holds dots itself is found as a whole first.
Result<Named> named(Workspace& workspace, const BoundGraph& bound, const bind::ColumnGraph& columns,
                    const std::string& what) {
  if (const auto asset = asset_named(workspace, bound, columns, what))
    return Named{*asset, columns.model_of(*asset), std::nullopt};
  const auto dot = what.rfind('.');
  if (dot != std::string::npos)
    if (const auto asset = asset_named(workspace, bound, columns, what.substr(0, dot))) {
      const std::string column = what.substr(dot + 1);
      std::vector<std::string> names;
      for (const LineageColumn& one : columns_of(bound, columns, *asset)) {
        if (text::same_word(one.name, column)) return Named{*asset, columns.model_of(*asset), one.name};
        names.push_back(one.name);
      }
      Diagnostic missing{.code = Code::W2016, .message = fmt::format("{} has no column {}", *asset, column)};
      if (const auto near = text::nearest(column, names))
        missing.hint = fmt::format("did you mean {}?", *near);
      else if (!names.empty())
        missing.hint = fmt::format("it has {}", fmt::join(names, ", "));
      else
        missing.hint = "its columns are not known; `weir check` says why";
      return fail(std::move(missing));
    }
  return fail(Diagnostic{.code = Code::W2010,
                         .message = fmt::format("the project has no model or source {}", what),
                         .hint = workspace.hint_for(what)});
}

std::string why_unknown(const BoundModel& model) {
  switch (model.state) {
    case BoundModel::State::Failed:
      return "its query does not bind";
    case BoundModel::State::Blocked:
      return "blocked by " + model.blocked_by;
    case BoundModel::State::Opaque:
      return model.opaque_because.empty() ? "a manual script" : model.opaque_because;
    case BoundModel::State::Bound:
      break;
  }
  return {};
}

std::vector<LineageStep> steps_of(const bind::ColumnGraph& columns, const std::vector<bind::Step>& walked) {
  std::vector<LineageStep> steps;
  for (const bind::Step& step : walked) {
    const auto& edge = columns.edge(step.edge);
    steps.push_back({edge.from, edge.to, edge.kind, edge.is_declared, false, columns.graph().models()[edge.model].path,
                     step.distance, step.kind});
  }
  return steps;
}

/// What was inferred where a declared line speaks: shown, not followed.
void add_overruled(const bind::ColumnGraph& columns, const std::vector<AssetColumn>& start, LineageReport& report) {
  std::vector<AssetColumn> reached = start;
  for (const LineageStep& step : report.up) reached.push_back(step.from);
  std::set<std::size_t> seen;
  for (const AssetColumn& column : reached)
    for (const std::size_t number : columns.into(column)) {
      const auto& edge = columns.edge(number);
      if (!edge.is_overruled || !seen.insert(number).second) continue;
      std::size_t distance = 1;
      for (const LineageStep& step : report.up)
        if (bind::key_of(step.from) == bind::key_of(edge.to)) distance = step.distance + 1;
      report.up.push_back(
          {edge.from, edge.to, edge.kind, false, true, columns.graph().models()[edge.model].path, distance, edge.kind});
    }
}

void add_rows(const bind::ColumnGraph& columns, const std::vector<AssetColumn>& start, const Named& named,
              const LineageRequest& request, LineageReport& report) {
  std::set<std::size_t> numbers;
  if (request.up) {
    std::set<std::size_t> models;
    if (named.model) models.insert(*named.model);
    for (const LineageStep& step : report.up) models.insert(columns.graph().index_of(step.model));
    for (const std::size_t model : models)
      for (const std::size_t number : columns.rows_of(model)) numbers.insert(number);
  }
  if (request.down) {
    // The end of the last step decides nothing within the depth.
    std::vector<AssetColumn> changed = start;
    for (const LineageStep& step : report.down)
      if (!request.depth || step.distance < *request.depth) changed.push_back(step.to);
    for (const AssetColumn& column : changed)
      for (const std::size_t number : columns.decided_by(column)) numbers.insert(number);
  }
  for (const std::size_t number : numbers) {
    const auto& row = columns.row_edge(number);
    const Model& model = columns.graph().models()[row.model];
    report.rows.push_back({row.from, row.role, model.path, bind::asset_of(model)});
  }
}

/// Models on the way whose columns are not known: the lineage ends there.
void add_gaps(const BoundGraph& bound, const LineageRequest& request, LineageReport& report) {
  std::set<std::string> reached{text::lower(report.asset)};
  for (const LineageStep& step : report.up) reached.insert(text::lower(step.from.asset));
  for (const LineageStep& step : report.down) reached.insert(text::lower(step.to.asset));
  for (std::size_t m = 0; m < bound.bound.models.size(); ++m) {
    const BoundModel& model = bound.bound.models[m];
    if (model.state == BoundModel::State::Bound) continue;
    bool is_met = request.up && reached.contains(text::lower(bind::asset_of(bound.graph.models()[m])));
    for (const Asset& input : inputs_of(bound.graph.models()[m]))
      is_met = is_met || (request.down && reached.contains(text::lower(resolved_asset(bound.graph, input))));
    if (is_met) report.gaps.push_back({bound.graph.models()[m].path, why_unknown(model)});
  }
}

void add_schemas(const BoundGraph& bound, const bind::ColumnGraph& columns, LineageReport& report) {
  const auto add = [&](const std::string& asset) {
    if (!report.schemas.contains(asset)) report.schemas[asset] = columns_of(bound, columns, asset);
  };
  add(report.asset);
  for (const auto* steps : {&report.up, &report.down})
    for (const LineageStep& step : *steps) {
      add(step.from.asset);
      add(step.to.asset);
    }
  for (const LineageRow& row : report.rows) add(row.from.asset);
}

}  // namespace

Result<LineageReport> lineage(Workspace& workspace, const LineageRequest& request) {
  WEIR_TRY(const BoundGraph bound, bind_project(workspace, {.offline = request.offline}));
  const bind::ColumnGraph columns(bound.graph, bound.bound);
  WEIR_TRY(const Named found, named(workspace, bound, columns, request.what));
  LineageReport report;
  report.asset = found.asset;
  if (found.model) report.model = bound.graph.models()[*found.model].path;
  std::vector<AssetColumn> start;
  for (LineageColumn& column : columns_of(bound, columns, found.asset)) {
    if (found.column && column.name != *found.column) continue;
    start.push_back({found.asset, column.name});
    report.columns.push_back(std::move(column));
  }
  const std::size_t depth = request.depth.value_or(kAll);
  if (request.up) {
    report.up = steps_of(columns, walk(columns, start, bind::Direction::Up, depth));
    add_overruled(columns, start, report);
  }
  if (request.down) report.down = steps_of(columns, walk(columns, start, bind::Direction::Down, depth));
  add_rows(columns, start, found, request, report);
  add_gaps(bound, request, report);
  add_schemas(bound, columns, report);
  return report;
}

namespace {

void mention(const Model& model, const std::string& column, ImpactReport& report) {
  const auto is_it = [&column](const std::string& name) { return text::same_word(name, column); };
  const auto add = [&](const std::string& what) { report.mentions.push_back({model.path, what, column}); };
  for (const Test& test : model.tests)
    if (std::any_of(test.columns.begin(), test.columns.end(), is_it)) add("test " + test.name);
  for (const auto& [names, what] : {std::pair{&model.key, "key"}, {&model.track, "track"}, {&model.order, "order"}})
    if (std::any_of(names->begin(), names->end(), is_it)) add(what);
  if (is_it(model.time_column)) add("time_column");
  if (is_it(model.valid_from)) add("valid_from");
  if (std::any_of(model.contract.begin(), model.contract.end(),
                  [&](const ContractColumn& one) { return is_it(one.name); }))
    add("contract");
  for (const Metric& metric : model.metrics)
    for (const std::string* sql : {&metric.expression, &metric.filter})
      for (const text::Token& token : text::lex_code(*sql))
        if (token.is_name() && is_it(text::name_of_token(std::string_view(*sql).substr(
                                   token.span.begin, token.span.end - token.span.begin)))) {
          add((metric.is_measure ? "measure " : "dimension ") + metric.name);
          break;
        }
}

/// Relationships tests of any model that point at the column.
void mention_relationships(const Graph& graph, const AssetColumn& column, ImpactReport& report) {
  for (const Model& model : graph.models())
    for (const Test& test : model.tests)
      if (test.reference && text::same_word(test.reference_column, column.column) &&
          text::same_word(resolved_asset(graph, *test.reference), column.asset))
        report.mentions.push_back({model.path, "test " + test.name, column.column});
}

}  // namespace

Result<ImpactReport> impact(Workspace& workspace, const std::string& what, bool offline) {
  WEIR_TRY(const BoundGraph bound, bind_project(workspace, {.offline = offline}));
  const bind::ColumnGraph columns(bound.graph, bound.bound);
  WEIR_TRY(const Named found, named(workspace, bound, columns, what));
  if (!found.column)
    return fail(
        Diagnostic{.code = Code::W2016,
                   .message = fmt::format("{} names no column", what),
                   .hint = fmt::format("weir impact {}.COLUMN; `weir lineage {} --down` shows all", what, what)});
  ImpactReport report;
  report.asset = found.asset;
  report.column = *found.column;
  const AssetColumn start{found.asset, *found.column};
  const bind::Impact reached = impact_of(columns, start);
  const auto path = [&](std::size_t model) { return bound.graph.models()[model].path; };
  if (found.model) mention(bound.graph.models()[*found.model], *found.column, report);
  mention_relationships(bound.graph, start, report);
  for (const auto& value : reached.values) {
    report.values.push_back({value.column, path(value.model), value.kind, value.distance});
    mention(bound.graph.models()[value.model], value.column.column, report);
    mention_relationships(bound.graph, value.column, report);
  }
  for (const auto& rows : reached.rows)
    report.rows.push_back({path(rows.model), bind::asset_of(bound.graph.models()[rows.model]), rows.roles, rows.columns,
                           rows.through ? path(*rows.through) : std::string()});
  for (const std::size_t model : reached.unknown)
    report.gaps.push_back({path(model), why_unknown(bound.bound.models[model])});
  return report;
}

}  // namespace weir::ops
