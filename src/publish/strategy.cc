// From strategy to effect and from effect to statements run.
#include "publish/strategy.h"

#include "base/failpoint.h"
#include "publish/draft.h"

namespace weir::publish {

namespace {

Effect prepare_view(Draft& draft) {
  Effect effect;
  effect.target_version = draft.request.target.version;
  effect.changes = !draft.request.target.exists || !draft.request.is_view_current;
  effect.needs_schema = effect.changes;
  effect.columns = draft.request.stage.columns;
  effect.rows = draft.request.stage.content.rows;
  effect.table_image = draft.request.stage.relation;
  effect.slice_image = draft.request.stage.relation;
  effect.statements = {
      duck::Sql("CREATE OR REPLACE VIEW {} AS {}", draft.writable(), duck::Sql::verbatim(draft.request.view_sql))};
  return effect;
}

}  // namespace

Result<Effect> prepare(duck::Connection& clean, const PrepareRequest& request) {
  Draft draft(clean, request);
  if (request.model.plane == Plane::View) return prepare_view(draft);
  WEIR_CHECK(draft.take_shape());
  switch (request.model.strategy) {
    case Strategy::Replace:
      WEIR_CHECK(prepare_replace(draft));
      break;
    case Strategy::Append:
      WEIR_CHECK(prepare_append(draft));
      break;
    case Strategy::Merge:
    case Strategy::HashMerge:
    case Strategy::FullMerge:
      WEIR_CHECK(prepare_merge(draft));
      break;
    case Strategy::History:
      WEIR_CHECK(prepare_history(draft));
      break;
    case Strategy::IncrementalByTime:
      WEIR_CHECK(request.model.key.empty() ? prepare_replace(draft) : prepare_merge(draft));
      break;
  }
  WEIR_CHECK(draft.end_reading());
  return std::move(draft.effect);
}

Result<void> write(duck::Connection& writer, const PrepareRequest& request, const Effect& effect, CommitGroup& group) {
  const Asset& target = *request.model.target;
  const std::string doing = "writing " + target.uri();
  auto statements = group.alone && !effect.keeping.empty() ? effect.keeping : effect.statements;
  const bool is_shaped = !group.shaped.insert(target.key()).second;
  if (is_shaped) statements.erase(statements.begin(), statements.begin() + static_cast<std::ptrdiff_t>(effect.shaping));
  // In a fork the first build takes the place of the view on a parent's table, which others may make meanwhile.
  if (!is_shaped && !request.target.exists && !request.lake.config().fork_of.empty())
    statements.insert(statements.begin(),
                      duck::Sql("DROP VIEW IF EXISTS {}", request.lake.writable(target.schema, target.name)));
  if (effect.needs_schema && group.schemas.insert(target.schema).second)
    statements.insert(statements.begin(), duck::Sql("CREATE SCHEMA IF NOT EXISTS {}",
                                                    duck::TableName{{}, request.lake.writer(), target.schema}));
  for (const duck::Sql& statement : statements) {
    if (failpoint("write_statement"))
      return fail(lake::explain(Code::W6020, doing, {duck::FailureType::Io, "failpoint", {}}));
    if (auto done = writer.execute(statement); !done) return fail(lake::explain(Code::W6020, doing, done.error()));
  }
  return {};
}

bool can_share_commit(const Effect& one, const Effect& other) {
  if (one.shaping != other.shaping) return false;
  for (std::size_t i = 0; i < one.shaping; ++i)
    if (one.statements[i].text() != other.statements[i].text()) return false;
  return true;
}

// What cannot be dropped lies in memory and goes with the instance: nothing depends on it.
void discard(duck::Connection& clean, const Effect& effect) {
  for (const duck::TableName& view : effect.scratch_views)
    (void)clean.execute(duck::Sql("DROP VIEW IF EXISTS {}", view));
  for (const duck::TableName& table : effect.scratch_tables)
    (void)clean.execute(duck::Sql("DROP TABLE IF EXISTS {}", table));
}

}  // namespace weir::publish
