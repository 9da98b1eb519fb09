// The catalogue of metrics, and queries composed from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "metric/compose.h"
#include "metric/judge.h"
#include "ops/data.h"
#include "ops/workspace.h"

namespace weir::ops {

struct MetricListRequest {
  std::string environment = "prod";
  /// Any spelling of a table, or a model.
  std::optional<std::string> table;
  /// Folder of the declaring models.
  std::optional<std::string> prefix;
  std::size_t limit = 200;
  /// Where the page before ended.
  std::string cursor;
};

struct MetricList {
  std::vector<state::MetricRecord> metrics;
  /// Empty if there are no more.
  std::string next_cursor;
};

/// One page of the catalogue. Errors: W2225 a cursor that is none, W70xx.
Result<MetricList> list_metrics(Workspace& workspace, const MetricListRequest& request);

struct MetricQueryRequest {
  std::string environment = "prod";
  std::string table;
  metric::Wanted wanted;
  std::string where;
  std::optional<std::int64_t> limit;
};

/// A complete script that attaches the lake. Errors: W2223 nothing is declared on the table, W222x what cannot be
/// chosen, W2226 the predicate.
Result<std::string> compose_metrics(Workspace& workspace, const MetricQueryRequest& request);

/// Runs the composed query, read-only; `format` and `output` of `how` as for query(). Errors: as compose_metrics and
/// query.
Result<QueryResult> query_metrics(Workspace& workspace, const MetricQueryRequest& request, const QueryRequest& how);

struct AppendedQuery {
  /// The file, relative to the project.
  std::string file;
  std::string alias;
  /// True if the file attached the lake already.
  bool is_reused = false;
  /// True if the file held a result before: now it holds two.
  bool has_two_results = false;
  std::string sql;
};

/// Appends the composed query to the file of a model, under the alias by which it attaches the lake, if it does.
/// Errors: as compose_metrics, W2010 no such file, W2227 a file that cannot be read as SQL, W9011 not writable.
Result<AppendedQuery> append_metrics(Workspace& workspace, const MetricQueryRequest& request, const std::string& model);

}  // namespace weir::ops
