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
  /// It uses temporary objects or macros of the model, so the model's setup runs first.
  bool needs_setup = false;
};

/// Splices the query of a test for one slice. Errors: an asset that cannot be resolved.
Result<CustomQuery> splice_test_query(const TestQuery& query, const AuditRequest& request);

}  // namespace weir::audit
