#include "ops/maintain.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "base/failpoint.h"
#include "calendar/partition.h"
#include "run/recovery.h"
#include "state/liveness.h"
#include "text/suggest.h"

namespace weir::ops {
namespace {

/// As many as `weir gc` keeps tables of.
constexpr std::size_t kGenerationsKept = 5;

constexpr lake::Micros kSecond = 1'000'000;

/// Runs that live, and when the first of them began.
struct LiveRuns {
  std::set<std::string> runs;
  std::optional<lake::Micros> since;
};

/// The machine's own time: versions and files carry it, whatever stands for now elsewhere.
lake::Micros machine_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<LiveRuns> live_runs(const Project& project, state::Store& store) {
  LiveRuns live;
  WEIR_TRY(const std::vector<state::RunRecord> open, store.open_runs());
  for (const state::RunRecord& run : open) {
    live.runs.insert(run.run);
    // A second earlier: the file system's clock may lag behind.
    const lake::Micros began = (state::began(run::locks_folder(project), run.run, run.started) - 1) * kSecond;
    live.since = std::min(live.since.value_or(began), began);
  }
  return live;
}

class Maintenance {
 public:
  Maintenance(const Project& project, state::Store& store, const lake::Lake& lake, duck::Connection& connection,
              const MaintainRequest& request, std::int64_t grace, run::Listener& listener,
              const std::atomic<bool>& stop)
      : project_(project),
        store_(store),
        lake_(lake),
        connection_(connection),
        request_(request),
        grace_(grace),
        listener_(listener),
        stop_(stop) {}

  Result<MaintainedLake> run() {
    done_.lake = lake_.name();
    done_.retention = lake_.config().retention;
    if (!lake_.exists()) return std::move(done_);
    WEIR_CHECK(locked([this]() { return expire(); }));
    failpoint("maintain_expired");
    WEIR_CHECK(locked([this]() { return compact(lake::Compaction::Merge, done_.merged); }));
    failpoint("maintain_merged");
    WEIR_CHECK(locked([this]() { return compact(lake::Compaction::Rewrite, done_.rewritten); }));
    failpoint("maintain_rewritten");
    WEIR_CHECK(locked([this]() { return remove_files(); }));
    return std::move(done_);
  }

 private:
  template <class Work>
  Result<void> locked(const Work& work) {
    if (stop_.load()) return fail(Diagnostic{.code = Code::W7010, .message = "maintenance was interrupted"});
    if (request_.dry_run) return work();
    WEIR_TRY(const auto lock, lake_.lock(stop_));
    return work();
  }

  /// What must stay, asked of everyone who may need a version.
  Result<lake::NeededVersions> needed_versions() {
    WEIR_TRY(lake::NeededVersions needed, lake::versions_that_tell(connection_, lake_));
    WEIR_TRY(const auto of_state, store_.needed_versions(lake_.name()));
    for (const state::Store::NeededVersion& one : of_state) needed.emplace(one.version, one.reason);
    WEIR_CHECK(add_generations(needed));
    WEIR_TRY(const LiveRuns live, live_runs(project_, store_));
    if (live.since) {
      WEIR_TRY(lake::NeededVersions read,
               lake::versions_since(connection_, lake_, *live.since, "a run that is at work may read it"));
      needed.merge(read);
    }
    return needed;
  }

  /// The versions at which environments came to show what `weir rollback` can show again.
  Result<void> add_generations(lake::NeededVersions& needed) {
    if (lake_.name() != project_.config.default_lake().name) return {};
    WEIR_TRY(const auto newest, store_.newest_promotions());
    for (const state::PromotionRecord& one : newest) {
      WEIR_TRY(const auto generations, store_.promotions(one.environment, kGenerationsKept));
      for (const state::PromotionRecord& generation : generations)
        if (generation.lake_version)
          needed.emplace(*generation.lake_version,
                         fmt::format("generation {} of {} needs it", generation.generation, one.environment));
    }
    return {};
  }

  Result<void> expire() {
    if (!done_.retention) return {};
    const auto seconds = calendar::parse_duration(*done_.retention);
    if (!seconds) return {};  // refused with weir.yaml
    WEIR_TRY(const lake::NeededVersions needed, needed_versions());
    WEIR_TRY(done_.expiry, lake::expirable(connection_, lake_, machine_now() - *seconds * kSecond, needed));
    if (request_.dry_run || done_.expiry.expired.empty()) return {};
    return lake::expire(connection_, lake_, done_.expiry.expired);
  }

  Result<void> compact(lake::Compaction compaction, lake::Compacted& result) {
    if (request_.dry_run) {
      WEIR_TRY(result, lake::compactable(connection_, lake_, compaction));
      return {};
    }
    const lake::CommitRecord record{.weir = WEIR_VERSION, .token = state::new_run_id()};
    WEIR_TRY(result, lake::compact(connection_, lake_, compaction, record, lake::author()));
    return {};
  }

  Result<void> remove_files() {
    WEIR_TRY(const LiveRuns live, live_runs(project_, store_));
    lake::Micros before = machine_now() - grace_ * kSecond;
    if (live.since && *live.since < before) {
      before = *live.since;
      listener_.message("a run is at work: files that went after it began stay");
    }
    WEIR_TRY(done_.old_files, lake::remove_old_files(connection_, lake_, before, request_.dry_run));
    failpoint("maintain_removed");
    WEIR_TRY(done_.unknown_files, lake::remove_unknown_files(connection_, lake_, before, live.runs, request_.dry_run));
    return {};
  }

  const Project& project_;
  state::Store& store_;
  const lake::Lake& lake_;
  duck::Connection& connection_;
  const MaintainRequest& request_;
  /// Seconds.
  const std::int64_t grace_;
  run::Listener& listener_;
  const std::atomic<bool>& stop_;
  MaintainedLake done_;
};

Result<std::int64_t> grace_of(const MaintainRequest& request) {
  constexpr std::int64_t kDay = 86'400;
  if (!request.grace) return kDay;
  if (*request.grace == "0" || *request.grace == "0s") return 0;
  if (const auto seconds = calendar::parse_duration(*request.grace)) return *seconds;
  return fail(Diagnostic{.code = Code::W0105,
                         .message = fmt::format("the grace `{}` is no duration", *request.grace),
                         .hint = "write for example 90s, 15m, 1h or 7d"});
}

Failed no_such_lake(const Config& config, const std::string& name) {
  std::vector<std::string> names;
  for (const LakeConfig& lake : config.lakes) names.push_back(lake.name);
  const auto near = text::nearest(name, names);
  return fail(Diagnostic{.code = Code::W2012,
                         .message = "there is no lake " + name,
                         .hint = near ? "did you mean `" + *near + "`?" : "weir.yaml lists the lakes"});
}

}  // namespace

Result<std::vector<MaintainedLake>> maintain(Workspace& workspace, const MaintainRequest& request,
                                             run::Listener& listener, const std::atomic<bool>& stop) {
  WEIR_TRY(const Project* project, workspace.project());
  if (request.lake && project->config.lake(*request.lake) == nullptr)
    return no_such_lake(project->config, *request.lake);
  WEIR_TRY(const std::int64_t grace, grace_of(request));
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(!request.dry_run));
  WEIR_TRY(state::Store * store, workspace.store());
  // What dead runs left is brought in order first: then every open run is one that lives.
  if (!request.dry_run) WEIR_CHECK(run::recover(*project, *lakes, *store, listener, stop));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  std::vector<MaintainedLake> done;
  for (const lake::Lake& lake : lakes->all()) {
    // A sandbox tends what is its own.
    if (workspace.environment() != env::kProd && lake.config().environment != workspace.environment()) continue;
    if (request.lake && project->config.lake(*request.lake)->name != lake.name()) continue;
    WEIR_TRY(MaintainedLake one, Maintenance(*project, *store, lake, connection, request, grace, listener, stop).run());
    done.push_back(std::move(one));
  }
  return done;
}

}  // namespace weir::ops
