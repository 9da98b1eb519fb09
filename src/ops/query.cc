// `weir query`: one read-only statement. It runs on an instance that has only read-only attachments, behind the same
// gate as models.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "env/environment.h"
#include "env/registry.h"
#include "io/files.h"
#include "lake/lakes.h"
#include "ops/data.h"
#include "ops/query_words.h"
#include "ops/read_only.h"
#include "parse/script.h"
#include "parse/splice.h"
#include "project/references.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir::ops {
namespace {

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Names of the text that begin with the alias of an attached lake begin with the lake's own afterwards.
void name_lakes(parse::Statement& statement, const std::map<std::string, std::string>& aliases) {
  for (parse::TableReference& table : statement.tables) {
    if (table.parts.size() < 2) continue;
    const auto alias = aliases.find(text::lower(table.parts[0]));
    if (alias == aliases.end()) continue;
    table.parts[0] = alias->second;
    if (table.parts.size() == 2) table.parts.insert(table.parts.begin() + 1, "main");
  }
}

/// The one SELECT of the text. Lakes may be attached before it, as `weir metrics sql` writes it.
Result<parse::Statement> only_select(duck::Connection& connection, const std::string& sql, const Config& config) {
  WEIR_TRY(parse::Script script, parse::parse_script(connection, sql, std::string(kTypedText)));
  const auto aliases = lake_aliases(script, config);
  if (!script.statements.empty() && script.statements.back().kind == parse::StatementKind::Result &&
      aliases.size() + 1 == script.statements.size()) {
    name_lakes(script.statements.back(), aliases);
    return std::move(script.statements.back());
  }
  Diagnostic found{.code = Code::W8010};
  found.message = script.statements.size() == 1
                      ? fmt::format("`weir query` only reads; this is {}", script.statements.front().what)
                      : fmt::format("`weir query` takes one statement, not {}", script.statements.size());
  found.hint = "give one SELECT; to change data, write a model";
  return fail(std::move(found));
}

/// The asset that a name means: one that begins with a configured lake, or is of the default lake.
std::optional<Asset> asset_of(const parse::TableReference& table, const lake::Lakes& lakes,
                              const std::string& default_lake) {
  const std::size_t size = table.parts.size();
  if (size > 3) return std::nullopt;
  Asset asset{AssetKind::Lake, default_lake, size == 1 ? "main" : table.parts[size - 2], table.parts.back()};
  if (size < 3) return asset;
  const auto lake = std::find_if(lakes.all().begin(), lakes.all().end(), [&table](const lake::Lake& one) {
    return text::same_word(one.name(), table.parts[0]);
  });
  if (lake == lakes.all().end()) return std::nullopt;
  asset.place = lake->name();
  return asset;
}

/// Names that begin with a configured lake lead to its read-only attachment, and those that the environment reads
/// elsewhere to where it does; all others are left to the current catalog.
Result<parse::Spliced> to_places(Workspace& workspace, const std::string& sql, const parse::Statement& statement,
                                 const lake::Lakes& lakes, const std::string& default_lake) {
  std::vector<parse::Replacement> replacements;
  for (const parse::TableReference& table : statement.tables) {
    const std::optional<Asset> asset = asset_of(table, lakes, default_lake);
    if (!asset) continue;
    WEIR_TRY(const Asset place, workspace.located(*asset));
    if (table.parts.size() != 3 && place == *asset) continue;
    duck::Sql name("{}", lakes.lake(place.place).readable(place.schema, place.name));
    if (!table.has_alias) name += duck::Sql(" AS {}", duck::Identifier(table.parts.back()));
    replacements.push_back({table.span, (table.is_table_form ? "FROM " : "") + name.text()});
  }
  return parse::Spliced::make(sql, statement.span, std::move(replacements));
}

Diagnostic explain_query(const duck::Failure& failure, const parse::Spliced* spliced,
                         const parse::Statement* statement = nullptr) {
  Diagnostic found{.code = Code::W4001, .message = lake::mask_secrets(failure.message)};
  const bool reads_versions =
      statement != nullptr && std::any_of(statement->tables.begin(), statement->tables.end(),
                                          [](const parse::TableReference& table) { return table.has_at; });
  if (reads_versions) found.hint = "`weir history` lists the versions that are there";
  if (spliced == nullptr || !failure.position) return found;
  if (const auto place = spliced->source_of(*failure.position)) {
    found.path = kTypedText;
    found.span = *place;
  }
  return found;
}

/// Tables and views of a lake as a query names them; those behind the views of owned models and of forks are weir's
/// own.
std::vector<std::string> names_in(duck::Connection& connection, const lake::Lake& lake) {
  std::vector<std::string> names;
  const auto rows = connection.query(
      duck::Sql("SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = {} ORDER BY ALL",
                duck::Literal(lake.reader())));
  for (std::size_t row = 0; rows && row < rows->size(); ++row) {
    const Asset asset{AssetKind::Lake, lake.name(), rows->text(row, 0), rows->text(row, 1)};
    if (env::is_physical(asset) || env::is_fork_schema(asset.schema)) continue;
    names.push_back(rows->text(row, 0) == "main" ? rows->text(row, 1) : rows->text(row, 0) + "." + rows->text(row, 1));
  }
  return names;
}

/// A table that the engine did not find is said in the words of the project: DuckDB would propose names of its own.
Diagnostics in_project_words(duck::Connection& connection, const parse::Statement& statement, const lake::Lakes& lakes,
                             const std::string& default_lake, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    for (const parse::TableReference& table : statement.tables) {
      const bool is_here = problem.code == Code::W4001 && !problem.path.empty() &&
                           problem.span.begin >= table.span.begin && problem.span.begin < table.span.end;
      if (!is_here) continue;
      const std::string place = table.parts.size() == 3 ? table.parts[0] : default_lake;
      const auto lake = std::find_if(lakes.all().begin(), lakes.all().end(),
                                     [&place](const lake::Lake& one) { return same(one.name(), place); });
      if (lake == lakes.all().end()) continue;
      const std::string schema = table.parts.size() == 1 ? "main" : table.parts[table.parts.size() - 2];
      const std::string wanted =
          same(schema, "main") ? table.parts.back() : fmt::format("{}.{}", schema, table.parts.back());
      const std::vector<std::string> names = names_in(connection, *lake);
      if (std::any_of(names.begin(), names.end(), [&wanted](const std::string& name) { return same(name, wanted); }))
        continue;
      problem.code = Code::W2012;
      problem.span = table.span;
      problem.message = fmt::format("lake {} has no table {}", lake->name(), wanted);
      // The same name in another schema is meant before one that is spelled alike.
      const auto elsewhere = std::find_if(names.begin(), names.end(), [&table](const std::string& name) {
        return same(name.substr(name.rfind('.') + 1), table.parts.back());
      });
      const auto near = elsewhere != names.end() ? std::optional(*elsewhere) : text::nearest(wanted, names);
      const std::size_t shown = std::min<std::size_t>(names.size(), 10);
      problem.hint =
          near ? fmt::format("did you mean `{}`?", *near)
          : names.empty()
              ? std::string("nothing is published yet: weir run")
              : fmt::format("it has {}{}",
                            fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                            shown < names.size() ? " …" : "");
    }
  }
  return problems;
}

/// JSON has no NaN and no infinity: such a number is written as text, and so is a nested value that may hold one.
duck::Sql for_json(const duck::Sql& rows, const std::vector<duck::Column>& columns) {
  std::vector<duck::Sql> replaced;
  for (const duck::Column& column : columns) {
    const duck::Identifier name(column.name);
    if (column.type == "DOUBLE" || column.type == "FLOAT")
      replaced.push_back(
          duck::Sql("CASE WHEN isfinite({}) THEN to_json({}) ELSE to_json(CAST({} AS VARCHAR)) END AS {}", name, name,
                    name, name));
    else if (column.type.find("DOUBLE") != std::string::npos || column.type.find("FLOAT") != std::string::npos)
      replaced.push_back(
          duck::Sql("CASE WHEN regexp_matches(CAST({} AS VARCHAR), '(?i)\\b(nan|inf|infinity)\\b') THEN "
                    "to_json(CAST({} AS VARCHAR)) ELSE to_json({}) END AS {}",
                    name, name, name, name));
  }
  if (replaced.empty()) return rows;
  return duck::Sql("(SELECT * REPLACE ({}) FROM {})", duck::Sql::join(replaced, ", "), rows);
}

/// Written beside the file and renamed, so that half a result never has its name; a pipe or a device is written itself.
/// A name that ends with .arrow asks for the form with an index, which readers of files expect; all others get the
/// stream.
Result<void> write_arrow_file(duck::Connection& connection, const duck::Sql& rows, const std::string& output) {
  std::error_code failed;
  const bool is_beside = !std::filesystem::exists(output, failed) || std::filesystem::is_regular_file(output, failed);
  const std::string part = is_beside ? output + ".part" : output;
  errno = 0;
  std::ofstream file(part, std::ios::binary);
  const auto keep = [&file](std::string_view bytes) {
    return static_cast<bool>(file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
  };
  duck::Outcome<void> done;
  if (file)
    done = connection.write_arrow(rows, output.ends_with(".arrow") ? duck::ArrowForm::File : duck::ArrowForm::Stream,
                                  keep);
  file.close();
  failed = file ? std::error_code() : std::error_code(errno, std::generic_category());
  if (is_beside && file && done) std::filesystem::rename(part, output, failed);
  if (done && !failed) return {};
  if (is_beside) WEIR_CHECK(io::remove_all(part));
  if (!failed) return fail(explain_query(done.error(), nullptr));
  return fail(Diagnostic{.code = Code::W9011, .message = fmt::format("cannot write {}: {}", output, failed.message())});
}

Result<void> write_arrow(duck::Connection& connection, const duck::Sql& rows, const QueryRequest& request) {
  if (!request.bytes) return write_arrow_file(connection, rows, request.output);
  bool is_refused = false;
  const auto give = [&](std::string_view bytes) { return !(is_refused = !request.bytes(bytes)); };
  if (auto done = connection.write_arrow(rows, duck::ArrowForm::Stream, give); !done && !is_refused)
    return fail(explain_query(done.error(), nullptr));
  return {};
}

Result<void> write_out(duck::Connection& connection, const duck::Sql& rows, const std::vector<duck::Column>& columns,
                       const QueryRequest& request) {
  if (request.format == "arrow") return write_arrow(connection, duck::Sql("FROM {}", rows), request);
  const duck::Literal output(request.output);
  duck::Sql copy;
  if (request.format == "csv")
    copy = duck::Sql("COPY {} TO {} (FORMAT csv, HEADER true)", rows, output);
  else if (request.format == "json")
    copy = duck::Sql("COPY {} TO {} (FORMAT json, ARRAY true)", for_json(rows, columns), output);
  else if (request.format == "parquet")
    copy = duck::Sql("COPY {} TO {} (FORMAT parquet)", rows, output);
  else
    return fail(Diagnostic{.code = Code::W8011,
                           .message = fmt::format("there is no format `{}`", request.format),
                           .hint = "box, csv, json, parquet or arrow"});
  if (auto done = connection.execute(copy); !done) return fail(explain_query(done.error(), nullptr));
  return {};
}

/// The rows of a relation, as the request wants them.
Result<QueryResult> rows_of(duck::Connection& connection, const duck::Sql& sql, std::vector<duck::Column> columns,
                            const QueryRequest& request) {
  const duck::Sql limit =
      request.limit ? duck::Sql(" LIMIT {}", *request.limit + (request.format.empty() ? 1 : 0)) : duck::Sql();
  QueryResult result{.columns = std::move(columns)};
  if (!request.format.empty()) {
    WEIR_CHECK(write_out(connection, duck::Sql("(SELECT * FROM ({}){})", sql, limit), result.columns, request));
    return result;
  }
  auto rows = connection.query(duck::Sql("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({}){}", sql, limit));
  if (!rows) return fail(explain_query(rows.error(), nullptr));
  for (std::size_t row = 0; row < rows->size(); ++row) {
    if (request.limit && row == static_cast<std::size_t>(*request.limit)) {
      result.is_cut = true;
      break;
    }
    auto& values = result.rows.emplace_back();
    for (std::size_t column = 0; column < rows->columns().size(); ++column)
      values.push_back(rows->maybe_text(row, column));
  }
  return result;
}

/// `typed`: what stood where the request has the query that returns the same.
Result<QueryResult> run_query(Workspace& workspace, const QueryRequest& request, const std::string& typed) {
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false, false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  WEIR_TRY(const Config* config, workspace.config());
  if (const auto list = listing(typed, *lakes, config->default_lake().name)) {
    auto columns = connection.describe(*list);
    if (!columns) return fail(explain_query(columns.error(), nullptr));
    return rows_of(connection, *list, std::move(*columns), request);
  }
  WEIR_TRY(const parse::Statement statement, only_select(connection, request.sql, *config));
  if (auto done = connection.execute(
          duck::Sql("USE {}.main", duck::Identifier(lakes->lake(config->default_lake().name).reader())));
      !done)
    return fail(explain_query(done.error(), nullptr));
  WEIR_TRY(const parse::Spliced spliced,
           to_places(workspace, request.sql, statement, *lakes, config->default_lake().name));
  WEIR_CHECK(pass_read_only_gate(connection, spliced, statement));
  auto columns = connection.describe(spliced.sql());
  if (!columns)
    return fail(in_project_words(connection, statement, *lakes, config->default_lake().name,
                                 {explain_query(columns.error(), &spliced, &statement)}));
  return rows_of(connection, spliced.sql(), std::move(*columns), request);
}

}  // namespace

Result<QueryResult> query(Workspace& workspace, const QueryRequest& request) {
  const QueryText text = as_query(request.sql);
  QueryRequest asked = request;
  asked.sql = text.sql;
  auto result = run_query(workspace, asked, request.sql);
  if (result) return result;
  Diagnostics problems = std::move(result).error();
  for (Diagnostic& problem : problems)
    if (problem.path == kTypedText) problem.span = text.typed(problem.span);
  return fail(std::move(problems));
}

}  // namespace weir::ops
