// What a run did: the object that `weir run --json` prints, that the state store keeps, and that the terminal's lines
// are made of.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/audit.h"
#include "base/diagnostic.h"
#include "build/stage.h"
#include "publish/strategy.h"

namespace weir::run {

enum class Status { Materialized, Unchanged, Fresh, Skipped, Gated, Failed, Cancelled };
std::string_view name_of(Status status);
std::string_view name_of(TestSeverity severity);

struct Input {
  Asset asset;
  /// The lake version that the step read; for an input taken from a step of the same run, the version of that step's
  /// commit.
  std::int64_t version = 0;
  std::string partition;
  /// Changes of the table after this version are news to the step: the version that it read, save where its own query
  /// says AT (VERSION => n).
  std::int64_t known = 0;
};

struct StepReport {
  std::string model;
  /// URI of the target.
  std::string materialized;
  /// Name of the lake that it lies in; empty for what lies in none.
  std::string lake;
  /// The slice: a partition, or windows.
  std::string partition;
  bool is_windowed = false;
  Status status = Status::Skipped;
  /// Skipped in a way that counts as failure of the run: what was asked for could not be done.
  bool is_blocking = false;
  /// Left out because of errors in files.
  bool is_held_up = false;
  std::string reason;
  /// Partitions that were never built: the first one since start= and the one before this.
  std::optional<std::pair<std::string, std::string>> earlier;
  std::string strategy;
  std::optional<std::int64_t> rows;
  publish::Counts counts;
  std::optional<std::int64_t> snapshot_id;
  std::vector<duck::Column> output_schema;
  std::optional<build::Drift> drift;
  std::vector<audit::Verdict> tests;
  std::vector<Input> inputs;
  std::int64_t bytes = 0;
  struct {
    std::int64_t wait = 0;
    std::int64_t compute = 0;
    std::int64_t audit = 0;
    std::int64_t commit = 0;
  } ms;
  /// Filled when failed: the message that names counts only, and the diagnostics behind it.
  std::string error;
  Diagnostics errors;
  Diagnostics notes;
  /// Manual scripts: rows of the last statement as JSON, at most 1,000, and the versions their commits made.
  std::string result_json;
  std::vector<std::int64_t> versions;
  std::string started;
  std::string finished;
};

struct RunReport {
  std::string run;
  std::string environment;
  std::string status;  // done | failed | cancelled
  std::string started;
  std::string finished;
  std::vector<StepReport> steps;
  /// What the environment shows now; nothing if weir owns no model's rows.
  std::optional<std::int64_t> generation;
  /// What is to be said of the run as a whole: arguments that are NULL, for example.
  Diagnostics notes;
};

nlohmann::ordered_json to_json(const StepReport& step);
nlohmann::ordered_json to_json(const RunReport& run);
std::string to_json_text(const RunReport& run);
nlohmann::ordered_json to_json(const audit::Verdict& verdict);

/// Receives what happens while it happens. Called from one thread at a time.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void started(std::size_t /*steps*/) {}
  /// A step began; `done` may be asked for the share done until it ended.
  virtual void step_started(const std::string& /*label*/) {}
  virtual void step_ended(const StepReport& /*step*/) {}
  /// About ten times a second: labels of running steps with their share done.
  struct Running {
    std::string label;
    std::string doing;
    std::optional<double> share;
    double seconds = 0;
  };
  /// True if tick() shows shares: connections tell them at a price, see duck::Connection::tell_progress().
  virtual bool wants_shares() const { return false; }
  virtual void tick(const std::vector<Running>& /*running*/, std::size_t /*ended*/, std::size_t /*total*/) {}
  virtual void message(const std::string& /*text*/) {}
};

}  // namespace weir::run
