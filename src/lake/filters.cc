#include "lake/filters.h"

namespace weir::lake {

duck::Sql live_at(const char* alias, std::int64_t version) {
  const duck::Identifier name{alias};
  return duck::Sql("{}.begin_snapshot <= {} AND ({}.end_snapshot IS NULL OR {}.end_snapshot > {})", name, version, name,
                   name, version);
}

// As DuckDB writes the query of Lakes' own statement again: the attachment's name needs no quotes.
duck::Sql is_deferral(const char* alias) {
  return duck::Sql("starts_with({}.sql, 'SELECT * FROM _weir_r_')", duck::Identifier{alias});
}

}  // namespace weir::lake
