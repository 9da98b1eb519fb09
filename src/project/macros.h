// Macro libraries: files of macros that models call by name. A library is read once; a model then takes what it calls,
// with everything that this calls in turn, as statements that run before its own.
//
// Which macro a name means, in this order:
//   1. the model's own definition;
//   2. the one library among those that the model uses (`use`, and what these use) that defines it;
//   3. for a call within a library: that library's own;
//   4. the one library of the project that defines it. Several: an error that asks for `use`.
// One name means one macro in a whole model, since all of them live in one connection.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

/// Sorts the statements of a library into macros and setup, and judges them.
/// Errors: W0220 a statement that is neither, W0221 a name that is not plain, W0222 a lake attached, W0223 a macro
/// defined twice, W0210 a parameter; and what judge_gate and judge_settings say.
/// `names`: macros of all libraries, which bodies may call.
Diagnostics read_library(MacroLibrary& library);
Diagnostics judge_library(const MacroLibrary& library, const Config& config, const std::set<std::string>& names);

/// Warnings: W0230 a macro with the name of a function of DuckDB.
Diagnostics judge_hidden_functions(const MacroLibrary& library, duck::Connection& connection);

/// All libraries of a project, by the names of their macros.
class MacroIndex {
 public:
  /// Requires: read, sorted by path, and outliving this.
  explicit MacroIndex(const std::vector<MacroLibrary>& libraries);

  const std::vector<MacroLibrary>& libraries() const { return libraries_; }
  /// Libraries that define the name, by path.
  const std::vector<const MacroLibrary*>& providers_of(const std::string& name) const;
  const MacroLibrary* library(std::string_view path) const;
  std::set<std::string> names() const;

  /// Errors: W0224 macros in a circle, W0225 a library that uses what is none.
  Diagnostics judge() const;
  /// The complaint about a `use` that leads nowhere.
  Diagnostic unknown(const Use& use, const Source& source) const;

 private:
  const std::vector<MacroLibrary>& libraries_;
  std::map<std::string, std::vector<const MacroLibrary*>> providers_;
};

/// The name of the macro that a call may mean, "" for calls that only a function of DuckDB can answer.
std::string called_macro(const parse::FunctionCall& call);

/// What stands around the body of a macro in its statement.
struct MacroHead {
  /// CREATE … MACRO, up to the name.
  Span words;
  Span name;
  bool is_plain_name = false;
  bool is_conditional = false;  // IF NOT EXISTS
  bool is_table = false;
  std::vector<MacroLibrary::Macro::Form> forms;
};
/// Nothing if the statement makes no macro.
std::optional<MacroHead> read_macro_head(std::string_view text, Span statement);

/// Fills model.macros without their places (resolve_references fills these). `tests` are the scripts of custom and
/// inline tests that the model declares.
/// Errors: W0225 an unknown library, W0226 a name that several libraries define, W0227 a macro of the model that is
/// made too late. Hints: W0228 setup that does not run.
Diagnostics take_macros(Model& model, const MacroIndex& index, const std::vector<const parse::Script*>& tests);

}  // namespace weir
