// Rows as lines of text, values inside JSON, and a foreign writer's statements on a lake.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "place.h"

namespace weir::scenario {

/// One line a row: values joined by commas; NULL for no value, quotes around text that is empty, says NULL, or holds a
/// comma, quote or newline. Takes an array of arrays or objects, one such row a line, or an object whose `rows` is such
/// an array.
std::optional<std::vector<std::string>> rows_of_json(const std::string& text, std::string& problem);

/// The value at a path such as `steps[0].rows`, `steps[model=orders].status`, `steps.length`; nothing if there is none.
std::optional<nlohmann::ordered_json> find_value(const nlohmann::ordered_json& document, const std::string& path);

/// Replaces one section of a scenario file.
bool rewrite_section(const std::string& path, const std::string& section, const std::string& text);

/// Somebody else who writes to the lake: plain DuckDB, without weir.
struct ForeignWriter {
  const Place& place;
  std::string extension_folder;

  /// Runs statements with the lake as the current catalog; rows of the last as `rows_of_json` writes them.
  std::optional<std::vector<std::string>> run(const std::string& lake, const std::string& statements,
                                              std::string& problem) const;
};

}  // namespace weir::scenario
