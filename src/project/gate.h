// What user SQL may reach, judged on the parsed tree. The bound plan is judged again at run time (build/gate.h), so
// that views and macros hide nothing; this gate speaks early and at the user's line.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

/// User SQL of any origin: a model's statement, a test, a query of the command line.
struct GatedStatement {
  const parse::Statement& statement;
  std::string path;
  /// "a model", "a test", "a query".
  std::string who = "a model";
  /// Macros that the same script made, in lower case: their bodies are judged as statements.
  std::set<std::string> macros;
};

/// Macros that a model's own setup makes and those that it takes from libraries, in lower case. Their bodies are
/// judged; a macro of another origin is judged on the bound plan.
std::set<std::string> own_macros(const Model& model);

/// Judges functions and names of one statement.
/// Errors: W0302 a function that acts on lakes, W0303 a table function or setting off the list, W0305 a reserved name,
/// W0308 a hidden query.
Diagnostics judge_reach(const GatedStatement& gated);

/// Judges the files that one statement names by constant texts and patterns.
/// Errors: W0310 a file that weir keeps for itself.
Diagnostics judge_private_files(const GatedStatement& gated, const Config& config);

/// Why a `file` model may not write to the path (absolute, relative to the project, or remote), in words; nothing if it
/// may.
std::optional<std::string> refuses_writing(const Config& config, std::string_view path);

/// Judges every statement of a model: judge_reach, W0304 an ATTACH that is not allowed, W0309 a file outside the
/// project, W0310 one of weir's own.
Diagnostics judge_gate(const Model& model, const Config& config);

/// SQL within a model's tests.
struct TestText {
  const Test* test = nullptr;
  /// The text as a whole query: predicates stand in `SELECT (…)`.
  std::string sql;
  bool is_predicate = true;
};
std::vector<TestText> test_texts(const Model& model);

/// Judges one of them by what the parser said of it, at the test's line in the header.
/// Errors: as judge_reach; W0217 a query that is no test; W0219 a predicate that reads a table or is no single
/// expression.
Diagnostics judge_test_text(const TestText& text, const parse::Script& script, const Model& model);

}  // namespace weir
