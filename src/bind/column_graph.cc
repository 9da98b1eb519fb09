#include "bind/column_graph.h"

#include <algorithm>
#include <deque>
#include <set>

#include "text/lexer.h"

namespace weir::bind {
namespace {

const std::vector<std::size_t> kNone;

const std::vector<std::size_t>& found_in(const std::map<std::string, std::vector<std::size_t>>& all,
                                         const AssetColumn& column) {
  const auto found = all.find(key_of(column));
  return found == all.end() ? kNone : found->second;
}

}  // namespace

std::string asset_of(const Model& model) { return model.target ? model.target->uri() : model.relation.uri(); }

std::string key_of(const AssetColumn& column) { return text::lower(column.asset) + "\n" + text::lower(column.column); }

ColumnGraph::ColumnGraph(const Graph& graph, const Bound& bound) : graph_(graph), bound_(bound) {
  rows_of_.resize(bound.models.size());
  for (std::size_t m = 0; m < bound.models.size(); ++m) {
    const std::string asset = asset_of(graph.models()[m]);
    models_.emplace(text::lower(asset), m);
    for (const BoundColumn& column : bound.models[m].columns) {
      const AssetColumn to{asset, column.name};
      const bool is_declared =
          std::any_of(column.from.begin(), column.from.end(), [](const ColumnOrigin& one) { return one.is_declared; });
      for (const ColumnOrigin& origin : column.from) {
        const std::size_t number = edges_.size();
        edges_.push_back({origin.from, to, origin.kind, origin.is_declared, is_declared && !origin.is_declared, m});
        into_[key_of(to)].push_back(number);
        out_of_[key_of(origin.from)].push_back(number);
      }
    }
    for (const RowOrigin& row : bound.models[m].rows) {
      const std::size_t number = row_edges_.size();
      row_edges_.push_back({row.from, row.role, m});
      rows_of_[m].push_back(number);
      decided_by_[key_of(row.from)].push_back(number);
    }
  }
}

const std::vector<std::size_t>& ColumnGraph::into(const AssetColumn& column) const { return found_in(into_, column); }
const std::vector<std::size_t>& ColumnGraph::out_of(const AssetColumn& column) const {
  return found_in(out_of_, column);
}
const std::vector<std::size_t>& ColumnGraph::decided_by(const AssetColumn& column) const {
  return found_in(decided_by_, column);
}

std::optional<std::size_t> ColumnGraph::model_of(std::string_view asset) const {
  const auto found = models_.find(text::lower(asset));
  return found == models_.end() ? std::nullopt : std::optional(found->second);
}

// Breadth first, and once more through an edge whose way has become stronger: there are four kinds, so an edge is taken
// four times at most.
std::vector<Step> walk(const ColumnGraph& columns, const std::vector<AssetColumn>& start, Direction direction,
                       std::size_t depth) {
  std::vector<Step> steps;
  std::map<std::size_t, std::size_t> taken;
  struct Open {
    AssetColumn column;
    std::size_t distance;
    ValueKind kind;
  };
  std::deque<Open> open;
  for (const AssetColumn& column : start) open.push_back({column, 0, ValueKind::Copy});
  while (!open.empty()) {
    const Open at = std::move(open.front());
    open.pop_front();
    if (at.distance == depth) continue;
    const bool is_up = direction == Direction::Up;
    for (const std::size_t number : is_up ? columns.into(at.column) : columns.out_of(at.column)) {
      const ColumnGraph::Edge& edge = columns.edge(number);
      if (edge.is_overruled) continue;
      const ValueKind kind = std::max(at.kind, edge.kind);
      const auto [seen, is_new] = taken.emplace(number, steps.size());
      if (is_new)
        steps.push_back({number, at.distance + 1, kind});
      else if (steps[seen->second].kind < kind)
        steps[seen->second].kind = kind;
      else
        continue;
      open.push_back({is_up ? edge.from : edge.to, at.distance + 1, kind});
    }
  }
  return steps;
}

namespace {

/// Takes in every model that reads an asset among `reached` and whose columns are not known.
void note_unknown(const ColumnGraph& columns, const std::set<std::string>& reached, Impact& impact) {
  for (std::size_t m = 0; m < columns.bound().models.size(); ++m) {
    const BoundModel& bound = columns.bound().models[m];
    if (bound.state == BoundModel::State::Bound) continue;
    const auto inputs = inputs_of(columns.graph().models()[m]);
    if (std::any_of(inputs.begin(), inputs.end(), [&](const Asset& input) {
          const Model* producer = columns.graph().producer(input);
          return reached.contains(text::lower(producer == nullptr ? input.uri() : asset_of(*producer)));
        }))
      impact.unknown.push_back(m);
  }
}

}  // namespace

Impact impact_of(const ColumnGraph& columns, const AssetColumn& column) {
  Impact impact;
  std::map<std::string, std::size_t> by_column;
  std::set<std::string> reached{text::lower(column.asset)};
  std::vector<AssetColumn> changed{column};
  for (const Step& step : walk(columns, {column}, Direction::Down, static_cast<std::size_t>(-1))) {
    const ColumnGraph::Edge& edge = columns.edge(step.edge);
    const auto [seen, is_new] = by_column.emplace(key_of(edge.to), impact.values.size());
    if (is_new) {
      impact.values.push_back({edge.to, edge.model, step.kind, step.distance});
      changed.push_back(edge.to);
      reached.insert(text::lower(edge.to.asset));
    } else {
      Impact::Value& value = impact.values[seen->second];
      value.kind = std::max(value.kind, step.kind);
    }
  }
  std::map<std::size_t, Impact::Rows> rows;
  for (const AssetColumn& each : changed)
    for (const std::size_t number : columns.decided_by(each)) {
      const ColumnGraph::RowEdge& edge = columns.row_edge(number);
      Impact::Rows& one = rows[edge.model];
      one.model = edge.model;
      one.roles.push_back(edge.role);
      one.columns.push_back(edge.from);
    }
  // Whoever reads a model whose rows change has other rows too. Models come producers first, so once over them is
  // enough.
  for (std::size_t m = 0; m < columns.bound().models.size(); ++m) {
    const auto found = rows.find(m);
    if (found != rows.end()) reached.insert(text::lower(asset_of(columns.graph().models()[m])));
    if (found != rows.end() && !found->second.columns.empty()) continue;
    for (const std::size_t producer : columns.graph().producers_of(m))
      if (rows.contains(producer) && columns.bound().models[m].state == BoundModel::State::Bound) {
        rows[m].model = m;
        rows[m].through = producer;
        reached.insert(text::lower(asset_of(columns.graph().models()[m])));
        break;
      }
  }
  for (auto& [model, one] : rows) impact.rows.push_back(std::move(one));
  note_unknown(columns, reached, impact);
  return impact;
}

}  // namespace weir::bind
