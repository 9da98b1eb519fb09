// Judges both header notations of one file together: from what is written to what the model is, or why it is none.
#pragma once

#include <memory>
#include <string>

#include "base/diagnostic.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

/// What the header of one file says. With errors among the diagnostics the model is filled as far as it could be
/// understood.
struct Judgement {
  /// The fields that a header decides; `script` and what follows from it are left for the parser.
  Model model;
  /// The file with its header blanked: same length, same line ends, so that every position of the SQL stays true.
  std::string blanked_sql;
  Diagnostics diagnostics;
  /// False if no line is an annotation or argument and there is no block header: the file is a plain query.
  bool has_header = false;
};

/// Reads and judges the header of `source`, the model at `model_path` ("sales/orders_daily").
Judgement judge_file(std::shared_ptr<const Source> source, const std::string& model_path, const Config& config);

}  // namespace weir
