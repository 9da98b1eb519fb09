// Whether a text that users wrote is one SQL expression, decided on DuckDB's tree of the SQL that readers will make of
// it. Measures, filters and dimensions are kept as text and put into other people's queries, so what is accepted here
// must not be able to leave the place that it is put into.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "parse/trees.h"

namespace weir::metric {

/// What is wrong with a text. The place lies in the text.
struct Flaw {
  std::string message;
  Span span;
  std::string hint;
};

/// Why DuckDB's parser shall not be asked about the text at all; nothing if it may be.
std::optional<Flaw> lexical_flaw(const std::string& text);

/// The queries that the parser must be asked before the functions below can answer.
std::vector<std::string> queries_for(const std::string& expression, const std::string& filter = {});

/// Nothing if `text` is exactly one expression, as it stands and in parentheses alike. Requires: no lexical flaw, and
/// the queries of queries_for() fetched.
std::optional<Flaw> expression_flaw(const parse::Trees& trees, const std::string& text);

/// What the engine knows of functions by name (lower case).
struct Functions {
  std::vector<std::string> aggregates;  // sorted
  std::vector<std::string> others;      // sorted: scalar functions alone
};
/// Asked of the engine once and remembered for the process. Threads: safe.
duck::Outcome<const Functions*> functions(duck::Connection& connection);

/// Nothing if the filter can follow the expression as FILTER and then covers all of it: the expression is one call of
/// an aggregate. A function that the engine does not know counts as one. Requires: neither part has a flaw, queries
/// fetched.
std::optional<Flaw> filter_flaw(const parse::Trees& trees, const std::string& expression, const std::string& filter,
                                const Functions& functions);

/// `expression`, or `expression FILTER (WHERE filter)`: how every reader renders a declaration.
std::string rendered(const std::string& expression, const std::string& filter);

/// One column name as an expression uses it, outside of its subqueries.
struct ColumnUse {
  std::vector<std::string> parts;
  /// In the text.
  Span span;
};
/// Requires: no flaw, queries fetched.
std::vector<ColumnUse> columns_of(const parse::Trees& trees, const std::string& text);
/// True if a window function stands in the text outside of its subqueries. Requires: as columns_of.
bool has_window(const parse::Trees& trees, const std::string& text);
/// True if a call of one of the aggregates does, as columns_of.
bool has_aggregate(const parse::Trees& trees, const std::string& text, const Functions& functions);

}  // namespace weir::metric
