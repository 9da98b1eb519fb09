#include "ops/slice_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "project/window_rows.h"
#include "text/lexer.h"

namespace weir::ops {
namespace {

using calendar::Wall;
using calendar::Window;
using calendar::WindowCalendar;
using calendar::Windows;

constexpr std::string_view kInstant = "TIMESTAMP WITH TIME ZONE";

/// Least and greatest moment, both included, in microseconds: UTC for columns with a zone, else what clocks show.
using Moments = std::pair<std::int64_t, std::int64_t>;

std::int64_t micros_of(Wall wall) {
  if (wall == calendar::kEver) return INT64_MIN;
  if (wall == calendar::kForEver) return INT64_MAX;
  return std::chrono::microseconds(wall.time_since_epoch()).count();
}
Wall wall_of(std::int64_t micros) { return Wall(date::floor<std::chrono::seconds>(std::chrono::microseconds(micros))); }

/// The moments in `column` of the rows that a write of these windows replaced.
Moments moments_of(const WindowCalendar& calendar, const Window& window, const std::string& type) {
  if (type != kInstant)
    return {micros_of(window.begin), micros_of(window.end) == INT64_MAX ? INT64_MAX : micros_of(window.end) - 1};
  const auto instant = [&](Wall wall) {
    const bool is_open = wall == calendar::kEver || wall == calendar::kForEver;
    return is_open ? micros_of(wall) : calendar.instant_of(wall).time_since_epoch().count();
  };
  const std::int64_t end = instant(window.end);
  return {instant(window.begin), end == INT64_MAX ? end : end - 1};
}

/// The windows of the model that hold these moments.
Windows windows_of(const WindowCalendar& calendar, const Moments& moments, const std::string& type) {
  const auto shown = [&](std::int64_t micros) {
    if (micros == INT64_MIN) return calendar::kEver;
    if (micros == INT64_MAX) return calendar::kForEver;
    if (type != kInstant) return wall_of(micros);
    return calendar.wall_of(calendar::Instant(std::chrono::microseconds(micros)));
  };
  // Where clocks went back, the later moment may show the earlier time.
  const auto [first, last] = std::minmax({shown(moments.first), shown(moments.second)});
  Windows windows;
  windows.add({calendar.floor(first), last == calendar::kForEver ? last : calendar.next(calendar.floor(last))});
  return windows;
}

Windows common(const Windows& a, const Windows& b) { return a.without(a.without(b)); }

Moments moments_of(const calendar::Slot& slot, const std::string& type) {
  if (type == kInstant) return {slot.begin.time_since_epoch().count(), slot.end.time_since_epoch().count() - 1};
  const auto wall = [](const std::string& text) {
    const auto at = calendar::parse_instant(text.substr(0, 10) + "T" + text.substr(11));
    return at ? at->time_since_epoch().count() : 0;
  };
  return {wall(slot.local_begin), wall(slot.local_end) - 1};
}

/// What one version touched of an input: partitions and moments of the column that slices are compared by.
struct Reach {
  bool is_anywhere = false;
  std::set<std::string> partitions;
  std::vector<Moments> moments;
};

/// True if a write of one slice of the input's producer leaves rows of other slices alone, in terms of `column`.
bool tells_slices(const Model* producer, const SliceInput& column) {
  if (producer == nullptr) return false;
  if (column.is_partition) return producer->partitioning.has_value();
  return is_windowed(*producer) && producer->key.empty() && text::same_word(producer->time_column, column.column);
}

void reach_slices(const std::set<std::string>& slices, const Model& producer, const SliceInput& column, Reach& reach) {
  if (column.is_partition) {
    reach.partitions.insert(slices.begin(), slices.end());
    return;
  }
  const auto calendar = WindowCalendar::make(producer.interval, producer.lookback, producer.tz);
  for (const std::string& slice : slices) {
    const auto windows = Windows::parse(slice);
    if (!windows || windows->empty() || !calendar) {
      reach.is_anywhere = true;
      continue;
    }
    for (const Window& part : windows->parts()) reach.moments.push_back(moments_of(*calendar, part, column.type));
  }
}

Reach reach_after(const lake::Touched& touched, std::int64_t version, const Model* producer, const SliceInput& column) {
  Reach reach;
  reach.is_anywhere = touched.anywhere_until > version;
  for (const lake::TouchedFile& file : touched.files) {
    if (file.version <= version) continue;
    const auto slices = touched.slices.find(file.version);
    if (slices != touched.slices.end() && tells_slices(producer, column))
      reach_slices(slices->second, *producer, column, reach);
    else if (column.is_partition && file.partition)
      reach.partitions.insert(*file.partition);
    else if (!column.is_partition && file.bounds)
      reach.moments.push_back(*file.bounds);
    else
      reach.is_anywhere = true;
  }
  return reach;
}

}  // namespace

Result<SliceJudge::Reading*> SliceJudge::reading_of(const Model& model) {
  const auto [at, is_new] = readings_.try_emplace(model.path);
  if (is_new) {
    WEIR_TRY(at->second.inputs, slice_inputs(lakes_, model));
  }
  return &at->second;
}

Result<const lake::Touched*> SliceJudge::touched_in(Reading& reading, const Model& model,
                                                    const state::InputRecord& input, const std::string& changing) {
  const auto known = reading.touched.find(changing);
  if (known != reading.touched.end()) return &known->second;
  const auto asset = parse_asset(changing);
  // All slices of the model ask from the oldest version that one of them read.
  std::int64_t oldest = std::stoll(input.version);
  const std::string key = model.target->key();
  const auto& slices = known_.world.slices;
  for (auto at = slices.lower_bound({key, ""}); at != slices.end() && at->first.first == key; ++at)
    for (const state::InputRecord& one : at->second.inputs)
      if (one.asset == input.asset) oldest = std::min<std::int64_t>(oldest, std::stoll(one.version));
  WEIR_TRY(duck::Connection connection, lakes_.connect());
  WEIR_TRY(auto touched, lake::touched_after(connection, lakes_.lake(asset->place), *asset,
                                             reading.inputs.columns.at(input.asset).column, oldest));
  return &reading.touched.emplace(changing, std::move(touched)).first->second;
}

Result<bool> SliceJudge::reaches(const Model& model, const state::SliceRecord& record, const state::InputRecord& input,
                                 const std::string& changing, Windows& stale) {
  WEIR_TRY(Reading * reading, reading_of(model));
  const auto column = reading->inputs.columns.find(input.asset);
  const auto asset = parse_asset(changing);
  const auto everything = [&stale] {
    stale.add({calendar::kEver, calendar::kForEver});
    return true;
  };
  if (column == reading->inputs.columns.end() || !asset) return everything();
  WEIR_TRY(const lake::Touched* touched, touched_in(*reading, model, input, changing));
  const Reach reach = reach_after(*touched, std::stoll(input.version), known_.graph.producer(*asset), column->second);
  if (reach.is_anywhere) return everything();
  if (!is_windowed(model)) {
    if (column->second.is_partition) return reach.partitions.contains(record.slice);
    const auto slot = calendar::slot_named(*model.partitioning, record.slice);
    if (!slot) return everything();
    const Moments own = moments_of(*slot, column->second.type);
    return std::any_of(reach.moments.begin(), reach.moments.end(),
                       [&own](const Moments& one) { return one.first <= own.second && own.first <= one.second; });
  }
  const auto calendar = WindowCalendar::make(model.interval, model.lookback, model.tz);
  const auto windows = Windows::parse(record.slice);
  if (!calendar || !windows || column->second.is_partition) return everything();
  bool is_reached = false;
  for (const Moments& moments : reach.moments) {
    const Windows reached = common(windows_of(*calendar, moments, column->second.type), *windows);
    if (reached.empty()) continue;
    if (reading->inputs.names_bounds) return everything();
    is_reached = true;
    for (const Window& part : reached.parts()) stale.add(part);
  }
  return is_reached;
}

Result<Judgement> SliceJudge::judge(const Model& model, const state::SliceRecord& record) {
  const plan::World& world = known_.world;
  if (const auto claim = known_.claimed.find({record.asset, record.slice}); claim != known_.claimed.end())
    return Judgement{claim->second, {}, {}};
  if (record.status != "materialized") return Judgement{record.status, {}, {}};
  const plan::Proof proof = model.plane == Plane::Manual ? plan::Proof{} : plan::proof_of(record, *model.target, world);
  if (proof.kind == plan::Proof::Kind::Gone) return Judgement{"missing", {}, {}};
  // A restore put back a version that had no rows of it.
  if (record.fingerprint.empty() && record.rows.value_or(0) == 0) return Judgement{"missing", {}, {}};
  const auto print = known_.fingerprints.find(model.path);
  if (print != known_.fingerprints.end() && print->second != record.fingerprint) return Judgement{"outdated", {}, {}};
  if (proof.kind == plan::Proof::Kind::Foreign) return Judgement{"stale", proof.reason, {}};
  Judgement judged{record.status, {}, {}};
  Windows stale;
  for (const state::InputRecord& input : record.inputs) {
    if (input.asset.starts_with("file:")) {
      const auto now = world.files.find(input.asset.substr(5));
      if (now == world.files.end() || !now->second || *now->second != input.version)
        return Judgement{"stale", fmt::format("{} changed", input.asset), {}};
      continue;
    }
    const auto asset = parse_asset(input.asset);
    if (!asset || asset->kind != AssetKind::Lake) continue;
    const auto lake = world.lakes.find(text::lower(asset->place));
    if (lake == world.lakes.end()) continue;
    // A view of current rows shows its history's.
    const Model* producer = known_.graph.producer(*asset);
    const std::string changing = producer != nullptr && producer->target ? producer->target->key() : input.asset;
    // Once the version that dropped it has expired, nothing else tells.
    if (!lake->second.made.contains(changing)) return Judgement{"stale", fmt::format("{} is gone", asset->uri()), {}};
    const auto changed = lake->second.changed.find(changing);
    if (changed == lake->second.changed.end() || changed->second <= std::stoll(input.version)) continue;
    const auto made = lake->second.made.find(changing);
    const bool is_another = made->second > std::stoll(input.version);
    if (is_another) stale.add({calendar::kEver, calendar::kForEver});
    bool is_reached = is_another;
    if (!is_another) {
      WEIR_TRY(is_reached, reaches(model, record, input, changing, stale));
    }
    if (!is_reached) continue;
    judged.status = "stale";
    judged.reason = fmt::format("{} changed in version {}", asset->uri(), changed->second);
  }
  if (judged.status == "stale" && is_windowed(model) && !stale.is_everything()) judged.stale = std::move(stale);
  return judged;
}

}  // namespace weir::ops
