// Which models a fault in some file holds up, and which it does not: one wrong file stops its own model and what needs
// it, nothing else.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "project/project.h"

namespace weir::ops {

struct Fault {
  /// The file that has errors.
  std::string file;
  /// The model through which it reaches this one; empty where the model itself uses the file, or is it.
  std::string through;

  /// What `blocked by` names.
  const std::string& by() const { return through.empty() ? file : through; }
};

/// Moves models that cannot be linked, or whose files have errors, from the project's models to its broken ones, and
/// says why among its diagnostics. The graph is of those that are left.
Graph link_sound_models(Project& project);

/// All models: those that are right, linked as they are, and the broken ones as mere names and tables.
Graph link_all_models(const Project& project);

/// Models that cannot be run because of errors in files, by path: the broken ones, those that use such a test script or
/// library, and all that need one of these. Requires: link_sound_models() was asked.
std::map<std::string, Fault> blocked_models(const Project& project);

}  // namespace weir::ops
