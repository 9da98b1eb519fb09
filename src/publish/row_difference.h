// Which rows two relations do not share, as multisets. Grouping both sides together, the rows of one counting +1 and
// those of the other -1, counts repeated rows right, but keeps all rows of both at once: 20 million rows of 80 bytes
// took 72 s within 2 GB of memory. So the rows are first put into 65,536 buckets by their hash, of which only sums are
// kept, and only rows of buckets that differ are grouped.
#pragma once

#include <string>
#include <vector>

#include "duck/sql.h"

namespace weir::publish {

/// A column that both sides have, brought to one type.
struct PairedColumn {
  std::string name;
  /// DuckDB's spelling.
  std::string type;
  /// Its value in a row of the left relation, named l, and of the right one, named r.
  duck::Sql left;
  duck::Sql right;
};

/// Expressions of the column `c<index>` of row_difference() that are equal exactly if two values are the same to a
/// reader; `alias` names the relation, if any.
std::vector<duck::Sql> forms_of(const PairedColumn& column, std::size_t index, const duck::Sql& alias = {});

/// `c0, c1, …` with `alias.` before each, if any.
duck::Sql numbered_columns(std::size_t count, const duck::Sql& alias = {});

/// A SELECT of the numbers b of those buckets of rows, by hash, whose sums of hashes differ: all others hold the same
/// rows on both sides, as far as two sums of 64-bit hashes tell. `left` and `right` are what stands behind FROM, with
/// the aliases l and r.
duck::Sql differing_buckets(const std::vector<PairedColumn>& columns, const duck::Sql& left, const duck::Sql& right);

/// A SELECT of the rows of which one side has more: c0, c1, … and n, how many more the left one has (negative: the
/// right one). Only rows of `buckets`, a relation of differing_buckets(), are grouped.
duck::Sql row_difference(const std::vector<PairedColumn>& columns, const duck::Sql& left, const duck::Sql& right,
                         const duck::Sql& buckets);

}  // namespace weir::publish
