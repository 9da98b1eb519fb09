// Computing one slice: the model's query runs once, its types pass the gate and are brought to the target's, and its
// rows lie in a stage that nobody sees: a table of the memory database, or Parquet files already in the target's
// folder.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/holder.h"
#include "duck/database.h"
#include "lake/lakes.h"
#include "parse/splice.h"
#include "project/macro_place.h"
#include "project/model.h"
#include "project/window_rows.h"

namespace weir::build {

/// What the rows of a slice add up to, so that "nothing changed" can be decided without reading the table.
struct Content {
  std::int64_t rows = 0;
  /// Column name -> NULLs, and text of minimum and maximum where the type has an order.
  struct ColumnSums {
    std::int64_t nulls = 0;
    std::optional<std::string> minimum;
    std::optional<std::string> maximum;
    friend bool operator==(const ColumnSums&, const ColumnSums&) = default;
  };
  std::map<std::string, ColumnSums> columns;
  /// sum(h) and sum(hash(h)) over row hashes, as decimal text; empty until asked for.
  std::string sum;
  std::string sum_of_hashes;
  friend bool operator==(const Content&, const Content&) = default;
};
std::string to_json(const Content& content);
std::optional<Content> content_from_json(const std::string& text);

/// Ordered comparison of a query's columns with a table's (writing.md 8).
struct Drift {
  std::vector<lake::ColumnState> added;
  std::vector<lake::ColumnState> removed;
  struct Retyped {
    std::string name;
    std::string from;
    std::string to;
    bool widening = false;  // lossless: the table's column takes the new type
  };
  std::vector<Retyped> retyped;
  bool reordered = false;
  std::vector<std::pair<std::string, std::string>> renamed_case;
  /// One removed and one added of the same type: likely a rename, from -> to.
  std::optional<std::pair<std::string, std::string>> likely_rename;
  bool any() const {
    return !added.empty() || !removed.empty() || !retyped.empty() || reordered || !renamed_case.empty();
  }
};

struct StageRequest {
  const Model& model;
  /// "" for the whole table.
  std::string partition;
  /// Of a model written by windows, those of this slice: of the query's rows only theirs are taken.
  std::string windows;
  /// Names the stage's table and files: `weir-<run>-<step>`.
  std::string run;
  std::size_t step = 0;
  /// Setup statements with references and tokens spliced, in order; then the result query.
  std::vector<parse::Spliced> setup;
  parse::Spliced query;
  /// The target as the transaction sees it (exists == false on a first build).
  lake::TableState target;
  /// The target's lake; where it has none, any lake of the instance.
  const lake::Lake& lake;
  Holder holder = Holder::Lake;
  /// Rows of the slice when it was last built; decides memory or Parquet together with DuckDB's estimate.
  std::optional<std::int64_t> earlier_rows;
  /// Between which times the rows of its windows lie, as texts, where that is known before they are computed: it
  /// decides which of them share a file, never which are taken.
  std::optional<std::pair<std::string, std::string>> times = {};
  /// Rows that no stage which the query reads exceeds; nothing if it reads a table whose rows are not known.
  std::optional<std::int64_t> largest_stage = {};
  /// The query is bound and judged, and no row is computed: a view has none of its own.
  bool without_rows = false;
  /// Whole-table replace follows the query: no alignment to the target's types beyond the gate.
  bool follows_query = false;
  /// Folders that readers and COPY may touch; empty: project folder only is not enforced.
  std::string scratch_folder;
  /// Values may appear in messages, except those of private columns (weir.yaml).
  bool samples = true;
  std::vector<std::string> private_columns;
};

/// Some windows of a stage, whose rows lie in files of their own.
struct Piece {
  /// Their names; together those of all pieces are the stage's.
  std::string windows;
  std::int64_t rows = 0;
  std::vector<std::string> files = {};
};

struct Stage {
  /// SELECT-able: `FROM <relation>`; columns as `columns`, with the partition column last when the slice is a
  /// partition.
  duck::Sql relation;
  /// Name of the table or view of the memory database behind `relation`.
  duck::TableName table;
  std::vector<lake::ColumnState> columns;  // without the partition column
  std::string partition;
  std::string windows;
  Content content;
  /// Parquet files in the target's folder, ready for add_data_files; empty: rows are in memory.
  std::vector<std::string> files;
  /// The same files by windows; empty where one file may hold rows of all of them.
  std::vector<Piece> pieces;
  /// Where the pieces are cut, see pieces_of().
  std::vector<calendar::Wall> cuts;
  /// The column whose every value has a folder of its own, as a lake's partitioning has it; empty: none.
  std::string folders_of;
  Drift drift;
  /// HUGEINT brought to DECIMAL(38,0), unnamed columns, kept columns …
  Diagnostics notes;
  std::int64_t bytes = 0;
};

/// Runs setup and query on `connection` (the step's own, inside its read transaction) and leaves the stage.
/// Errors: W4001 the engine refused or failed (placed on the user's line), W4002 out of memory (names the setting),
/// W4003 refused function in the bound plan, W41xx a type that a lake cannot hold (column, cast to use), W4201 drift
/// under on_schema_change=fail, W4202 values that do not survive the cast to the target's type (with a sample), W4203
/// NULL in a NOT NULL column, W4104 duplicate column names, W4105 reserved column, W0162 no column that
/// places rows in windows.
Result<Stage> compute(duck::Connection& connection, const StageRequest& request);

/// Columns in which `relation` holds equal values of several spellings: 0.0 and -0.0, 30 days and 1 month. A file of
/// the lake keeps one spelling for all of them (measured: Parquet's dictionary takes equal values for one), so a table
/// that holds these very rows may spell them otherwise.
Result<std::set<std::string>> merged_columns(duck::Connection& clean, const duck::Sql& relation,
                                             const std::vector<lake::ColumnState>& columns);

/// The rows of some of the stage's files, as the stage has them.
duck::Sql rows_of_files(const Stage& stage, const std::vector<std::string>& files);

/// Fills sum and sum_of_hashes. Columns of `by_value` are hashed without their spelling. Runs on a clean connection, so
/// that no user macro can shadow an aggregate.
Result<void> add_hashes(duck::Connection& clean, Stage& stage, const std::set<std::string>& by_value = {});

/// Drops the stage's table and removes its files if they were not published.
void discard(duck::Connection& clean, const Stage& stage, bool published);

/// Compares a query's columns with a table's. Pure.
Drift compare_columns(const std::vector<lake::ColumnState>& table, const std::vector<duck::Column>& query);
/// True if every value of `from` is exactly a value of `to` and DuckLake can alter the column so. Pure.
bool is_lossless_widening(const std::string& from, const std::string& to);

/// Places a DuckDB failure on the user's text through the splice map.
Diagnostic explain(const duck::Failure& failure, const Model& model, const parse::Spliced& sql);
/// The same for a statement that was sent behind `before` bytes of ours, and may call macros that were made apart: a
/// fault within one of those lies in its file.
Diagnostic explain(const duck::Failure& failure, const Model& model, const parse::Spliced& sql, std::size_t before,
                   const MacroPlaces& macros);

}  // namespace weir::build
