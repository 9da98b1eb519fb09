// What the state store keeps as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cascade/carried.h"

namespace weir::cascade {

/// {"kind":…,"tz":…,"format":…,"value":…,"at":…}; without kind, tz and format where no partition is carried.
std::string to_json(const Carried& carried);
Carried carried_from(const std::string& json);

std::string to_json(const std::vector<std::string>& names);
std::vector<std::string> names_from(const std::string& json);

/// Appends a line to a dispatch's log.
std::string logged(const std::string& log_json, const std::string& time, const std::string& words);
/// Time and words of each line.
std::vector<std::pair<std::string, std::string>> log_from(const std::string& json);

}  // namespace weir::cascade
