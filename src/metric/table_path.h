// The name of a table in the catalogue of metrics: `<lake>/<schema>.<table>`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "project/asset.h"

namespace weir::metric {

/// The canonical path of a table of a lake, in the user's case. Requires: a lake's asset with a name.
std::string table_path(const Asset& table);
/// What paths are compared and found by: the path in lower case.
std::string table_key(std::string_view path);

/// The canonical path of a table in any spelling that names its lake: a URI, `<lake>/<table>`,
/// `<lake>/<schema>.<table>`. Nothing without a lake.
std::optional<std::string> table_path_of(std::string_view spelling);
/// The table that a canonical path names. Requires: made by table_path().
Asset table_of(std::string_view path);

/// True if the path may be put into SQL that others write: ASCII letters, digits, `_ - . /`, not empty, at most 510
/// bytes.
bool is_safe_path(std::string_view path);
/// True if the name of a measure or dimension has no more than 255 characters.
bool is_name_short_enough(std::string_view name);

}  // namespace weir::metric
