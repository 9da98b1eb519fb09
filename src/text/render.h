// Diagnostics as people and programs read them: sorted, with line and column, with the source line and a mark under the
// place.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace weir::text {

/// The text of the file at a diagnostic's path; nothing if there is none to show.
using SourceText = std::function<std::optional<std::string_view>(std::string_view path)>;

/// Orders by path, place, code and message, so that two runs print the same; removes exact repetitions.
void sort_diagnostics(Diagnostics& diagnostics);

/// One block per diagnostic:
///   models/a.sql:2:34: warning W0107: `fial` is no value of on_schema_change
///     -- materialize ducklake://main/a on_schema_change=fial
///                                                       ^^^^
///     hint: did you mean `on_schema_change=fail`?
std::string render_text(const Diagnostics& diagnostics, const SourceText& sources);

/// A list of objects: path, line, column, end_line, end_column, code, severity, message, hint. Places only where one is
/// known.
nlohmann::json render_json(const Diagnostics& diagnostics, const SourceText& sources);

}  // namespace weir::text
