// The one composer of queries from declarations: command line, server, agents and editor give the same text, byte for
// byte. What is declared goes in as it was written; every name that weir adds is quoted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "parse/script.h"

namespace weir::metric {

/// One row of the catalogue.
struct Declaration {
  /// Path of the model that declares it.
  std::string script;
  /// Canonical: `<lake>/<schema>.<table>`.
  std::string table;
  bool is_measure = true;
  std::string name;
  std::string expression;
  std::string filter;
  std::string description;
  std::string unit;
  std::string format;
};

struct Query {
  std::string table;
  std::vector<Declaration> dimensions;
  std::vector<Declaration> measures;
  /// Predicate of the rows; empty: all.
  std::string where;
  std::optional<std::int64_t> limit;
  /// What the lake is called in the query.
  std::string alias = "dl";
  /// Whether the text attaches the lake under that name first.
  bool attach = true;
};

/// SELECT of the dimensions, then the measures, grouped and ordered by the dimensions. Ends in a line break.
std::string compose(const Query& query);

struct Wanted {
  /// By name, or by `<model>:<name>`.
  std::vector<std::string> measures;
  std::vector<std::string> dimensions;
};

/// Finds what is wanted among the declarations of one table. A text that holds commas is a list unless something is
/// called so. Errors: W2220, W2221 nothing of that name (with the nearest), W2222 several models declare it, W2224
/// nothing wanted.
Result<Query> choose(const std::string& table, const std::vector<Declaration>& declared, const Wanted& wanted);

/// Errors: W2226 `predicate` is not exactly one expression, as the declarations' own filters must be.
Result<void> judge_predicate(duck::Connection& connection, const std::string& predicate);

/// The alias under which the script attaches the lake, if it does.
std::optional<std::string> attached_alias(const parse::Script& script, std::string_view lake);
/// Every alias that the script binds.
std::vector<std::string> bound_aliases(const parse::Script& script);
/// `dl`, the lake's name, `dl2`, `dl3`…: the first that is not taken (names compare without case).
std::string free_alias(std::string_view lake, const std::vector<std::string>& taken);

/// `source` with the composed text behind its last statement, closed by a semicolon where it was not.
std::string appended(const std::string& source, const std::string& composed);

}  // namespace weir::metric
