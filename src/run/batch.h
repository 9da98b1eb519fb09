// Slices of one model that one query computes. Whoever comes first runs it, and each slice takes its rows from there
// instead of computing them; where it cannot be run, each computes for itself, and an error concerns its own slice.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "build/gather.h"
#include "project/model.h"
#include "run/report.h"
#include "state/store.h"

namespace weir::run {

struct Session;
struct StepWork;

class Batch {
 public:
  explicit Batch(std::vector<std::string> partitions);

  /// The query for the rows of the step's slice, its inputs noted; nothing: the slice computes for itself.
  /// Threads: safe; whoever comes second waits for the first.
  std::optional<duck::Sql> rows_of(Session& session, StepWork& work);
  /// True once the rows are there: the slices go into one commit.
  bool is_gathered() const { return is_gathered_.load(); }
  /// Drops the rows.
  void release(duck::Connection& clean);

 private:
  /// Nothing where the query does not give many partitions at once.
  Result<std::optional<build::Gathered>> gather(Session& session, const StepWork& work);

  std::mutex mutex_;
  std::vector<std::string> partitions_;
  std::map<std::string, std::size_t> places_;
  bool is_tried_ = false;
  std::optional<build::Gathered> gathered_;
  std::atomic<bool> is_gathered_{false};
  /// What the query read, which every slice of it read.
  std::vector<Input> inputs_;
  std::vector<state::InputRecord> file_inputs_;
};

}  // namespace weir::run
