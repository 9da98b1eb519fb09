#include "project/gate.h"

#include <algorithm>
#include <filesystem>

#include "parse/functions.h"
#include "text/lexer.h"

namespace weir {
namespace {

using parse::FunctionCall;
using parse::Statement;
using parse::StatementKind;

bool is_reserved(std::string_view name) {
  const std::string lowered = text::lower(name);
  return lowered.starts_with("_weir_") || lowered.starts_with("__ducklake_");
}

// The kind of database that an ATTACH names by its scheme, "" for a plain path.
std::string scheme_of(std::string_view uri) {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos || colon < 2) return {};
  const auto scheme = uri.substr(0, colon);
  const bool is_word = std::all_of(scheme.begin(), scheme.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  return is_word ? text::lower(scheme) : std::string();
}

std::string normal_path(const Config& config, std::string_view path) {
  std::error_code problem;
  const std::filesystem::path full = (std::filesystem::path(config.root) / std::filesystem::path(std::string(path))).lexically_normal();
  const auto real = std::filesystem::weakly_canonical(full, problem);
  return problem ? full.string() : real.string();
}

class Gate {
 public:
  Gate(const Model& model, const Config& config) : model_(model), config_(config) {}

  Diagnostics run() {
    for (const Statement& statement : model_.script.statements) {
      if (statement.kind == StatementKind::Attach) judge_attach(statement);
      for (const FunctionCall& call : statement.functions) judge_call(call);
      for (const parse::TableReference& table : statement.tables) judge_name(table.parts.front(), table.span);
      if (!statement.alias.empty()) judge_name(statement.alias, statement.span);
      if (!statement.object_name.empty()) judge_name(statement.object_name, statement.span);
    }
    return std::move(found_);
  }

 private:
  void report(Code code, Span span, std::string message, std::string hint) {
    found_.push_back({code, Severity::Error, std::move(message), model_.source->path, span, std::move(hint)});
  }

  void judge_name(const std::string& name, Span span) {
    if (!is_reserved(name) && !is_reserved(name.substr(0, name.find('.')))) return;
    report(Code::W0305, span, "names that begin with `_weir_` or `__ducklake_` are kept for weir", "choose another name; a lake is read through ATTACH 'ducklake://lake' AS alias");
  }

  void judge_call(const FunctionCall& call) {
    if (!call.catalog.empty()) judge_name(call.catalog, call.span);
    if (parse::is_refused_function(call.name))
      return report(Code::W0302, call.span, "a model may not call " + call.name + ": it acts on the lake by itself", "weir maintains its lakes; a script that must act by itself is `-- materialize manual <target>`");
    if (parse::hides_its_reads(call.name) && !call.files)
      return report(Code::W0308, call.span, call.name + "() needs a constant text here, so that weir can see what it reads", "write the query itself instead");
    if (!call.is_table_function || !call.schema.empty() || is_own_macro(call.name) || parse::is_allowed_table_function(call.name)) return;
    if (call.name == "show") return report(Code::W0303, call.span, "a model may not list what is attached", "name the tables it reads");
    if (!is_known_to_be_refused(call.name)) return;
    report(Code::W0303, call.span, "a model may not call the table function " + call.name, "allowed are readers of files, range, unnest, json_each and the lake's read-only questions");
  }

  // Macros of the model's own setup are judged by their bodies. A macro of another origin is judged on the bound plan.
  bool is_own_macro(const std::string& name) const {
    return std::any_of(model_.script.statements.begin(), model_.script.statements.end(), [&name](const Statement& one) {
      return one.kind == StatementKind::CreateTempMacro && text::same_word(one.object_name, name);
    });
  }

  // Table functions of DuckDB and its extensions that are not on the list. Any other name is a macro (or a slip): binding tells.
  static bool is_known_to_be_refused(const std::string& name) {
    for (const std::string_view family : {"duckdb_", "pragma_", "ducklake_", "sqlite_", "postgres_", "pg_", "icu_", "enable_", "disable_", "force_"})
      if (name.starts_with(family)) return true;
    for (const std::string_view one : {"checkpoint", "arrow_scan", "arrow_scan_dumb", "pandas_scan", "seq_scan", "read_duckdb", "test_all_types", "test_vector_types", "truncate_duckdb_logs", "which_secret"})
      if (name == one) return true;
    return false;
  }

  void judge_attach(const Statement& statement) {
    const std::string& uri = statement.attach_uri;
    if (uri == "ducklake" || uri == "datatable" || uri == ":memory:" || uri.empty()) return;
    const std::string scheme = scheme_of(uri);
    const bool is_uri = uri.find("://") != std::string::npos;
    if ((scheme == "ducklake" || scheme == "datatable") && is_uri) return;
    if (scheme == "ducklake")
      return refuse_attach(statement, "a lake is attached by its name in weir.yaml, not by its catalog", "write ATTACH 'ducklake://<lake>' AS " + (statement.alias.empty() ? "dl" : statement.alias));
    if (!scheme.empty() && scheme != "sqlite" && scheme != "duckdb")
      return refuse_attach(statement, "a model may not attach `" + scheme + ":` databases by their address", "name it under `databases:` in weir.yaml and attach 'datatable://<name>'");
    const std::string path = normal_path(config_, scheme.empty() ? uri : uri.substr(scheme.size() + 1));
    if (is_configured(path)) return refuse_attach(statement, "this file is a catalog or the state of weir itself", "attach the lake by its name: 'ducklake://<lake>'");
    if (!statement.read_only) refuse_attach(statement, "a model may attach a database file only to read it", "add (READ_ONLY)");
  }

  void refuse_attach(const Statement& statement, std::string message, std::string hint) { report(Code::W0304, statement.span, std::move(message), std::move(hint)); }

  bool is_configured(const std::string& path) const {
    const auto is = [&](const DatabaseLocation& place) { return place.kind != DatabaseLocation::Kind::Postgres && normal_path(config_, place.target) == path; };
    return is(config_.state) || std::any_of(config_.lakes.begin(), config_.lakes.end(), [&](const LakeConfig& lake) { return is(lake.catalog); });
  }

  const Model& model_;
  const Config& config_;
  Diagnostics found_;
};

}  // namespace

Diagnostics judge_gate(const Model& model, const Config& config) { return Gate(model, config).run(); }

}  // namespace weir
