// Rows of a query on their way out: a box on the terminal, or a file of the asked form. Shared by the commands that
// query.
#pragma once

#include <functional>
#include <optional>

#include "cli/output.h"
#include "ops/data.h"

namespace weir::cli {

/// What --format, --output, --json and --limit ask for; nothing, and a message, if they do not fit together.
std::optional<ops::QueryRequest> rows_request(const Args& args, Streams& streams);

using RowsFrom = std::function<Result<ops::QueryResult>(const ops::QueryRequest&)>;
/// Asks `from` and shows or writes what comes.
Exit show_rows(ops::Workspace& workspace, const RowsFrom& from, ops::QueryRequest request, Streams& streams);

}  // namespace weir::cli
