// The definition fingerprint: what a model's data depends on, in 16 hexadecimal digits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "project/project.h"

namespace weir::plan {

/// Fingerprints of all models by path: first 16 digits of SHA-256 over the canonical query and setup, the options that
/// change data, and the sorted fingerprints of the inputs. Not in it: tests, descriptions, owner, tags, schedule.
/// `own_data`: key of each asset that an environment has rows of its own of -> that environment; it counts for readers,
/// so that no table is reused that was computed from other rows.
std::map<std::string, std::string> fingerprints(const Graph& graph,
                                                const std::map<std::string, std::string>& own_data = {});

/// The same of one model without its inputs: differs when its own text or options do.
std::string local_fingerprint(const Model& model);

/// What the tests of each model and its contract on columns say, by path, in as many digits: their kinds, columns,
/// bounds, predicates, tolerance and scripts. Models without either are left out.
std::map<std::string, std::string> test_fingerprints(const Graph& graph, const std::vector<CustomTest>& custom_tests);

}  // namespace weir::plan
