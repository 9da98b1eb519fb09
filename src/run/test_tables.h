// `weir test`: the data tests of published tables, again, without building anything.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/placement.h"
#include "lake/lakes.h"
#include "project/project.h"
#include "run/report.h"
#include "state/store.h"

namespace weir::run {

struct TestedTable {
  std::string model;
  std::string asset;
  std::string partition;
  std::vector<audit::Verdict> verdicts;
  /// Why it was not tested; empty when it was.
  std::string skipped;
};

/// Rows that a model's tests are asked of.
struct TestedRelation {
  /// What a run of the model is responsible for (current rows of a history, a partition, else the whole table) …
  duck::Sql slice;
  /// … and the whole table.
  duck::Sql table;
  std::vector<lake::ColumnState> columns;
  std::string partition;
};
/// One verdict a test; all other assets are read as the lakes hold them now.
Result<std::vector<audit::Verdict>> test_relation(const Project& project, const env::Placed& placed, const Model& model,
                                                  lake::Lakes& lakes, duck::Connection& connection,
                                                  const TestedRelation& tested);

/// Runs the tests of the selected models on what is published, or was delivered last into a database, records the
/// outcomes as those of a run of `environment`, and returns them in the graph's order. A partitioned model is tested on
/// `partition`, or as a whole table without one.
Result<std::vector<TestedTable>> test_tables(const Project& project, const env::Placed& placed,
                                             const std::set<std::string>& selected, lake::Lakes& lakes,
                                             state::Store& store, const std::string& environment,
                                             const std::optional<std::string>& partition);

}  // namespace weir::run
