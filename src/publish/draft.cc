// The draft of an effect: names, scratch tables and views, and the statements that every strategy ends in.
#include "publish/draft.h"

#include <algorithm>

#include "lake/partition_rows.h"
#include "project/window_rows.h"

namespace weir::publish {
namespace {

duck::Sql converted(duck::Sql value, const std::string& from, const std::string& to) {
  if (from == to) return value;
  return duck::Sql("CAST({} AS {})", value, duck::Sql::verbatim(to));  // a type as the engine spells it
}

}  // namespace

std::vector<std::string> Shape::names() const {
  std::vector<std::string> names;
  for (const ShapedColumn& column : columns) names.push_back(column.state.name);
  return names;
}

duck::Sql value_from_target(const ShapedColumn& column) {
  if (!column.in_target) return duck::Sql("CAST(NULL AS {})", duck::Sql::verbatim(column.state.type));
  return converted(duck::Sql("t.{}", duck::Identifier(column.in_target->name)), column.in_target->type,
                   column.state.type);
}

duck::Sql value_from_stage(const ShapedColumn& column) {
  if (!column.in_stage) return duck::Sql("CAST(NULL AS {})", duck::Sql::verbatim(column.state.type));
  return converted(duck::Sql("s.{}", duck::Identifier(column.in_stage->name)), column.in_stage->type,
                   column.state.type);
}

duck::Sql select_list(const std::vector<ShapedColumn>& columns, const ValueOf& value_of) {
  std::vector<duck::Sql> items;
  for (const ShapedColumn& column : columns)
    items.push_back(duck::Sql("{} AS {}", value_of(column), duck::Identifier(column.state.name)));
  return duck::Sql::join(items, ", ");
}

Draft::Draft(duck::Connection& clean, const PrepareRequest& request) : request(request), clean_(clean) {
  if (!request.rebuild) target = request.target;
  effect.target_version = request.target.version;
}

duck::Sql Draft::readable() const {
  if (request.attached) return duck::Sql("{}", *request.attached);
  return duck::Sql("{}", request.lake.readable(request.model.target->schema, request.model.target->name));
}

duck::TableName Draft::writable() const {
  if (request.attached) return *request.attached;
  return request.lake.writable(request.model.target->schema, request.model.target->name);
}

std::optional<duck::Sql> Draft::slice_condition() const {
  if (!is_partitioned()) return in_windows_;
  return duck::Sql("t.{} = {}", duck::Identifier(std::string(lake::kPartitionColumn)),
                   duck::Literal(request.stage.partition));
}

std::vector<duck::Sql> Draft::conditions_outside() const {
  if (!is_partitioned()) return outside_windows_;
  const duck::Identifier column{std::string(lake::kPartitionColumn)};
  return {duck::Sql("t.{} <> {}", column, duck::Literal(request.stage.partition)), duck::Sql("t.{} IS NULL", column)};
}

duck::Sql Draft::where_slice(const duck::Sql& more) const {
  std::vector<duck::Sql> conditions;
  if (auto slice = slice_condition()) conditions.push_back(std::move(*slice));
  if (!more.empty()) conditions.push_back(duck::Sql("({})", more));
  if (conditions.empty()) return {};
  return duck::Sql(" WHERE {}", duck::Sql::join(conditions, " AND "));
}

duck::Sql Draft::stage_rows() const { return stage_rows(request.stage.relation); }

duck::Sql Draft::stage_rows(const duck::Sql& source) const {
  const auto value = [this](const ShapedColumn& column) {
    if (is_partitioned() && build::same_name(column.state.name, lake::kPartitionColumn))
      return duck::Sql("CAST({} AS VARCHAR)", duck::Literal(request.stage.partition));
    if (request.model.keep_hash && build::same_name(column.state.name, kHashColumn)) return hash_of_row();
    return value_from_stage(column);
  };
  return duck::Sql("SELECT {} FROM {} AS s", select_list(shape.columns, value), source);
}

// As a JSON list NULL differs from '', and no separator can stand in a value.
duck::Sql Draft::hash_of_row() const {
  std::vector<duck::Sql> values;
  for (const ShapedColumn& column : shape.columns) {
    const bool is_key = std::any_of(request.model.key.begin(), request.model.key.end(),
                                    [&](const std::string& name) { return build::same_name(column.state.name, name); });
    if (!column.managed && !is_key) values.push_back(duck::Sql("CAST({} AS VARCHAR)", value_from_stage(column)));
  }
  return duck::Sql("md5(CAST(to_json(CAST([{}] AS VARCHAR[])) AS VARCHAR))", duck::Sql::join(values, ", "));
}

duck::Sql Draft::target_rows(const duck::Sql& condition) const {
  return duck::Sql("SELECT {} FROM {} AS t{}", select_list(shape.columns, value_from_target), readable(), condition);
}

Diagnostic Draft::problem(Code code, std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.path = request.model.source == nullptr ? request.model.path : request.model.source->path;
  diagnostic.span = request.model.target_span;
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

void Draft::warn(Code code, std::string message, std::string hint) {
  Diagnostic diagnostic = problem(code, std::move(message), std::move(hint));
  diagnostic.severity = Severity::Warning;
  effect.warnings.push_back(std::move(diagnostic));
}

Result<duck::Connection*> Draft::reading() {
  if (transaction_) return &clean_;
  auto transaction = duck::Transaction::begin(clean_);
  if (!transaction) return fail(lake::explain(Code::W6020, "cannot begin to read", transaction.error()));
  transaction_.emplace(std::move(*transaction));
  return &clean_;
}

Result<void> Draft::end_reading() {
  if (!transaction_) return {};
  if (auto done = transaction_->commit(); !done)
    return fail(lake::explain(Code::W6020, "cannot keep the after-image", done.error()));
  return {};
}

Result<duck::Rows> Draft::ask(const duck::Sql& sql) {
  WEIR_TRY(duck::Connection* const connection, reading());
  auto rows = connection->query(sql);
  if (!rows)
    return fail(lake::explain(Code::W6020, "working out what changes in " + request.model.target->uri(), rows.error()));
  return std::move(*rows);
}

Result<std::int64_t> Draft::count(const duck::Sql& sql) {
  WEIR_TRY(const duck::Rows rows, ask(sql));
  return rows.integer(0, 0);
}

Result<std::int64_t> Draft::rows_of_slice() {
  if (is_partitioned()) {
    WEIR_TRY(duck::Connection* const connection, reading());
    WEIR_TRY(const std::int64_t version, request.lake.current_version(*connection));
    WEIR_TRY(const auto recorded,
             lake::partition_rows(*connection, request.lake, target, request.stage.partition, version));
    if (recorded) return *recorded;
  }
  return count(duck::Sql("SELECT count(*) FROM {} AS t{}", readable(), where_slice()));
}

Result<std::set<std::string>> Draft::merged_columns(const duck::Sql& relation) {
  WEIR_TRY(duck::Connection* const connection, reading());
  return build::merged_columns(*connection, relation, request.stage.columns);
}

Result<duck::TableName> Draft::keep(std::string_view what, const duck::Sql& select, std::int64_t* rows) {
  const duck::TableName name{std::string(lake::kStageDatabase), "main", request.prefix + "_" + std::string(what)};
  WEIR_TRY(const duck::Rows made, ask(duck::Sql("CREATE OR REPLACE TABLE {} AS {}", name, select)));
  if (rows != nullptr) *rows = made.changed();
  effect.scratch_tables.push_back(name);
  return name;
}

Result<duck::Sql> Draft::image(std::string_view what, const duck::Sql& select) {
  const duck::TableName name{std::string(lake::kStageDatabase), "main", request.prefix + "_" + std::string(what)};
  WEIR_CHECK(ask(duck::Sql("CREATE OR REPLACE VIEW {} AS {}", name, select)));
  effect.scratch_views.push_back(name);
  return duck::Sql("{}", name);
}

Result<lake::TableState> Draft::observe(const Asset& asset) {
  WEIR_TRY(duck::Connection* const connection, reading());
  WEIR_TRY(const std::int64_t version, request.lake.current_version(*connection));
  WEIR_TRY(auto states, request.lake.observe(*connection, {asset}, version));
  return states.at(asset.key());
}

duck::Sql Draft::insert(const duck::Sql& rows) const {
  const duck::Sql names = duck::Sql::names(shape.names());
  return duck::Sql("INSERT INTO {} ({}) SELECT {} FROM ({}) AS rows_of_slice", writable(), names, names, rows);
}

duck::Sql Draft::remove(const duck::TableName& gone) const {
  // The partition is named too: it prunes files more cheaply than row numbers do.
  return duck::Sql("DELETE FROM {} AS t{}", writable(), where_slice(duck::Sql("t.rowid IN (SELECT r FROM {})", gone)));
}

Result<void> Draft::need_row_numbers() const {
  const bool hides = std::any_of(shape.columns.begin(), shape.columns.end(),
                                 [](const auto& column) { return build::same_name(column.state.name, "rowid"); }) ||
                     target.column("rowid") != nullptr;
  if (!hides) return {};
  return fail(problem(Code::W6024, "a column named rowid hides the row numbers by which merge and history find rows",
                      "rename the column"));
}

bool Draft::is_partitioned_by_time() const {
  if (!is_windowed(request.model)) return false;
  const std::vector<std::string>& held = target.partitioned_by;
  if (target.exists) return held.size() == 1 && build::same_name(held[0], request.model.time_column);
  return !request.stage.folders_of.empty();
}

duck::Sql Draft::add_files(const std::vector<std::string>& files) const {
  std::vector<duck::Sql> names;
  for (const std::string& file : files) names.push_back(duck::Sql("{}", duck::Literal(file)));
  // Folders that are no partition of the table are no column of its rows either.
  return duck::Sql("CALL ducklake_add_data_files({}, {}, [{}], schema => {}, hive_partitioning => {})",
                   duck::Literal(request.lake.writer()), duck::Literal(request.model.target->name),
                   duck::Sql::join(names, ", "), duck::Literal(request.model.target->schema),
                   duck::Literal(is_partitioned() || is_partitioned_by_time()));
}

// A file is taken as it is: its columns must be the table's by name and type, and its partition the one weir's own
// column names.
bool Draft::can_add_files() const {
  if (request.stage.files.empty() || !request.target.has_plain_folder) return false;
  if (shape.renamed_case || !shape.retyped.empty() || !shape.added.empty()) return false;
  const bool has_folders = is_partitioned() || (is_partitioned_by_time() && !request.stage.folders_of.empty());
  if (target.exists && (target.has_other_partitioning || target.partitioned_by.size() > (has_folders ? 1U : 0U)))
    return false;
  return std::all_of(shape.columns.begin(), shape.columns.end(), [](const ShapedColumn& column) {
    return column.managed || (column.in_stage && column.in_stage->type == column.state.type);
  });
}

bool Draft::is_plain_creation() const {
  if (request.target.exists || is_partitioned()) return false;
  return std::all_of(shape.columns.begin(), shape.columns.end(), [](const ShapedColumn& column) {
    return column.state.nullable && !column.state.default_sql && !column.state.comment;
  });
}

bool Draft::shows_stage_as_it_is() const {
  const auto& staged = request.stage.columns;
  if (shape.columns.size() != staged.size()) return false;
  for (std::size_t i = 0; i < staged.size(); ++i)
    if (shape.columns[i].state.name != staged[i].name || shape.columns[i].state.type != staged[i].type ||
        shape.columns[i].managed)
      return false;
  return true;
}

void Draft::finish_with(const duck::Sql& relation) {
  for (const ShapedColumn& column : shape.columns) effect.columns.push_back(column.state);
  effect.table_image = relation;
  effect.slice_image = relation;
}

Result<void> Draft::finish(const duck::Sql& slice, const duck::Sql& table) {
  for (const ShapedColumn& column : shape.columns) effect.columns.push_back(column.state);
  WEIR_TRY(effect.table_image, image("table", table));
  if (slice.text() == table.text()) {
    effect.slice_image = effect.table_image;
    return {};
  }
  WEIR_TRY(effect.slice_image, image("slice", slice));
  return {};
}

// A comment set again, unchanged, makes a version.
duck::Sql Draft::touch() const {
  const auto& comment = request.target.comment;
  return duck::Sql("COMMENT ON TABLE {} IS {}", writable(), comment ? duck::Literal(*comment) : duck::Literal::null());
}

}  // namespace weir::publish
