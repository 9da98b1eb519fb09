// A check that found nothing to say is remembered, with all that it looked at: the next one of the same project has
// only to see that nothing of it changed, or to look at the few models that did. Looking at the files of 10,000 models
// takes 40 ms, checking them from the caches half a second.
#pragma once

#include <optional>
#include <string>

#include "ops/check.h"
#include "ops/seen_project.h"
#include "ops/workspace.h"

namespace weir::ops {

class CleanCheck {
 public:
  /// Looks at the state of every file of the project, before anything is read of them. Nothing if the project cannot be
  /// told apart from a later one.
  static std::optional<CleanCheck> look(const std::string& root, const Config& config);

  /// The number of models, if the last clean check saw these files, or files that differ in nothing that there would be
  /// something to say about, and the lakes have the columns of that time.
  std::optional<std::size_t> recall(Workspace& workspace);

  /// Keeps that a check of what was looked at found nothing. Requires: `bound.columns` is set.
  void remember(const Project& project, const BoundGraph& bound);

 private:
  CleanCheck(std::string root, SeenProject seen) : root_(std::move(root)), now_(std::move(seen)) {}
  std::string file() const { return root_ + "/.weir/cache/clean"; }
  std::string root_;
  /// What there is now; hashes of files are set when they are known.
  SeenProject now_;
};

}  // namespace weir::ops
