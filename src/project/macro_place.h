// Where a fault within a macro lies. DuckDB reports it at its place in the statement that made the macro, as if that
// were a place in the query that calls it: a reader would be sent to an innocent word, or nowhere.
#pragma once

#include <optional>
#include <vector>

#include "duck/database.h"
#include "parse/splice.h"

namespace weir {

/// The statement among `setup` whose text the place of a failure belongs to; nothing for the failing statement itself,
/// for failures that binding alone does not show, and where no macro is among them.
///
/// Every macro is made anew with blanks before it, each with another number of them, and the statement is bound again:
/// the place has moved by the blanks of the macro that it lies in. Only asked after a failure. `failing` runs nothing:
/// it is only bound. Requires: `setup` has run on `connection`.
std::optional<std::size_t> macro_of_fault(duck::Connection& connection, const std::vector<const parse::Spliced*>& setup,
                                          const duck::Sql& failing, const duck::Failure& failure);

}  // namespace weir
