// Whether the query of a partitioned model gives the rows of many partitions at once, and the query that does.
//
// The query is judged with a text of its own in place of the partition. That text must stand once, in `E =
// {partition}`, a whole condition of a WHERE clause whose E looks at one row only. Then E says of each row which
// partition it belongs to: the condition is taken away, E becomes a column, and that column rides along through
// everything above: it joins the keys of GROUP BY and of windows, so that no row of one partition meets a row of
// another. What cannot carry it so is refused, in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "duck/database.h"
#include "parse/functions.h"
#include "parse/splice.h"
#include "project/model.h"

namespace weir::plan {

/// Stands for the partition in the query that is judged.
inline constexpr std::string_view kAnyPartition = "weir: any partition";
/// The column that says which partition a row belongs to, the last one of the result.
inline constexpr std::string_view kPartitionOfRow = "partition_of_row";

/// What is known of the names of the partitions that are asked for.
struct PartitionNames {
  std::vector<std::string> names;
  /// They are dates as DuckDB writes them.
  bool are_dates = false;
  /// Of names in weir's own form for a kind of time: the wall times between which all of them lie.
  std::string begin = {};
  std::string end = {};
};
PartitionNames names_of(const Model& model, std::vector<std::string> partitions);

struct ManyPartitions {
  /// For json_deserialize_sql; empty if there is no such query.
  std::string tree;
  /// Why not, in words about the query.
  std::string why;
};

/// `tree`: the answer of json_serialize_sql to the query with kAnyPartition as its partition. Rows of other partitions
/// are left out where that is cheap; some may come along. Pure.
ManyPartitions many_partitions(const std::string& tree, const parse::FunctionKinds& functions,
                               const PartitionNames& partitions);

/// Why no query of the model could give many partitions, whatever it is; empty if one may.
std::string reason_against_many(const Model& model);

/// The query for the rows of many partitions, its last column kPartitionOfRow; or why there is none.
struct ManyQuery {
  duck::Sql sql;
  std::string why;
};
/// Judges the rendered query of a model (kAnyPartition in place of the partition), and its rendered setup.
ManyQuery many_query(duck::Connection& connection, const parse::Spliced& query,
                     const std::vector<parse::Spliced>& setup, const PartitionNames& partitions);

}  // namespace weir::plan
