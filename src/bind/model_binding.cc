#include "bind/model_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bind/lineage.h"
#include "io/hash.h"
#include "parse/functions.h"
#include "project/partition_macro.h"
#include "text/lexer.h"

namespace weir::bind {
namespace {

using parse::StatementKind;

constexpr std::size_t kBatchQueries = 100;
constexpr std::size_t kBatchBytes = 1U << 20U;

/// Where the columns of a temporary table come from.
using TemporaryTables = std::map<std::string, QueryLineage>;

template <class Source>
void sort_out(std::vector<Source>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

const OutputColumn* output_named(const QueryLineage& lineage, const std::string& name) {
  for (const OutputColumn& output : lineage.outputs)
    if (text::same_word(output.name, name)) return &output;
  return nullptr;
}

/// Replaces columns of temporary tables by what those are made of. Rows of the result depend on what decided the rows
/// of every temporary table that `sql` names, whether or not it takes a column from it.
void see_through(QueryLineage& lineage, const TemporaryTables& tables, std::string_view sql) {
  if (tables.empty()) return;
  std::vector<RowSource> rows;
  const auto add_rows_of = [&](const std::string& table) {
    if (const auto found = tables.find(text::lower(table)); found != tables.end())
      rows.insert(rows.end(), found->second.rows.begin(), found->second.rows.end());
  };
  for (const text::Token& token : text::lex_code(sql))
    if (token.is_name())
      add_rows_of(text::name_of_token(sql.substr(token.span.begin, token.span.end - token.span.begin)));
  for (OutputColumn& output : lineage.outputs) {
    std::vector<ValueSource> from;
    for (ValueSource& source : output.from) {
      const auto table = tables.find(text::lower(source.from.table));
      if (table == tables.end()) {
        from.push_back(std::move(source));
        continue;
      }
      if (const OutputColumn* made = output_named(table->second, source.from.column); made != nullptr)
        for (const ValueSource& deeper : made->from) from.push_back({deeper.from, std::max(deeper.kind, source.kind)});
    }
    sort_out(from);
    // One source along several ways counts as the strongest.
    std::vector<ValueSource> strongest;
    for (const ValueSource& one : from)
      if (!strongest.empty() && strongest.back().from == one.from)
        strongest.back().kind = std::max(strongest.back().kind, one.kind);
      else
        strongest.push_back(one);
    output.from = std::move(strongest);
  }
  for (const RowSource& source : lineage.rows) {
    const auto table = tables.find(text::lower(source.from.table));
    if (table == tables.end()) {
      rows.push_back(source);
      continue;
    }
    if (const OutputColumn* made = output_named(table->second, source.from.column); made != nullptr)
      for (const ValueSource& deeper : made->from) rows.push_back({deeper.from, source.role});
  }
  sort_out(rows);
  lineage.rows = std::move(rows);
}

/// The engine names a table as its stand-in is named.
AssetColumn asset_column(const ModelBinding& binding, const TableColumn& column) {
  for (const Input& input : binding.inputs)
    if (input.table == column.table) return {input.uri, column.column};
  return {column.table, column.column};
}

void take_lineage(ModelBinding& binding, QueryLineage lineage) {
  BoundModel& bound = binding.bound;
  bound.columns.clear();
  for (OutputColumn& output : lineage.outputs) {
    BoundColumn column{std::move(output.name), std::move(output.type), {}};
    for (const ValueSource& source : output.from)
      column.from.push_back({asset_column(binding, source.from), source.kind, false});
    bound.columns.push_back(std::move(column));
  }
  for (const RowSource& source : lineage.rows) bound.rows.push_back({asset_column(binding, source.from), source.role});
  bound.state = BoundModel::State::Bound;
}

/// Without a plan there are still names and types.
void take_description(duck::Connection& connection, ModelBinding& binding, const std::string& query) {
  auto columns = connection.describe(duck::Sql::verbatim(query));
  if (!columns) {
    binding.bound.state = BoundModel::State::Opaque;
    binding.bound.opaque_because = "what the query returns is known only when it runs";
    return;
  }
  QueryLineage lineage;
  for (duck::Column& column : *columns) lineage.outputs.push_back({std::move(column.name), std::move(column.type), {}});
  take_lineage(binding, std::move(lineage));
  binding.bound.is_traced = false;
}

/// A function that the model may call, but that checking does not have: of an extension, or a macro that lies in a
/// lake.
bool is_elsewhere(const ModelBinding& binding, const Refusal& refusal) {
  if (refusal.subtype != "MISSING_ENTRY" || refusal.entry.find("Function") == std::string::npos) return false;
  const std::string name = text::lower(refusal.name);
  if (parse::is_allowed_table_function(name)) return true;
  const auto& statements = binding.model->script.statements;
  return std::any_of(statements.begin(), statements.end(), [&name](const parse::Statement& one) {
    if (one.kind == StatementKind::Load) return true;
    return std::any_of(one.functions.begin(), one.functions.end(), [&name](const parse::FunctionCall& call) {
      return call.name == name && (!call.catalog.empty() || !call.schema.empty());
    });
  });
}

void take_refusal(ModelBinding& binding, std::size_t statement, Refusal refusal) {
  if (is_elsewhere(binding, refusal)) {
    binding.bound.state = BoundModel::State::Opaque;
    binding.bound.opaque_because =
        "`" + refusal.name + "` comes from a lake or an extension, which checking does not load";
    return;
  }
  binding.refusal = std::move(refusal);
  binding.refused_statement = statement;
}

/// `a_1` beside `a` may be how a table tells two columns of one name apart.
bool may_hold_doubles(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&names](const std::string& name) {
    const auto cut = name.find_last_not_of("0123456789");
    if (cut == std::string::npos || cut == 0 || cut + 1 == name.size() || name[cut] != '_') return false;
    return std::any_of(names.begin(), names.end(), [&name, cut](const std::string& other) {
      return text::same_word(other, std::string_view(name).substr(0, cut));
    });
  });
}

/// The names of the plan are those of a table made from the query, in which none appears twice: what is stored would
/// have other columns than the query says. False if it was said.
bool has_single_names(duck::Connection& connection, ModelBinding& binding, const std::string& query,
                      const std::vector<std::string>& names) {
  const Plane plane = binding.model->plane;
  if (plane == Plane::Ephemeral || plane == Plane::View || !may_hold_doubles(names)) return true;
  const auto columns = connection.describe(duck::Sql::verbatim(query));
  std::set<std::string> seen;
  bool is_single = true;
  for (std::size_t i = 0; columns && i < columns->size(); ++i) {
    const std::string& name = (*columns)[i].name;
    if (seen.insert(text::lower(name)).second) continue;
    is_single = false;
    binding.found.push_back({Code::W4104, Severity::Error, fmt::format("the query returns two columns named {}", name),
                             binding.model->source->path, binding.model->result().span,
                             "give each column its own name with AS"});
  }
  return is_single;
}

void take_answer(duck::Connection& connection, ModelBinding& binding, PlanAnswer& answer, const std::string& query,
                 const TemporaryTables& temporary) {
  const std::size_t statement = binding.model->script.statements.size() - 1;
  if (answer.refusal) {
    if (answer.refusal->is_unsupported) return take_description(connection, binding, query);
    return take_refusal(binding, statement, std::move(*answer.refusal));
  }
  if (!has_single_names(connection, binding, query, answer.names)) {
    binding.bound.state = BoundModel::State::Failed;
    return;
  }
  auto lineage = trace(answer.plan, answer.names, answer.sql);
  if (!lineage) {
    for (Diagnostic& one : lineage.error()) {
      one.severity = Severity::Hint;
      one.path = binding.model->source->path;
      binding.found.push_back(std::move(one));
    }
    return take_description(connection, binding, query);
  }
  see_through(*lineage, temporary, answer.sql);
  take_lineage(binding, std::move(*lineage));
}

/// What a setup statement becomes: tables are made without their rows, which are never looked at.
duck::Sql without_data(const parse::Spliced& sql, const parse::Statement& statement) {
  if (statement.kind != StatementKind::CreateTempTable || statement.query.empty()) return sql.sql();
  return {"{}\nWITH NO DATA", sql.sql()};
}

duck::Outcome<void> make_partition_macros(duck::Connection& connection, const Model& model) {
  for (const duck::Sql& macro : partition_macros(model))
    if (auto done = connection.execute(macro); !done) return tl::unexpected(done.error());
  return {};
}

Refusal refusal_of(const duck::Failure& failure) {
  Refusal refusal;
  refusal.type = failure.type;
  refusal.message = failure.message;
  refusal.position = failure.position;
  return refusal;
}

/// Makes what comes from libraries before statement `index`. False if the engine refused it.
duck::Outcome<bool> make_macros(duck::Connection& connection, ModelBinding& binding, std::size_t index) {
  for (const SetupStatement& one : macros_for_binding(*binding.model, index, binding.places)) {
    const bool is_table = one.statement != nullptr && one.statement->kind == StatementKind::CreateTempTable;
    const duck::Sql sql = is_table ? without_data(one.sql, *one.statement) : one.sql.sql();
    const auto done = connection.execute(sql);
    if (done) continue;
    if (done.error().type == duck::FailureType::Interrupt) return tl::unexpected(done.error());
    if (!is_table) {
      take_refusal(binding, index, refusal_of(done.error()));
      binding.is_macro_refused = true;
      return false;
    }
    Diagnostic found{.code = Code::W2106, .message = first_line(done.error().message)};
    found.path = one.sql.path().empty() ? binding.model->source->path : one.sql.path();
    if (done.error().position)
      if (const auto place = one.sql.source_of(*done.error().position)) found.span = *place;
    binding.found.push_back(std::move(found));
    binding.bound.state = BoundModel::State::Failed;
    return false;
  }
  return true;
}

/// Runs one statement of setup. False if it was refused.
duck::Outcome<bool> run_setup(duck::Connection& connection, ModelBinding& binding, std::size_t index,
                              TemporaryTables& temporary) {
  const parse::Statement& statement = binding.model->script.statements[index];
  const parse::Spliced sql = text_for_binding(*binding.model, index, binding.places);
  if (sql.text().empty()) return true;
  const bool is_table = statement.kind == StatementKind::CreateTempTable && !statement.query.empty();
  QueryLineage lineage;
  if (is_table || (statement.kind == StatementKind::CreateTempView && !statement.query.empty())) {
    const std::uint32_t offset = query_offset(sql, statement);
    auto answers = bind_queries(connection, {sql.text().substr(offset)});
    if (!answers) return tl::unexpected(answers.error());
    PlanAnswer& answer = answers->front();
    if (answer.refusal && !answer.refusal->is_unsupported) {
      if (answer.refusal->position) *answer.refusal->position += offset;
      take_refusal(binding, index, std::move(*answer.refusal));
      return false;
    }
    if (is_table && !answer.refusal)
      if (auto traced = trace(answer.plan, answer.names, answer.sql)) {
        lineage = std::move(*traced);
        see_through(lineage, temporary, answer.sql);
      }
    if (is_table && lineage.outputs.empty()) binding.bound.is_traced = false;
  }
  if (auto done = connection.execute(without_data(sql, statement)); !done) {
    take_refusal(binding, index, refusal_of(done.error()));
    binding.is_macro_refused = statement.kind == StatementKind::CreateTempMacro;
    return false;
  }
  if (!is_table) return true;
  // The table may name its columns itself.
  const auto columns =
      connection.describe(duck::Sql("FROM {}", duck::TableName{"temp", "main", statement.object_name}));
  if (columns)
    for (std::size_t i = 0; i < columns->size() && i < lineage.outputs.size(); ++i)
      lineage.outputs[i].name = (*columns)[i].name;
  temporary[text::lower(statement.object_name)] = std::move(lineage);
  return true;
}

}  // namespace

std::string shape_of(const Columns& columns) {
  std::string text;
  for (const duck::Column& column : columns) text += column.name + '\0' + column.type + '\0';
  return io::xxh3_hex(text);
}

const Input& add_input(ModelBinding& binding, std::string key, std::string uri, SharedColumns columns) {
  std::string table = "_weir_" + shape_of(*columns);
  const auto is_taken = [&](const Input& one) { return one.table == table; };
  while (std::any_of(binding.inputs.begin(), binding.inputs.end(), is_taken)) table += '\'';
  binding.places.tables[key] = table;
  binding.inputs.push_back({std::move(key), std::move(table), std::move(uri), std::move(columns)});
  return binding.inputs.back();
}

bool has_setup(const Model& model) {
  if (!model.macros.empty() || !partition_macros(model).empty()) return true;
  return std::any_of(model.script.statements.begin(), model.script.statements.end() - 1,
                     [](const parse::Statement& one) {
                       return one.kind != StatementKind::Attach && one.kind != StatementKind::Use &&
                              one.kind != StatementKind::Install && one.kind != StatementKind::Load;
                     }) ||
         attaches(model);
}

bool attaches(const Model& model) {
  return std::any_of(model.script.statements.begin(), model.script.statements.end(), [](const parse::Statement& one) {
    return one.kind == StatementKind::Attach && !one.attach_uri.starts_with("ducklake") &&
           !one.attach_uri.starts_with("datatable");
  });
}

duck::Outcome<void> bind_plain(duck::Connection& connection, const std::vector<ModelBinding*>& models) {
  std::vector<std::string> queries;
  std::vector<ModelBinding*> batch;
  std::size_t bytes = 0;
  const auto flush = [&]() -> duck::Outcome<void> {
    auto answers = bind_queries(connection, queries);
    if (!answers) return tl::unexpected(answers.error());
    for (std::size_t i = 0; i < batch.size(); ++i) take_answer(connection, *batch[i], (*answers)[i], queries[i], {});
    queries.clear();
    batch.clear();
    bytes = 0;
    return {};
  };
  for (ModelBinding* binding : models) {
    queries.push_back(
        text_for_binding(*binding->model, binding->model->script.statements.size() - 1, binding->places).text());
    batch.push_back(binding);
    bytes += queries.back().size();
    if (queries.size() < kBatchQueries && bytes < kBatchBytes) continue;
    if (auto done = flush(); !done) return done;
  }
  return flush();
}

duck::Outcome<void> bind_with_setup(StandIns& stand_ins, ModelBinding& binding) {
  auto connection = stand_ins.connect();
  if (!connection) return tl::unexpected(connection.error());
  if (auto made = make_partition_macros(*connection, *binding.model); !made) return made;
  TemporaryTables temporary;
  const std::size_t last = binding.model->script.statements.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    auto goes_on = make_macros(*connection, binding, i);
    if (goes_on && *goes_on && i < last) goes_on = run_setup(*connection, binding, i, temporary);
    if (!goes_on) return tl::unexpected(goes_on.error());
    if (!*goes_on) return {};
  }
  const std::string query = text_for_binding(*binding.model, last, binding.places).text();
  auto answers = bind_queries(*connection, {query});
  if (!answers) return tl::unexpected(answers.error());
  take_answer(*connection, binding, answers->front(), query, temporary);
  return {};
}

duck::Outcome<duck::Connection> connection_for(StandIns& stand_ins, const ModelBinding& binding) {
  auto connection = stand_ins.connect();
  if (!connection) return connection;
  if (auto made = make_partition_macros(*connection, *binding.model); !made) return tl::unexpected(made.error());
  for (std::size_t i = 0; i <= binding.refused_statement; ++i) {
    // They ran before.
    const SetupFor purpose = binding.test != nullptr ? SetupFor::Tests : SetupFor::Result;
    for (const SetupStatement& one : macros_for_binding(*binding.model, i, binding.places, purpose))
      (void)connection->execute(one.sql.sql());
    if (i == binding.refused_statement) break;
    const parse::Spliced sql = text_for_binding(*binding.model, i, binding.places);
    if (sql.text().empty()) continue;
    (void)connection->execute(without_data(sql, binding.model->script.statements[i]));
  }
  return connection;
}

}  // namespace weir::bind
