// Lineage for other programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ops/lineage.h"

namespace weir::ops {

/// The shapes of docs/formats/lineage.md.
nlohmann::ordered_json to_json(const LineageReport& report);
nlohmann::ordered_json to_json(const ImpactReport& report);

/// OpenLineage job events, one for each model on the way up: its datasets with schema and column lineage facets.
/// `project` names the namespace of jobs; `at` is the event's time.
nlohmann::ordered_json to_openlineage(const LineageReport& report, const std::string& project, const std::string& at,
                                      const std::string& version);

}  // namespace weir::ops
