#include "plan/partitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "calendar/resolve.h"
#include "calendar/windows.h"
#include "plan/many_partitions.h"
#include "project/custom_test.h"

namespace weir::plan {
namespace {

using calendar::PartitionKind;
using calendar::Slot;

Failed about(const Model& model, Code code, std::string message, std::string hint = {}) {
  return fail(Diagnostic{.code = code,
                         .message = std::move(message),
                         .path = model.source->path,
                         .span = model.partitioning->span,
                         .hint = std::move(hint)});
}

/// Says which bound of the range an error is about.
Failed at_bound(const Model& model, std::string_view option, Diagnostics problems) {
  for (Diagnostic& problem : problems) {
    problem.message = fmt::format("--{}: {}", option, problem.message);
    problem.path = model.source->path;
    problem.span = model.partitioning->span;
  }
  return fail(std::move(problems));
}

std::string bounds_of(const calendar::Partitioning& partitioning) {
  std::string text;
  if (partitioning.start) text += fmt::format(" start={}", *partitioning.start);
  if (partitioning.end) text += fmt::format(" end={}", *partitioning.end);
  return text;
}

Result<std::vector<std::string>> values_of_range(const Model& model, const SliceRange& range, calendar::Instant at,
                                                 std::size_t& to_come) {
  const calendar::Partitioning& partitioning = *model.partitioning;
  if (partitioning.kind == PartitionKind::Dynamic)
    return about(model, Code::W8025, fmt::format("the partitions of {} are dynamic: no range names them", model.path),
                 "--partitions v1,v2, or --from-query with a query that returns the values");
  for (const auto& [option, text] : {std::pair("from", &range.from), std::pair("to", &range.to)})
    if (auto read = calendar::slots_between(partitioning, *text, *text); !read)
      return at_bound(model, option, std::move(read).error());
  auto slots = calendar::slots_between(partitioning, range.from, range.to);
  if (!slots) return at_bound(model, "from", std::move(slots).error());
  std::vector<std::string> values;
  for (Slot& slot : *slots) {
    if (slot.begin > at)
      ++to_come;
    else
      values.push_back(std::move(slot.identity));
  }
  if (!values.empty()) return values;
  if (to_come > 0)
    return about(model, Code::W8024, fmt::format("no partition of {} from {} on has begun", model.path, range.from),
                 fmt::format("the newest one is {}", calendar::identity_of(partitioning, at)));
  const std::string bounds = bounds_of(partitioning);
  return about(
      model, Code::W8024,
      fmt::format("{} has no partition from {} to {}: {}", model.path, range.from, range.to,
                  bounds.empty() ? fmt::format("the clocks of {} skip it", partitioning.tz) : "it says" + bounds));
}

Result<std::vector<std::string>> values_of_list(const Model& model, const SliceRange& range) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  Diagnostics problems;
  for (const std::string& value : range.values) {
    auto choice = calendar::choose_partition(*model.partitioning, {.value = value});
    if (!choice) {
      for (Diagnostic problem : choice.error()) {
        problem.path = model.source->path;
        problem.span = model.partitioning->span;
        problems.push_back(std::move(problem));
      }
      continue;
    }
    if (choice->skipped.empty() && seen.insert(choice->value).second) values.push_back(std::move(choice->value));
  }
  if (!problems.empty()) return fail(std::move(problems));
  if (values.empty())
    return about(
        model, Code::W8024, fmt::format("no partition of {} is named", model.path),
        bounds_of(*model.partitioning).empty() ? std::string() : "the model says" + bounds_of(*model.partitioning));
  return values;
}

/// Why a slice is built; empty: it is left as it is.
std::string reason_for(const std::string& slice, Standing standing, const SliceRange& range) {
  switch (standing) {
    case Standing::Missing:
      return range.reason.empty() ? "missing" : range.reason;
    case Standing::Failed:
      return "its last run failed";
    case Standing::Outdated:
      if (range.outdated) return "outdated: its definition changed";
      break;
    case Standing::Materialized:
      break;
  }
  if (range.stale.contains(slice)) return "stale: what it reads changed";
  if (!range.all) return {};
  return range.reason.empty() ? "asked for" : range.reason;
}

}  // namespace

Standing standing_of(const state::SliceRecord* record, const Model& model, const std::string& fingerprint,
                     const World& world) {
  if (record == nullptr) return Standing::Missing;
  if (record->status != "materialized") return Standing::Failed;
  if (model.plane != Plane::Manual && proof_of(*record, *model.target, world).kind == Proof::Kind::Gone)
    return Standing::Missing;
  // A restore put back a version that had no rows of it.
  if (record->fingerprint.empty() && record->rows.value_or(0) == 0) return Standing::Missing;
  return fingerprint == record->fingerprint ? Standing::Materialized : Standing::Outdated;
}

Result<PartitionChoice> choose_partitions(const Model& model, const std::string& fingerprint, const World& world,
                                          const SliceRange& range, calendar::Instant at) {
  PartitionChoice choice;
  std::vector<std::string> values;
  if (range.values.empty()) {
    WEIR_TRY(values, values_of_range(model, range, at, choice.to_come));
  } else {
    WEIR_TRY(values, values_of_list(model, range));
  }
  const std::string key = model.target->key();
  for (std::string& value : values) {
    std::string why = reason_for(value, standing_of(world.slice(key, value), model, fingerprint, world), range);
    if (why.empty())
      ++choice.kept;
    else
      choice.chosen.push_back({std::move(value), std::move(why)});
  }
  return choice;
}

Counterpart counterpart_of(const calendar::Partitioning& reader, const calendar::Partitioning& producer,
                           const std::string& value) {
  const bool is_dynamic = producer.kind == PartitionKind::Dynamic;
  if (is_dynamic && reader.kind == producer.kind) return {value, {}};
  if (is_dynamic || reader.kind == PartitionKind::Dynamic)
    return {{},
            fmt::format("its partitions are {}, those of what it reads are {}", name_of(reader.kind),
                        name_of(producer.kind))};
  if (reader.tz != producer.tz)
    return {{}, fmt::format("its partitions are those of {}, what it reads has those of {}", reader.tz, producer.tz)};
  // Kinds are in the order of their length, and a week lies in no month, quarter or year.
  const bool is_week = producer.kind == PartitionKind::Weekly && reader.kind != PartitionKind::Weekly;
  if (reader.kind < producer.kind || is_week)
    return {{}, fmt::format("a {} partition holds no {} one", name_of(reader.kind), name_of(producer.kind))};
  const auto slot = calendar::slot_named(producer, value);
  if (!slot) return {{}, slot.error().front().message};
  return {calendar::identity_of(reader, slot->begin), {}};
}

Result<Counterparts> counterparts_of(const calendar::Partitioning& reader, const Model& producer,
                                     const std::string& slice) {
  if (reader.kind == PartitionKind::Dynamic)
    return Counterparts{{}, "its partitions are dynamic, what it reads is written by windows"};
  const std::string zone = producer.tz.empty() ? "UTC" : producer.tz;
  if (reader.tz != zone)
    return Counterparts{{},
                        fmt::format("its partitions are those of {}, what it reads has those of {}", reader.tz, zone)};
  WEIR_TRY(const auto calendar, calendar::WindowCalendar::make(producer.interval, producer.lookback, producer.tz));
  const auto windows = calendar::Windows::parse(slice);
  Counterparts found;
  if (!windows) return found;
  for (const calendar::Window& part : windows->parts()) {
    if (part.begin == calendar::kEver || part.end == calendar::kForEver)
      return Counterparts{{}, fmt::format("the windows {} of what it reads have no bounds", slice)};
    const std::string first = calendar::identity_of(reader, calendar.instant_of(part.begin));
    const std::string last =
        calendar::identity_of(reader, calendar.instant_of(part.end) - std::chrono::microseconds(1));
    auto slots = calendar::slots_between(reader, first, last);
    // All of them lie before its start, or behind its end.
    if (!slots && slots.error().front().code == Code::W0155) continue;
    if (!slots) return fail(std::move(slots).error());
    for (const calendar::Slot& slot : *slots)
      if (std::find(found.values.begin(), found.values.end(), slot.identity) == found.values.end())
        found.values.push_back(slot.identity);
  }
  if (found.values.empty()) found.why = fmt::format("no partition of it overlaps {}", slice);
  return found;
}

std::vector<SliceGroup> slice_groups(const Plan& plan) {
  std::vector<SliceGroup> groups;
  for (const Step& step : plan.steps) {
    if (step.action != Action::Build || step.slice.empty()) continue;
    if (groups.empty() || groups.back().first->model != step.model) groups.push_back({.first = &step});
    SliceGroup& group = groups.back();
    group.slices.push_back(step.slice);
    group.in_order = group.in_order || step.after.has_value();
    if (!step.reads.empty()) group.why_not_at_once = "it reads what this run builds";
  }
  for (SliceGroup& group : groups) {
    const std::string order = reason_for_order(*group.first->model);
    if (!order.empty())
      group.why_not_at_once = order;
    else if (group.in_order)
      group.why_not_at_once = "asked for with --jobs 1";
    else if (group.slices.size() == 1)
      group.why_not_at_once = "there is one only";
    else if (group.why_not_at_once.empty())
      group.why_not_at_once = reason_against_many(*group.first->model);
  }
  return groups;
}

bool reads_itself(const Model& model) {
  std::vector<Asset> outputs = outputs_of(model);
  outputs.push_back(model.relation);
  return std::any_of(model.references.begin(), model.references.end(), [&](const Reference& reference) {
    return std::find(outputs.begin(), outputs.end(), reference.asset) != outputs.end();
  });
}

std::string reason_for_order(const Model& model) {
  if (model.plane == Plane::Manual) return "a manual script writes by itself";
  if (model.plane != Plane::Managed) return "it delivers";
  if (reads_itself(model)) return "it reads its own table";
  const std::string key = model.target->key();
  for (const Test& test : model.tests) {
    if (test.scope == TestScope::Table) return fmt::format("the test {} looks at the whole table", test.name);
    if (query_of_test(model, test) != nullptr) return fmt::format("the test {} is a query", test.name);
    if (test.reference && test.reference->key() == key)
      return fmt::format("the test {} reads its own table", test.name);
  }
  return {};
}

}  // namespace weir::plan
