// What DuckDB's own parser says about a user's SQL: statements, their kinds, the tables, columns and functions they
// name, each with its place in the source. Nothing here binds names or touches a lake.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/span.h"
#include "duck/database.h"

namespace weir::parse {

enum class StatementKind {
  Result,  // SELECT, WITH … SELECT, FROM-first, VALUES, TABLE x, PIVOT/UNPIVOT, a parenthesised query
  Attach,
  Install,
  Load,
  Set,  // SET, RESET, PRAGMA
  Use,
  CreateTempTable,
  CreateTempView,
  CreateTempMacro,
  Other,  // everything that only `manual` allows
};

/// A table as a statement names it: `a.s.t` gives three parts. CTE names, temporary objects and table functions are not
/// in here.
struct TableReference {
  /// The dotted name in the source, quotes included, without alias and AT clause.
  Span span;
  std::vector<std::string> parts;
  bool has_alias = false;
  /// Of the form `TABLE x`, which takes no alias and no subquery: the span holds the word TABLE too, and `FROM` takes
  /// its place.
  bool is_table_form = false;
  /// The version of `AT (VERSION => n)`, if that is a plain number.
  std::optional<std::int64_t> version;
  bool has_at = false;
  /// True inside a PIVOT statement without IN list, whose tree DuckDB does not give.
  bool opaque = false;
};

/// A column reference of three or more parts (`a.t.c`, `a.s.t.c`): its leading parts may name a lake alias and must
/// then be spliced.
struct QualifiedColumn {
  Span span;
  std::vector<std::string> parts;
};

struct FunctionCall {
  /// Lower case; with catalog and schema where written.
  std::string name;
  std::string schema;
  std::string catalog;
  bool is_table_function = false;
  Span span;
  /// Constant text arguments in order, for readers of files; nothing where an argument is not a constant text or a list
  /// of them.
  std::optional<std::vector<std::string>> files;
};

struct Statement {
  StatementKind kind = StatementKind::Other;
  /// The statement without its terminator.
  Span span;
  /// The query within it: the whole for Result, the part behind AS for CREATE TEMP TABLE/VIEW; empty otherwise.
  Span query;
  /// First words as the parser understood them, for messages ("CREATE TABLE", "INSERT").
  std::string what;
  /// DuckDB's own rendering of the query, or the whitespace-normalised text where it gives no tree; for fingerprints.
  std::string canonical;
  std::vector<TableReference> tables;
  std::vector<QualifiedColumn> columns;
  std::vector<FunctionCall> functions;
  /// Names of parameters (`$cutoff`), each with its place.
  std::vector<std::pair<std::string, Span>> parameters;

  // Parts of setup statements.
  std::string attach_uri;   // Attach
  std::string alias;        // Attach: the bound alias; Use: the target (dotted text)
  std::string object_name;  // CreateTemp…, and a lasting macro: the created name
  std::string setting;      // Set: the setting's name, lower case
  bool read_only = false;   // Attach
};

struct Script {
  std::vector<Statement> statements;
};

/// Splits and classifies `sql` (header region already blanked, so that spans are positions in the file) with the lexer
/// and DuckDB's parser. Errors: W0201 syntax error at its position; W0299 if the lexer's split and DuckDB's disagree
/// (our bug, never a wrong split). Requires: `connection` belongs to an instance with core functions and json only; no
/// extension is needed.
Result<Script> parse_script(duck::Connection& connection, std::string_view sql, const std::string& path);

class Trees;
/// The same with trees fetched before (parse/trees.h): for many files at once, fetch what queries_of() names in one go.
Result<Script> parse_script(Trees& trees, duck::Connection& connection, std::string_view sql, const std::string& path);
std::vector<std::string> queries_of(std::string_view sql);

}  // namespace weir::parse
