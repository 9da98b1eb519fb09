// Finds tables, functions and their places in DuckDB's tree of one query, with the scopes of its CTEs.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "parse/statements.h"

namespace weir::parse {

/// Adds what the tree names to `draft.statement`. `hidden` holds, in lower case, the temporary objects made before.
/// `offset` turns positions of the tree into positions of `sql`. Returns false if the tree and the text disagree (our
/// bug).
bool walk_tree(const std::string& json, std::int64_t offset, std::string_view sql, const std::set<std::string>& hidden,
               Draft& draft);

/// The same by tokens alone, for statements without a tree: names behind FROM, JOIN and PIVOT, calls of functions. All
/// are marked opaque.
void walk_tokens(std::string_view sql, const std::set<std::string>& hidden, Draft& draft);

/// Number of statements that the tree holds.
std::size_t statements_in_tree(const std::string& json);

/// Adds dotted names of three or more parts that are no table and no call; and parameters.
void walk_names(std::string_view sql, Draft& draft);

/// True for a quoted or plain file name that DuckDB would scan as a file rather than look up ("x.csv", "a/b.parquet").
bool looks_like_file(std::string_view name);

}  // namespace weir::parse
