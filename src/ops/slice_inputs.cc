#include "ops/slice_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "calendar/windows.h"
#include "project/render.h"
#include "project/setup.h"
#include "project/window_rows.h"
#include "text/lexer.h"

namespace weir::ops {
namespace {

// No condition that users write on purpose begins and ends on both of these days.
constexpr std::string_view kProbes[] = {"1983-10-27", "2187-05-16"};
constexpr std::string_view kInput = "_weir_input_";

/// A condition that stands at a scan: the column is not below, not above, or equal to a value.
struct Bound {
  std::string column;
  std::string op;
  std::string value;
  std::string type;
  friend auto operator<=>(const Bound&, const Bound&) = default;
};

/// The terms of a conjunction as DuckDB writes one, outside brackets and quotes.
std::vector<std::string> terms_of(std::string_view filters) {
  std::vector<std::string> terms(1);
  int depth = 0;
  bool is_quoted = false;
  constexpr std::string_view kAnd = " AND ";
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (filters[i] == '\'') is_quoted = !is_quoted;
    if (!is_quoted && filters[i] == '(') ++depth;
    if (!is_quoted && filters[i] == ')') --depth;
    if (!is_quoted && depth == 0 && filters.substr(i).starts_with(kAnd)) {
      terms.emplace_back();
      i += kAnd.size() - 1;
      continue;
    }
    terms.back() += filters[i];
  }
  return terms;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Reads `column>='value'::TYPE`, `column='value'`, and what truncates a column to days; nothing for other terms.
std::optional<Bound> bound_of(std::string_view term, const std::vector<lake::ColumnState>& columns) {
  const bool is_bracketed = term.starts_with('(') && term.ends_with(')');
  if (is_bracketed) term = term.substr(1, term.size() - 2);
  for (const lake::ColumnState& column : columns) {
    std::string_view rest = term;
    const bool has_zone = column.type == "TIMESTAMP WITH TIME ZONE";
    const bool is_day = is_bracketed && !has_zone &&
                        (take(rest, fmt::format("CAST({} AS DATE)", column.name)) ||
                         take(rest, fmt::format("date_trunc('day', {})", column.name)));
    if (!is_day && !take(rest, column.name)) continue;
    if (is_day && !take(rest, " ")) continue;
    Bound bound{.column = column.name, .op = {}, .value = {}, .type = column.type};
    for (const std::string_view op : {">=", "<", "="}) {
      if (!take(rest, op)) continue;
      bound.op = op;
      break;
    }
    if (bound.op.empty() || (is_day && (bound.op == "=" || !take(rest, " "))) || !take(rest, "'")) continue;
    const auto end = rest.find('\'');
    if (end == std::string_view::npos) continue;
    bound.value = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (take(rest, "::"))
      bound.type = rest;
    else if (!rest.empty())
      continue;
    return bound;
  }
  return std::nullopt;
}

class Prover {
 public:
  Prover(duck::Connection& connection, const Model& model) : connection_(connection), model_(model) {}

  /// False where the inputs cannot be stood in for.
  Result<bool> stand_in(lake::Lakes& lakes) {
    std::map<std::string, std::vector<Asset>> by_lake;
    for (const Reference& reference : model_.references)
      if (reference.asset.kind == AssetKind::Lake) by_lake[reference.asset.place].push_back(reference.asset);
    for (const auto& [place, assets] : by_lake) {
      const lake::Lake& lake = lakes.lake(place);
      WEIR_TRY(const std::int64_t newest, lake.newest_version(connection_));
      WEIR_TRY(const auto states, lake.observe(connection_, assets, newest));
      for (const auto& [key, state] : states) {
        if (!state.exists || state.is_view || state.columns.empty()) return false;
        const std::string name = fmt::format("{}{}", kInput, inputs_.size());
        std::vector<duck::Sql> columns;
        for (const lake::ColumnState& column : state.columns)
          columns.emplace_back("{} {}", duck::Identifier(column.name), duck::Sql::verbatim(column.type));
        const auto made = connection_.execute(
            duck::Sql("CREATE OR REPLACE TEMP TABLE {} ({})", duck::Identifier(name), duck::Sql::join(columns, ", ")));
        if (!made) return false;
        names_[key] = name;
        inputs_[name] = {key, state.columns};
      }
    }
    return true;
  }

  SliceInputs prove() {
    SliceInputs proven;
    std::optional<std::map<std::string, std::vector<SliceInput>>> common;
    std::set<std::string> texts;
    for (const std::string_view day : kProbes) {
      const auto slice = slice_of(day);
      if (!slice || !set_up(*slice)) return {};
      texts.insert(query_of(*slice).text());
      auto found = is_windowed(model_) ? by_window(*slice) : by_partition(*slice);
      if (common)
        for (auto& [key, columns] : found)
          std::erase_if(columns, [&](const SliceInput& one) {
            const auto& before = (*common)[key];
            return std::none_of(before.begin(), before.end(), [&](const auto& b) { return b.column == one.column; });
          });
      common = std::move(found);
    }
    for (auto& [key, columns] : *common) {
      if (columns.empty()) continue;
      const auto partition =
          std::find_if(columns.begin(), columns.end(), [](const SliceInput& one) { return one.is_partition; });
      proven.columns[key] = partition == columns.end() ? columns.front() : *partition;
    }
    proven.names_bounds = is_windowed(model_) && texts.size() > 1;
    return proven;
  }

 private:
  std::optional<std::string> slice_of(std::string_view day) const {
    if (is_windowed(model_)) {
      const auto windows = calendar::WindowCalendar::make(model_.interval, model_.lookback, model_.tz);
      const auto window = windows ? windows->between(day, day) : tl::unexpected(Diagnostics());
      if (!window) return std::nullopt;
      calendar::Windows one;
      one.add(*window);
      return one.name();
    }
    if (model_.partitioning->kind == calendar::PartitionKind::Dynamic) return std::string(day);
    const auto noon = calendar::parse_instant(std::string(day) + "T12:00Z");
    return noon ? std::optional(calendar::identity_of(*model_.partitioning, *noon)) : std::nullopt;
  }

  std::string where(const Reference& reference) const {
    const auto name = names_.find(reference.asset.key());
    return name == names_.end() ? "NULL" : duck::quote_identifier(name->second);
  }
  WhereToRead reader() const {
    return [this](const Reference& reference) { return where(reference); };
  }

  bool set_up(const std::string& slice) {
    for (const SetupStatement& one : setup_statements(model_, reader(), slice, {}))
      if (!connection_.execute(duck::Sql::verbatim(one.sql.text()))) return false;
    return true;
  }
  duck::Sql query_of(const std::string& slice) const {
    return duck::Sql::verbatim(
        splice_statement(model_, model_.script.statements.size() - 1, reader(), slice, {}).text());
  }

  /// By input, what is known at each of its scans. Nothing where the query cannot be explained.
  std::optional<std::map<std::string, std::vector<std::set<Bound>>>> scans_of(const duck::Sql& query) {
    const auto rows = connection_.query({"EXPLAIN (FORMAT json) {}", query});
    if (!rows || rows->size() == 0) return std::nullopt;
    const auto plan = nlohmann::json::parse(rows->text(0, rows->columns().size() - 1), nullptr, false);
    if (!plan.is_array()) return std::nullopt;
    std::map<std::string, std::vector<std::set<Bound>>> scans;
    for (const auto& root : plan) collect(root, scans);
    return scans;
  }

  void collect(const nlohmann::json& node, std::map<std::string, std::vector<std::set<Bound>>>& scans) const {
    if (!node.is_object()) return;
    if (const auto children = node.find("children"); children != node.end())
      for (const auto& child : *children) collect(child, scans);
    const auto facts = node.find("extra_info");
    if (facts == node.end() || !facts->is_object()) return;
    const std::string table = facts->value("Table", "");
    const auto input = inputs_.find(table.substr(table.rfind('.') + 1));
    if (input == inputs_.end()) return;
    std::set<Bound> bounds;
    std::vector<std::string> filters;
    if (const auto told = facts->find("Filters"); told != facts->end()) {
      if (told->is_string()) filters.push_back(told->get<std::string>());
      if (told->is_array())
        for (const auto& one : *told)
          if (one.is_string()) filters.push_back(one.get<std::string>());
    }
    for (const std::string& filter : filters)
      for (const std::string& term : terms_of(filter))
        if (auto bound = bound_of(term, input->second.columns)) bounds.insert(std::move(*bound));
    scans[input->first].push_back(std::move(bounds));
  }

  /// Microseconds of a value as text: what clocks show, or UTC where the type has a zone.
  std::optional<std::int64_t> micros(const std::string& value, const std::string& type) {
    if (!has_time(type)) return std::nullopt;
    const duck::Sql cast("TRY_CAST({} AS {})", duck::Literal(std::string_view(value)), duck::Sql::verbatim(type));
    const auto rows = connection_.query(type == "TIMESTAMP WITH TIME ZONE"
                                            ? duck::Sql("SELECT epoch_us({})", cast)
                                            : duck::Sql("SELECT epoch_us(CAST({} AS TIMESTAMP))", cast));
    if (!rows || rows->is_null(0, 0)) return std::nullopt;
    return rows->integer(0, 0);
  }

  /// Columns for which `holds` is true of the bounds at every scan of the input.
  using Holds = std::function<bool(const std::set<Bound>& bounds, const lake::ColumnState& column)>;
  std::map<std::string, std::vector<SliceInput>> columns_where(
      const std::map<std::string, std::vector<std::set<Bound>>>& scans, const Holds& holds) const {
    std::map<std::string, std::vector<SliceInput>> found;
    for (const auto& [name, of_input] : scans) {
      const auto& [key, columns] = inputs_.at(name);
      for (const lake::ColumnState& column : columns) {
        const auto restricted = [&](const std::set<Bound>& bounds) { return holds(bounds, column); };
        if (std::all_of(of_input.begin(), of_input.end(), restricted))
          found[key].push_back({column.name, column.type, column.name == lake::kPartitionColumn});
      }
    }
    return found;
  }

  std::map<std::string, std::vector<SliceInput>> by_partition(const std::string& slice) {
    const auto scans = scans_of(query_of(slice));
    if (!scans) return {};
    std::optional<calendar::Slot> slot;
    if (const auto named = calendar::slot_named(*model_.partitioning, slice)) slot = *named;
    return columns_where(*scans, [&](const std::set<Bound>& bounds, const lake::ColumnState& column) {
      bool from = false;
      bool to = false;
      for (const Bound& bound : bounds) {
        if (bound.column != column.name) continue;
        if (column.name == lake::kPartitionColumn && bound.op == "=" && bound.value == slice) return true;
        const auto at = slot ? micros(bound.value, bound.type) : std::nullopt;
        if (!at) continue;
        const auto [begin, end] = range_of(*slot, column.type);
        from = from || (bound.op != "<" && *at >= begin && *at < end);
        to = to || (bound.op == "<" ? *at > begin && *at <= end : bound.op == "=" && *at < end);
      }
      return from && to;
    });
  }

  static std::pair<std::int64_t, std::int64_t> range_of(const calendar::Slot& slot, const std::string& type) {
    if (type == "TIMESTAMP WITH TIME ZONE")
      return {slot.begin.time_since_epoch().count(), slot.end.time_since_epoch().count()};
    const auto wall = [](const std::string& text) {
      const auto at = calendar::parse_instant(text.substr(0, 10) + "T" + text.substr(11));
      return at ? at->time_since_epoch().count() : 0;
    };
    return {wall(slot.local_begin), wall(slot.local_end)};
  }

  // One bound at a time: of both together DuckDB makes a BETWEEN that does not tell whether its end belongs to it.
  std::map<std::string, std::vector<SliceInput>> by_window(const std::string& slice) {
    const auto calendar = calendar::WindowCalendar::make(model_.interval, model_.lookback, model_.tz);
    const auto windows = calendar::Windows::parse(slice);
    const duck::Sql query = query_of(slice);
    const auto result = connection_.describe(query);
    if (!calendar || !windows || !result) return {};
    const auto time = std::find_if(result->begin(), result->end(), [this](const duck::Column& one) {
      return text::same_word(one.name, model_.time_column);
    });
    if (time == result->end() || !has_time(time->type)) return {};
    const calendar::Window window = windows->parts().front();
    std::map<std::string, std::vector<SliceInput>> found;
    for (const bool is_begin : {true, false}) {
      calendar::Windows half;
      half.add(is_begin ? calendar::Window{window.begin, calendar::kForEver}
                        : calendar::Window{calendar::kEver, window.end});
      const auto condition =
          in_windows(model_, half.name(), duck::Sql("result.{}", duck::Identifier(time->name)), time->type);
      if (!condition) return {};
      const auto scans = scans_of({"SELECT * FROM ({}\n) AS result WHERE {}", query, *condition});
      if (!scans) return {};
      const calendar::Wall border = is_begin ? window.begin : window.end;
      auto half_found = columns_where(*scans, [&](const std::set<Bound>& bounds, const lake::ColumnState& column) {
        const std::int64_t expected = column.type == "TIMESTAMP WITH TIME ZONE"
                                          ? calendar->instant_of(border).time_since_epoch().count()
                                          : std::chrono::microseconds(border.time_since_epoch()).count();
        return std::any_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
          return bound.column == column.name && bound.op == (is_begin ? ">=" : "<") &&
                 micros(bound.value, bound.type) == expected;
        });
      });
      if (is_begin) {
        found = std::move(half_found);
        continue;
      }
      for (auto& [key, columns] : found)
        std::erase_if(columns, [&](const SliceInput& one) {
          const auto& other = half_found[key];
          return std::none_of(other.begin(), other.end(), [&](const auto& b) { return b.column == one.column; });
        });
    }
    return found;
  }

  struct Input {
    std::string key;
    std::vector<lake::ColumnState> columns;
  };
  duck::Connection& connection_;
  const Model& model_;
  std::map<std::string, std::string> names_;
  std::map<std::string, Input> inputs_;
};

}  // namespace

Result<SliceInputs> slice_inputs(lake::Lakes& lakes, const Model& model) {
  const bool is_sliced = is_windowed(model) || model.partitioning;
  if (!is_sliced || model.plane == Plane::Manual || model.script.statements.empty()) return SliceInputs();
  WEIR_TRY(duck::Connection connection, lakes.connect());
  Prover prover(connection, model);
  WEIR_TRY(const bool is_known, prover.stand_in(lakes));
  if (!is_known) return SliceInputs();
  // Empty tables have statistics by which the optimiser would take the scans out.
  const auto without = connection.execute(
      duck::Sql("SET disabled_optimizers = 'statistics_propagation,join_filter_pushdown,compressed_materialization'"));
  if (!without) return SliceInputs();
  SliceInputs proven = prover.prove();
  if (auto back = connection.execute(duck::Sql("RESET disabled_optimizers")); !back)
    return fail(Diagnostic{.code = Code::W4001, .message = back.error().message});
  return proven;
}

}  // namespace weir::ops
