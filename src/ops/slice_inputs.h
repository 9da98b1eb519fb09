// Which rows of its inputs one slice of a model depends on: those of the same partition, or of the same stretch of time
// in one of their columns. Proven by the engine: where its optimiser moves the slice's own condition down to every scan
// of an input, the slice's rows depend on no others.
#pragma once

#include <map>
#include <string>

#include "lake/lakes.h"
#include "project/model.h"

namespace weir::ops {

/// What a slice reads of one input.
struct SliceInput {
  /// The input's column that has the slice's partition as its value, or a time within the slice.
  std::string column;
  /// DATE, a TIMESTAMP, or VARCHAR where the partition is compared.
  std::string type;
  bool is_partition = false;
};

struct SliceInputs {
  /// By key of the input; those of which any row may count are missing.
  std::map<std::string, SliceInput> columns;
  /// The query names the bounds of what it computes, so that windows computed together depend on one another.
  bool names_bounds = false;
};

/// Runs nothing of the model but its setup. Requires: a model that is computed in slices, as placed. A query of which
/// nothing can be proven has no columns. Errors: W4001 the engine gives out.
Result<SliceInputs> slice_inputs(lake::Lakes& lakes, const Model& model);

}  // namespace weir::ops
