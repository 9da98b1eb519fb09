// Custom tests: a user's query over `_wm_target.<table>`, spliced to the relation under audit.
#pragma once

#include "audit/audit.h"
#include "parse/splice.h"

namespace weir::audit {

struct CustomQuery {
  parse::Spliced query;
  std::string path;
  std::shared_ptr<const Source> source;
  /// What the parser saw, with places in `source`.
  parse::Statement statement;
  /// It uses temporary objects of the model, so the model's setup runs first.
  bool needs_setup = false;
};

/// Judges the contract: one SELECT, nothing before it, over `_wm_target.<table>` of a table that the model writes.
/// Each breach is an error (W5001) that names it and ends with an example over the model's real table.
Diagnostics check_custom_test(const CustomTest& test, const Model& model);

/// Nothing if no file of the project has this path (with or without its extension, with or without its root).
const CustomTest* find_custom_test(const std::vector<CustomTest>& tests, const std::string& path);

/// Splices a custom test for one slice. Errors: its contract; an asset that cannot be resolved.
Result<CustomQuery> splice_custom_test(const CustomTest& test, const Test& declared, const AuditRequest& request);

}  // namespace weir::audit
