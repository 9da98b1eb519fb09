#include "build/layout.h"

#include <fmt/format.h>
#include <algorithm>

#include "build/names.h"
#include "build/types.h"
#include "project/validity.h"

namespace weir::build {
namespace {

constexpr std::size_t kLongestPartitionValue = 240;

Diagnostic about(const Model& model, Code code, std::string message, std::string hint = {}) {
  return {code,
          Severity::Error,
          std::move(message),
          model.source->path,
          model.script.statements.empty() ? Span{} : model.result().span,
          std::move(hint)};
}

Diagnostic about(const StageRequest& request, Code code, std::string message, std::string hint = {}) {
  return about(request.model, code, std::move(message), std::move(hint));
}

Diagnostic note(const StageRequest& request, Code code, Severity severity, std::string message, std::string hint = {}) {
  Diagnostic said = about(request, code, std::move(message), std::move(hint));
  said.severity = severity;
  return said;
}

// Columns that the strategy itself keeps in the table.
std::vector<std::string> columns_of_strategy(const Model& model) {
  std::vector<std::string> names;
  if (model.is_history())
    for (const auto& [name, type] : validity_columns(model).columns()) names.emplace_back(name);
  if (model.keep_hash) names.emplace_back(kHashColumn);
  return names;
}

bool is_among(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const auto& other) { return same_name(other, name); });
}

void check_names(const Model& model, const std::vector<duck::Column>& result, Diagnostics& errors) {
  const auto reserved = columns_of_strategy(model);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::string& name = result[i].name;
    const auto earlier = std::find_if(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const auto& other) { return same_name(other.name, name); });
    if (earlier != result.begin() + static_cast<std::ptrdiff_t>(i))
      errors.push_back(about(model, Code::W4104, fmt::format("the query returns two columns named {}", name),
                             "give each column its own name with AS"));
    if (model.partitioning && same_name(name, lake::kPartitionColumn))
      errors.push_back(about(model, Code::W4105, fmt::format("the query returns {}, which weir adds itself", name),
                             "SELECT * EXCLUDE (_wm_partition) leaves it out"));
    if (is_among(reserved, name))
      errors.push_back(about(model, Code::W4105,
                             fmt::format("the query returns {}, which weir keeps itself in this table", name),
                             fmt::format("rename the column, or leave it out with SELECT * EXCLUDE ({})", name)));
  }
}

// The target's columns that the query is answerable for.
std::vector<lake::ColumnState> comparable_columns(const StageRequest& request) {
  std::vector<lake::ColumnState> columns;
  const auto kept = columns_of_strategy(request.model);
  for (const auto& column : request.target.columns) {
    if (request.model.partitioning && same_name(column.name, lake::kPartitionColumn)) continue;
    if (!is_among(kept, column.name)) columns.push_back(column);
  }
  return columns;
}

bool is_number(const Type& type) {
  static const std::vector<std::string> numbers = {"TINYINT",   "SMALLINT", "INTEGER", "BIGINT", "UTINYINT",
                                                   "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL"};
  return std::find(numbers.begin(), numbers.end(), type.name) != numbers.end();
}

// W4101 for a type that a lake cannot hold.
std::optional<Diagnostic> refused_type(const Model& model, const duck::Column& column) {
  const auto refusal = refuse(parse_type(column.type));
  if (!refusal) return std::nullopt;
  return about(model, Code::W4101,
               fmt::format("column {} has the type {}: {}", column.name, column.type, refusal->reason),
               fmt::format("CAST({} AS {}) AS {}", duck::quote_identifier(column.name), refusal->cast_to,
                           duck::quote_identifier(column.name)));
}

// The same for a place outside of lakes: a new column gets the type that keeps its values there.
std::optional<duck::Column> admit_elsewhere(const StageRequest& request, const duck::Column& column,
                                            Diagnostics& errors) {
  const Type type = parse_type(column.type);
  if (const auto kept = kept_as(request.holder, type)) return duck::Column{column.name, to_text(*kept)};
  const std::string name = duck::quote_identifier(column.name);
  const bool is_null = type.name == "NULL";
  errors.push_back(about(request.model, Code::W6507,
                         is_null ? fmt::format("column {} is NULL without a type", column.name)
                                 : fmt::format("column {} has the type {}, which {} does not keep", column.name,
                                               column.type, name_of(request.holder)),
                         is_null ? fmt::format("CAST(NULL AS VARCHAR) AS {}", name)
                                 : fmt::format("to_json({}) AS {} delivers it as JSON text", name, name)));
  return std::nullopt;
}

// Brings one column through the gate: what it is called in the comparison with the target.
std::optional<duck::Column> admit(const StageRequest& request, const duck::Column& column,
                                  const std::vector<lake::ColumnState>& target, Layout& layout, Diagnostics& errors) {
  if (request.holder != Holder::Lake) return admit_elsewhere(request, column, errors);
  const Type type = parse_type(column.type);
  if (auto refusal = refused_type(request.model, column)) {
    errors.push_back(*std::move(refusal));
    return std::nullopt;
  }
  const Type storable = without_huge(type);
  if (storable == type) return column;
  const lake::ColumnState* had = find_column(target, column.name);
  if (had != nullptr && !request.follows_query && (type.name == "HUGEINT" || type.name == "UHUGEINT") &&
      is_number(parse_type(had->type)))
    return duck::Column{column.name, had->type};
  layout.notes.push_back(note(request, Code::W4103, Severity::Hint,
                              fmt::format("column {} is {}, which a lake would store inexactly: it is stored as {}",
                                          column.name, column.type, to_text(storable)),
                              fmt::format("CAST({} AS BIGINT) AS {} says which type you want",
                                          duck::quote_identifier(column.name), duck::quote_identifier(column.name))));
  return duck::Column{column.name, to_text(storable)};
}

std::string listed(const Drift& drift) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const auto& column : drift.added) add(fmt::format("added {} {}", column.name, column.type));
  for (const auto& column : drift.removed) add(fmt::format("removed {} {}", column.name, column.type));
  for (const auto& column : drift.retyped)
    add(fmt::format("retyped {} from {} to {}", column.name, column.from, column.to));
  if (drift.likely_rename)
    add(fmt::format("{} looks renamed to {}", drift.likely_rename->first, drift.likely_rename->second));
  return text;
}

void judge_drift(const StageRequest& request, Layout& layout, Diagnostics& errors) {
  const Drift& drift = layout.drift;
  if (drift.added.empty() && drift.removed.empty() && drift.retyped.empty()) return;
  const std::string what =
      fmt::format("the query's columns differ from {}: {}",
                  request.model.target ? request.model.target->uri() : request.model.path, listed(drift));
  if (request.follows_query) {
    layout.notes.push_back(note(request, Code::W4204, Severity::Warning, what + "; the table follows the query"));
    return;
  }
  // A history is frozen by its own rule, judged where it is published.
  if (request.model.is_history()) return;
  if (request.model.on_schema_change == SchemaChange::Fail) {
    const bool loses = std::any_of(drift.retyped.begin(), drift.retyped.end(),
                                   [](const Drift::Retyped& column) { return !column.widening; });
    errors.push_back(about(
        request, Code::W4201, what,
        loses ? "change the query back, or rebuild the table in the query's types with --full-refresh; no mode of "
                "on_schema_change changes a type that could lose values"
              : "change the query back, or let the table follow with on_schema_change=warn or =sync"));
    return;
  }
  const Severity severity = request.model.on_schema_change == SchemaChange::Ignore ? Severity::Hint : Severity::Warning;
  layout.notes.push_back(note(request, Code::W4204, severity, what));
}

void check_missing(const StageRequest& request, const Layout& layout, Diagnostics& errors) {
  const bool drops = request.model.on_schema_change == SchemaChange::Sync && !request.model.is_history() &&
                     request.holder == Holder::Lake;
  if (request.follows_query || drops) return;
  for (const auto& column : layout.drift.removed)
    if (!column.nullable && !column.default_sql)
      errors.push_back(
          about(request, Code::W4203,
                fmt::format("the query does not return {}, which the table requires (NOT NULL)", column.name),
                "return the column, or drop its NOT NULL"));
}

void place(const StageRequest& request, const duck::Column& raw, const duck::Column& admitted,
           const std::vector<lake::ColumnState>& target, Layout& layout) {
  Cell cell{.source = raw.name, .raw_type = raw.type, .name = raw.name, .type = admitted.type};
  lake::ColumnState column{.name = raw.name, .type = admitted.type};
  if (const lake::ColumnState* had = find_column(target, raw.name)) {
    column.comment = had->comment;
    column.default_sql = had->default_sql;
    column.nullable = had->nullable;
    if (!request.follows_query) {
      column.name = had->name;
      // A widening moves the table to the query's type, everything else moves the query to the table's.
      if (!widens(request.holder) || !is_lossless_widening(had->type, admitted.type)) column.type = had->type;
    }
  }
  cell.name = column.name;
  cell.type = column.type;
  cell.is_required = !column.nullable;
  const Type from = parse_type(raw.type);
  const Type to = parse_type(column.type);
  cell.is_cast = from != to;
  cell.needs_proof = cell.is_cast && !is_lossless_cast(from, to);
  cell.is_exact_or_raises = is_exact_or_raises(from, to);
  layout.cells.push_back(std::move(cell));
  layout.columns.push_back(std::move(column));
}

}  // namespace

Diagnostics judge_columns(const Model& model, const std::vector<duck::Column>& result) {
  Diagnostics errors;
  check_names(model, result, errors);
  // What another place than a lake holds depends on the place: said when the rows are computed.
  if (model.plane == Plane::Table || model.plane == Plane::File) return errors;
  for (const duck::Column& column : result)
    if (auto refusal = refused_type(model, column)) errors.push_back(*std::move(refusal));
  return errors;
}

Result<Layout> lay_out(const StageRequest& request, const std::vector<duck::Column>& result) {
  Layout layout;
  Diagnostics errors;
  check_names(request.model, result, errors);
  const auto target = comparable_columns(request);
  std::vector<duck::Column> admitted;
  for (const duck::Column& column : result)
    if (auto passed = admit(request, column, target, layout, errors)) admitted.push_back(std::move(*passed));
  if (!errors.empty()) return fail(std::move(errors));
  if (request.target.exists) {
    layout.drift = compare_columns(target, admitted);
    judge_drift(request, layout, errors);
    check_missing(request, layout, errors);
    if (!errors.empty()) return fail(std::move(errors));
  }
  for (std::size_t i = 0; i < result.size(); ++i) place(request, result[i], admitted[i], target, layout);
  return layout;
}

duck::Sql is_lost(const Cell& cell) {
  const duck::Identifier name(cell.source);
  const auto type = duck::Sql::verbatim(cell.type);
  const auto raw = duck::Sql::verbatim(cell.raw_type);
  return {"(result.{} IS DISTINCT FROM TRY_CAST(TRY_CAST(result.{} AS {}) AS {}))", name, name, type, raw};
}

duck::Sql select_list(const Layout& layout, const StageRequest& request, const std::string& lost_prefix) {
  std::vector<duck::Sql> parts;
  for (std::size_t i = 0; i < layout.cells.size(); ++i) {
    const Cell& cell = layout.cells[i];
    const duck::Identifier source(cell.source);
    const duck::Identifier name(cell.name);
    const auto type = duck::Sql::verbatim(cell.type);
    if (!cell.is_cast)
      parts.emplace_back("result.{} AS {}", source, name);
    else if (!cell.needs_proof)
      parts.emplace_back("CAST(result.{} AS {}) AS {}", source, type, name);
    else if (lost_prefix.empty())
      // Into files only go casts that are exact or raise.
      parts.emplace_back("CAST(result.{} AS {}) AS {}", source, type, name);
    else
      parts.emplace_back("TRY_CAST(result.{} AS {}) AS {}, CASE WHEN {} THEN CAST(result.{} AS VARCHAR) END AS {}",
                         source, type, name, is_lost(cell), source, duck::Identifier(lost_prefix + std::to_string(i)));
  }
  if (!request.partition.empty())
    parts.emplace_back("{} AS {}", duck::Literal(request.partition),
                       duck::Identifier(std::string(lake::kPartitionColumn)));
  return duck::Sql::join(parts, ", ");
}

std::string hive_encoded(std::string_view value) {
  std::string encoded;
  for (const unsigned char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain)
      encoded += static_cast<char>(c);
    else
      encoded += fmt::format("%{:02X}", c);
  }
  return encoded;
}

Result<void> check_partition_value(const StageRequest& request) {
  if (!request.model.partitioning) return {};
  if (request.partition == "__HIVE_DEFAULT_PARTITION__")
    return fail(about(request, Code::W4106,
                      "__HIVE_DEFAULT_PARTITION__ is not a partition value: a lake would read it back as NULL",
                      "give the partition another name"));
  if (request.partition.empty())
    return fail(about(request, Code::W4106, "the partition value is empty",
                      "a partition is named by a text that is not NULL and not empty"));
  if (const std::size_t size = hive_encoded(request.partition).size(); size > kLongestPartitionValue)
    return fail(about(request, Code::W4106,
                      fmt::format("the partition value takes {} bytes as the name of a folder, {} at most", size,
                                  kLongestPartitionValue),
                      "shorten it, for example by a hash"));
  return {};
}

}  // namespace weir::build
