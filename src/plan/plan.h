// What a run will do and why: a pure function of the graph, the world and the options. Reads no clock and does no I/O;
// the same value is explained by --dry-run and executed by run/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "calendar/partition.h"
#include "graph/graph.h"
#include "project/model.h"
#include "state/store.h"

namespace weir::plan {

/// What the lakes, the files and the ledger held when the run began.
struct World {
  struct LakeView {
    std::int64_t newest = 0;
    /// Asset key -> newest version that changed it, among versions after `since`.
    std::map<std::string, std::int64_t> changed;
    /// The same for versions that others made.
    std::map<std::string, std::int64_t> foreign;
    /// Asset key of each table that lives now -> the version that made it.
    std::map<std::string, std::int64_t> made;
    std::int64_t since = 0;
  };
  /// Lake name in lower case -> what it holds.
  std::map<std::string, LakeView> lakes;
  /// (asset key, slice) -> ledger row of the environment.
  std::map<std::pair<std::string, std::string>, state::SliceRecord> slices;
  /// File name or glob as the model writes it -> identity; nothing for one that cannot be told (remote, missing).
  std::map<std::string, std::optional<std::string>> files;

  /// Keys of files that models write and that are not there.
  std::set<std::string> gone;

  const state::SliceRecord* slice(const std::string& asset, const std::string& slice_name) const;
};

/// The partition that a run writes, or why it writes none.
struct PartitionValue {
  std::string value;
  /// Set: the model is skipped, with these words.
  std::string skipped;
  /// The first partition since start= and the one before `value`, where the clock chose `value` and they lie before it.
  std::optional<std::pair<std::string, std::string>> earlier = {};
};

/// The slices of one model that a backfill asks for: partitions or windows.
struct SliceRange {
  std::string from;
  std::string to;
  /// Of partitions, these and no range.
  std::vector<std::string> values = {};
  /// Those that are there too: `weir restate`, `weir backfill --all`.
  bool all = false;
  /// Those of an older definition too.
  bool outdated = false;
  /// And these, whose inputs changed since in rows that they may have read.
  std::set<std::string> stale = {};
  /// Why, in words, where there is more to say than that they are missing or asked for.
  std::string reason = {};
};

struct Options {
  bool force = false;
  bool full_refresh = false;
  /// Argument values per model path and for all ("" as path).
  std::map<std::string, std::map<std::string, std::string>> arguments;
  /// Partitioned models of the selection, by path.
  std::map<std::string, PartitionValue> partitions;
  /// What stands for now: windows that are not over by then are not there yet.
  calendar::Instant at;
  /// The slices that the run builds of these models, by path; others build what is due.
  std::map<std::string, SliceRange> ranges;
  /// Models that build the same partitions, or the buckets around them, as the models that they read and that stand in
  /// `ranges`, or follow themselves.
  std::set<std::string> following;
  /// Slices of a model are built one after another, in their order.
  bool one_by_one = false;
  std::string environment = "prod";
  /// What the tests of each model say, by path, see test_fingerprints().
  std::map<std::string, std::string> tests;
};

/// Gated: a delivery that does not leave in this environment.
enum class Action { Build, Fresh, Skip, Gated };

struct Step {
  std::size_t id = 0;
  const Model* model = nullptr;
  /// "" for the whole table; of windows their names, see calendar::Windows.
  std::string slice;
  /// The slice of the ledger whose definition, arguments and inputs say whether anything changed: its own; of windows
  /// the last one that holds them all.
  std::string basis;
  /// Why it must be built whatever the ledger says of its basis; empty: that decides.
  std::string due;
  /// Of windows: the time that stands for now, ISO 8601.
  std::string at;
  Action action = Action::Build;
  /// In words, always.
  std::string reason;
  /// The slice did not pass the model's tests as they are now: they changed, or the run died before its audit. Where
  /// nothing is to be built, the table is audited as it is.
  bool needs_audit = false;
  /// The first partition since start= and the last one before this, where that first one was never built.
  std::optional<std::pair<std::string, std::string>> earlier;
  /// What the tests say; empty without tests.
  std::string tests;
  /// Keys of the tables of lakes that its statements read.
  std::vector<std::string> tables;
  /// Steps of this plan whose output it reads, ascending.
  std::vector<std::size_t> reads;
  /// One of several slices of its model in this plan.
  bool has_siblings = false;
  /// The sibling that must have ended before.
  std::optional<std::size_t> after;
  std::string fingerprint;
  std::string arguments_hash;
  /// Argument values with defaults applied; a missing one is absent (NULL).
  std::map<std::string, std::string> arguments;
};

struct Plan {
  /// Producers first.
  std::vector<Step> steps;
  /// Asset key (also of `<t>_current`) -> step that produces it; of several slices the first one.
  std::map<std::string, std::size_t> producers;
  /// Asset key of an input -> key of the asset whose changes count for it (a `_current` view shows its history's rows).
  std::map<std::string, std::string> change_keys;
  /// Partitions of a backfill that are left as they are, and those that have not begun, of all its models.
  std::size_t kept = 0;
  std::size_t to_come = 0;
};

/// Plans the selected models in the graph's order.
/// Errors: W8004 an argument that no selected model declares.
Result<Plan> make_plan(const Graph& graph, const std::set<std::string>& selected,
                       const std::map<std::string, std::string>& fingerprints, const World& world,
                       const Options& options);

/// Whether a lake still holds what the ledger says of a slice.
struct Proof {
  enum class Kind { Holds, Gone, Foreign };
  Kind kind = Kind::Holds;
  /// In words, unless it holds.
  std::string reason;
};
/// Gone: the table was dropped, or made anew after the slice was written. Foreign: somebody else wrote to the table
/// since.
Proof proof_of(const state::SliceRecord& record, const Asset& target, const World& world);

/// Stands among the inputs of a slice whose content passed its model's tests; its version is what they said.
inline constexpr std::string_view kTestsInput = "tests:";
/// Stands among the inputs of windows; its version is the time that stood for now when they were computed.
inline constexpr std::string_view kTimeInput = "time:";

/// Why the step must be built, or nothing if nothing that it depends on can have changed. Inputs produced by steps of
/// the plan are judged by `ended`: step id -> the version its output has after ending unchanged or fresh; a producer
/// missing there may change its output.
std::optional<std::string> reason_to_build(const Step& step, const Plan& plan, const World& world, bool force,
                                           const std::map<std::size_t, std::int64_t>& ended);

}  // namespace weir::plan
