#include "audit/custom.h"

#include "project/render.h"

namespace weir::audit {

Result<CustomQuery> splice_test_query(const TestQuery& query, const AuditRequest& request) {
  std::map<std::string, std::string> relations;
  for (const Reference& reference : query.references) {
    WEIR_TRY(const duck::Sql relation, request.resolve(reference.asset));
    relations[reference.asset.key()] = duck::Sql("(SELECT * FROM {})", relation).text();
  }
  const bool is_whole = request.model.tests[query.test].scope == TestScope::Table;
  const std::string target = duck::Sql("(SELECT * FROM {})", is_whole ? request.table : request.slice).text();
  const auto where = [&relations](const Reference& reference) { return relations.at(reference.asset.key()); };
  return CustomQuery{splice_test(request.model, query, target, where, request.partition), query.path, query.source,
                     query.statement, query.needs_setup};
}

}  // namespace weir::audit
