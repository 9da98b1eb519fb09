// What is wrong with the measures and dimensions of a project: three faults that no deployment takes, since readers run
// the stored text, and warnings for what only shows when the text is bound to the columns of its table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "metric/fit_texts.h"
#include "project/project.h"

namespace weir::metric {

/// Judges every declaration of the project and adds what it finds to the project's diagnostics; a model with an error
/// is one of the project's broken models. What `fit` knows is not asked again, so that an unchanged project starts no
/// DuckDB. Errors (in the project): W2201 unsafe table path, W2202 not one expression, W2203 a filter on what is no
/// single aggregate call, W2204 a name too long. Errors (returned): W4001 the parser cannot be started.
Result<void> judge(Project& project, ParserProvider& parser, FitTexts& fit);
/// The same, remembered in the project's `.weir/cache/metrics`.
Result<void> judge(Project& project, ParserProvider& parser);

/// The columns of a model's table.
struct KnownTable {
  std::vector<duck::Column> columns;
  /// Number of the captured version and when it was captured; nothing for columns that the model's query will give.
  std::optional<std::int64_t> version;
  std::string captured;
};

/// Warnings of one model's declarations over the columns of its table: W2210 and W2211 unknown column, W2212 a measure
/// that is no aggregate, W2213 a dimension that is one, W2214 a filter that is no boolean, W2215 what else the engine
/// refuses; hint W2216 a function it does not know. Nothing is computed. Requires: the declarations passed judge(); a
/// connection to an instance whose current catalog can be written and of which nothing else uses the model's table
/// name.
Result<Diagnostics> bound_warnings(duck::Connection& connection, const Model& model, const KnownTable& table);

/// The same for all models of a project; `table_of` gives the columns of a model's table, or nothing where they are not
/// known. Tables that `fit` knows are not asked again.
using TableOf = std::function<std::optional<KnownTable>(const Model& model)>;
Result<Diagnostics> bound_warnings(const Project& project, const TableOf& table_of, ParserProvider& parser,
                                   FitTexts& fit);
/// Where a project keeps them between commands.
std::string bound_cache_of(const Project& project);

}  // namespace weir::metric
