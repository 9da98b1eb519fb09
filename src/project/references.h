// From names in SQL to assets: which tables of which lake a model reads, where they stand in the text, and which tokens
// are to be replaced.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/diagnostic.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

/// Where unqualified names of a file without ATTACH and USE lead: the assets (Asset::key) that models of the project
/// produce.
using ProducedAssets = std::set<std::string>;

/// Fills references, cuts, tokens, files and is_volatile from model.script, and the places of model.test_queries.
/// Errors: W0301 unknown lake, W0306 PIVOT without IN in a file with aliases, W0307 a name that leads nowhere, W0210
/// undeclared parameter. Warnings: W0211 unused argument. Hints: W0214 a token in a model that is not partitioned.
Diagnostics resolve_references(Model& model, const Config& config, const ProducedAssets& produced,
                               const std::set<std::string>& volatile_functions);

/// Finds the places of {partition}, {window_start} and {window_end} in `text` within the script's statements.
std::vector<Model::Token> find_tokens(std::string_view text, const parse::Script& script);

/// The alias -> lake bindings that the ATTACH statements of a script make (keys in lower case).
std::map<std::string, std::string> lake_aliases(const parse::Script& script, const Config& config);

}  // namespace weir
