// A model's statements as they are run: references spliced to where the data is, tokens and arguments filled in.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parse/splice.h"
#include "project/model.h"

namespace weir {

/// Lines that weir answers itself: its lakes and databases are attached already, its extensions loaded, and USE lives
/// on in the references.
bool is_answered(const Model& model, const parse::Statement& statement);

/// Where a reference is to be read: SQL of a relation (a quoted name).
using WhereToRead = std::function<std::string(const Reference&)>;

/// Renders statement `index` of a model that weir computes. ATTACH and USE of lakes and databases, INSTALL and LOAD
/// become nothing: their aliases are spliced away. Tokens are rendered as project/token_text.h says. `arguments` holds
/// values by name; a declared argument that is absent is NULL. `$partition` and the token are `partition`.
/// `more` are replacements of the caller's own; where they cover another one, they win.
parse::Spliced splice_statement(const Model& model, std::size_t index, const WhereToRead& where,
                                const std::string& partition, const std::map<std::string, std::string>& arguments,
                                std::vector<parse::Replacement> more = {});

/// Renders what a model takes from a library: a macro as CREATE OR REPLACE TEMP MACRO, setup as written. Places lead to
/// the library's file. In a manual script names of tables stay as written. `more` as above.
parse::Spliced splice_macro(const Model& model, std::size_t index, const WhereToRead& where,
                            const std::string& partition, std::vector<parse::Replacement> more = {});

/// Renders the query of a test: `target` is the relation that `_wm_target.<table>` stands for. Places lead to the
/// test's own source.
parse::Spliced splice_test(const Model& model, const TestQuery& query, const std::string& target,
                           const WhereToRead& where, const std::string& partition,
                           std::vector<parse::Replacement> more = {});

/// Renders a statement of a manual script: as written, with arguments and `$partition` bound.
parse::Spliced splice_manual(const Model& model, std::size_t index, const std::string& partition,
                             const std::map<std::string, std::string>& arguments);

}  // namespace weir
