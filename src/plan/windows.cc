#include "plan/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::plan {
namespace {

using calendar::Wall;
using calendar::WindowCalendar;
using calendar::Windows;

Result<WindowCalendar> calendar_of(const Model& model) {
  return WindowCalendar::make(model.interval, model.lookback, model.tz);
}

/// The time that stood for now when the windows were computed; ever, if nothing says.
calendar::Instant time_of(const state::SliceRecord& record) {
  for (const state::InputRecord& input : record.inputs)
    if (input.asset == kTimeInput)
      if (const auto at = calendar::parse_instant(input.version)) return *at;
  return calendar::Instant::min();
}

Windows of(Wall begin, Wall end) {
  Windows windows;
  windows.add({begin, end});
  return windows;
}

/// What a first build takes: everything, from a date on, or nothing but the last window that is over.
Result<Windows> first_windows(const Model& model, const WindowCalendar& windows, calendar::Instant at) {
  const Wall complete = windows.complete_at(at);
  if (model.backfill == "none") return of(windows.floor(complete - std::chrono::seconds(1)), complete);
  if (model.backfill.empty() || model.backfill == "auto") return of(calendar::kEver, calendar::kForEver);
  WEIR_TRY(const calendar::Window from, windows.between(model.backfill, model.backfill));
  return of(from.begin, std::max(complete, from.begin));
}

}  // namespace

Result<Coverage> coverage_of(const Model& model, const std::string& fingerprint, const World& world) {
  WEIR_TRY(const WindowCalendar calendar, calendar_of(model));
  Coverage coverage;
  const std::string key = model.target->key();
  for (auto at = world.slices.lower_bound({key, ""}); at != world.slices.end() && at->first.first == key; ++at) {
    const state::SliceRecord& record = at->second;
    const auto windows = Windows::parse(record.slice);
    if (!windows || record.status != "materialized" || record.fingerprint != fingerprint) continue;
    if (proof_of(record, *model.target, world).kind == Proof::Kind::Gone) continue;
    const calendar::Instant built = time_of(record);
    const Wall final_until = built == calendar::Instant::min() ? calendar::kEver : calendar.settled_at(built);
    for (const calendar::Window& part : windows->parts()) {
      coverage.written.add(part);
      coverage.settled.add({part.begin, std::min(part.end, final_until)});
    }
    coverage.records.push_back(&record);
  }
  std::sort(coverage.records.begin(), coverage.records.end(),
            [](const auto* a, const auto* b) { return a->updated > b->updated; });
  return coverage;
}

Result<Windows> gaps_of(const Model& model, const Coverage& coverage, calendar::Instant at) {
  if (coverage.written.empty()) return Windows();
  WEIR_TRY(const WindowCalendar calendar, calendar_of(model));
  return of(coverage.written.parts().front().begin, calendar.complete_at(at)).without(coverage.written);
}

Result<void> choose_windows(Step& step, const World& world, const Options& options, const SliceRange* range) {
  const Model& model = *step.model;
  step.at = calendar::format_instant(options.at);
  WEIR_TRY(const WindowCalendar calendar, calendar_of(model));
  WEIR_TRY(Coverage coverage, coverage_of(model, step.fingerprint, world));
  // A table made anew holds nothing but what this run writes.
  if (options.full_refresh) coverage = {};
  const Wall complete = calendar.complete_at(options.at);
  Windows wanted;
  if (range != nullptr) {
    WEIR_TRY(const calendar::Window asked, calendar.between(range->from, range->to));
    wanted = of(asked.begin, std::min(asked.end, complete));
    const Windows all = wanted;
    if (!range->all) wanted = wanted.without(coverage.written);
    for (const std::string& name : range->stale)
      if (const auto stale = Windows::parse(name))
        for (const calendar::Window& part : all.without(all.without(*stale)).parts()) wanted.add(part);
    if (!wanted.empty()) step.due = range->reason.empty() ? "asked for" : range->reason;
  } else if (coverage.written.empty()) {
    WEIR_TRY(wanted, first_windows(model, calendar, options.at));
    if (!wanted.empty()) step.due = "first build";
  } else {
    wanted = of(coverage.written.parts().front().begin, complete).without(coverage.settled);
    if (wanted.empty() && options.force)
      wanted = of(calendar.look_back_from(calendar.floor(complete - std::chrono::seconds(1))), complete);
    if (const Windows missing = wanted.without(coverage.written); !missing.empty())
      step.due = missing.name() + " is not there yet";
  }
  if (wanted.empty()) {
    const bool is_first = coverage.records.empty();
    step.action = is_first ? Action::Skip : Action::Fresh;
    step.slice = step.basis = is_first ? std::string() : coverage.records.front()->slice;
    step.reason =
        is_first ? "no window of it is over yet" : "every window is there until " + calendar::timestamp_text(complete);
    return {};
  }
  step.slice = step.basis = wanted.name();
  const auto holds_them = [&wanted](const state::SliceRecord* record) {
    return Windows::parse(record->slice)->contains(wanted);
  };
  const auto basis = std::find_if(coverage.records.begin(), coverage.records.end(), holds_them);
  if (basis != coverage.records.end())
    step.basis = (*basis)->slice;
  else if (step.due.empty())
    step.due = "late rows may have come to " + step.slice;
  return {};
}

}  // namespace weir::plan
