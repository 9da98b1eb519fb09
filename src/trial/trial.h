// One unit test, run: the model's inputs as tables of a memory database, its setup and query on them, and the rows that
// came out beside those that were expected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bind/bound.h"
#include "project/unit_test.h"
#include "trial/difference.h"

namespace weir::trial {

struct Outcome {
  /// The file's path below its root without extension.
  std::string test;
  std::string model;
  enum class Status { Passed, Failed, Error } status = Status::Passed;
  /// The columns that were compared: those that some expected row names.
  std::vector<std::string> columns;
  std::vector<RowDifference> differences;
  std::size_t expected_rows = 0;
  std::size_t actual_rows = 0;
  /// Status::Error: why nothing could be compared. Status::Failed: W2417, at the expected rows.
  Diagnostics problems;
  std::int64_t ms = 0;
};

/// `bound` tells the columns of what the model reads. Errors are in the outcome: what is wrong in the test, at its line
/// there; what the engine says of the model, at its line.
Outcome run_unit_test(const UnitTest& test, const Project& project, const Graph& graph, const bind::Bound& bound);

/// The model that a test names. Errors: W2010, W2011, at the test's line; W2418 a model without a query.
Result<const Model*> model_of(const UnitTest& test, const Project& project);

}  // namespace weir::trial
