// Values of a unit test as SQL, and the tables that its inputs become.
#pragma once

#include <string>
#include <vector>

#include "bind/bound.h"
#include "duck/database.h"
#include "duck/sql.h"
#include "project/unit_test.h"
#include "trial/difference.h"

namespace weir::trial {

/// A value cast to a type of DuckDB's spelling.
duck::Sql value_as(const UnitValue& value, const std::string& type);

/// The place of a named column; nothing, and W2414 at its place in the file, if there is none.
std::optional<std::size_t> find_column(const bind::Columns& columns, const Word& name, const std::string& owner,
                                       const UnitTest& test, Diagnostics& problems);

/// The columns of an input that nothing else describes: types by what all of its values can be cast to.
bind::Columns guess_columns(duck::Connection& connection, const UnitRows& rows);

/// Puts rows into a table. Columns that a row does not name are NULL. Problems: W2414, W2416 a value that its column's
/// type does not take.
void insert_rows(duck::Connection& connection, const std::string& table, const bind::Columns& columns,
                 const UnitRows& rows, const UnitTest& test, Diagnostics& problems);

/// Rows as text of the types of `columns`, in the order of `wanted` (positions). Problems: as insert_rows.
std::vector<UnitCells> expected_cells(duck::Connection& connection, const bind::Columns& columns,
                                      const std::vector<std::size_t>& wanted, const UnitTest& test,
                                      Diagnostics& problems);

}  // namespace weir::trial
