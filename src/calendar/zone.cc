// Zones come from /usr/share/zoneinfo through Howard Hinnant's tz library, which Debian builds to read exactly that and
// never to download.
#include "calendar/zone.h"

#include <date/tz.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "calendar/yearly_rules.h"

namespace weir::calendar {
namespace {

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// The city alone is how people remember a zone, so `Paris` is near `Europe/Paris`.
std::size_t distance(std::string_view wrong, std::string_view name) {
  const std::size_t whole = edits_between(wrong, name);
  const auto slash = name.rfind('/');
  if (slash == std::string_view::npos) return whole;
  return std::min(whole, edits_between(wrong, name.substr(slash + 1)));
}

Diagnostic unknown_zone(const std::string& name, Span span) {
  Diagnostic found{.code = Code::W0150,
                   .message = fmt::format("unknown time zone '{}'", name),
                   .path = {},
                   .span = span,
                   .hint = {}};
  const auto near = nearest_zones(name);
  found.hint = near.empty() ? "zones are IANA names such as Europe/Paris"
                            : fmt::format("did you mean {}?", fmt::join(near, ", "));
  if (near.size() == 1) found.fix = Fix{span, near.front()};
  return found;
}

// The last line of the zone's file, which the library does not read.
std::shared_ptr<const YearlyRules> rules_after_the_list(const std::string& zone) {
  std::ifstream file("/usr/share/zoneinfo/" + zone, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (!bytes.ends_with('\n')) return nullptr;
  const auto begin = bytes.rfind('\n', bytes.size() - 2);
  if (begin == std::string::npos) return nullptr;
  const auto rules = parse_yearly_rules(std::string_view(bytes).substr(begin + 1, bytes.size() - begin - 2));
  return rules ? std::make_shared<const YearlyRules>(*rules) : nullptr;
}

// `listed` is the last stretch of the list: it would last for ever.
Stretch stretch_by_rules(const YearlyRules& rules, date::sys_seconds instant, Stretch listed) {
  const date::year year = date::year_month_day(date::floor<date::days>(instant)).year();
  for (int ahead = -1; ahead <= 1; ++ahead) {
    for (const YearlyRules::Change& change : rules.changes_in(year + date::years(ahead))) {
      if (change.at <= listed.begin) continue;
      if (change.at > instant) {
        listed.end = change.at;
        return listed;
      }
      listed.begin = change.at;
      listed.offset = change.offset;
    }
  }
  return listed;
}

}  // namespace

Result<Zone> Zone::named(const std::string& name, Span span) {
  if (name == "UTC" || name == "Etc/UTC") return Zone(nullptr, nullptr);
  try {
    const date::time_zone* rules = date::locate_zone(name);
    return Zone(rules, rules_after_the_list(rules->name()));
  } catch (const std::exception&) {
    // The library throws for an unknown name and for a missing database alike; only the second leaves nothing to
    // suggest.
    return fail(unknown_zone(name, span));
  }
}

Stretch Zone::at(date::sys_seconds instant) const {
  if (rules_ == nullptr) return {date::sys_seconds::min(), date::sys_seconds::max(), std::chrono::seconds(0)};
  const auto found = rules_->get_info(instant);
  const Stretch listed{found.begin, found.end, found.offset};
  const bool is_last = later_ != nullptr && listed.end - date::days(1) > date::sys_days(date::year(9999) / 1 / 1);
  return is_last ? stretch_by_rules(*later_, instant, listed) : listed;
}

date::local_seconds Zone::to_local(date::sys_seconds instant) const {
  return date::local_seconds(instant.time_since_epoch() + at(instant).offset);
}

std::vector<std::string> nearest_zones(std::string_view wrong) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  const std::string sought = lowered(wrong);
  try {
    for (const auto& zone : date::get_tzdb().zones)
      ranked.emplace_back(distance(sought, lowered(zone.name())), zone.name());
  } catch (const std::exception&) {
    return {};
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> nearest;
  const std::size_t limit = std::max<std::size_t>(2, wrong.size() / 3);
  for (const auto& [edits, name] : ranked) {
    if (edits > limit || edits > ranked.front().first || nearest.size() == 3) break;
    nearest.push_back(name);
  }
  return nearest;
}

}  // namespace weir::calendar
