// Models and tables as unit tests name them. Those are YAML files below the tests roots, which the project's sources do
// not hold; a few lines of them are all that references and rename need.
#pragma once

#include <string>
#include <vector>

#include "lsp/places.h"

namespace weir::lsp {

/// Where unit tests name the model or its table: the value of `model:`, and keys right below `inputs:`.
std::vector<Naming> unit_test_namings(const Session& session, const Model& model, const Asset& asset);

/// The text of a file of the project as the editor has it, or else as it was read or is on disk.
std::string text_of_file(const Session& session, const std::string& path);

}  // namespace weir::lsp
