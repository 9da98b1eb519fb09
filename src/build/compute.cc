// The walk of one slice: setup, gate, types, rows, proof. Each pass leaves an invariant for the next:
//   setup    the step's connection has the user's temporary objects; every query in them passed the gate
//   result   the query's names and types are known, and nothing it calls is forbidden
//   layout   every column has the name and type of the lake, or the step has failed before anything was computed
//   fill     the rows exist once: in the memory database, or as files that no catalog knows
//   proof    every cast kept its value, every NOT NULL holds, every interval survives the lake's precision
#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "build/content.h"
#include "build/files.h"
#include "build/gate.h"
#include "build/layout.h"
#include "build/names.h"
#include "build/types.h"
#include "build/work.h"
#include "duck/veil.h"
#include "project/contract.h"
#include "project/gate.h"
#include "project/window_rows.h"

namespace weir::build {
namespace {

constexpr std::size_t kSampleSize = 5;

// The name of the writer is a secret of publishing code, the reader's name means nothing to a user: engine messages may
// hold both.
std::string without_attachments(std::string message, const lake::Lake& lake) {
  for (const std::string& name : {lake.writer(), lake.reader()}) {
    if (name.empty()) continue;
    for (auto at = message.find(name); at != std::string::npos; at = message.find(name, at + lake.name().size()))
      message.replace(at, name.size(), lake.name());
  }
  return message;
}

// The statement of the model, or of a library that it takes it from, that a spliced text begins in; nothing for text
// that weir wrote.
const parse::Statement* statement_of(const Model& model, const parse::Spliced& sql) {
  if (!sql.path().empty()) {
    const auto place = sql.source_of(0);
    for (const MacroDefinition& macro : model.macros)
      if (place && macro.source->path == sql.path() && macro.statement.span.begin == place->begin)
        return &macro.statement;
    return nullptr;
  }
  for (std::uint32_t at = 0; at < sql.text().size(); ++at) {
    const auto place = sql.source_of(at);
    if (!place) continue;
    for (const auto& statement : model.script.statements)
      if (place->begin >= statement.span.begin && place->begin < statement.span.end) return &statement;
  }
  return nullptr;
}

// The part of a spliced CREATE TEMP … AS that is the query.
duck::Sql query_part(const parse::Spliced& sql, const parse::Statement& statement) {
  for (std::uint32_t at = 0; at < sql.text().size(); ++at) {
    const auto place = sql.source_of(at);
    if (place && place->begin >= statement.query.begin && place->begin < statement.query.end)
      return duck::Sql::verbatim(sql.text().substr(at));
  }
  return {};
}

// Whoever makes it: a library may leave TEMP out.
bool is_macro(const Model& model, const parse::Statement& statement) {
  return statement.kind == parse::StatementKind::CreateTempMacro ||
         std::any_of(model.macros.begin(), model.macros.end(), [&statement](const MacroDefinition& macro) {
           return &macro.statement == &statement && !macro.is_setup();
         });
}

// A macro binds where it is called, so its body's tables are looked at here; its calls were judged by name.
Result<void> judge_setup(Work& work, const parse::Spliced& sql) {
  const parse::Statement* statement = statement_of(work.request.model, sql);
  if (statement == nullptr) return {};
  Suspect suspect = suspect_of(work.request.model, *statement);
  if (!sql.path().empty()) suspect.path = sql.path();
  if (is_macro(work.request.model, *statement)) return pass_tables(work.connection, sql, suspect);
  if (statement->kind != parse::StatementKind::CreateTempTable &&
      statement->kind != parse::StatementKind::CreateTempView)
    return {};
  const duck::Sql query = query_part(sql, *statement);
  if (query.empty()) return {};
  return pass_gate(work.connection, bind_plan(work.connection, query), sql, suspect);
}

// A collation would ride along into the stage and make keys match without case there, and a CAST does not take it off.
Result<void> check_collations(const Work& work, const BoundPlan& plan, const std::vector<duck::Column>& columns) {
  Diagnostics errors;
  for (const std::size_t at : plan.collated)
    errors.push_back(work.about(
        Code::W4101, fmt::format("column {} has a collation, which a lake does not have", columns.at(at).name),
        "leave COLLATE to comparisons and ORDER BY; decode(encode(column)) returns the text without its collation"));
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

// Names and types of the result. A PIVOT without IN list stands for several statements, which DuckDB cannot describe:
// it is computed into a table of its own first, still once, and the stage is taken from there.
Result<std::vector<duck::Column>> bind_result(Work& work) {
  const StageRequest& request = work.request;
  // Binding costs as much as computing a small model: once is enough where the plan tells the columns too.
  const auto plan = bind_plan(work.connection, request.query.sql(), request.largest_stage);
  if (plan) work.most_rows = plan->most_rows;
  duck::Outcome<std::vector<duck::Column>> columns;
  if (plan && plan->columns)
    columns = *plan->columns;
  else
    columns = work.connection.describe(request.query.sql());
  if (!columns) {
    // Explaining a PIVOT without IN list runs a part of it, so that it may have spoken first.
    const duck::Failure* const spoken = plan ? nullptr : &plan.error();
    for (const duck::Failure* failure : {spoken, static_cast<const duck::Failure*>(&columns.error())})
      if (failure != nullptr && failure->type == duck::FailureType::Refused)
        return work.failed(*failure, request.query, 0);
    const auto statements = work.connection.count_statements(request.query.sql());
    if (!statements || *statements < 2) return work.failed(columns.error(), request.query, 0);
    const Suspect suspect = suspect_of(request.model, request.model.result());
    WEIR_CHECK(judge({}, suspect));
    WEIR_CHECK(pass_tables(work.connection, request.query, suspect));
    const duck::TableName raw{std::string(lake::kStageDatabase), "main",
                              fmt::format("weir-{}-{}-raw", request.run, request.step)};
    const duck::Sql head("CREATE OR REPLACE TABLE {} AS ", raw);
    if (auto done = work.connection.execute({"{}{}", head, request.query.sql()}); !done)
      return work.failed(done.error(), request.query, head.text().size());
    work.raw = raw;
    work.query = duck::Sql("FROM {}", raw);
    columns = work.connection.describe(work.query);
    if (!columns) return work.failed(columns.error(), request.query, std::nullopt);
    return std::move(*columns);
  }
  WEIR_CHECK(pass_gate(work.connection, plan, request.query, suspect_of(request.model, request.model.result())));
  for (const std::size_t at : plan->untyped) columns->at(at).type = "\"NULL\"";
  WEIR_CHECK(check_collations(work, *plan, *columns));
  return std::move(*columns);
}

/// Of the query's rows those of the slice's windows are taken; those without a time are in none, and counted.
Result<void> take_windows(Work& work, const std::vector<duck::Column>& result, Diagnostics& notes) {
  const Model& model = work.request.model;
  if (!is_windowed(model)) return {};
  const auto column = std::find_if(result.begin(), result.end(),
                                   [&](const duck::Column& one) { return same_name(one.name, model.time_column); });
  if (column == result.end())
    return fail(work.about(Code::W0162, fmt::format("the query returns no column {}", model.time_column),
                           "return it, or name another column with time_column"));
  if (!has_time(column->type))
    return fail(work.about(Code::W0162,
                           fmt::format("{} is {}, which places no row in a window", column->name, column->type),
                           fmt::format("return it as a TIMESTAMP, for example CAST({} AS TIMESTAMP)",
                                       duck::quote_identifier(column->name))));
  const duck::Sql time("result.{}", duck::Identifier(column->name));
  WEIR_TRY(const duck::Sql condition, in_windows(model, work.request.windows, time, column->type));
  // 'infinity' lies in no window that ends or begins.
  const duck::Sql is_finite("system.main.isfinite({})", time);
  work.where = duck::Sql(" WHERE {} AND {}", condition, is_finite);
  work.time = *column;
  const duck::Sql head(
      "SELECT system.main.count_star() FILTER (WHERE {} IS NULL), system.main.count_star() FILTER (WHERE NOT {}) FROM "
      "(",
      time, is_finite);
  const auto rows =
      work.connection.query({"{}{}\n) AS result WHERE {} IS NULL OR NOT {}", head, work.query, time, is_finite});
  if (!rows) return work.failed(rows.error(), work.request.query, head.text().size());
  for (const auto& [at, what] : {std::pair(0, "NULL"), std::pair(1, "infinity")})
    if (const std::int64_t count = rows->integer(0, static_cast<std::size_t>(at)); count > 0)
      notes.push_back(
          work.warning(Code::W0162, fmt::format("{} {} in {}: no window holds {}, and nothing of {} is written",
                                                count == 1 ? "1 row has" : fmt::format("{} rows have", count), what,
                                                column->name, count == 1 ? "it" : "them", count == 1 ? "it" : "them")));
  return {};
}

Result<void> fill_memory(Work& work, const Layout& layout, Stage& stage) {
  const duck::Sql head("CREATE OR REPLACE TABLE {} AS SELECT {} FROM (", stage.table,
                       select_list(layout, work.request, work.lost_prefix));
  auto done = work.connection.execute({"{}{}\n) AS result{}", head, work.query, work.where});
  if (!done) return work.failed(done.error(), work.request.query, head.text().size());
  return {};
}

// Values that a cast changed were kept beside it; afterwards the proof columns go.
Result<void> prove_casts(Work& work, const Layout& layout, const Stage& stage) {
  Diagnostics errors;
  for (std::size_t i = 0; i < layout.cells.size(); ++i) {
    if (!layout.cells[i].needs_proof) continue;
    const duck::Identifier lost(work.lost_prefix + std::to_string(i));
    auto rows =
        work.connection.query(duck::Sql("SELECT CAST(system.main.count({}) AS BIGINT) FROM {}", lost, stage.table));
    if (!rows) return work.failed(rows.error(), work.request.query, std::nullopt);
    if (const std::int64_t count = rows->integer(0, 0); count > 0) {
      auto sample =
          work.connection.query(duck::Sql("SELECT DISTINCT {} FROM {} WHERE {} IS NOT NULL ORDER BY ALL LIMIT {}", lost,
                                          stage.table, lost, kSampleSize));
      if (!sample) return work.failed(sample.error(), work.request.query, std::nullopt);
      errors.push_back(work.lost_values(layout.cells[i], count, *sample));
    }
    if (auto done = work.connection.execute(duck::Sql("ALTER TABLE {} DROP COLUMN {}", stage.table, lost)); !done)
      return work.failed(done.error(), work.request.query, std::nullopt);
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

Result<void> check_required(Work& work, const Layout& layout, const Stage& stage) {
  Diagnostics errors;
  for (const Cell& cell : layout.cells) {
    if (!cell.is_required) continue;
    const std::int64_t nulls = stage.content.columns.at(cell.name).nulls;
    if (nulls == 0) continue;
    auto sample = work.connection.query(
        duck::Sql("SELECT CAST(shown AS VARCHAR) FROM (SELECT {} FROM {} AS stage WHERE stage.{} IS NULL) AS shown "
                  "LIMIT {}",
                  sample_columns(layout, work.request), stage.relation, duck::Identifier(cell.name), kSampleSize));
    if (!sample) return work.failed(sample.error(), work.request.query, std::nullopt);
    errors.push_back(work.about(Code::W4203,
                                fmt::format("{} of {} rows have NULL in {}, which the table requires (NOT NULL){}",
                                            nulls, stage.content.rows, cell.name, work.sample_text(*sample)),
                                "return a value, filter the rows, or drop the column's NOT NULL"));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

// Measured on INSERT and on Parquet alike: an interval comes back cut to milliseconds, and a negative part is refused
// at the write.
Result<void> check_intervals(Work& work, const Layout& layout, Stage& stage) {
  Diagnostics errors;
  for (const Cell& cell : layout.cells) {
    const Type type = parse_type(cell.type);
    if (type.name != "INTERVAL") {
      if (contains(type, "INTERVAL"))
        stage.notes.push_back(work.warning(
            Code::W4108,
            fmt::format("{} holds intervals: a lake cuts them to milliseconds and refuses negative ones", cell.name)));
      continue;
    }
    const duck::Identifier name(cell.name);
    std::vector<duck::Sql> faults = {{"system.main.date_part('microsecond', stage.{}) % 1000 <> 0", name}};
    for (const std::string_view part : {"year", "month", "day", "hour", "minute", "microsecond"})
      faults.emplace_back("system.main.date_part({}, stage.{}) < 0", duck::Literal(part), name);
    const duck::Sql fault = duck::Sql::join(faults, " OR ");
    auto rows = work.connection.query(
        duck::Sql("SELECT CAST(system.main.count_star() AS BIGINT), CAST(system.main.min(CAST(stage.{} AS VARCHAR)) AS "
                  "VARCHAR) FROM {} AS stage WHERE {}",
                  name, stage.relation, fault));
    if (!rows) return work.failed(rows.error(), work.request.query, std::nullopt);
    if (rows->integer(0, 0) == 0) continue;
    errors.push_back(work.about(
        Code::W4107,
        fmt::format("{} of {} intervals in {} would not come back as they are: a lake keeps milliseconds and no "
                    "negative parts{}",
                    rows->integer(0, 0), stage.content.rows, cell.name, work.one_value(cell.name, rows->text(0, 1))),
        fmt::format("store a number instead, for example epoch_us({})", duck::quote_identifier(cell.name))));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

// Measured on INSERT: the lake keeps the instant of a TIMETZ and no offset, and DuckDB does not call the two equal.
Result<void> check_offsets(Work& work, const Layout& layout, const Stage& stage) {
  Diagnostics errors;
  for (const Cell& cell : layout.cells) {
    if (cell.type != "TIME WITH TIME ZONE") continue;
    const duck::Identifier name(cell.name);
    auto rows = work.connection.query(
        duck::Sql("SELECT CAST(system.main.count_star() AS BIGINT), CAST(system.main.min(CAST(stage.{} AS VARCHAR)) AS "
                  "VARCHAR) FROM {} AS stage WHERE system.main.date_part('timezone', stage.{}) <> 0",
                  name, stage.relation, name));
    if (!rows) return work.failed(rows.error(), work.request.query, std::nullopt);
    if (rows->integer(0, 0) == 0) continue;
    errors.push_back(work.about(
        Code::W4107,
        fmt::format("{} of {} times in {} would not come back as they are: a lake keeps no offset of a TIMETZ{}",
                    rows->integer(0, 0), stage.content.rows, cell.name, work.one_value(cell.name, rows->text(0, 1))),
        fmt::format("store the time and its offset in two columns, or {} AT TIME ZONE 'UTC'",
                    duck::quote_identifier(cell.name))));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

Result<void> fill(Work& work, const Layout& layout, Stage& stage) {
  WEIR_TRY(const bool by_files, publishes_by_files(work, layout));
  if (by_files) {
    WEIR_CHECK(fill_files(work, layout, stage));
    return check_required(work, layout, stage);
  }
  WEIR_CHECK(fill_memory(work, layout, stage));
  WEIR_CHECK(prove_casts(work, layout, stage));
  // A replace compares content with what was recorded: hashed along with the counts, the table is never read for that.
  const Model& model = work.request.model;
  const bool is_replaced = model.strategy == Strategy::Replace || replaces_part(model);
  const Sums wanted = is_replaced ? Sums::Hashes : Sums::Counts;
  auto content = sum_up(work.connection, stage.relation, stage.columns, wanted);
  if (!content) return work.failed(content.error(), work.request.query, std::nullopt);
  stage.content = std::move(*content);
  WEIR_CHECK(check_required(work, layout, stage));
  if (work.request.holder != Holder::Lake) return {};
  WEIR_CHECK(check_offsets(work, layout, stage));
  return check_intervals(work, layout, stage);
}

}  // namespace

Suspect suspect_of(const Model& model, const parse::Statement& statement) {
  return {.path = model.source->path, .statement = statement, .macros = own_macros(model)};
}

Result<void> run_setup(Work& work) {
  for (const parse::Spliced& sql : work.request.setup) {
    WEIR_CHECK(judge_setup(work, sql));
    if (auto done = work.connection.execute(work.macros.apart(sql)); !done) return work.failed(done.error(), sql, 0);
  }
  return {};
}

Failed Work::failed(const duck::Failure& failure, const parse::Spliced& sql, std::optional<std::size_t> before) const {
  duck::Failure moved = hides_values() ? duck::without_values(failure) : failure;
  moved.message = without_attachments(std::move(moved.message), request.lake);
  if (!before) moved.position.reset();
  return fail(explain(moved, request.model, sql, before.value_or(0), macros));
}

std::size_t longest_of(const StageRequest& request) {
  std::size_t longest = request.query.text().size();
  for (const parse::Spliced& one : request.setup) longest = std::max(longest, one.text().size());
  return longest;
}

Result<Stage> compute(duck::Connection& connection, const StageRequest& request) {
  WEIR_CHECK(check_partition_value(request));
  const duck::Sql query = request.query.sql();
  Work work{connection,
            request,
            request.without_rows ? duck::Sql("SELECT * FROM ({}\n) LIMIT 0", query) : query,
            {},
            {},
            {},
            "_weir_lost_",
            {},
            MacroPlaces(longest_of(request))};
  WEIR_CHECK(run_setup(work));
  WEIR_TRY(const std::vector<duck::Column> result, bind_result(work));
  WEIR_CHECK(check_contract(connection, request.model, result));
  Diagnostics untimed;
  WEIR_CHECK(take_windows(work, result, untimed));
  WEIR_TRY(Layout layout, lay_out(request, result));
  WEIR_CHECK(note_unnamed(work, result, layout.notes));
  while (std::any_of(result.begin(), result.end(),
                     [&](const auto& column) { return column.name.starts_with(work.lost_prefix); }))
    work.lost_prefix += '_';

  Stage stage;
  stage.table = {std::string(lake::kStageDatabase), "main", fmt::format("weir-{}-{}", request.run, request.step)};
  stage.relation = duck::Sql("{}", stage.table);
  stage.columns = layout.columns;
  stage.partition = request.partition;
  stage.drift = layout.drift;
  stage.windows = request.windows;
  stage.notes = layout.notes;
  std::move(untimed.begin(), untimed.end(), std::back_inserter(stage.notes));
  if (auto filled = fill(work, layout, stage); !filled) {
    discard(connection, stage, false);
    return fail(std::move(filled).error());
  }
  if (work.raw)
    if (auto dropped = connection.execute(duck::Sql("DROP TABLE {}", *work.raw)); !dropped)
      return work.failed(dropped.error(), request.query, std::nullopt);
  return stage;
}

void discard(duck::Connection& clean, const Stage& stage, bool published) {
  // The memory database ends with the process: what cannot be dropped costs memory, no correctness.
  const duck::Sql kind = stage.files.empty() ? duck::Sql("TABLE") : duck::Sql("VIEW");
  (void)clean.execute(duck::Sql("DROP {} IF EXISTS {}", kind, stage.table));
  if (!published) remove_files(stage.files);
}

}  // namespace weir::build
