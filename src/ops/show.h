// `weir show`: what a model is, and the exact SQL that would run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/workspace.h"

namespace weir::ops {

struct Shown {
  const Model* model = nullptr;
  /// Empty where errors in files hold the model up.
  std::string fingerprint;
  std::string blocked_by;
  std::string partition;
  std::vector<std::string> reads;  // URIs
  /// Setup statements and the query with references, tokens and arguments filled in, in order.
  std::vector<std::string> sql;
};

/// Errors: those of the model's own file, W2010 no such model, W0153 … a partition value of another kind, W8003 a
/// malformed --arg.
Result<Shown> show(Workspace& workspace, const std::string& model, const std::optional<std::string>& partition,
                   const std::vector<std::string>& arguments);

}  // namespace weir::ops
