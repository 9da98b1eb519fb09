// What one model takes from the libraries, and where it runs.
//
// A macro is made as late as it can be: just before the first statement that calls it, directly or through others. So
// it finds the temporary objects that the model made before (DuckDB binds a macro's tables when the macro is made).
// A macro that only `use` brings may be called from where weir cannot see it (query('…')), so it is made before the
// first statement that could.
#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "parse/functions.h"
#include "project/macros.h"
#include "text/lexer.h"
#include "text/line_index.h"

namespace weir {
namespace {

using parse::FunctionCall;
using parse::Statement;
using parse::StatementKind;
using Macro = MacroLibrary::Macro;

std::set<std::string> calls_of(const Statement& statement) {
  std::set<std::string> names;
  for (const FunctionCall& call : statement.functions)
    if (std::string name = called_macro(call); !name.empty()) names.insert(std::move(name));
  return names;
}

/// A name that the model takes: its macros (a scalar and a table macro may share a name), and where they run.
struct Taken {
  const MacroLibrary* library = nullptr;
  std::vector<const Macro*> macros;
  std::set<std::string> calls;  // names that are taken too
  /// The first statement that it may come before, for what it needs of the model's own.
  std::size_t earliest = 0;
  std::string waits_for;
  std::size_t before = 0;
  bool is_needed = false;  // by a statement of the model
  bool is_forced = false;
  Span needed_at;
};

class Taker {
 public:
  Taker(Model& model, const MacroIndex& index, const std::vector<const parse::Script*>& tests)
      : model_(model), index_(index), tests_(tests), size_(model.script.statements.size()) {}

  Diagnostics run() {
    model_.macros.clear();
    if (index_.libraries().empty() && model_.uses.empty()) return {};
    read_own();
    use_libraries();
    take_called();
    if (has_errors(found_)) return std::move(found_);
    place();
    order();
    note_setup();
    return std::move(found_);
  }

 private:
  const std::string& path() const { return model_.source->path; }

  void report(Code code, Span span, std::string message, std::string hint, const std::string& path) {
    found_.push_back({code, Severity::Error, std::move(message), path, span, std::move(hint)});
  }

  void read_own() {
    for (std::size_t i = 0; i < size_; ++i) {
      const Statement& statement = model_.script.statements[i];
      if (statement.object_name.empty()) continue;
      // A manual script's macro with a schema before its name is called with it too.
      const auto head = read_macro_head(model_.source->text, statement.span);
      const bool is_macro = head && (head->is_plain_name || statement.kind == StatementKind::CreateTempMacro);
      const bool is_relation =
          statement.kind == StatementKind::CreateTempTable || statement.kind == StatementKind::CreateTempView;
      if (is_macro) own_macros_.emplace(text::lower(statement.object_name), i);
      if (is_relation) own_relations_.emplace(text::lower(statement.object_name), i);
    }
  }

  // Libraries.

  void use_libraries() {
    for (const Use& use : model_.uses) {
      const MacroLibrary* library = index_.library(use.path);
      if (library == nullptr) {
        found_.push_back(index_.unknown(use, *model_.source));
        continue;
      }
      use_library(*library, use.span);
    }
  }

  // What a library uses comes before it.
  void use_library(const MacroLibrary& library, Span span) {
    if (!visited_.insert(&library).second) return;
    for (const Use& use : library.uses)
      if (const MacroLibrary* more = index_.library(use.path); more != nullptr) use_library(*more, span);
    used_.push_back(&library);
    for (const Macro& macro : library.macros) {
      if (own_macros_.contains(macro.name)) continue;
      const auto [taken, is_new] = taken_.try_emplace(macro.name);
      if (!is_new && taken->second.library != &library)
        report(Code::W0226, span,
               fmt::format("both {} and {}, which this line brings, define `{}`", taken->second.library->path,
                           library.path, macro.name),
               "use one of them, or define the macro in this model", path());
      if (!is_new) continue;
      taken->second.is_forced = true;
      fill(taken->second, library, macro.name);
      waiting_.push(macro.name);
    }
  }

  static void fill(Taken& taken, const MacroLibrary& library, const std::string& name) {
    taken.library = &library;
    for (const Macro& macro : library.macros)
      if (macro.name == name) taken.macros.push_back(&macro);
  }

  // Calls.

  void take_called() {
    for (std::size_t i = 0; i < size_; ++i) take_calls_of(model_.script.statements[i], nullptr, *model_.source);
    close();
    for (const auto& [name, taken] : taken_) seen_without_tests_.insert(name);
    for (const parse::Script* test : tests_)
      for (const Statement& statement : test->statements) {
        for (const FunctionCall& call : statement.functions)
          if (const std::string name = called_macro(call); !name.empty()) take(name, nullptr, {}, path());
      }
    close();
  }

  void close() {
    while (!waiting_.empty()) {
      const std::string name = waiting_.front();
      waiting_.pop();
      const Taken taken = taken_.at(name);
      for (const Macro* macro : taken.macros)
        take_calls_of(taken.library->script.statements[macro->statement], taken.library, *taken.library->source);
    }
  }

  void take_calls_of(const Statement& statement, const MacroLibrary* from, const Source& source) {
    for (const FunctionCall& call : statement.functions)
      if (const std::string name = called_macro(call); !name.empty()) take(name, from, call.span, source.path);
  }

  void take(const std::string& name, const MacroLibrary* from, Span span, const std::string& path) {
    const auto& providers = index_.providers_of(name);
    if (providers.empty() || own_macros_.contains(name)) return;
    const bool is_own = from != nullptr && std::find(providers.begin(), providers.end(), from) != providers.end();
    if (const auto known = taken_.find(name); known != taken_.end()) {
      if (is_own && known->second.library != from && !known->second.is_forced)
        report_several(name, {known->second.library, from}, span, path);
      return;
    }
    if (!is_own && providers.size() > 1) return report_several(name, providers, span, path);
    fill(taken_[name], is_own ? *from : *providers.front(), name);
    waiting_.push(name);
  }

  void report_several(const std::string& name, const std::vector<const MacroLibrary*>& libraries, Span span,
                      const std::string& path) {
    if (!told_.insert(name).second) return;
    std::string list;
    for (const MacroLibrary* library : libraries) list += (list.empty() ? "" : ", ") + library->path;
    std::string message = fmt::format("several libraries define the macro `{}`: {}", name, list);
    if (path != this->path()) message += fmt::format(" (called for the model {})", model_.path);
    report(Code::W0226, span, std::move(message),
           fmt::format("`-- use {}` in the model chooses; so does a macro of its own", libraries.front()->path), path);
  }

  // Places.

  void place() {
    for (auto& [name, taken] : taken_) {
      for (const Macro* macro : taken.macros) link(taken, taken.library->script.statements[macro->statement]);
      taken.before = size_;
    }
    for (bool changes = true; changes;) {
      changes = false;
      for (auto& [name, taken] : taken_)
        for (const std::string& called : taken.calls) changes = wait_for(taken, taken_.at(called)) || changes;
    }
    for (std::size_t i = size_; i-- > 0;)
      for (const FunctionCall& call : model_.script.statements[i].functions) need(called_macro(call), i, call.span);
    const std::size_t leading = end_of_leading_setup();
    for (auto& [name, taken] : taken_)
      if (taken.is_forced) come_before(name, std::max(leading, taken.earliest));
    for (auto& [name, taken] : taken_)
      if (!seen_without_tests_.contains(name)) come_before(name, std::max(last_setup(), taken.earliest));
    judge_places();
  }

  std::size_t last_setup() const { return model_.plane == Plane::Manual || size_ == 0 ? size_ : size_ - 1; }

  void link(Taken& taken, const Statement& statement) {
    const auto later = [&taken](const std::string& name, std::size_t index) {
      if (taken.earliest > index) return;
      taken.earliest = index + 1;
      taken.waits_for = name;
    };
    for (const std::string& name : calls_of(statement)) {
      if (taken_.contains(name)) taken.calls.insert(name);
      if (const auto own = own_macros_.find(name); own != own_macros_.end()) later(name, own->second);
    }
    for (const parse::TableReference& table : statement.tables)
      if (const auto own = own_relations_.find(text::lower(table.parts.front()));
          table.parts.size() == 1 && own != own_relations_.end())
        later(own->first, own->second);
  }

  static bool wait_for(Taken& taken, const Taken& called) {
    if (taken.earliest >= called.earliest) return false;
    taken.earliest = called.earliest;
    taken.waits_for = called.waits_for;
    return true;
  }

  // Called from the last statement to the first, so the first that needs a macro decides.
  void need(const std::string& name, std::size_t statement, Span span) {
    const auto found = taken_.find(name);
    if (found == taken_.end() || (found->second.is_needed && found->second.before <= statement)) return;
    found->second.is_needed = true;
    found->second.before = statement;
    found->second.needed_at = span;
    for (const std::string& called : found->second.calls) need(called, statement, span);
  }

  void come_before(const std::string& name, std::size_t statement) {
    Taken& taken = taken_.at(name);
    if (taken.before <= statement) return;
    taken.before = statement;
    for (const std::string& called : taken.calls) come_before(called, statement);
  }

  // Before the result, or the first statement that may call what nobody sees.
  std::size_t end_of_leading_setup() const {
    for (std::size_t i = 0; i < size_; ++i) {
      const Statement& statement = model_.script.statements[i];
      const bool hides = std::any_of(statement.functions.begin(), statement.functions.end(),
                                     [](const FunctionCall& call) { return parse::hides_its_reads(call.name); });
      const bool acts = model_.plane == Plane::Manual &&
                        (statement.kind == StatementKind::Other || statement.kind == StatementKind::Result);
      if (hides || acts) return i;
    }
    return last_setup();
  }

  void judge_places() {
    for (const auto& [name, taken] : taken_) {
      if (!taken.is_needed || taken.earliest <= taken.before) continue;
      const std::size_t own = taken.earliest - 1;
      const auto line = text::LineIndex(model_.source->text).position(model_.script.statements[own].span.begin).line;
      report(Code::W0227, taken.needed_at,
             fmt::format("`{}` of {} needs `{}`, which this model makes only in line {}", name, taken.library->path,
                         taken.waits_for, line),
             fmt::format("make `{}` before the statement that calls `{}`; if they need each other, rename one",
                         taken.waits_for, name),
             path());
    }
  }

  // Order.

  void order() {
    std::size_t before = 0;
    std::set<std::string> texts;
    for (const MacroLibrary* library : used_)
      for (const std::size_t index : library->setup) {
        const Statement& statement = library->script.statements[index];
        if (!texts.insert(statement.canonical).second) continue;
        if (const auto own = own_statement(statement)) {
          before = std::max(before, *own + 1);
          continue;
        }
        for (const std::string& name : calls_of(statement)) come_before_if_taken(name, before);
        emit_closure(calls_of(statement));
        MacroDefinition made;
        made.library = library->path;
        made.source = library->source;
        made.statement = statement;
        made.before = before;
        model_.macros.push_back(std::move(made));
      }
    std::set<std::string> all;
    for (const auto& [name, taken] : taken_) all.insert(name);
    emit(std::move(all));
    std::stable_sort(model_.macros.begin(), model_.macros.end(),
                     [](const MacroDefinition& a, const MacroDefinition& b) { return a.before < b.before; });
  }

  void come_before_if_taken(const std::string& name, std::size_t before) {
    if (taken_.contains(name)) come_before(name, before);
  }

  std::optional<std::size_t> own_statement(const Statement& statement) const {
    for (std::size_t i = 0; i < size_; ++i)
      if (model_.script.statements[i].canonical == statement.canonical) return i;
    return std::nullopt;
  }

  void emit_closure(const std::set<std::string>& names) {
    std::set<std::string> closure;
    std::vector<std::string> left(names.begin(), names.end());
    while (!left.empty()) {
      const std::string name = left.back();
      left.pop_back();
      const auto found = taken_.find(name);
      if (found == taken_.end() || !closure.insert(name).second) continue;
      left.insert(left.end(), found->second.calls.begin(), found->second.calls.end());
    }
    emit(closure);
  }

  // Called ones first; among those that are free, by name. A circle (told elsewhere) is cut where it is met.
  void emit(std::set<std::string> names) {
    for (const std::string& name : emitted_) names.erase(name);
    while (!names.empty()) {
      auto free = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        const auto& calls = taken_.at(name).calls;
        return std::none_of(calls.begin(), calls.end(),
                            [&](const std::string& called) { return called != name && names.contains(called); });
      });
      if (free == names.end()) free = names.begin();
      push(*free);
      emitted_.insert(*free);
      names.erase(free);
    }
  }

  void push(const std::string& name) {
    const Taken& taken = taken_.at(name);
    for (const Macro* macro : taken.macros) {
      MacroDefinition made;
      made.name = name;
      made.library = taken.library->path;
      made.source = taken.library->source;
      made.statement = taken.library->script.statements[macro->statement];
      made.before = taken.before;
      made.is_for_tests = !seen_without_tests_.contains(name);
      model_.macros.push_back(std::move(made));
    }
  }

  void note_setup() {
    std::set<const MacroLibrary*> told;
    for (const auto& [name, taken] : taken_) {
      if (taken.library->setup.empty() || visited_.contains(taken.library) || !taken.is_needed) continue;
      if (!told.insert(taken.library).second) continue;
      found_.push_back(
          {Code::W0228, Severity::Hint,
           fmt::format("the setup statements of {}, which defines `{}`, do not run here", taken.library->path, name),
           path(), taken.needed_at, fmt::format("add `-- use {}` if they should", taken.library->path)});
    }
  }

  Model& model_;
  const MacroIndex& index_;
  const std::vector<const parse::Script*>& tests_;
  const std::size_t size_;
  std::map<std::string, std::size_t> own_macros_;
  std::map<std::string, std::size_t> own_relations_;
  std::map<std::string, Taken> taken_;
  std::set<std::string> seen_without_tests_;
  std::set<std::string> emitted_;
  std::set<std::string> told_;
  std::set<const MacroLibrary*> visited_;
  std::vector<const MacroLibrary*> used_;
  std::queue<std::string> waiting_;
  Diagnostics found_;
};

}  // namespace

Diagnostics take_macros(Model& model, const MacroIndex& index, const std::vector<const parse::Script*>& tests) {
  return Taker(model, index, tests).run();
}

}  // namespace weir
