// Data tests: each declared test becomes a query that yields violating rows of an after-image.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "lake/lakes.h"
#include "parse/splice.h"
#include "project/project.h"

namespace weir::audit {

struct Verdict {
  std::string test;
  enum class Status { Passed, Failed, Error } status = Status::Passed;
  TestSeverity severity = TestSeverity::Error;
  std::int64_t violating = 0;
  std::int64_t tolerated = 0;
  /// JSON array of rows; empty when there is none.
  std::string sample_json;
  std::string error;  // Status::Error: what the engine said, placed
  /// The error was found before a row was read, so that its text holds none of them and may stand in messages.
  bool is_refused = false;
  std::int64_t ms = 0;

  /// Fails the step: an error, or violations beyond tolerance, at severity error.
  bool blocks() const { return severity == TestSeverity::Error && status != Status::Passed; }
};

struct AuditRequest {
  const Model& model;
  /// Relations of the after-image: the slice, and the whole table for `scope: table`.
  duck::Sql slice;
  duck::Sql table;
  /// Columns of both; the partition column is left out of samples.
  std::vector<lake::ColumnState> columns;
  /// Partition value for tokens in queries of tests; "" if unpartitioned.
  std::string partition;
  /// Where an asset is to be read (a stage, an after-image, the lake).
  std::function<Result<duck::Sql>(const Asset&)> resolve;
  /// Setup of the model for custom tests that use its aliases and temporary objects: run on the audit's connection
  /// first, if any custom test needs it.
  std::vector<parse::Spliced> setup;
  bool samples = true;
  std::vector<std::string> private_columns;
  /// Somebody asked to stop: what failed since then is the interrupt's doing, whatever it was said about.
  const std::atomic<bool>* stop = nullptr;
};

/// Runs all tests of a model, each to its end; compatible ones share one scan. `clean` holds no user macros; custom
/// tests run on connections of their own made by `connect`. Fails only if no verdict could be reached at all. One
/// verdict a test, in order of declaration.
Result<std::vector<Verdict>> audit(duck::Connection& clean, const std::function<Result<duck::Connection>()>& connect,
                                   const AuditRequest& request);

/// Nothing may be published: a test blocks, or one that is declared has no verdict.
bool stops(const std::vector<Verdict>& verdicts, const Model& model);

/// What became of the rows that were audited: they were held back, they are published, or they were there before.
enum class Audited { HeldBack, Published, AsItWas };

/// "audit failed: 2 of 5 tests on <asset> [slice]; nothing was published" and a line a test, and how many tests came
/// back if not all did; counts only, no row data.
std::string failure_message(const std::vector<Verdict>& verdicts, const Model& model, const std::string& partition,
                            Audited audited);

}  // namespace weir::audit
