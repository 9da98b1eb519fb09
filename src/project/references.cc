#include "project/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parse/functions.h"
#include "project/custom_test.h"
#include "project/delivery.h"
#include "project/header_options.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir {
namespace {

using parse::Statement;
using parse::StatementKind;
using parse::TableReference;

constexpr std::string_view kLakeScheme = "ducklake";
constexpr std::string_view kTableScheme = "datatable";

std::string strip_options(std::string_view place) { return std::string(place.substr(0, place.find('?'))); }

// The place that an ATTACH names, or nothing if it is of another scheme: 'ducklake://lake', 'ducklake'.
std::optional<std::string> place_of(std::string_view uri, std::string_view scheme) {
  if (uri == scheme) return "main";
  if (!uri.starts_with(scheme)) return std::nullopt;
  uri.remove_prefix(scheme.size());
  if (!uri.starts_with("://")) return std::nullopt;
  return strip_options(uri.substr(3));
}

std::string list_lakes(const Config& config) {
  std::string names;
  for (const LakeConfig& lake : config.lakes) names += (names.empty() ? "" : ", ") + lake.name;
  return names;
}

struct Target {
  AssetKind kind = AssetKind::Lake;
  std::string place;
};

class Resolver {
 public:
  Resolver(Model& model, const Config& config, const ProducedAssets& produced,
           const std::set<std::string>& volatile_functions)
      : model_(model), config_(config), produced_(produced), volatile_(volatile_functions) {}

  Diagnostics run() {
    model_.references.clear();
    model_.cuts.clear();
    model_.files.emplace();
    model_.storage_paths.clear();
    model_.is_volatile = false;
    for (index_ = 0; index_ < model_.script.statements.size(); ++index_) {
      visit_macros();
      visit(model_.script.statements[index_]);
    }
    visit_macros();
    visit_tests();
    model_.tokens = find_tokens(model_.source->text, model_.script);
    judge_tokens();
    judge_parameters();
    return std::move(found_);
  }

 private:
  void report(Code code, Span span, std::string message, Advice advice, Severity severity = Severity::Error) {
    if (test_ != nullptr && test_->is_in_header) {
      span = place_in_file(model_, *test_, span);
      advice.fix.reset();
    }
    found_.push_back(
        {code, severity, std::move(message), source().path, span, std::move(advice.hint), std::move(advice.fix)});
  }

  /// The first text literal of an ATTACH: what is attached.
  Span literal_in(const Statement& statement) const {
    const std::string_view sql = std::string_view(source().text).substr(statement.span.begin, statement.span.size());
    for (const text::Token& token : text::lex_code(sql))
      if (token.kind == text::TokenKind::String)
        return {statement.span.begin + token.span.begin, statement.span.begin + token.span.end};
    return statement.span;
  }

  // What the model takes from libraries is read where it runs, through the names that the model has there.
  void visit_macros() {
    for (std::size_t i = 0; i < model_.macros.size(); ++i) {
      MacroDefinition& macro = model_.macros[i];
      if (macro.before != index_) continue;
      macro_ = i;
      macro.cuts.clear();
      macro.storage_paths.clear();
      const bool was_explicit = is_explicit_;
      visit(macro.statement);
      // A file that a library attaches takes nothing away from the model's own names.
      if (macro.statement.kind == StatementKind::Attach) is_explicit_ = was_explicit;
      if (!macro.statement.object_name.empty() && macro.is_setup())
        temporary_.insert(text::lower(macro.statement.object_name));
      parse::Script alone;
      alone.statements.push_back(macro.statement);
      macro.tokens = find_tokens(macro.source->text, alone);
      if (!model_.partitioning) macro.tokens.clear();
      macro_.reset();
    }
  }

  // A test is read behind all of the model's statements, through the names that the model has there.
  void visit_tests() {
    for (TestQuery& query : model_.test_queries) {
      test_ = &query;
      query.references.clear();
      query.targets.clear();
      query.cuts.clear();
      query.storage_paths.clear();
      query.needs_setup = false;
      const Statement& statement = query.statement;
      for (const TableReference& table : statement.tables)
        if (is_target(table))
          query.targets.push_back(reference_to(model_.target ? *model_.target : model_.relation, table));
        else
          resolve(table);
      for (const parse::QualifiedColumn& column : statement.columns) cut(column);
      for (const parse::FunctionCall& call : statement.functions) {
        if (is_made_here(call.name)) query.needs_setup = true;
        if (call.is_table_function && parse::reads_files(call.name) && call.files) resolve_storages(call);
      }
      parse::Script alone;
      alone.statements.push_back(statement);
      query.tokens.clear();
      if (model_.partitioning) query.tokens = find_tokens(query.source->text, alone);
      test_ = nullptr;
    }
  }

  /// A macro that the model makes or takes from a library.
  bool is_made_here(const std::string& name) const {
    const auto is_it = [&name](const Statement& one) { return text::same_word(one.object_name, name); };
    return std::any_of(model_.macros.begin(), model_.macros.end(),
                       [&](const MacroDefinition& one) { return is_it(one.statement); }) ||
           std::any_of(model_.script.statements.begin(), model_.script.statements.end(), is_it) ||
           (model_.partitioning && (name == "wm_partition" || name == "weir_partition"));
  }

  const Source& source() const {
    if (test_ != nullptr) return *test_->source;
    return macro_ ? *model_.macros[*macro_].source : *model_.source;
  }
  std::vector<QualifierCut>& cuts() {
    if (test_ != nullptr) return test_->cuts;
    return macro_ ? model_.macros[*macro_].cuts : model_.cuts;
  }
  std::vector<std::pair<Span, std::string>>& storage_paths() {
    if (test_ != nullptr) return test_->storage_paths;
    return macro_ ? model_.macros[*macro_].storage_paths : model_.storage_paths;
  }
  bool is_here(const Reference& reference) const {
    return macro_ ? reference.macro == macro_ : reference.statement == index_;
  }

  void visit(const Statement& statement) {
    if (statement.kind == StatementKind::Attach) attach(statement);
    if (statement.kind == StatementKind::Use) use(statement);
    for (const TableReference& table : statement.tables) resolve(table);
    for (const parse::QualifiedColumn& column : statement.columns) cut(column);
    const bool is_computed = !macro_ || !model_.macros[*macro_].is_for_tests;
    if (is_computed)
      for (const parse::FunctionCall& call : statement.functions) read_call(call);
    const bool makes_relation =
        statement.kind == StatementKind::CreateTempTable || statement.kind == StatementKind::CreateTempView;
    if (makes_relation) temporary_.insert(text::lower(statement.object_name));
    const bool changes_by_itself = statement.kind == StatementKind::Set && statement.what == "PRAGMA";
    model_.is_volatile = model_.is_volatile || changes_by_itself;
  }

  void attach(const Statement& statement) {
    is_explicit_ = true;
    std::optional<Target> target;
    if (auto lake = place_of(statement.attach_uri, kLakeScheme)) {
      if (const LakeConfig* known = config_.lake(*lake); known != nullptr) {
        target = Target{AssetKind::Lake, known->name};
      } else {
        std::vector<std::string> names;
        for (const LakeConfig& one : config_.lakes) names.push_back(one.name);
        const auto near = text::nearest(*lake, names);
        Advice advice = "add it under `lakes:` in weir.yaml";
        if (near)
          advice = {"did you mean `ducklake://" + *near + "`?",
                    {literal_in(statement), duck::quote_text("ducklake://" + *near)}};
        report(Code::W0301, statement.span, "there is no lake `" + *lake + "`; weir.yaml names " + list_lakes(config_),
               std::move(advice));
        target = Target{AssetKind::Lake, *lake};
      }
    } else if (auto database = place_of(statement.attach_uri, kTableScheme)) {
      if (!config_.databases.contains(*database))
        report(Code::W0301, statement.span, "there is no database `" + *database + "` in weir.yaml",
               "add it under `databases:` in weir.yaml");
      target = Target{AssetKind::Datatable, *database};
    }
    if (!target) {
      foreign_.insert(text::lower(statement.alias));
      return;
    }
    if (statement.alias.empty())
      return report(Code::W0307, statement.span, "this ATTACH binds no name",
                    "write ATTACH '" + statement.attach_uri + "' AS dl");
    aliases_[text::lower(statement.alias)] = *target;
  }

  void use(const Statement& statement) {
    is_explicit_ = true;
    const auto dot = statement.alias.find('.');
    const std::string first = text::lower(statement.alias.substr(0, dot));
    used_.reset();
    used_schema_ = dot == std::string::npos ? "main" : statement.alias.substr(dot + 1);
    if (const auto alias = aliases_.find(first); alias != aliases_.end()) used_ = alias->second;
  }

  // The asset that a table's name leads to, or nothing for one of the connection's own (memory database, attached
  // file).
  std::optional<Asset> asset_of(const std::vector<std::string>& parts) const {
    const std::string first = text::lower(parts.front());
    if (parts.size() == 1 ? temporary_.contains(first) : foreign_.contains(first)) return std::nullopt;
    const auto alias = aliases_.find(first);
    if (parts.size() > 1 && alias != aliases_.end()) {
      const auto& [kind, place] = alias->second;
      if (parts.size() == 2) return Asset{kind, place, "main", parts[1]};
      return Asset{kind, place, parts[1], parts[2]};
    }
    if (parts.size() == 3) return std::nullopt;
    if (is_explicit_) {
      if (!used_) return std::nullopt;
      return Asset{used_->kind, used_->place, parts.size() == 2 ? parts[0] : used_schema_, parts.back()};
    }
    if (config_.lakes.empty()) return std::nullopt;
    const std::string& lake = config_.default_lake().name;
    if (parts.size() == 2) return Asset{AssetKind::Lake, lake, parts[0], parts[1]};
    const std::string& schema = model_.relation.schema;
    Asset near{AssetKind::Lake, lake, schema.empty() ? "main" : schema, parts[0]};
    if (produced_.contains(near.key())) return near;
    return Asset{AssetKind::Lake, lake, "main", parts[0]};
  }

  /// A name of three parts that begins with a place of weir.yaml, which no ATTACH of the file names.
  void report_unattached(const TableReference& table) {
    const std::string& place = table.parts.front();
    const bool is_lake = config_.lake(place) != nullptr;
    if (table.parts.size() != 3 || foreign_.contains(text::lower(place)) ||
        (!is_lake && !config_.databases.contains(place)))
      return;
    const std::string attach = fmt::format("ATTACH '{}://{}' AS {};", is_lake ? "ducklake" : "datatable", place,
                                           duck::quote_identifier(place));
    const bool is_default = is_lake && text::same_word(config_.default_lake().name, place) && !is_explicit_;
    report(Code::W0301, table.span, fmt::format("no ATTACH of this file gives `{}` its name", place),
           is_default ? fmt::format("write {}.{}: the lake `{}` is meant where none is named", table.parts[1],
                                    table.parts[2], place)
                      : fmt::format("put {} above the query", attach));
  }

  void resolve(const TableReference& table) {
    auto asset = asset_of(table.parts);
    if (!asset) report_unattached(table);
    if (!asset && test_ != nullptr) {
      const std::string first = text::lower(table.parts.front());
      test_->needs_setup = test_->needs_setup || foreign_.contains(first) || temporary_.contains(first);
      return;
    }
    if (!asset) {
      const std::string first = text::lower(table.parts.front());
      if (table.parts.size() == 1 ? temporary_.contains(first) : false) return;
      if (table.parts.size() == 3 || (is_explicit_ && !used_) || foreign_.contains(first)) model_.is_volatile = true;
      return;
    }
    if (table.opaque && !aliases_.empty() && model_.plane != Plane::Manual)
      report(Code::W0306, table.span,
             "weir cannot place this table, because DuckDB gives no tree for a PIVOT without an IN list",
             "list the values: PIVOT … ON column IN (…)");
    Reference reference = reference_to(std::move(*asset), table);
    (test_ != nullptr ? test_->references : model_.references).push_back(std::move(reference));
  }

  Reference reference_to(Asset asset, const TableReference& table) const {
    Reference reference{.asset = std::move(asset),
                        .statement = macro_ || test_ != nullptr ? Reference::kNoStatement : index_,
                        .span = table.span,
                        .alias = {},
                        .version = table.version,
                        .has_at = table.has_at,
                        .is_table_form = table.is_table_form,
                        .macro = macro_};
    if (!table.has_alias) reference.alias = table.parts.back();
    return reference;
  }

  // `dl.orders.id` and `dl.main.orders.id`: what stands before the column is cut down to the table's own name.
  void cut(const parse::QualifiedColumn& column) {
    if (test_ != nullptr && cut_target(column)) return;
    if (!aliases_.contains(text::lower(column.parts.front()))) return;
    for (const std::size_t depth : {std::size_t{3}, std::size_t{2}}) {
      if (column.parts.size() <= depth) continue;
      const auto asset = asset_of({column.parts.begin(), column.parts.begin() + static_cast<std::ptrdiff_t>(depth)});
      const auto& references = test_ != nullptr ? test_->references : model_.references;
      const bool is_read = asset && std::any_of(references.begin(), references.end(), [&](const Reference& one) {
                             return (test_ != nullptr || is_here(one)) && one.asset == *asset;
                           });
      if (!is_read) continue;
      cuts().push_back({prefix_of(column.span, depth), column.parts[depth - 1]});
      return;
    }
  }

  // `_wm_target.orders.id`
  bool cut_target(const parse::QualifiedColumn& column) {
    for (const TableReference& table : test_->statement.tables) {
      const std::size_t size = table.parts.size();
      if (!is_target(table) || column.parts.size() <= size ||
          !std::equal(table.parts.begin(), table.parts.end(), column.parts.begin(), text::same_word))
        continue;
      test_->cuts.push_back({prefix_of(column.span, size), table.parts.back()});
      return true;
    }
    return false;
  }

  // The span of the first `depth` names, dots between them included.
  Span prefix_of(Span column, std::size_t depth) const {
    const std::string_view text = std::string_view(source().text).substr(column.begin, column.size());
    std::uint32_t end = 0;
    for (const text::Token& token : text::lex_code(text)) {
      if (!token.is_name()) continue;
      end = token.span.end;
      if (--depth == 0) break;
    }
    return {column.begin, column.begin + end};
  }

  void read_call(const parse::FunctionCall& call) {
    if (volatile_.contains(call.name) || parse::hides_its_reads(call.name) || !call.catalog.empty())
      model_.is_volatile = true;
    if (!call.is_table_function || !parse::reads_files(call.name)) return;
    if (!call.files || call.files->empty()) {
      model_.files.reset();
      return;
    }
    resolve_storages(call);
    for (const std::string& name : *call.files) {
      const std::string file = storage_path(config_, name).value_or(name);
      if (file.find("://") != std::string::npos) model_.is_volatile = true;
      if (model_.files) model_.files->push_back(file);
      if (model_.plane == Plane::File && is_among(model_.file_path, file, config_.root))
        report(Code::W6510, call.span, "the query reads the file that it writes, `" + model_.file_path + "`",
               "write elsewhere: what it reads would be gone after the first run");
    }
  }

  // `s3:///key` and `s3://name/key` of a configured storage are read where that storage lies.
  void resolve_storages(const parse::FunctionCall& call) {
    const std::string_view source = this->source().text;
    int depth = 0;
    for (const text::Token& token : text::lex_code(source.substr(call.span.begin))) {
      const Span span{call.span.begin + token.span.begin, call.span.begin + token.span.end};
      const std::string_view word = source.substr(span.begin, span.size());
      if (word == "(") ++depth;
      if (word == ")") --depth;
      if (token.kind == text::TokenKind::String && token.is_closed)
        if (const auto path = storage_path(config_, text::value_of_string(word)))
          storage_paths().push_back({span, *path});
      if (depth == 0 && span.begin >= call.span.end - 1) return;
    }
  }

  void judge_tokens() {
    if (model_.partitioning || model_.strategy == Strategy::IncrementalByTime) return;
    for (const Model::Token& token : model_.tokens) {
      const char first = model_.source->text[token.span.begin];
      const std::string spelled = "{" + token.name + "}";
      if (first == '{' && token.form == Model::TokenForm::Literal)
        report(Code::W0201, token.span, spelled + " stands for a value only in a partitioned model",
               "add `-- partitioned daily`, or remove the token");
      else
        report(Code::W0214, token.span, spelled + " stays as it is, because the model is not partitioned",
               "add `-- partitioned daily` if the partition's value is meant", Severity::Hint);
    }
    model_.tokens.clear();
  }

  bool is_bound(const std::string& name) const {
    if (name == "partition") return model_.partitioning.has_value();
    if (name == "window_start" || name == "window_end") return model_.strategy == Strategy::IncrementalByTime;
    return std::any_of(model_.arguments.begin(), model_.arguments.end(),
                       [&name](const Argument& one) { return text::same_word(one.name, name); });
  }

  void judge_parameters() {
    std::set<std::string> used;
    std::vector<std::string> known;
    for (const Argument& argument : model_.arguments) known.push_back(argument.name);
    for (const Statement& statement : model_.script.statements) {
      for (const auto& [name, span] : statement.parameters) {
        used.insert(text::lower(name));
        if (is_bound(name)) continue;
        const auto near = text::nearest(name, known);
        const bool is_named = name != "?" && !(name[0] >= '0' && name[0] <= '9');
        Advice hint = "declare it in the header: `-- $" + name + " (text)`";
        if (near) hint = {"did you mean `$" + *near + "`?", {span, "$" + *near}};
        if (name == "partition") hint = Advice("`$partition` exists in partitioned models: add `-- partitioned daily`");
        if (!is_named) hint = "name it and declare it in the header: `-- $cutoff (date)`";
        report(Code::W0210, span,
               "the parameter `" +
                   std::string(is_named      ? "$"
                               : name == "?" ? ""
                                             : "$") +
                   name + "` is not declared",
               hint);
      }
    }
    for (const Argument& argument : model_.arguments)
      if (!used.contains(text::lower(argument.name)))
        report(Code::W0211, argument.span, "the argument `$" + argument.name + "` is never used",
               "remove the line, or use it in the SQL", Severity::Warning);
  }

  Model& model_;
  const Config& config_;
  const ProducedAssets& produced_;
  const std::set<std::string>& volatile_;
  std::size_t index_ = 0;
  /// Set while a macro of a library is read.
  std::optional<std::size_t> macro_;
  /// Set while the query of a test is read.
  TestQuery* test_ = nullptr;
  /// Relations that setup has made so far, and aliases of attached files, in lower case.
  std::set<std::string> temporary_;
  std::set<std::string> foreign_;
  bool is_explicit_ = false;
  std::map<std::string, Target> aliases_;
  std::optional<Target> used_;
  std::string used_schema_ = "main";
  Diagnostics found_;
};

constexpr std::array<std::string_view, 3> kTokenNames = {"partition", "window_start", "window_end"};

// Bare, or alone in quotes: a whole literal. Inside a longer string: text. Comments and quoted names are not looked
// into.
void add_tokens(std::string_view text, Span span, text::TokenKind kind, std::vector<Model::Token>& found) {
  const std::string_view spelled = text.substr(span.begin, span.size());
  for (const std::string_view name : kTokenNames) {
    const std::string braced = "{" + std::string(name) + "}";
    const auto size = static_cast<std::uint32_t>(braced.size());
    if (kind == text::TokenKind::Punctuation && text.substr(span.begin, size) == braced)
      found.push_back({std::string(name), Model::TokenForm::Literal, {span.begin, span.begin + size}});
    if (kind != text::TokenKind::String) continue;
    if (spelled == "'" + braced + "'") {
      found.push_back({std::string(name), Model::TokenForm::Literal, span});
      continue;
    }
    for (auto at = spelled.find(braced); at != std::string_view::npos; at = spelled.find(braced, at + size)) {
      const auto begin = span.begin + static_cast<std::uint32_t>(at);
      found.push_back({std::string(name), Model::TokenForm::Text, {begin, begin + size}});
    }
  }
}

}  // namespace

Diagnostics resolve_references(Model& model, const Config& config, const ProducedAssets& produced,
                               const std::set<std::string>& volatile_functions) {
  return Resolver(model, config, produced, volatile_functions).run();
}

std::vector<Model::Token> find_tokens(std::string_view text, const parse::Script& script) {
  std::vector<Model::Token> found;
  for (const Statement& statement : script.statements)
    for (const text::Token& token : text::lex_code(text.substr(statement.span.begin, statement.span.size())))
      add_tokens(text, {token.span.begin + statement.span.begin, token.span.end + statement.span.begin}, token.kind,
                 found);
  return found;
}

std::map<std::string, std::string> lake_aliases(const parse::Script& script, const Config& config) {
  std::map<std::string, std::string> aliases;
  for (const Statement& statement : script.statements) {
    if (statement.kind != StatementKind::Attach) continue;
    const auto lake = place_of(statement.attach_uri, kLakeScheme);
    if (lake && config.lake(*lake) != nullptr) aliases[text::lower(statement.alias)] = config.lake(*lake)->name;
  }
  return aliases;
}

}  // namespace weir
