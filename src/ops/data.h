// Looking at data and at what is known of it: queries, versions, the ledger.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

struct QueryRequest {
  std::string sql;
  std::optional<std::int64_t> limit;
  /// csv, json or parquet: written by DuckDB to `output` ("/dev/stdout" for standard output). arrow: written to
  /// `output`, or given to `bytes` where that is set. Empty: rows come back as text.
  std::string format;
  std::string output;
  /// The caller's: a refusal ends the query, and is the caller's to tell.
  duck::ByteSink bytes = {};
};

struct QueryResult {
  std::vector<duck::Column> columns;
  /// Rows as text; nothing for NULL. Empty when a format was asked for.
  std::vector<std::vector<std::optional<std::string>>> rows;
  /// True if more rows were there than the limit let through.
  bool is_cut = false;
};

/// Runs one read-only statement with the default lake as current catalog and every lake by its name.
/// Errors: W8010 not one SELECT, the gate's, W4001 the engine's.
Result<QueryResult> query(Workspace& workspace, const QueryRequest& request);

struct History {
  std::string asset;  // URI; empty: the whole lake
  std::vector<lake::VersionRecord> versions;
};
/// Versions of an asset (of the default lake if nothing is named), newest first.
Result<History> history(Workspace& workspace, const std::optional<std::string>& asset, std::size_t limit);

/// One slice as `weir status` shows it.
struct SliceStatus {
  std::string slice;
  /// materialized, failed, running, missing, outdated (an older definition), stale (an input changed after it in rows
  /// that it may have read, or somebody else wrote to the table); deferred (the environment has no rows of its own),
  /// gated (a delivery that it does not make).
  std::string status;
  state::SliceRecord record;
  /// Why it is stale, in words.
  std::string reason = {};
};
struct AssetStatus {
  std::string model;
  std::string asset;
  /// The file with errors, or the model through which it does so, that holds up the model; empty if none.
  std::string blocked_by = {};
  std::vector<SliceStatus> slices = {};
};
struct StatusRequest {
  /// Nothing: all models.
  std::optional<std::string> asset = {};
  /// Partitions or windows, both included; without `to` until the last one that is over.
  std::optional<std::string> from = {};
  std::optional<std::string> to = {};
  /// Missing partitions of time are listed also where neither an asset nor a range is named.
  bool gaps = false;
};
/// The ledger. Partitions of time that are over and are not in it are missing: from `from`, else from the first one
/// that is there, or `start` of the header. Those of a range or of a named asset are listed.
Result<std::vector<AssetStatus>> status(Workspace& workspace, const std::string& environment,
                                        const StatusRequest& request);

}  // namespace weir::ops
