#include "run/ledger.h"

#include <algorithm>
#include <chrono>

#include "calendar/partition.h"

namespace weir::run {

state::SliceRecord slice_of(const lake::CommitRecord& commit, const lake::CommittedStep& step, std::int64_t version,
                            std::string time) {
  state::SliceRecord slice;
  slice.environment = commit.environment;
  slice.asset = step.asset;
  slice.slice = step.slice;
  slice.status = "materialized";
  slice.fingerprint = step.definition;
  slice.arguments_hash = step.arguments_hash;
  slice.run = commit.run;
  slice.model = step.model;
  slice.snapshot_id = version;
  slice.rows = step.rows;
  slice.updated = std::move(time);
  slice.tests_passed = step.tests_passed;
  slice.content = step.content;
  for (const auto& [asset, input] : step.inputs)
    slice.inputs.push_back({asset, input == lake::kThisCommit ? std::to_string(version) : input});
  return slice;
}

lake::CommittedStep step_of(const state::SliceRecord& record) {
  lake::CommittedStep step;
  step.asset = record.asset;
  step.model = record.model;
  step.slice = record.slice;
  step.definition = record.fingerprint;
  step.arguments_hash = record.arguments_hash;
  step.rows = record.rows.value_or(0);
  step.content = record.content;
  step.tests_passed = record.tests_passed;
  for (const state::InputRecord& input : record.inputs) step.inputs.emplace(input.asset, input.version);
  return step;
}

std::string later_than(const std::map<std::pair<std::string, std::string>, state::SliceRecord>& slices,
                       const std::string& asset, std::string time) {
  std::string newest;
  for (auto at = slices.lower_bound({asset, ""}); at != slices.end() && at->first.first == asset; ++at)
    newest = std::max(newest, at->second.updated);
  if (newest < time) return time;
  const auto read = calendar::parse_instant(newest);
  return read ? calendar::format_instant(*read + std::chrono::microseconds(1)) : time;
}

}  // namespace weir::run
