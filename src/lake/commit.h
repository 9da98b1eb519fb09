// The record that every commit of weir carries in the lake, and the commit itself. The lake is the ledger: from these
// records alone the state of all slices can be rebuilt. docs/formats/commit-record.md describes the JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "lake/lakes.h"

namespace weir::lake {

/// Stands for the version of the commit that carries the record, which is not known before it is made.
inline constexpr std::string_view kThisCommit = "this";

/// What one commit did for one slice of one asset.
struct CommittedStep {
  std::string asset;       // key()
  std::string model;       // path of the file
  std::string slice;       // "" for the whole table
  std::string definition;  // fingerprint
  std::string arguments_hash;
  std::string strategy;
  std::int64_t rows = 0;
  /// For example inserted, updated, deleted, unchanged.
  std::map<std::string, std::int64_t> counts;
  /// Content sums as a JSON object; empty if there are none.
  std::string content;
  std::int64_t tests_passed = 0;
  /// What the step read: asset key or file -> version or identity; kThisCommit for an asset written by the same commit.
  std::map<std::string, std::string> inputs;
  friend bool operator==(const CommittedStep&, const CommittedStep&) = default;
};

/// What a promotion shows under one view.
struct ShownView {
  std::string table;  // URI of the physical table or view
  std::string model;  // path of the file
  std::string fingerprint;
  std::string definition;
  friend bool operator==(const ShownView&, const ShownView&) = default;
};

struct CommitRecord {
  std::string weir;   // version of the program
  std::string token;  // unique; ties the commit to its run
  std::string run;
  std::string environment;
  std::vector<CommittedStep> steps;
  /// For promotions: the number of the generation, and all views of the environment by URI.
  std::int64_t generation = 0;
  std::map<std::string, ShownView> views;
  friend bool operator==(const CommitRecord&, const CommitRecord&) = default;

  std::string to_json() const;
  /// Nothing if the text is not a record of weir. Unknown keys are left out, missing ones keep their defaults: an older
  /// weir can read a newer record.
  static std::optional<CommitRecord> from_json(std::string_view text);
};

/// The author of commits: the user of the process.
std::string author();

/// Commits the transaction with the record and confirms it by its token; what DuckDB reports is not believed either
/// way. Returns the version, or nothing if DuckLake made none because nothing changed. A caller that knows of a change
/// treats nothing as a failure: after an execution error inside a transaction DuckDB reports COMMIT as done and commits
/// nothing. Requires: the lake's lock is held, `transaction` is of `writer`, `base_version` is the lake's newest
/// version before it. Failpoints: before_commit, after_commit. Errors: W6007 it did not happen (rolled back), W6008 it
/// may have happened: the lake cannot be asked.
Result<std::optional<std::int64_t>> commit(duck::Connection& writer, const Lake& lake, duck::Transaction&& transaction,
                                           const CommitRecord& record, const std::string& author,
                                           const std::string& message, std::int64_t base_version);

}  // namespace weir::lake
