// Which model it is, whatever file it lies in.
#pragma once

#include <string>

#include "project/model.h"

namespace weir {

/// key() of the asset that a model produces; of an ephemeral one that of the relation that others name. Empty if there
/// is neither.
inline std::string identity_of(const Model& model) {
  if (model.target) return model.target->key();
  return model.plane == Plane::Ephemeral ? model.relation.key() : std::string();
}

}  // namespace weir
