// The definitions that an environment has: of owned models those that it shows, of others those that were deployed to
// it; of what it has not built itself, those of the nearest environment that it comes from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

struct Definitions {
  /// By path. The fingerprint is that of the definition the environment has, whatever was deployed last. Without owned
  /// models that are not shown.
  std::vector<state::DeployedModel> records;
  /// Path -> environment that the definition is taken from, where that is another one.
  std::map<std::string, std::string> deferred;
  /// Path -> what is shown was made of, where another definition was deployed last; without a text if it is not known
  /// any more.
  std::map<std::string, state::DefinitionRecord> shown;
  /// Number of what the environment shows; 0 before its first promotion.
  std::int64_t generation = 0;

  /// Equal digests, equal definitions.
  std::string digest() const;
};

/// Errors: W5401 no such environment, W5427, W70xx.
Result<Definitions> definitions_in(Workspace& workspace, const std::string& environment);

/// The texts of these definitions and of the macro libraries beside them, by file. Without those that are not known.
/// Libraries are as the definitions that are shown were made with them.
/// Errors: W70xx.
Result<OpenTexts> texts_of(Workspace& workspace, const std::string& environment, const Definitions& definitions);

}  // namespace weir::ops
