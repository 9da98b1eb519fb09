#include "plan/definition_diff.h"

#include <algorithm>

#include "parse/statements.h"
#include "plan/fingerprint.h"
#include "text/lexer.h"

namespace weir::plan {
namespace {

using parse::Statement;
using parse::StatementKind;

/// Every macro by its name, with its statement.
std::map<std::string, const Statement*> macro_statements(const Model& model) {
  std::map<std::string, const Statement*> found;
  for (const MacroDefinition& macro : model.macros)
    if (!macro.is_setup() && !macro.is_for_tests) found.emplace(macro.name, &macro.statement);
  for (const Statement& statement : model.script.statements)
    if (statement.kind == StatementKind::CreateTempMacro)
      found.insert_or_assign(text::lower(statement.object_name), &statement);
  return found;
}

std::set<std::string> words_of(const std::string& canonical) {
  std::set<std::string> words;
  for (const text::Token& token : text::lex_code(canonical)) {
    if (!token.is_name()) continue;
    const auto name = std::string_view(canonical).substr(token.span.begin, token.span.size());
    words.insert(text::lower(text::name_of_token(name)));
  }
  return words;
}

bool has_any(const std::set<std::string>& words, std::initializer_list<const char*> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&words](const char* word) { return words.contains(word); });
}

/// Adds to every macro what those that it calls say.
void close(std::map<std::string, MacroFacts>& macros) {
  for (bool grew = true; grew;) {
    grew = false;
    for (auto& [name, facts] : macros)
      for (const std::string& call : std::set<std::string>(facts.calls)) {
        const auto called = macros.find(call);
        if (called == macros.end() || called->first == name) continue;
        const MacroFacts& inner = called->second;
        const std::size_t before = facts.calls.size() + facts.words.size();
        facts.calls.insert(inner.calls.begin(), inner.calls.end());
        facts.words.insert(inner.words.begin(), inner.words.end());
        const bool is_new = (inner.is_changed && !facts.is_changed) || (inner.has_query && !facts.has_query) ||
                            (inner.may_choose && !facts.may_choose);
        facts.is_changed |= inner.is_changed;
        facts.has_query |= inner.has_query;
        facts.may_choose |= inner.may_choose;
        grew = grew || is_new || facts.calls.size() + facts.words.size() != before;
      }
  }
}

std::map<std::string, MacroFacts> facts_of(const Model& model) {
  std::map<std::string, MacroFacts> macros;
  for (const auto& [name, statement] : macro_statements(model)) {
    MacroFacts& facts = macros[name];
    for (const parse::FunctionCall& call : statement->functions) facts.calls.insert(text::lower(call.name));
    facts.words = words_of(statement->canonical);
    facts.has_query = has_any(facts.words, {"select", "from"});
    facts.may_choose =
        has_any(facts.words, {"limit", "offset", "over", "sample", "tablesample", "asof", "positional", "on"});
  }
  return macros;
}

/// Setup in the order of running, macros left out: of libraries and of its own.
std::vector<std::string> setup_of(const Model& model) {
  std::vector<std::string> setup;
  for (const MacroDefinition& macro : model.macros)
    if (macro.is_setup() && !macro.is_for_tests) setup.push_back(macro.statement.canonical);
  for (std::size_t i = 0; i + 1 < model.script.statements.size(); ++i)
    if (model.script.statements[i].kind != StatementKind::CreateTempMacro)
      setup.push_back(model.script.statements[i].canonical);
  return setup;
}

std::string list(const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += (all.empty() ? "" : ", ") + value;
  return all;
}

/// "its strategy is merge, was replace".
std::optional<std::string> option_in_words(const Model& before, const Model& after) {
  const auto differ = [](std::string_view what, std::string_view was, std::string_view is) {
    const auto shown = [](std::string_view value) { return value.empty() ? "none" : std::string(value); };
    return "its " + std::string(what) + " is " + shown(is) + ", was " + shown(was);
  };
  const auto uri = [](const Model& model) { return model.target ? model.target->uri() : std::string(); };
  if (before.plane != after.plane) return differ("plane", name_of(before.plane), name_of(after.plane));
  if (before.strategy != after.strategy) return differ("strategy", name_of(before.strategy), name_of(after.strategy));
  if (uri(before) != uri(after)) return differ("target", uri(before), uri(after));
  if (before.key != after.key) return differ("key", list(before.key), list(after.key));
  if (before.track != after.track) return differ("track", list(before.track), list(after.track));
  if (before.order != after.order) return differ("order", list(before.order), list(after.order));
  if (before.deletes != after.deletes) return differ("deletes", name_of(before.deletes), name_of(after.deletes));
  if (before.valid_from != after.valid_from) return differ("valid_from", before.valid_from, after.valid_from);
  if (before.refreshes_untracked != after.refreshes_untracked) {
    const auto shown = [](const Model& model) { return model.refreshes_untracked ? "refresh" : "ignore"; };
    return differ("untracked", shown(before), shown(after));
  }
  if (before.validity != after.validity) return differ("validity", list(before.validity), list(after.validity));
  if (before.duplicates != after.duplicates)
    return differ("duplicates", name_of(before.duplicates), name_of(after.duplicates));
  if (before.time_column != after.time_column) return differ("time column", before.time_column, after.time_column);
  if (before.interval != after.interval) return differ("interval", before.interval, after.interval);
  if (before.lookback != after.lookback) return differ("lookback", before.lookback, after.lookback);
  if (before.tz != after.tz) return differ("tz", before.tz, after.tz);
  if (before.file_path != after.file_path) return differ("path", before.file_path, after.file_path);
  if (before.file_format != after.file_format) return differ("format", before.file_format, after.file_format);
  return std::nullopt;
}

DefinitionDiff beyond(std::string why) {
  DefinitionDiff diff{.is_beyond_query = true};
  diff.query.is_everything = true;
  diff.query.why = std::move(why);
  return diff;
}

}  // namespace

std::string comparable_query(const Model& model) {
  if (model.plane == Plane::Manual || model.script.statements.empty()) return {};
  const Span span = model.result().span;
  return parse::readable_by_parser(std::string_view(model.source->text).substr(span.begin, span.size()));
}

std::map<std::string, MacroFacts> macros_of(const Model& model) {
  auto macros = facts_of(model);
  close(macros);
  return macros;
}

DefinitionDiff diff_definitions(const Model& before, const Model& after, const parse::Trees& trees,
                                const parse::FunctionKinds& functions,
                                std::optional<std::vector<std::string>> before_names,
                                std::optional<std::vector<std::string>> after_names) {
  const std::string print = local_fingerprint(after);
  Model other = before;
  other.environments = after.environments;
  if (local_fingerprint(other) == print) {
    DefinitionDiff same;
    same.is_gate_alone = before.environments != after.environments;
    return same;
  }
  if (after.plane == Plane::Manual || before.plane == Plane::Manual)
    return beyond(option_in_words(before, after).value_or("its script changed"));
  other.script = after.script;
  other.macros = after.macros;
  if (local_fingerprint(other) != print) return beyond(option_in_words(before, after).value_or("its options changed"));
  if (setup_of(before) != setup_of(after)) return beyond("its setup changed");

  DefinitionDiff diff;
  auto macros = facts_of(after);
  const auto now = macro_statements(after);
  const auto then = macro_statements(before);
  for (const auto& [name, statement] : then)
    if (!macros.contains(name)) macros[name].is_changed = true;
  for (const auto& [name, statement] : now) {
    const auto old = then.find(name);
    if (old != then.end() && old->second->canonical == statement->canonical) continue;
    macros[name].is_changed = true;
    if (old != then.end()) diff.macros.push_back(name);
  }
  close(macros);
  const parse::Tree& old_tree = trees.of(comparable_query(before));
  const parse::Tree& tree = trees.of(comparable_query(after));
  diff.query = diff_queries({.before = old_tree.json,
                             .after = tree.json,
                             .functions = functions,
                             .macros = std::move(macros),
                             .before_names = std::move(before_names),
                             .after_names = std::move(after_names)});
  return diff;
}

}  // namespace weir::plan
