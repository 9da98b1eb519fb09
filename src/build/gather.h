// The rows of many partitions by one query: a table of the memory database in which a number beside each row says which
// partition it belongs to, sorted by it, so that the rows of one are found without reading the others.
#pragma once

#include <string>
#include <vector>

#include "build/stage.h"

namespace weir::build {

struct GatherRequest {
  const Model& model;
  const lake::Lake& lake;
  /// Names the table, with those of `StageRequest`.
  std::string run;
  std::size_t step = 0;
  std::vector<parse::Spliced> setup;
  /// A query whose last column, `partition_column`, is the name of the row's partition.
  parse::Spliced query;
  std::string partition_column;
  /// Rows of others are left out.
  std::vector<std::string> partitions;
};

struct Gathered {
  duck::TableName table;
  std::string partition_column;

  /// A query for the rows of the partition with this index.
  duck::Sql rows_of(std::size_t partition) const;
};

/// Runs setup and query on `connection`, inside its read transaction.
/// Errors: as compute(); W4001 also where the columns could not be told apart or kept as they are.
Result<Gathered> gather(duck::Connection& connection, const GatherRequest& request);

}  // namespace weir::build
