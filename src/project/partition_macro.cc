#include "project/partition_macro.h"

namespace weir {
namespace {

using duck::Identifier;
using duck::Literal;
using duck::Sql;

/// The identity of the time that `ts` is, as SQL. Quarters have no strftime form.
Sql identity(const calendar::Partitioning& partitioning, const Sql& ts) {
  if (partitioning.kind == calendar::PartitionKind::Quarterly && !partitioning.has_own_format)
    return Sql("(strftime({}, '%Y') || '-Q' || CAST(quarter({}) AS VARCHAR))", ts, ts);
  return Sql("strftime({}, {})", ts, Literal(partitioning.format));
}

/// Overloads by type: DuckDB takes the one whose parameter a TIMESTAMP of any precision, a DATE or a TIMESTAMPTZ
/// converts to, and none for text.
Sql macro(const char* name, const calendar::Partitioning& partitioning, const Sql& zoned) {
  const Sql plain = identity(partitioning, Sql("ts"));
  return Sql("CREATE OR REPLACE TEMP MACRO {}(ts DATE) AS {}, (ts TIMESTAMP) AS {}, (ts TIMESTAMPTZ) AS {}",
             Identifier(name), plain, plain, identity(partitioning, zoned));
}

}  // namespace

std::vector<Sql> partition_macros(const Model& model) {
  if (!model.partitioning || model.plane != Plane::Managed ||
      model.partitioning->kind == calendar::PartitionKind::Dynamic)
    return {};
  const calendar::Partitioning& partitioning = *model.partitioning;
  return {macro("wm_partition", partitioning, Sql("ts")),
          macro("weir_partition", partitioning, Sql("timezone({}, ts)", Literal(partitioning.tz)))};
}

}  // namespace weir
