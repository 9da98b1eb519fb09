// The project as one environment shows it: owned models at the tables that their views show.
#pragma once

#include "env/placement.h"
#include "ops/workspace.h"

namespace weir::ops {

/// Models that the environment does not show yet are placed where a build would put them. The workspace must outlive
/// the result.
Result<env::Placed> placed_in(Workspace& workspace, const std::string& environment);

/// Where the rows of an asset lie: of an owned model the table that the environment shows, otherwise the asset itself.
Result<Asset> rows_of(Workspace& workspace, const Asset& asset, const std::string& environment);

}  // namespace weir::ops
