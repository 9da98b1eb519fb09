#include "ops/window_status.h"

#include <algorithm>

#include "io/clock.h"
#include "plan/windows.h"

namespace weir::ops {
namespace {

using calendar::Window;
using calendar::Windows;

class WindowStatus {
 public:
  WindowStatus(const Model& model, const plan::World& world, SliceJudge& judge)
      : model_(model), world_(world), judge_(judge) {}

  Result<std::vector<SliceStatus>> stretches(const Windows& asked, const Windows& missing,
                                             const ClaimedSlices& claimed) {
    open_ = asked;
    for (const auto& [slice, standing] : claimed)
      if (slice.first == model_.target->key()) take(slice.second, standing);
    WEIR_CHECK(paint_slices());
    // What is open still was never written.
    for (const Window& part : missing.without(missing.without(open_)).parts())
      found_.push_back({part, "missing", {}, {}});
    return merged();
  }

 private:
  void take(const std::string& slice, const std::string& status) {
    const auto windows = Windows::parse(slice);
    if (!windows) return;
    const Windows rest = open_.without(*windows);
    for (const Window& part : open_.without(rest).parts()) found_.push_back({part, status, {}, {}});
    open_ = rest;
  }

  Result<void> paint_slices() {
    std::vector<const state::SliceRecord*> records;
    const std::string key = model_.target->key();
    for (auto at = world_.slices.lower_bound({key, ""}); at != world_.slices.end() && at->first.first == key; ++at)
      records.push_back(&at->second);
    std::sort(records.begin(), records.end(), [](const auto* a, const auto* b) { return a->updated > b->updated; });
    for (const state::SliceRecord* record : records) {
      const auto windows = Windows::parse(record->slice);
      if (!windows) continue;
      const Windows rest = open_.without(*windows);
      const Windows own = open_.without(rest);
      open_ = rest;
      if (own.empty()) continue;
      WEIR_TRY(const Judgement judged, judge_.judge(model_, *record));
      const Windows sound = judged.stale ? own.without(*judged.stale) : Windows();
      for (const Window& part : sound.parts()) found_.push_back({part, "materialized", {}, *record});
      for (const Window& part : own.without(sound).parts())
        found_.push_back({part, judged.status, judged.reason, *record});
    }
    return {};
  }

  std::vector<SliceStatus> merged() {
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.part.begin < b.part.begin; });
    std::vector<SliceStatus> statuses;
    for (std::size_t i = 0; i < found_.size();) {
      Found whole = found_[i];
      for (++i; i < found_.size() && found_[i].part.begin == whole.part.end && found_[i].status == whole.status; ++i) {
        whole.part.end = found_[i].part.end;
        if (found_[i].record.updated <= whole.record.updated) continue;
        whole.record = found_[i].record;
        whole.reason = found_[i].reason;
      }
      Windows one;
      one.add(whole.part);
      // Rows were counted of the whole slice.
      if (one.name() != whole.record.slice) whole.record.rows.reset();
      statuses.push_back({one.name(), whole.status, std::move(whole.record), std::move(whole.reason)});
    }
    return statuses;
  }

  struct Found {
    Window part;
    std::string status;
    std::string reason;
    state::SliceRecord record;
  };

  const Model& model_;
  const plan::World& world_;
  SliceJudge& judge_;
  /// What no slice has spoken for yet.
  Windows open_;
  std::vector<Found> found_;
};

}  // namespace

Result<std::vector<SliceStatus>> window_status(const Model& model, const std::string& fingerprint,
                                               const plan::World& world, const std::optional<std::string>& from,
                                               const std::optional<std::string>& to, const ClaimedSlices& claimed,
                                               SliceJudge& judge) {
  WEIR_TRY(const auto calendar, calendar::WindowCalendar::make(model.interval, model.lookback, model.tz));
  const calendar::Instant now = io::now();
  Windows asked;
  Windows missing;
  if (from || to) {
    Window range{calendar::kEver, calendar::kForEver};
    if (from) {
      WEIR_TRY(const Window first, calendar.between(*from, *from));
      range.begin = first.begin;
    }
    if (to) {
      WEIR_TRY(const Window last, calendar.between(from.value_or(*to), *to));
      range.end = last.end;
    }
    asked.add(range);
    if (from) missing.add({range.begin, std::min(range.end, calendar.complete_at(now))});
  } else {
    asked.add({calendar::kEver, calendar::kForEver});
  }
  if (!from) {
    WEIR_TRY(const plan::Coverage coverage, plan::coverage_of(model, fingerprint, world));
    WEIR_TRY(missing, plan::gaps_of(model, coverage, now));
    missing = missing.without(missing.without(asked));
  }
  return WindowStatus(model, world, judge).stretches(asked, missing, claimed);
}

}  // namespace weir::ops
