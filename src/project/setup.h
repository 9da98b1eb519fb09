// Everything that runs before a model's result, in order: the one list that building, audits, binding and showing
// share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parse/splice.h"
#include "project/model.h"
#include "project/render.h"

namespace weir {

struct SetupStatement {
  parse::Spliced sql;
  /// What the parser saw of it; nothing for what weir writes itself. Lives as long as the model.
  const parse::Statement* statement = nullptr;
};

/// What the statements are run for. A custom test may call macros that its model does not.
enum class SetupFor { Result, Tests };

/// The statements to run on a model's connection before its result query: weir's partition macros, setup of the
/// libraries that it uses, macros of libraries where they are needed, and its own setup; references, tokens and
/// arguments filled in. Statements that weir answers itself (ATTACH of lakes, LOAD) are left out. Requires: a plane
/// other than manual.
std::vector<SetupStatement> setup_statements(const Model& model, const WhereToRead& where, const std::string& partition,
                                             const std::map<std::string, std::string>& arguments,
                                             SetupFor purpose = SetupFor::Result);

/// What a model takes from libraries to run just before its statement `index`; for manual scripts, whose own statements
/// run one by one. `more` are replacements of the caller's own, by the library's file.
std::vector<SetupStatement> macros_before(const Model& model, std::size_t index, const WhereToRead& where,
                                          const std::string& partition, SetupFor purpose = SetupFor::Result,
                                          const std::map<std::string, std::vector<parse::Replacement>>& more = {});

}  // namespace weir
