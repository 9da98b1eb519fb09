// The one judge of what a model's file may hold: setup statements, then exactly one query, last. Used by check and by
// run.
#pragma once

#include "base/diagnostic.h"
#include "project/config.h"
#include "project/model.h"

namespace weir {

/// Judges the statements of a model that weir computes (every plane but manual), and the settings and extensions of
/// setup. Errors: W0202 empty, W0203 no result, W0204 several results, W0205 result not last, W0206 a statement that
/// only manual allows, W0207 a setting that reaches beyond the connection, W0215 an extension that weir does not ship.
/// Hints: W0216 INSTALL does nothing.
Diagnostics judge_shape(const Model& model);

/// The part of it that is about settings and extensions, for files of another shape.
Diagnostics judge_settings(const Model& model);

/// Judges raw bytes before anything is parsed. Errors: W0208 not UTF-8 (names the byte), W0209 a NUL byte.
Diagnostics judge_bytes(const Source& source);

/// The first 40 characters of a statement, white space collapsed, with an ellipsis when cut.
std::string quote_start(std::string_view text, Span span);

}  // namespace weir
