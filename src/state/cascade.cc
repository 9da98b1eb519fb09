// Cascades. A decision reads and writes in one transaction that no other decision overlaps, so that inputs which arrive
// at once are counted once.
#include "state/cascade.h"

#include <fmt/format.h>

#include "state/sql_store.h"

namespace weir::state {
namespace {

constexpr const char* kDispatchColumns =
    "environment, run, subscriber, slice, outcome, state, reason, not_before, attempts, child, carried_json, "
    "chain_json, inputs_json, log_json, decided";

std::string taken(Field& field) { return std::move(field).value_or(std::string()); }

DispatchRecord to_dispatch(Row& row) {
  return {.environment = taken(row[0]),
          .run = taken(row[1]),
          .subscriber = taken(row[2]),
          .slice = taken(row[3]),
          .outcome = taken(row[4]),
          .state = taken(row[5]),
          .reason = taken(row[6]),
          .not_before = taken(row[7]),
          .attempts = std::stoi(row[8].value_or("0")),
          .child = taken(row[9]),
          .carried_json = taken(row[10]),
          .chain_json = taken(row[11]),
          .inputs_json = taken(row[12]),
          .log_json = taken(row[13]),
          .decided = taken(row[14])};
}

Row row_of(const DispatchRecord& one) {
  return {one.environment, one.run,          one.subscriber,
          one.slice,       one.outcome,      one.state,
          one.reason,      one.not_before,   std::to_string(one.attempts),
          one.child,       one.carried_json, one.chain_json,
          one.inputs_json, one.log_json,     one.decided};
}

CascadeRun to_run(Row& row) {
  return {.run = taken(row[0]),
          .environment = taken(row[1]),
          .host = taken(row[2]),
          .created = taken(row[3]),
          .selection_json = taken(row[4]),
          .carried_json = taken(row[5]),
          .decided = taken(row[6])};
}

constexpr const char* kRuns =
    "SELECT run, environment, host, created, selection_json, carried_json, decided FROM cascade_run ";

void put_cascade_run(Session& session, const CascadeRun& run) {
  session.insert("INSERT INTO cascade_run (run, environment, host, created, selection_json, carried_json, decided)",
                 {{run.run, run.environment, run.host, run.created, run.selection_json, run.carried_json, run.decided}},
                 "ON CONFLICT (run) DO NOTHING");
}

std::vector<DispatchRecord> dispatches_where(Session& session, const std::string& tail, const Row& values) {
  std::vector<DispatchRecord> all;
  for (Row& row : session.ask(fmt::format("SELECT {} FROM dispatch_event {}", kDispatchColumns, tail), values, 15))
    all.push_back(to_dispatch(row));
  return all;
}

CascadeView view_of(Session& session, CascadeRun run) {
  CascadeView view{.run = std::move(run)};
  for (Row& row : session.ask(
           "SELECT run, model, asset, slice, status, token, started, finished, result_json FROM step WHERE run = :run",
           {view.run.run}, 9))
    view.steps.push_back({taken(row[0]), taken(row[1]), taken(row[2]), taken(row[3]), taken(row[4]), taken(row[5]),
                          taken(row[6]), taken(row[7]), taken(row[8])});
  view.served = dispatches_where(session, "WHERE child = :child AND state = 'running' ORDER BY run, subscriber, slice",
                                 {view.run.run});
  view.pending = dispatches_where(
      session, "WHERE environment = :environment AND state = 'pending' ORDER BY run, subscriber, slice",
      {view.run.environment});
  for (Row& row :
       session.ask("SELECT environment, subscriber, slot, input, run, at, carried_json FROM join_pending_input WHERE "
                   "environment = :environment ORDER BY subscriber, slot, input",
                   {view.run.environment}, 7))
    view.arrivals.push_back(
        {taken(row[0]), taken(row[1]), taken(row[2]), taken(row[3]), taken(row[4]), taken(row[5]), taken(row[6])});
  if (view.arrivals.empty()) return view;
  for (Row& row : session.ask(
           "SELECT slice.model, slice.slice, slice.run, run.started FROM slice JOIN run ON run.run = slice.run WHERE "
           "slice.environment = :environment AND slice.status = 'materialized' AND slice.model IN (SELECT subscriber "
           "FROM join_pending_input WHERE environment = :environment2)",
           {view.run.environment, view.run.environment}, 4))
    view.last_runs[{taken(row[0]), taken(row[1])}] = {taken(row[2]), taken(row[3])};
  return view;
}

void put_dispatches(Session& session, const std::vector<DispatchRecord>& dispatches) {
  std::vector<Row> rows;
  for (const DispatchRecord& one : dispatches) rows.push_back(row_of(one));
  if (rows.empty()) return;
  session.insert(fmt::format("INSERT INTO dispatch_event ({})", kDispatchColumns), rows,
                 "ON CONFLICT (run, subscriber, slice) DO UPDATE SET state = excluded.state, reason = excluded.reason, "
                 "not_before = excluded.not_before, attempts = excluded.attempts, child = excluded.child, "
                 "log_json = excluded.log_json");
}

void write_change(Session& session, const CascadeChange& change) {
  for (const ArrivalRecord& one : change.used)
    session.run(
        "DELETE FROM join_pending_input WHERE environment = :environment AND subscriber = :subscriber AND slot = :slot "
        "AND input = :input",
        {one.environment, one.subscriber, one.slot, one.input});
  std::vector<Row> arrived;
  for (const ArrivalRecord& one : change.arrived)
    arrived.push_back({one.environment, one.subscriber, one.slot, one.input, one.run, one.at, one.carried_json});
  if (!arrived.empty())
    session.insert("INSERT INTO join_pending_input (environment, subscriber, slot, input, run, at, carried_json)",
                   arrived,
                   "ON CONFLICT (environment, subscriber, slot, input) DO UPDATE SET run = excluded.run, at = "
                   "excluded.at, carried_json = excluded.carried_json");
  put_dispatches(session, change.dispatches);
}

}  // namespace

Result<std::vector<DispatchRecord>> SqlStore::open_cascade(const CascadeRun& run,
                                                           const std::vector<DispatchRecord>& wanted) {
  const std::lock_guard guard(mutex_);
  std::vector<DispatchRecord> started;
  WEIR_CHECK(session_->write("cascade", [&]() -> Result<void> {
    started.clear();
    for (const DispatchRecord& one : wanted) {
      // A second try after a lost connection finds its own mark.
      auto found = dispatches_where(*session_,
                                    "WHERE run = :run AND subscriber = :subscriber AND slice = :slice AND (state = "
                                    "'pending' OR (state = 'running' AND child = :child))",
                                    {one.run, one.subscriber, one.slice, run.run});
      for (DispatchRecord& dispatch : found) {
        dispatch.state = "running";
        dispatch.child = run.run;
        started.push_back(std::move(dispatch));
      }
    }
    if (started.empty() && !wanted.empty()) return {};
    put_cascade_run(*session_, run);
    put_dispatches(*session_, started);
    return {};
  }));
  return started;
}

Result<void> SqlStore::decide_cascade(const std::string& run, const Decide& decide) {
  const std::lock_guard guard(mutex_);
  return session_->write("cascade", [&]() -> Result<void> {
    auto found = session_->ask(std::string(kRuns) + "WHERE run = :run AND decided = ''", {run}, 7);
    if (found.empty()) return {};
    WEIR_TRY(const CascadeChange change, decide(view_of(*session_, to_run(found.front()))));
    write_change(*session_, change);
    session_->run("UPDATE cascade_run SET decided = :now WHERE run = :run", {now_text(), run});
    return {};
  });
}

Result<std::vector<CascadeRun>> SqlStore::undecided_cascades(const std::string& environment) {
  WEIR_TRY(auto found, rows(std::string(kRuns) + "WHERE environment = :environment AND decided = '' ORDER BY run",
                            {environment}, 7));
  std::vector<CascadeRun> all;
  for (Row& row : found) all.push_back(to_run(row));
  return all;
}

Result<std::vector<DispatchRecord>> SqlStore::dispatches(const DispatchQuery& query) {
  std::string where = "WHERE environment = :environment AND run >= :since";
  Row values = {query.environment, query.since};
  if (query.only_open) where += " AND state IN ('pending', 'running')";
  if (!query.subscriber.empty()) {
    where += " AND subscriber = :subscriber";
    values.emplace_back(query.subscriber);
  }
  const std::lock_guard guard(mutex_);
  std::vector<DispatchRecord> all;
  WEIR_CHECK(session_->read([&]() -> Result<void> {
    all = dispatches_where(*session_,
                           fmt::format("{} ORDER BY run DESC, subscriber, slice LIMIT {}", where, query.limit), values);
    return {};
  }));
  return all;
}

}  // namespace weir::state
