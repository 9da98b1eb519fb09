// The state store: runs, steps, slices, schemas, leases. What it holds about data can be rebuilt from the lakes.
// SQLite (WAL) or PostgreSQL behind one code path (SOCI). All times are ISO 8601 UTC text with microseconds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/cascade.h"
#include "state/deployment.h"
#include "state/environment.h"

namespace weir::state {

struct RunRecord {
  std::string run;  // sortable id, see new_run_id()
  std::string environment;
  std::string status;  // running | done | failed | cancelled
  std::string started;
  std::string finished;
  std::string command;
  std::string host;
  std::int64_t pid = 0;
  /// The whole result object of interfaces.md 3 once finished.
  std::string result_json;
  /// Models that the run found fresh; only written.
  std::vector<std::string> verified;
};

struct InputRecord {
  std::string asset;    // key(), or "file:<path>"
  std::string version;  // lake version, or file identity (size-mtime-inode)
};

/// The ledger: what one slice of one asset holds. Slice "" is the whole table.
struct SliceRecord {
  std::string environment;
  std::string asset;
  std::string slice;
  std::string status;  // running | materialized | failed
  std::string fingerprint;
  std::string arguments_hash;
  std::string run;
  std::string model;
  std::optional<std::int64_t> snapshot_id;
  std::optional<std::int64_t> rows;
  std::string updated;
  std::string error;
  std::int64_t tests_passed = 0;
  std::vector<InputRecord> inputs;
  /// content sums as JSON, see build/stage.h
  std::string content;
};

struct StepRecord {
  std::string run;
  std::string model;
  std::string asset;
  std::string slice;
  std::string status;
  std::string token;
  std::string started;
  std::string finished;
  /// The step's object of the run result.
  std::string result_json;
};

struct SchemaRecord {
  std::string environment;
  std::string asset;
  std::int64_t version = 0;
  std::string columns_json;  // [{"name":…,"type":…}] in physical order, partition column left out
  std::optional<std::int64_t> snapshot_id;
  std::string run;
  std::string captured;
};

struct TestRecord {
  std::string run;
  std::string model;
  std::string asset;
  std::string slice;
  std::string test;
  std::string status;
  std::string severity;
  std::int64_t violating = 0;
  std::string sample_json;
  std::int64_t ms = 0;
  std::string at;
};

struct Lease {
  std::string asset;
  std::string slice;
  std::string run;
  std::string host;
  std::int64_t pid = 0;
  /// Grows with every claim of this slice; a write with an older number is refused.
  std::int64_t fence = 0;
  std::string heartbeat;
};

/// One connection to the store. Threads: safe (calls are serialised inside).
class Store {
 public:
  virtual ~Store() = default;

  // Runs and steps.
  virtual Result<void> put_run(const RunRecord& run) = 0;
  virtual Result<std::optional<RunRecord>> run(const std::string& id) = 0;
  /// Newest first.
  virtual Result<std::vector<RunRecord>> runs(std::size_t limit) = 0;
  /// Runs with status `running`.
  virtual Result<std::vector<RunRecord>> open_runs() = 0;

  /// Writes the outcome of many steps in one transaction: steps, slices, schema versions (a new one only when the
  /// ordered columns differ), tests. A slice that is recorded as running or failed keeps what describes its content
  /// (fingerprint, arguments, snapshot, rows, inputs, content, tests passed) from the version that is still readable;
  /// only status, run, model, time and error change. Recording twice changes nothing.
  struct Outcome {
    std::vector<StepRecord> steps;
    std::vector<SliceRecord> slices;
    std::vector<SchemaRecord> schemas;  // version is chosen by the store
    std::vector<TestRecord> tests;
    std::vector<OwnedRecord> owned;  // those that are not known yet
  };
  virtual Result<void> record(const Outcome& outcome) = 0;
  virtual Result<std::vector<StepRecord>> steps(const std::string& run) = 0;

  /// The last success of a model: a step that ended materialized, unchanged or fresh.
  struct Success {
    std::string started;   // of its run
    std::string finished;  // of the step, the last one of the model
  };
  /// By model, of runs of an environment that began up to `until`. What a rebuilt state knows is the ledger alone.
  virtual Result<std::map<std::string, Success>> successes(const std::string& environment,
                                                           const std::string& until) = 0;

  // Ledger.
  /// All slices of an environment, or of one asset; sorted by asset and slice.
  virtual Result<std::vector<SliceRecord>> slices(const std::string& environment,
                                                  const std::optional<std::string>& asset) = 0;
  virtual Result<std::vector<SchemaRecord>> schemas(const std::string& environment, const std::string& asset) = 0;
  /// The newest version of every asset's columns.
  virtual Result<std::vector<SchemaRecord>> latest_schemas(const std::string& environment) = 0;
  virtual Result<std::vector<TestRecord>> tests(const std::string& asset, std::size_t limit) = 0;

  // Cascades, see state/cascade.h.
  /// Opens a run that starts others, and marks the dispatches that it is to build as running, in one transaction: those
  /// of `wanted` that are still pending come back. If none is, of several that were wanted, nothing is opened.
  virtual Result<std::vector<DispatchRecord>> open_cascade(const CascadeRun& run,
                                                           const std::vector<DispatchRecord>& wanted) = 0;
  /// Decides what a run that has ended starts, once: does nothing if that was decided. `decide` may be called again
  /// after a lost connection.
  virtual Result<void> decide_cascade(const std::string& run, const Decide& decide) = 0;
  /// Of an environment, oldest first: whether they have ended is the caller's to see.
  virtual Result<std::vector<CascadeRun>> undecided_cascades(const std::string& environment) = 0;
  /// Newest run first.
  virtual Result<std::vector<DispatchRecord>> dispatches(const DispatchQuery& query) = 0;

  // Deployments.
  /// Records what differs, in one transaction: each changed model wholesale with its edges and metrics. Writes nothing,
  /// not even the deployment itself, if nothing differs.
  virtual Result<DeploymentChanges> deploy(const Deployment& deployment) = 0;
  /// What deploy() would change; touches nothing.
  virtual Result<DeploymentChanges> compare(const Deployment& deployment) = 0;
  /// The models of an environment as deployed, by path; without source, edges and metrics.
  virtual Result<std::vector<DeployedModel>> deployed(const std::string& environment) = 0;
  /// Path and digest of those of the named models that are deployed.
  virtual Result<std::vector<std::pair<std::string, std::string>>> deployed_digests(
      const std::string& environment, const std::vector<std::string>& models) = 0;
  /// Paths of models that environments it comes from have, and that were taken out of this one.
  virtual Result<std::vector<std::string>> taken_out(const std::string& environment) = 0;
  /// All edges of an environment: model and edge, sorted.
  virtual Result<std::vector<std::pair<std::string, EdgeRecord>>> edges(const std::string& environment) = 0;
  /// Newest first.
  virtual Result<std::vector<DeploymentRecord>> deployments(const std::string& environment, std::size_t limit) = 0;
  virtual Result<std::vector<DeployedLibrary>> libraries(const std::string& environment) = 0;
  /// The texts of the files that were deployed, models and macro libraries, by path of the file.
  virtual Result<std::map<std::string, std::string>> deployed_texts(const std::string& environment) = 0;
  virtual Result<MetricPage> metrics(const MetricQuery& query) = 0;

  // Environments.
  /// Those that were created, by name.
  virtual Result<std::vector<EnvironmentRecord>> environments() = 0;
  /// Errors: W5403 one of that name is there.
  virtual Result<void> create_environment(const EnvironmentRecord& environment) = 0;
  /// Forgets an environment: its entry, its generations, deployments and ledger, and how far `lakes` were reconciled.
  /// The ledger of owned tables stays, as another environment may show them. Forgetting twice changes nothing.
  virtual Result<void> drop_environment(const std::string& environment, const std::vector<std::string>& lakes) = 0;

  // What environments show.
  /// Generations of an environment, newest first.
  virtual Result<std::vector<PromotionRecord>> promotions(const std::string& environment, std::size_t limit) = 0;
  virtual Result<std::optional<PromotionRecord>> promotion(const std::string& environment, std::int64_t generation) = 0;
  /// The newest generation of every environment that has one.
  virtual Result<std::vector<PromotionRecord>> newest_promotions() = 0;
  /// Adds a generation, and notes since when tables are shown no more. Doing it twice changes nothing. Errors: W5412
  /// the generation is another promotion's.
  virtual Result<void> promote(const PromotionRecord& promotion) = 0;
  /// Remembers what definitions were made of. One that is known stays as it is.
  virtual Result<void> remember(const std::vector<DefinitionRecord>& definitions) = 0;
  /// Those that are known of these (path of the model, fingerprint).
  virtual Result<std::vector<DefinitionRecord>> definitions(
      const std::vector<std::pair<std::string, std::string>>& wanted) = 0;
  /// Forgets every generation of an environment that is dropped.
  virtual Result<void> forget_environment(const std::string& environment) = 0;
  /// All physical tables and views that weir owns, by key.
  virtual Result<std::vector<OwnedRecord>> owned() = 0;
  /// Forgets tables that were removed, with their slices and schemas, in every environment.
  virtual Result<void> forget_owned(const std::vector<std::string>& assets) = 0;

  // Reconciliation with the lakes' commit records.
  virtual Result<std::int64_t> reconciled_version(const std::string& lake) = 0;  // 0: never
  virtual Result<void> set_reconciled_version(const std::string& lake, std::int64_t version) = 0;

  // Care of the lakes.
  /// A version of a lake that something this store holds points at, and why it must stay.
  struct NeededVersion {
    std::int64_t version = 0;
    std::string reason;
  };
  /// All of them, of every environment: versions that carry the commit records of what slices hold now, from which the
  /// ledger is made anew, and those of the newest five generations. What pins a version adds itself here.
  virtual Result<std::vector<NeededVersion>> needed_versions(const std::string& lake) = 0;

  // Leases.
  /// Claims many slices at once, all or none. Returns the leases with their fencing numbers, in order.
  /// A slice whose holder is in `dead_runs` or whose heartbeat is older than 30 s (other host) is taken over.
  /// Errors: W6101 held by a live run (names it, its host and since when).
  virtual Result<std::vector<Lease>> claim(const std::vector<Lease>& wanted,
                                           const std::vector<std::string>& dead_runs) = 0;
  /// Errors: W6102 the lease was taken over: the write must not happen.
  virtual Result<void> check(const std::vector<Lease>& held) = 0;
  virtual Result<void> heartbeat(const std::string& run) = 0;
  virtual Result<void> release(const std::string& run) = 0;
  virtual Result<std::vector<Lease>> leases() = 0;
  /// Now by the clock of the leases: the PostgreSQL server's, which all hosts share, or this machine's. For dead_runs()
  /// in state/liveness.h.
  virtual Result<std::string> lease_time() = 0;

  /// Forgets slices, schemas and reconciled versions (before `weir state rebuild`).
  virtual Result<void> clear_ledger() = 0;
  virtual std::string describe() const = 0;  // for doctor, without password
  virtual Result<int> schema_version() = 0;
};

/// Opens the store and migrates it. `target` is a file path or a libpq connection string; `schema` names the PostgreSQL
/// schema to use. Errors: W7001 cannot be opened or written, W7002 made by a newer weir, W7003 not a database. All
/// calls of a Store: W7004 the database refused or failed, W7005 held by another process for 10 s.
Result<std::unique_ptr<Store>> open_store(bool postgres, const std::string& target, const std::string& shown,
                                          const std::string& schema = "weir");

/// A new id: time-sortable, 26 characters of Crockford base 32 (ULID layout), unique across hosts.
std::string new_run_id();
/// Now, as the store writes it (io/clock.h, so WEIR_NOW counts).
std::string now_text();
/// The machine's own time in the same form: leases go by it, as a clock that stands still must not keep them alive.
std::string machine_time_text();
/// The identity of this host for leases: WEIR_HOST, or /etc/machine-id with the host name.
std::string host_identity();

}  // namespace weir::state
