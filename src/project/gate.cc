#include "project/gate.h"

#include <algorithm>
#include <optional>

#include "parse/functions.h"
#include "project/custom_test.h"
#include "project/private_files.h"
#include "project/sql_file.h"
#include "text/lexer.h"

namespace weir {
namespace {

using parse::FunctionCall;
using parse::Statement;
using parse::StatementKind;

constexpr const char* kAllowHint = "add its folder to `allow_paths:` in weir.yaml";

bool is_reserved(std::string_view name) {
  const std::string lowered = text::lower(name);
  return lowered.starts_with("_weir_") || lowered.starts_with("__ducklake_");
}

// The kind of database that an ATTACH names by its scheme, "" for a plain path.
std::string scheme_of(std::string_view uri) {
  const auto colon = uri.find(':');
  if (colon == std::string_view::npos || colon < 2) return {};
  const auto scheme = uri.substr(0, colon);
  const bool is_word = std::all_of(scheme.begin(), scheme.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  return is_word ? text::lower(scheme) : std::string();
}

/// True if the path lies in one of the places, in a storage, or where allow_paths lets it.
bool lies_among(const Config& config, std::vector<std::string> places, const std::string& name) {
  const auto& allowed = config.allow_paths;
  if (std::find(allowed.begin(), allowed.end(), "any") != allowed.end()) return true;
  for (const auto& [storage, place] : config.storages) places.push_back(place);
  places.insert(places.end(), allowed.begin(), allowed.end());
  const std::string path = is_remote(name) ? name : normal_path(config, name);
  return std::any_of(places.begin(), places.end(), [&](const std::string& place) {
    return !place.empty() && lies_under(path, is_remote(place) ? place : normal_path(config, place));
  });
}

// Functions and names of one statement.
class Reach {
 public:
  explicit Reach(const GatedStatement& gated) : gated_(gated) {}

  Diagnostics run() {
    const Statement& statement = gated_.statement;
    for (const FunctionCall& call : statement.functions) judge_call(call);
    for (const parse::TableReference& table : statement.tables) judge_name(table.parts.front(), table.span);
    if (!statement.alias.empty()) judge_name(statement.alias, statement.span);
    if (!statement.object_name.empty()) judge_name(statement.object_name, statement.span);
    return std::move(found_);
  }

 private:
  void report(Code code, Span span, std::string message, std::string hint) {
    found_.push_back({code, Severity::Error, std::move(message), gated_.path, span, std::move(hint)});
  }

  void judge_name(const std::string& name, Span span) {
    if (!is_reserved(name) && !is_reserved(name.substr(0, name.find('.')))) return;
    report_name(span);
  }

  void report_name(Span span) {
    report(Code::W0305, span, "names that begin with `_weir_` or `__ducklake_` are kept for weir",
           "choose another name; a lake is read through ATTACH 'ducklake://lake' AS alias");
  }

  void judge_call(const FunctionCall& call) {
    if (!call.catalog.empty()) judge_name(call.catalog, call.span);
    if (parse::is_refused_function(call.name))
      return report(Code::W0302, call.span,
                    gated_.who + " may not call " + call.name + ": it acts on the lake or the instance by itself",
                    "weir maintains its lakes; a script that must act by itself is `-- materialize manual <target>`");
    if (parse::hides_its_reads(call.name) && !call.files)
      return report(Code::W0308, call.span,
                    call.name + "() needs a constant text here, so that weir can see what it reads",
                    "write the query itself instead");
    if (takes_names(call.name) && call.files &&
        std::any_of(call.files->begin(), call.files->end(),
                    [](const std::string& text) { return parse::names_reserved(text); }))
      return report_name(call.span);
    if (call.name == "current_setting") return judge_setting(call);
    if (!call.is_table_function || !call.schema.empty() || gated_.macros.contains(call.name)) return;
    if (call.name == "show")
      return report(Code::W0303, call.span, gated_.who + " may not list what is attached", "name the tables it reads");
    if (!parse::is_refused_table_function(call.name)) return;
    report(Code::W0303, call.span, gated_.who + " may not call the table function " + call.name,
           "allowed are readers of files, range, unnest, json_each and the lake's read-only questions");
  }

  // Functions whose text arguments hold names or whole queries.
  static bool takes_names(const std::string& name) {
    return parse::hides_its_reads(name) || name.starts_with("ducklake_");
  }

  // Settings of the instance may hold what user SQL is not to know, such as keys that httpfs took from the environment.
  void judge_setting(const FunctionCall& call) {
    const bool is_open =
        call.files && call.files->size() == 1 && parse::is_connection_setting(text::lower(call.files->front()));
    if (!is_open)
      report(Code::W0303, call.span,
             gated_.who + " may ask only for settings of its own connection, by a constant name",
             "for example current_setting('TimeZone')");
  }

  const GatedStatement& gated_;
  Diagnostics found_;
};

}  // namespace

std::set<std::string> own_macros(const Model& model) {
  std::set<std::string> names;
  for (const Statement& one : model.script.statements)
    if (one.kind == StatementKind::CreateTempMacro) names.insert(text::lower(one.object_name));
  for (const MacroDefinition& one : model.macros)
    if (!one.is_setup()) names.insert(one.name);
  return names;
}

namespace {

class Gate {
 public:
  Gate(const Model& model, const Config& config) : model_(model), config_(config) {}

  Diagnostics run() {
    const auto macros = own_macros(model_);
    for (const Statement& statement : model_.script.statements) {
      if (statement.kind == StatementKind::Attach) judge_attach(statement);
      for (const FunctionCall& call : statement.functions) judge_files(call);
      const GatedStatement gated{.statement = statement, .path = model_.source->path, .macros = macros};
      for (Diagnostics found : {judge_reach(gated), judge_private_files(gated, config_)})
        std::move(found.begin(), found.end(), std::back_inserter(found_));
    }
    return std::move(found_);
  }

 private:
  void judge_files(const FunctionCall& call) {
    if (!call.is_table_function || !call.files || !parse::reads_files(call.name)) return;
    for (const std::string& file : *call.files)
      if (!may_reach(file))
        report(Code::W0309, call.span, "the file " + file + " lies outside the project", kAllowHint);
  }

  // Asked again by DuckDB itself when the model runs (lake/attach.cc), for names that are made at run time.
  bool may_reach(std::string_view name) const {
    if (name.starts_with("s3:///")) return true;
    std::vector<std::string> places{config_.root, config_.temp_folder};
    for (const LakeConfig& lake : config_.lakes) places.push_back(lake.data);
    return lies_among(config_, std::move(places), is_remote(name) ? std::string(name) : before_pattern(name));
  }

  void judge_attach(const Statement& statement) {
    const std::string& uri = statement.attach_uri;
    if (uri == "ducklake" || uri == "datatable" || uri == ":memory:" || uri.empty()) return;
    const std::string scheme = scheme_of(uri);
    const bool is_uri = uri.find("://") != std::string::npos;
    if ((scheme == "ducklake" || scheme == "datatable") && is_uri) return;
    if (scheme == "ducklake")
      return refuse_attach(statement, "a lake is attached by its name in weir.yaml, not by its catalog",
                           "write ATTACH 'ducklake://<lake>' AS " + (statement.alias.empty() ? "dl" : statement.alias));
    if (!scheme.empty() && scheme != "sqlite" && scheme != "duckdb")
      return refuse_attach(statement, "a model may not attach `" + scheme + ":` databases by their address",
                           "name it under `databases:` in weir.yaml and attach 'datatable://<name>'");
    const std::string path = normal_path(config_, scheme.empty() ? uri : uri.substr(scheme.size() + 1));
    if (is_configured(path))
      return refuse_attach(statement, "this file is a catalog or the state of weir itself",
                           "attach the lake by its name: 'ducklake://<lake>'");
    if (!may_reach(path))
      report(Code::W0309, statement.span, "the file " + path + " lies outside the project", kAllowHint);
    if (!statement.read_only)
      refuse_attach(statement, "a model may attach a database file only to read it", "add (READ_ONLY)");
  }

  void report(Code code, Span span, std::string message, std::string hint) {
    found_.push_back({code, Severity::Error, std::move(message), model_.source->path, span, std::move(hint)});
  }

  void refuse_attach(const Statement& statement, std::string message, std::string hint) {
    found_.push_back(
        {Code::W0304, Severity::Error, std::move(message), model_.source->path, statement.span, std::move(hint)});
  }

  bool is_configured(const std::string& path) const {
    const auto is = [&](const DatabaseLocation& place) {
      return place.kind != DatabaseLocation::Kind::Postgres && normal_path(config_, place.target) == path;
    };
    return is(config_.state) || std::any_of(config_.lakes.begin(), config_.lakes.end(),
                                            [&](const LakeConfig& lake) { return is(lake.catalog); });
  }

  const Model& model_;
  const Config& config_;
  Diagnostics found_;
};

}  // namespace

Diagnostics judge_reach(const GatedStatement& gated) { return Reach(gated).run(); }

Diagnostics judge_private_files(const GatedStatement& gated, const Config& config) {
  Diagnostics found;
  std::optional<PrivateFiles> own;
  for (const FunctionCall& call : gated.statement.functions) {
    // glob() tells names only.
    if (!call.is_table_function || !call.files || !parse::reads_files(call.name) || call.name == "glob") continue;
    if (!own) own.emplace(config);
    for (const std::string& file : *call.files)
      if (own->hold(file))
        found.push_back({Code::W0310, Severity::Error,
                         gated.who + " may not read the file " + file + ", which holds secrets or weir's own books",
                         gated.path, call.span, "keep data in other files, and name these in a pattern"});
  }
  return found;
}

std::optional<std::string> refuses_writing(const Config& config, std::string_view path) {
  const std::string name(path);
  if (!lies_among(config, {config.root}, name)) return "it lies outside the project";
  if (is_remote(name)) return std::nullopt;
  const std::string file = normal_path(config, name);
  const bool is_own =
      PrivateFiles(config).hold(name) || file == normal_path(config, "weir.yaml") ||
      std::any_of(config.lakes.begin(), config.lakes.end(), [&](const LakeConfig& lake) {
        return !lake.data.empty() && !is_remote(lake.data) && lies_under(file, normal_path(config, lake.data));
      });
  if (is_own) return "weir keeps that place for itself";
  const bool is_source =
      is_sql_file(file) && std::any_of(config.models.begin(), config.models.end(),
                                       [&](const auto& root) { return lies_under(file, normal_path(config, root)); });
  if (is_source) return "it would be a model";
  return std::nullopt;
}

std::vector<TestText> test_texts(const Model& model) {
  std::vector<TestText> texts;
  for (const Test& test : model.tests) {
    // The lines around a predicate keep a comment in it from reaching further.
    const auto predicate = [&](const std::string& text) {
      texts.push_back({&test, "SELECT (\n" + text + "\n)", true});
    };
    if (!test.where.empty()) predicate(test.where);
    if (test.kind == TestKind::Expression) predicate(test.text);
    if (test.kind == TestKind::Sql) texts.push_back({&test, test.text, false});
    if (test.kind != TestKind::Range) continue;
    for (const auto& bound : {test.minimum, test.maximum})
      if (bound && bound->find('(') != std::string::npos) predicate(*bound);
  }
  return texts;
}

Diagnostics judge_test_text(const TestText& text, const parse::Script& script, const Model& model) {
  Diagnostics found;
  const auto refuse = [&](std::string message, std::string hint) {
    found.push_back(
        {Code::W0219, Severity::Error, std::move(message), model.source->path, text.test->span, std::move(hint)});
  };
  for (const Statement& statement : script.statements) {
    Diagnostics more = judge_reach({.statement = statement, .path = model.source->path, .who = "a test", .macros = {}});
    for (Diagnostic& one : more) one.span = text.test->span;
    std::move(more.begin(), more.end(), std::back_inserter(found));
    if (text.is_predicate && !statement.tables.empty())
      refuse("a predicate of a test sees the columns of the model's own table, not the table `" +
                 statement.tables.front().parts.back() + "`",
             "use `relationships`, or a custom test, to look into other tables");
  }
  if (!text.is_predicate) {
    CustomTest inline_test{
        .path = text.test->name,
        .source = std::make_shared<Source>(Source{.path = model.source->path, .text = text.sql, .hash = {}}),
        .script = script};
    for (Diagnostic& one : judge_custom_test(inline_test, {&model})) {
      one.span = text.test->span;
      found.push_back(std::move(one));
    }
  }
  if (text.is_predicate && (script.statements.size() != 1 || script.statements.front().kind != StatementKind::Result))
    refuse("`" + text.test->name + "`: this is no single expression", "");
  return found;
}

Diagnostics judge_gate(const Model& model, const Config& config) { return Gate(model, config).run(); }

}  // namespace weir
