#include "ops/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files.h"
#include "metric/table_path.h"
#include "project/header.h"
#include "text/suggest.h"

namespace weir::ops {
namespace {

/// A cursor is the last row's key as JSON, in hexadecimal digits: one word for shells and URLs.
std::string cursor_text(const state::MetricCursor& cursor) {
  const std::string json = nlohmann::json{cursor.table, cursor.kind, cursor.name, cursor.script}.dump();
  std::string text;
  for (const char c : json) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

Result<std::optional<state::MetricCursor>> cursor_of(const std::string& text) {
  if (text.empty()) return std::optional<state::MetricCursor>();
  std::string json;
  const bool is_hex = text.find_first_not_of("0123456789abcdef") == std::string::npos && text.size() % 2 == 0;
  for (std::size_t at = 0; is_hex && at < text.size(); at += 2)
    json += static_cast<char>(std::stoi(text.substr(at, 2), nullptr, 16));
  const auto parts = nlohmann::json::parse(json, nullptr, false);
  const bool is_key = parts.is_array() && parts.size() == 4 &&
                      std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.is_string(); });
  if (!is_key)
    return fail(Diagnostic{.code = Code::W2225,
                           .message = "this is no cursor of a list of metrics: " + text,
                           .hint = "take `next_cursor` of the page before as it is"});
  return std::optional(state::MetricCursor{parts[0].get<std::string>(), parts[1].get<std::string>(),
                                           parts[2].get<std::string>(), parts[3].get<std::string>()});
}

/// The canonical path of a table in any spelling; names without a lake as everywhere in weir.
Result<std::string> table_named(Workspace& workspace, const std::string& name) {
  WEIR_TRY(const Config* config, workspace.config());
  if (const auto path = metric::table_path_of(name)) {
    if (config->lake(metric::table_of(*path).place) != nullptr || name.find(':') != std::string::npos) return *path;
  }
  WEIR_TRY(const Asset asset, workspace.asset_named(name));
  return metric::table_path(asset);
}

metric::Declaration declaration_of(const state::MetricRecord& record) {
  return {.script = record.script,
          .table = record.table,
          .is_measure = record.kind == "measure",
          .name = record.name,
          .expression = record.expression,
          .filter = record.filter.value_or(""),
          .description = record.description,
          .unit = record.unit,
          .format = record.format};
}

/// Every page that the query leads to.
Result<std::vector<state::MetricRecord>> all_metrics(state::Store& store, state::MetricQuery query) {
  std::vector<state::MetricRecord> all;
  do {
    WEIR_TRY(state::MetricPage page, store.metrics(query));
    std::move(page.metrics.begin(), page.metrics.end(), std::back_inserter(all));
    query.after = page.next;
  } while (query.after);
  return all;
}

/// Fails, with what is near.
Result<void> nothing_declared(state::Store& store, const std::string& environment, const std::string& table) {
  WEIR_TRY(const auto all, all_metrics(store, {.environment = environment, .table = {}, .folder = {}, .after = {}}));
  std::vector<std::string> tables;
  for (const state::MetricRecord& one : all)
    if (tables.empty() || tables.back() != one.table) tables.push_back(one.table);
  const auto near = text::nearest(table, tables);
  return fail(Diagnostic{.code = Code::W2223,
                         .message = "no deployed model declares measures or dimensions on " + table,
                         .hint = near          ? fmt::format("did you mean `{}`?", *near)
                                 : all.empty() ? "`weir deploy` records what the models declare"
                                               : "`weir metrics ls` lists what is declared"});
}

/// What is wanted, found in the catalogue and judged.
Result<metric::Query> chosen(Workspace& workspace, const MetricQueryRequest& request) {
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(const std::string table, table_named(workspace, request.table));
  WEIR_TRY(const auto records,
           all_metrics(*store, {.environment = request.environment, .table = table, .folder = {}, .after = {}}));
  if (records.empty()) {
    WEIR_CHECK(nothing_declared(*store, request.environment, table));
  }
  std::vector<metric::Declaration> declared;
  for (const state::MetricRecord& record : records) declared.push_back(declaration_of(record));
  WEIR_TRY(metric::Query query, metric::choose(records.front().table, declared, request.wanted));
  query.where = request.where;
  query.limit = request.limit;
  if (request.where.empty()) return query;
  WEIR_TRY(duck::Connection connection, workspace.parser());
  WEIR_CHECK(metric::judge_predicate(connection, request.where));
  return query;
}

/// The file of a model by path, short name or file name; files with errors are found too.
Result<const Source*> source_named(const Project& project, const std::string& name) {
  const std::string with_end = name.ends_with(".sql") ? name : name + ".sql";
  std::vector<const Source*> found;
  std::vector<std::string> names;
  for (const auto& source : project.sources) {
    if (source->path == with_end) return source.get();
    if (source->path.ends_with("/" + with_end)) found.push_back(source.get());
    names.push_back(source->path);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    const auto near = text::nearest(with_end, names);
    return fail(Diagnostic{.code = Code::W2010,
                           .message = "there is no model `" + name + "`",
                           .hint = near ? "did you mean `" + *near + "`?" : "`weir ls` lists them"});
  }
  std::vector<std::string> candidates;
  for (const Source* one : found) candidates.push_back(one->path);
  return fail(Diagnostic{.code = Code::W2011,
                         .message = fmt::format("`{}` names several files: {}", name, fmt::join(candidates, ", ")),
                         .hint = "give the whole path"});
}

}  // namespace

Result<MetricList> list_metrics(Workspace& workspace, const MetricListRequest& request) {
  state::MetricQuery query{.environment = request.environment, .table = {}, .folder = request.prefix, .after = {}};
  query.limit = request.limit;
  WEIR_TRY(query.after, cursor_of(request.cursor));
  if (request.table) {
    WEIR_TRY(query.table, table_named(workspace, *request.table));
  }
  WEIR_TRY(state::Store * store, workspace.store());
  WEIR_TRY(state::MetricPage page, store->metrics(query));
  return MetricList{std::move(page.metrics), page.next ? cursor_text(*page.next) : std::string()};
}

Result<std::string> compose_metrics(Workspace& workspace, const MetricQueryRequest& request) {
  WEIR_TRY(metric::Query query, chosen(workspace, request));
  return metric::compose(query);
}

Result<QueryResult> query_metrics(Workspace& workspace, const MetricQueryRequest& request, const QueryRequest& how) {
  WEIR_TRY(metric::Query query, chosen(workspace, request));
  WEIR_TRY(const Config* config, workspace.config());
  // `weir query` knows every lake by its name.
  query.attach = false;
  const LakeConfig* lake = config->lake(metric::table_of(query.table).place);
  query.alias = lake != nullptr ? lake->name : metric::table_of(query.table).place;
  QueryRequest run = how;
  run.sql = metric::compose(query);
  return ops::query(workspace, run);
}

Result<AppendedQuery> append_metrics(Workspace& workspace, const MetricQueryRequest& request,
                                     const std::string& model) {
  WEIR_TRY(metric::Query query, chosen(workspace, request));
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(const Source* source, source_named(*project, model));
  WEIR_TRY(duck::Connection connection, workspace.parser());
  const auto script =
      parse::parse_script(connection, blank_header(source->text, find_header(source->text)), source->path);
  if (!script) {
    Diagnostics problems = script.error();
    problems.insert(problems.begin(), {Code::W2227,
                                       Severity::Error,
                                       source->path + " cannot be read as SQL, so nothing was appended",
                                       source->path,
                                       {},
                                       "correct it first"});
    return fail(std::move(problems));
  }
  const std::string lake = metric::table_of(query.table).place;
  AppendedQuery done{.file = source->path};
  if (const auto alias = metric::attached_alias(*script, lake)) {
    done.is_reused = true;
    query.attach = false;
    query.alias = *alias;
  } else {
    query.alias = metric::free_alias(lake, metric::bound_aliases(*script));
  }
  done.alias = query.alias;
  const bool is_manual = std::any_of(project->models.begin(), project->models.end(), [source](const Model& one) {
    return one.source->path == source->path && one.plane == Plane::Manual;
  });
  done.has_two_results =
      !is_manual && !script->statements.empty() && script->statements.back().kind == parse::StatementKind::Result;
  done.sql = metric::compose(query);
  WEIR_CHECK(io::write_file(workspace.root() + "/" + source->path, metric::appended(source->text, done.sql)));
  return done;
}

}  // namespace weir::ops
