#include "run/lake_change.h"

#include "state/store.h"

namespace weir::run {

Result<std::int64_t> change_lake(lake::Lakes& lakes, const lake::Lake& lake, const std::vector<duck::Sql>& statements,
                                 lake::CommitRecord record, const std::string& doing, const std::string& message) {
  WEIR_TRY(duck::Connection writer, lakes.connect());
  auto transaction = duck::Transaction::begin(writer);
  if (!transaction) return fail(lake::explain(Code::W6020, doing, transaction.error()));
  WEIR_TRY(const std::int64_t base, lake.base_version(writer));
  for (const duck::Sql& statement : statements) {
    const auto done = writer.execute(statement);
    if (done) continue;
    transaction->rollback();
    return fail(lake::explain(Code::W6020, doing, done.error()));
  }
  record.weir = WEIR_VERSION;
  record.token = state::new_run_id();
  WEIR_TRY(const auto version,
           lake::commit(writer, lake, std::move(*transaction), record, lake::author(), message, base));
  return version.value_or(base);
}

}  // namespace weir::run
