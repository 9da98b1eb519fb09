#include "ops/restored_slices.h"

#include <algorithm>
#include <map>
#include <optional>

#include "run/ledger.h"

namespace weir::ops {
namespace {

constexpr std::size_t kRecordsAtOnce = 50;

/// Finds, for slices of one asset, the newest commit record in a span of versions.
class Records {
 public:
  Records(duck::Connection& connection, const lake::Lake& lake, const Asset& asset, std::int64_t after,
          std::int64_t until)
      : connection_(connection), lake_(lake), asset_(asset), after_(after), until_(until) {}

  struct Found {
    lake::CommittedStep step;
    std::int64_t version = 0;
  };
  /// Reads backwards, only as far as it must.
  Result<const Found*> newest(const std::string& environment, const std::string& slice) {
    while (!found_.contains(slice) && until_ > after_) WEIR_CHECK(read_more(environment));
    const auto found = found_.find(slice);
    return found == found_.end() ? nullptr : &found->second;
  }

 private:
  Result<void> read_more(const std::string& environment) {
    WEIR_TRY(const auto records, lake::commits_of(connection_, lake_, asset_, after_, until_, kRecordsAtOnce));
    for (const lake::VersionRecord& record : records) {
      const auto commit = lake::CommitRecord::from_json(record.extra_info);
      if (!commit || commit->environment != environment) continue;
      for (const lake::CommittedStep& step : commit->steps) {
        if (step.asset != asset_.key()) continue;
        Found one{step, record.version};
        for (auto& [input, version] : one.step.inputs)
          if (version == lake::kThisCommit) version = std::to_string(record.version);
        found_.emplace(step.slice, std::move(one));
      }
    }
    until_ = records.size() < kRecordsAtOnce ? after_ : records.back().version - 1;
    return {};
  }

  duck::Connection& connection_;
  const lake::Lake& lake_;
  const Asset& asset_;
  const std::int64_t after_;
  std::int64_t until_;
  std::map<std::string, Found> found_;
};

Result<std::map<std::string, std::int64_t>> rows_by_slice(duck::Connection& connection, const lake::Lake& lake,
                                                          const Asset& asset, const lake::PastTable& past,
                                                          std::int64_t version) {
  std::map<std::string, std::int64_t> rows;
  const duck::TableName table = lake.readable(asset.schema, asset.name);
  const duck::Identifier partition{std::string(lake::kPartitionColumn)};
  const auto found = connection.query(
      past.state.is_partitioned()
          ? duck::Sql("SELECT {}, count(*) FROM {} AT (VERSION => {}) GROUP BY 1", partition, table, version)
          : duck::Sql("SELECT '', count(*) FROM {} AT (VERSION => {})", table, version));
  if (!found) return fail(lake::explain(Code::W6003, "the lake " + lake.name() + " cannot be read", found.error()));
  for (std::size_t i = 0; i < found->size(); ++i) rows[found->text(i, 0)] = found->integer(i, 1);
  return rows;
}

}  // namespace

Result<std::vector<RestoredSlice>> restored_slices(duck::Connection& connection, const lake::Lake& lake,
                                                   const Asset& asset, const std::vector<state::SliceRecord>& ledger,
                                                   const lake::PastTable& past, std::int64_t version,
                                                   const lake::PastTable& now) {
  WEIR_TRY(const auto foreign_now,
           lake::foreign_change(connection, lake, now.state.table_id, now.made, now.state.version));
  WEIR_TRY(const auto foreign_then, lake::foreign_change(connection, lake, past.state.table_id, past.made, version));
  Records records(connection, lake, asset, past.made - 1, version);
  std::optional<std::map<std::string, std::int64_t>> rows;
  std::vector<RestoredSlice> slices;
  for (const state::SliceRecord& record : ledger) {
    if (record.asset != asset.key() || !record.snapshot_id) continue;
    const std::int64_t at = *record.snapshot_id;
    const bool holds = at <= version && at >= now.made && foreign_now.value_or(0) <= at;
    if (holds) continue;
    RestoredSlice slice{.step = run::step_of(record)};
    bool is_vouched = at <= version && at >= past.made && foreign_then.value_or(0) <= at;
    if (at > version) {
      WEIR_TRY(const Records::Found* found, records.newest(record.environment, record.slice));
      if (found != nullptr) slice.step = found->step;
      is_vouched = found != nullptr && foreign_then.value_or(0) <= found->version;
    }
    if (!is_vouched || slice.step.definition.empty()) {
      if (!rows) {
        WEIR_TRY(rows, rows_by_slice(connection, lake, asset, past, version));
      }
      const auto held = rows->find(record.slice);
      slice.step = {.asset = record.asset, .model = record.model, .slice = record.slice};
      slice.step.rows = held == rows->end() ? 0 : held->second;
      slice.is_missing = held == rows->end() || (!record.slice.empty() && held->second == 0);
    }
    slice.step.counts.clear();
    slice.step.strategy = "restore";
    slices.push_back(std::move(slice));
  }
  return slices;
}

}  // namespace weir::ops
