// What the two kinds of history share: versions that begin with the run, and versions whose times the source gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "publish/draft.h"

namespace weir::publish {

duck::Sql at_micros(std::int64_t micros);
/// The end of an open version.
const duck::Sql& no_end();

/// Columns of validity of a row of the shape; other columns as `otherwise` says. What deletes=mark keeps is `deleted`
/// if it is given; else a row of the target keeps its own, and any other is no mark.
ValueOf with_validity(const ValidityColumns& validity, const duck::Sql& from, const duck::Sql& to, bool is_current,
                      const ValueOf& otherwise, const std::optional<duck::Sql>& deleted = std::nullopt);

/// The model's columns of validity, as far as the target has them now.
ValidityColumns held_validity(const Draft& draft);

struct Past {
  std::int64_t live_rows = 0;
  /// Newest start and end of any version, in microseconds.
  std::optional<std::int64_t> newest_from;
  std::optional<std::int64_t> newest_to;
};
/// Errors: W6018 rows without validity.
Result<Past> look_back(Draft& draft);

/// The statement that makes the view of current rows: with the history, and again when columns change or somebody
/// dropped the view. Errors: W6014.
Result<std::vector<duck::Sql>> current_view(Draft& draft);

/// Statements and images of a history that is there: the rows numbered in `gone` go, those of `fresh`, which has the
/// columns of the shape by name, come.
Result<void> change_versions(Draft& draft, const std::optional<duck::TableName>& gone,
                             const std::optional<duck::TableName>& fresh, const std::vector<duck::Sql>& view);
/// The images: `table`, and what is live of it.
Result<void> finish_versions(Draft& draft, const duck::Sql& table);

/// History by the times of the source (history_by_time.cc).
Result<void> prepare_history_by_time(Draft& draft);

}  // namespace weir::publish
