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
  std::vector<const state::SliceRecord*> records;
  const std::string key = model.target->key();
  for (auto at = world.slices.lower_bound({key, ""}); at != world.slices.end() && at->first.first == key; ++at)
    records.push_back(&at->second);
  std::sort(records.begin(), records.end(), [](const auto* a, const auto* b) { return a->updated < b->updated; });
  Coverage coverage;
  for (const state::SliceRecord* record : records) {
    const auto windows = Windows::parse(record->slice);
    if (!windows) continue;
    if (record->status == "failed") {
      for (const calendar::Window& part : windows->parts()) coverage.failed.add(part);
      continue;
    }
    if (record->status != "materialized" || proof_of(*record, *model.target, world).kind == Proof::Kind::Gone) continue;
    if (record->fingerprint != fingerprint) {
      for (const calendar::Window& part : windows->parts()) coverage.outdated.add(part);
      continue;
    }
    const calendar::Instant built = time_of(*record);
    const Wall final_until = built == calendar::Instant::min() ? calendar::kEver : calendar.settled_at(built);
    for (const calendar::Window& part : windows->parts()) {
      coverage.written.add(part);
      coverage.settled.add({part.begin, std::min(part.end, final_until)});
    }
    coverage.failed = coverage.failed.without(*windows);
    coverage.records.insert(coverage.records.begin(), record);
  }
  coverage.settled = coverage.settled.without(coverage.failed);
  coverage.outdated = coverage.outdated.without(coverage.written);
  return coverage;
}

Result<Windows> gaps_of(const Model& model, const Coverage& coverage, calendar::Instant at) {
  if (coverage.written.empty()) return Windows();
  WEIR_TRY(const WindowCalendar calendar, calendar_of(model));
  return of(coverage.written.parts().front().begin, calendar.complete_at(at)).without(coverage.written);
}

namespace {

/// The windows that are asked for, as far as they are over. Errors as those of choose_windows().
Result<Windows> asked_windows(const Model& model, const WindowCalendar& calendar, const Coverage& coverage,
                              const SliceRange& range, Wall complete) {
  WEIR_TRY(const calendar::Window asked, calendar.between(range.from, range.to));
  if (asked.begin >= complete)
    return fail(Diagnostic{.code = Code::W8024,
                           .message = fmt::format("no window of {} from {} on is over", model.path, range.from),
                           .path = model.source->path,
                           .span = {},
                           .hint = "the newest one that is begins at " +
                                   calendar::timestamp_text(calendar.floor(complete - std::chrono::seconds(1)))});
  const Windows all = of(asked.begin, std::min(asked.end, complete));
  if (range.all) return all;
  Windows wanted = all.without(coverage.written.without(coverage.failed));
  if (!range.outdated) wanted = wanted.without(coverage.outdated.without(coverage.failed));
  for (const std::string& name : range.stale)
    if (const auto stale = Windows::parse(name))
      for (const calendar::Window& part : all.without(all.without(*stale)).parts()) wanted.add(part);
  return wanted;
}

/// True if the query can tell one window from several at once.
bool has_bounds(const Model& model) {
  const auto is_bound = [](const TextToken& token) {
    return token.name == "window_start" || token.name == "window_end";
  };
  const auto holds_one = [&](const auto& text) {
    return std::any_of(text.tokens.begin(), text.tokens.end(), is_bound);
  };
  return holds_one(model) || std::any_of(model.macros.begin(), model.macros.end(), holds_one);
}

/// What the run is to compute of its own accord, and why if that is more than late rows.
Result<Windows> due_windows(const Model& model, const WindowCalendar& calendar, const Coverage& coverage,
                            const Options& options, std::string& due) {
  if (coverage.written.empty()) {
    WEIR_TRY(Windows wanted, first_windows(model, calendar, options.at));
    if (!wanted.empty()) due = "first build";
    return wanted;
  }
  const Wall complete = calendar.complete_at(options.at);
  Windows wanted = of(coverage.written.parts().front().begin, complete).without(coverage.settled);
  if (wanted.empty() && options.force)
    wanted = of(calendar.look_back_from(calendar.floor(complete - std::chrono::seconds(1))), complete);
  if (const Windows missing = wanted.without(coverage.written); !missing.empty()) {
    due = missing.name() + " is not there yet";
  } else if (const Windows failed = wanted.without(wanted.without(coverage.failed)); !failed.empty()) {
    due = failed.name() + " failed";
  }
  return wanted;
}

}  // namespace

std::string reason_for_single_windows(const Model& model) {
  return has_bounds(model) ? "its query looks at their bounds" : "asked for with --jobs 1";
}

Result<std::vector<Step>> choose_windows(const Step& proto, const World& world, const Options& options,
                                         const SliceRange* range) {
  const Model& model = *proto.model;
  Step step = proto;
  step.at = calendar::format_instant(options.at);
  WEIR_TRY(const WindowCalendar calendar, calendar_of(model));
  WEIR_TRY(Coverage coverage, coverage_of(model, step.fingerprint, world));
  // A table made anew holds nothing but what this run writes.
  if (options.full_refresh) coverage = {};
  const Wall complete = calendar.complete_at(options.at);
  Windows wanted;
  if (range != nullptr) {
    WEIR_TRY(wanted, asked_windows(model, calendar, coverage, *range, complete));
    step.due = range->reason.empty() ? "asked for" : range->reason;
  } else {
    WEIR_TRY(wanted, due_windows(model, calendar, coverage, options, step.due));
  }
  if (wanted.empty()) {
    step.due.clear();
    step.slice = step.basis = coverage.records.empty() ? std::string() : coverage.records.front()->slice;
    step.action = step.slice.empty() && coverage.outdated.empty() ? Action::Skip : Action::Fresh;
    if (step.action == Action::Skip)
      step.reason = "no window of it is over yet";
    else if (step.slice.empty())
      step.reason = "its windows are there as an earlier definition wrote them";
    else
      step.reason = "every window is there until " + calendar::timestamp_text(complete);
    return std::vector<Step>{std::move(step)};
  }
  std::vector<Windows> slices{wanted};
  if (wanted.is_bounded() && (options.one_by_one || has_bounds(model))) slices = calendar.each_of(wanted);
  std::vector<Step> steps;
  for (const Windows& slice : slices) {
    Step& one = steps.emplace_back(step);
    one.slice = one.basis = slice.name();
    const auto holds_them = [&slice](const state::SliceRecord* record) {
      return Windows::parse(record->slice)->contains(slice);
    };
    const auto basis = std::find_if(coverage.records.begin(), coverage.records.end(), holds_them);
    if (basis != coverage.records.end())
      one.basis = (*basis)->slice;
    else if (one.due.empty())
      one.due = "late rows may have come to " + one.slice;
  }
  return steps;
}

}  // namespace weir::plan
