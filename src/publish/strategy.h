// From a stage to a commit: what publishing will change (the effect, with its after-image), and the statements that do
// it. One file per strategy; each prepares against one version of the target and can be prepared again when somebody
// else wrote meanwhile.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/stage.h"
#include "duck/database.h"
#include "lake/lakes.h"
#include "project/model.h"

namespace weir::publish {

struct Counts {
  std::optional<std::int64_t> inserted;
  std::optional<std::int64_t> updated;
  std::optional<std::int64_t> deleted;
  std::optional<std::int64_t> closed;
  std::optional<std::int64_t> unchanged;
};

struct PrepareRequest {
  const Model& model;
  const build::Stage& stage;
  const lake::Lake& lake;
  /// The target at the version that `clean`'s transaction reads.
  lake::TableState target;
  /// Content recorded for the slice at the target's current version; nothing if unknown or unproven.
  std::optional<build::Content> recorded;
  /// Effective time of the run for history: UTC microseconds since the epoch.
  std::int64_t effective_micros = 0;
  bool always_commit = false;
  /// `--full-refresh`: the target is made anew from this stage alone, whatever it holds; comments and the like are
  /// kept.
  bool rebuild = false;
  /// The text of a view, which names what it reads as every reader of the lake does.
  std::string view_sql = {};
  /// The view that is there has that text.
  bool is_view_current = false;
  /// Values may appear in messages, except those of private columns.
  bool samples = true;
  std::vector<std::string> private_columns = {};
  /// Names the delta tables: unique per step in the instance.
  std::string prefix;
  /// A target that is no table of a lake but one of an attached database, which keeps what it has: never dropped, no
  /// column of it either.
  std::optional<duck::TableName> attached = {};
};

/// What publishing a stage does to its target.
struct Effect {
  /// False: the strategy found no difference; no commit, status `unchanged`.
  bool changes = true;
  Counts counts;
  /// Rows of the slice after the write.
  std::int64_t rows = 0;
  /// SELECT-able relations of the memory database, valid while the target stays at the version prepared against:
  /// what this run is responsible for (the partition as it will be; current rows of a history; else the whole table) …
  duck::Sql slice_image;
  /// … and the whole table as it will be, partition column included.
  duck::Sql table_image;
  /// Columns of table_image in physical order.
  std::vector<lake::ColumnState> columns;
  /// Content of the slice after the write, for the ledger and the commit record (replace only).
  std::optional<build::Content> content;
  /// Duplicate keys kept, the clock went back, …
  Diagnostics warnings;
  /// What write() runs, in order; `keeping`, where there is any, instead when the commit holds this step alone: it
  /// keeps the table (its id, change feed, comments) and costs more in a large group.
  std::vector<duck::Sql> statements;
  std::vector<duck::Sql> keeping;
  /// How many of the first statements give the table its shape: they make it, or alter it.
  std::size_t shaping = 0;
  /// The target's schema may have to be made first.
  bool needs_schema = false;
  /// True if the write makes the stage's files the table's own: then build::discard keeps them.
  bool takes_files = false;
  /// Those of them that it leaves out, because their rows are in the table already.
  std::vector<std::string> files_left = {};
  /// Objects of the memory database to drop afterwards.
  std::vector<duck::TableName> scratch_tables;
  std::vector<duck::TableName> scratch_views;
  /// The version of the target that this was prepared against.
  std::int64_t target_version = 0;
};

/// Computes the effect on a clean connection (no user macros), in a read transaction that begins with the first
/// question (a target that moved on since it was observed is found out before the commit). The deltas and images are
/// made in that transaction: other connections, the writer's among them, see them afterwards. Requires: no transaction
/// is open. Errors: W6010 duplicate keys under `fail` or a tie under first/last (with a sample), W6011 a key column
/// that the query does not return, W6012 history columns projected, W6013 history schema frozen, W6014 `<t>_current` is
/// a table, W6015 the target is a view, W6016 partitioned or not, unlike the model, W6017 NULL for a NOT NULL column,
/// W6018 the target is no history, W6028 it is one and the model is none, W6019 a column's type changed meanwhile,
/// W6020 the engine failed, W6024 a column `rowid`, W4201 drift under on_schema_change=fail.
Result<Effect> prepare(duck::Connection& clean, const PrepareRequest& request);

/// Statements that make an empty table with the columns, partitioning, order and comments of `like`.
std::vector<duck::Sql> make_like(const duck::TableName& table, const lake::TableState& like);

/// True if effects on two slices of one table can stand in one commit: beside rows of its own slice, each does nothing
/// but give the table the same shape.
bool can_share_commit(const Effect& one, const Effect& other);

/// What the steps of one commit share.
struct CommitGroup {
  /// It holds one step only: then keeping the table is cheap; in a large group recreating is.
  bool alone = false;
  /// Schemas made so far.
  std::set<std::string> schemas = {};
  /// Keys of tables that have their shape already, by another slice of this commit or of an earlier one.
  std::set<std::string> shaped = {};
};

/// Writes the effect. Requires: `writer` is inside a write transaction on the lake, under its lock, and the target is
/// at effect.target_version. Errors: W6020 the engine failed; the caller rolls back.
Result<void> write(duck::Connection& writer, const PrepareRequest& request, const Effect& effect, CommitGroup& group);

void discard(duck::Connection& clean, const Effect& effect);

}  // namespace weir::publish
