// What the strategies share while they work out an effect: the target and the stage brought to one list of columns, and
// the tables and views of the memory database that hold a difference. For publish/ and deliver/.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "build/names.h"
#include "project/validity.h"
#include "publish/strategy.h"

namespace weir::publish {

/// One column of the table as it will be, and where its values come from.
struct ShapedColumn {
  lake::ColumnState state;
  /// The column in the target, if it has one now.
  std::optional<lake::ColumnState> in_target;
  /// The column of the stage, if the query returns it.
  std::optional<lake::ColumnState> in_stage;
  /// Appended by weir: the partition column, validity columns.
  bool managed = false;
};

/// Target and stage brought to one list of columns, in the physical order of the table after the write.
struct Shape {
  std::vector<ShapedColumn> columns;
  /// ALTER statements that bring the target there.
  std::vector<duck::Sql> alters;
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> retyped;
  bool renamed_case = false;

  std::vector<std::string> names() const;
};

/// The column's value in a row of the target (alias t) or of the stage (alias s), in the type it will have; NULL where
/// the row has none.
duck::Sql value_from_target(const ShapedColumn& column);
duck::Sql value_from_stage(const ShapedColumn& column);

using ValueOf = std::function<duck::Sql(const ShapedColumn&)>;
/// `value AS "name", …` for every column of the shape.
duck::Sql select_list(const std::vector<ShapedColumn>& columns, const ValueOf& value_of);

/// The columns of a key, as the stage spells them.
using Key = std::vector<ShapedColumn>;

class Draft {
 public:
  Draft(duck::Connection& clean, const PrepareRequest& request);

  /// The connection to ask on, in one read transaction that begins with the first question: most small tables ask
  /// nothing.
  Result<duck::Connection*> reading();
  /// Keeps what was made on it.
  Result<void> end_reading();

  const PrepareRequest& request;
  /// The target to build upon: nothing under `--full-refresh`.
  lake::TableState target;
  Shape shape;
  Effect effect;

  bool is_partitioned() const { return request.model.partitioning.has_value(); }
  /// The rows of the target (alias t) that the write is about: those of the partition, or of the windows that it makes
  /// exactly the result's; nothing for the whole table.
  std::optional<duck::Sql> slice_condition() const;
  /// The rows of the target (alias t) that lie in the windows of this name. Requires: a model of windows whose target
  /// exists, with its time column.
  Result<duck::Sql> in_windows_named(const std::string& windows) const;
  /// The number of the stage's piece that a row of the target (alias t) lies in. Requires: the same, and pieces.
  Result<duck::Sql> number_of_piece() const;
  /// Conditions of which each row of the target (alias t) outside of those meets exactly one. Apart, so that a reader
  /// who asks for rows of the slice alone contradicts each: the engine then leaves the target unread. Requires: a
  /// slice.
  std::vector<duck::Sql> conditions_outside() const;
  ValidityColumns validity() const { return validity_columns(request.model); }
  duck::Sql readable() const;
  duck::TableName writable() const;
  /// ` WHERE <slice_condition()>`, nothing for the whole table; `more` is a further condition, or empty.
  duck::Sql where_slice(const duck::Sql& more = {}) const;
  /// `SELECT <columns of the shape> FROM <stage> AS s`.
  duck::Sql stage_rows() const;
  duck::Sql stage_rows(const duck::Sql& source) const;
  /// MD5 over the texts of the columns that are no key, of a row of the stage (alias s).
  duck::Sql hash_of_row() const;
  /// `SELECT <columns of the shape> FROM <target> AS t`.
  duck::Sql target_rows(const duck::Sql& condition = {}) const;

  Diagnostic problem(Code code, std::string message, std::string hint = {}) const;
  void warn(Code code, std::string message, std::string hint = {});

  Result<duck::Rows> ask(const duck::Sql& sql);
  Result<std::int64_t> count(const duck::Sql& sql);
  /// Rows that the target holds of the slice. Requires: the target exists.
  Result<std::int64_t> rows_of_slice();
  /// Columns of the stage whose spelling the lake may not keep in the rows of `relation`, see build::merged_columns().
  Result<std::set<std::string>> merged_columns(const duck::Sql& relation);
  /// Makes a table of the memory database from a SELECT; returns its name. `rows` receives its count.
  Result<duck::TableName> keep(std::string_view what, const duck::Sql& select, std::int64_t* rows = nullptr);
  /// Makes a view and returns it as a relation.
  Result<duck::Sql> image(std::string_view what, const duck::Sql& select);

  /// Another asset of the lake, as the transaction sees it.
  Result<lake::TableState> observe(const Asset& asset);

  /// True if the target holds the versions of a history (past.cc), whatever the model says now.
  Result<bool> is_kept_as_history();

  /// Works out the shape (schema_change.cc). Errors: W6015, W6016, W6017, W6018, W6019, W6028, W0162, W4201.
  Result<void> take_shape();

  /// `INSERT INTO T (columns) SELECT columns FROM (rows)`.
  duck::Sql insert(const duck::Sql& rows) const;
  /// Deletes the rows whose numbers `gone` holds in its column r.
  duck::Sql remove(const duck::TableName& gone) const;
  /// The CALL that makes files of the stage the table's.
  duck::Sql add_files(const std::vector<std::string>& files) const;
  /// True if the table is, or will be, partitioned by its time column.
  bool is_partitioned_by_time() const;
  /// Row numbers are read as `rowid`. Errors: W6024 the target has a column of that name.
  Result<void> need_row_numbers() const;
  /// True if the stage's files can become the table's as they are.
  bool can_add_files() const;
  /// Statements that make the table with the shape's columns, restating what an earlier one carried (create.cc).
  std::vector<duck::Sql> create();

  /// True if the table is new and its columns have types and nothing more, so that one statement makes and fills it.
  bool is_plain_creation() const;
  /// True if the shape's columns are the stage's, by name, type and order.
  bool shows_stage_as_it_is() const;
  /// Both images are `relation` itself: a view over it would only cost its making.
  void finish_with(const duck::Sql& relation);
  /// Sets images, columns and rows of the effect.
  Result<void> finish(const duck::Sql& slice, const duck::Sql& table);
  /// A commit that changes nothing but must exist.
  duck::Sql touch() const;

 private:
  Result<void> take_windows();
  const lake::ColumnState* time_column() const { return target.column(request.model.time_column); }
  /// SQLite keeps times as texts, which say no zone.
  bool has_time_as_text() const;

  duck::Connection& clean_;
  /// Of windows, see slice_condition(); known once the shape is.
  std::optional<duck::Sql> in_windows_;
  std::vector<duck::Sql> outside_windows_;
  std::optional<duck::Transaction> transaction_;
};

// keys.cc
/// Errors: W6011.
Result<Key> key_columns(const Draft& draft, const std::vector<std::string>& names);
/// What rows are compared by: the key first, then whatever else the query returns.
std::vector<ShapedColumn> compared_columns(const Draft& draft, const Key& key);
/// `a IS NOT DISTINCT FROM b AND …` between two aliases, where the key's columns are named k0, k1, … in `right` and by
/// value in `left`.
duck::Sql key_match(const Key& key, const ValueOf& left, std::string_view right);
/// `value AS k0, value AS k1, …`.
duck::Sql key_list(const Key& key, const ValueOf& value_of);

/// The stage's rows after the duplicate policy.
struct Source {
  duck::Sql relation;
  std::int64_t rows = 0;
  std::int64_t keys = 0;
};
/// Errors: W6010.
Result<Source> without_duplicates(Draft& draft, const Key& key, Duplicates policy);

/// Expressions that are equal exactly if two values are the same to a reader: 0.0 differs from -0.0, 1 month from 30
/// days. The value itself first. `type` is the type of `value`; `by_value`: the spelling does not count.
std::vector<duck::Sql> comparable(const duck::Sql& value, const std::string& type, bool by_value);

/// Makes the table of keys (k0, k1, …) whose rows differ, as multisets over `compared`, between the source and `old`.
/// `old` is a relation whose columns c0, c1, … hold the compared columns in their order; `compared` starts with the
/// key.
Result<duck::TableName> changed_keys(Draft& draft, const Key& key, const std::vector<ShapedColumn>& compared,
                                     const Source& source, const duck::TableName& old, std::int64_t* keys);
/// The rows of `old` whose key is in `changed`: row number r and the key as k0, k1, …
duck::Sql old_rows_of(const Key& key, const duck::TableName& old, const duck::TableName& changed);
/// `value AS c0, value AS c1, …`.
duck::Sql compared_list(const std::vector<ShapedColumn>& compared, const ValueOf& value_of);

// history.cc
/// When the run's versions begin, in microseconds: after the newest begin and not before the newest end that are
/// written, since a clock that went back would make versions overlap. The draft warns where that moves the time.
std::int64_t effective_time(Draft& draft, std::optional<std::int64_t> newest_from,
                            std::optional<std::int64_t> newest_to);
/// What a change of makes a version: the key first, then what `track` names, or all; a column that is new to the table
/// counts from the next run on.
std::vector<ShapedColumn> tracked_columns(const Draft& draft, const Key& key, const Key& track);

// One function a strategy: fills draft.effect.
Result<void> prepare_replace(Draft& draft);
Result<void> prepare_append(Draft& draft);
Result<void> prepare_merge(Draft& draft);
Result<void> prepare_history(Draft& draft);

}  // namespace weir::publish
