// The generated parts of docs/reference, and the comparison of handwritten ones with the program: what the tables of
// commands, header words and diagnostic codes say is never typed twice.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::docs {

/// Page below docs/reference, without extension -> its generated text.
std::map<std::string, std::string> generated_parts();

/// A page with the text between its markers replaced by `part`; the page as it is if it has none.
std::string with_part(const std::string& page, const std::string& part);

/// Keys that weir.yaml takes, as `temp.folder` or `lakes.<name>.catalog`; asked of the reader itself.
std::set<std::string> configuration_keys();

/// Fields of `weir run --json`, as `steps[].ms.wait`; collected from an object in which everything is set.
std::set<std::string> result_fields();

/// The codes in backticks that begin a table row of a page: its first column.
std::set<std::string> first_column(const std::string& page);

/// Free functions that the headers in `folder` declare: the operations.
std::set<std::string> declared_functions(const std::string& folder);

}  // namespace weir::docs
