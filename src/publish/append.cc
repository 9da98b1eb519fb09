// Append: the target gains the query's rows. A retry of the same step is recognised by its token before it comes here.
#include "publish/draft.h"

namespace weir::publish {

Result<void> prepare_append(Draft& draft) {
  Effect& effect = draft.effect;
  const std::int64_t added = draft.request.stage.content.rows;
  effect.counts.inserted = added;
  effect.statements = draft.target.exists ? draft.shape.alters : draft.create();
  effect.shaping = effect.statements.size();
  if (added > 0) {
    effect.takes_files = draft.can_add_files();
    effect.statements.push_back(effect.takes_files ? draft.add_files(draft.request.stage.files)
                                                   : draft.insert(draft.stage_rows()));
  }
  effect.changes = !effect.statements.empty() || draft.request.always_commit;
  if (effect.statements.empty() && effect.changes) effect.statements.push_back(draft.touch());
  effect.rows = added;
  if (!draft.target.exists) return draft.finish(draft.stage_rows(), draft.stage_rows());
  std::int64_t held = draft.target.rows;
  if (draft.is_partitioned()) {
    WEIR_TRY(held, draft.count(duck::Sql("SELECT count(*) FROM {} AS t{}", draft.readable(), draft.where_slice())));
  }
  effect.rows = held + added;
  if (added == 0) return draft.finish(draft.target_rows(draft.where_slice()), draft.target_rows());
  return draft.finish(duck::Sql("{} UNION ALL {}", draft.target_rows(draft.where_slice()), draft.stage_rows()),
                      duck::Sql("{} UNION ALL {}", draft.target_rows(), draft.stage_rows()));
}

}  // namespace weir::publish
