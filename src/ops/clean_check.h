// A check that found nothing to say is remembered, with all that it looked at: the next one of the same project has
// only to see that nothing of it changed. Looking at the files of 10,000 models takes 40 ms, checking them from the
// caches half a second.
#pragma once

#include <optional>
#include <string>

#include "bind/bound.h"
#include "ops/binding.h"
#include "ops/workspace.h"

namespace weir::ops {

class CleanCheck {
 public:
  /// Looks at the state of every file of the project, before anything is read of them. Nothing if it cannot be told
  /// apart from later ones: a file was changed within the last two seconds (some file systems count in seconds).
  static std::optional<CleanCheck> look(const std::string& root, const Config& config);

  /// The number of models, if the last clean check saw these files, and the lakes have the columns of that time.
  std::optional<std::size_t> recall(Workspace& workspace) const;

  /// Keeps that a check of what was looked at found nothing. `sources`: what the lakes were asked for, and said.
  void remember(std::size_t models, const std::vector<Asset>& sources, const SourceColumns& columns) const;

 private:
  CleanCheck(std::string file, std::string state) : file_(std::move(file)), state_(std::move(state)) {}
  std::string file_;
  /// Hash of the files' states, the configuration with the variables that it names, and weir itself.
  std::string state_;
};

}  // namespace weir::ops
