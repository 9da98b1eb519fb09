// A delivery: the rows of a stage go into a table that weir does not own, in one transaction of its database. Other
// writers are kept away from the moment the target is compared until the commit, and the audit stands between the
// comparison and the first write, so what passed is what is committed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "deliver/delta.h"
#include "deliver/target.h"

namespace weir::deliver {

struct DeliveryRequest {
  /// As publish::prepare takes it: model, stage, effective time, prefix; `target` is what observe() said before the
  /// stage was computed.
  publish::PrepareRequest prepare;
  /// Looks at the after-image and may refuse; runs on connections of its own.
  std::function<Result<void>(const publish::Effect&)> audit;
  /// Asked before the commit: is the slice still ours?
  std::function<Result<void>()> check_fence;
  /// Noted beside the target in the same transaction, where the strategy is append and the model keeps a ledger. Called
  /// when what is delivered is known.
  std::function<DeliveryRow(const publish::Effect&)> note;
};

/// Delivers, unless nothing differs (Effect::changes of the result). Failpoints: after_hold, before_deliver_commit,
/// after_deliver_commit, lost_answer.
/// Errors: W6501 the database refused, W6502 it does not answer, W6503 the target is held by others, W6504 no record of
/// the delivery can be kept, W6505 it is not known whether the commit happened, W6508 the target is a view, W6509 its
/// columns changed meanwhile; those of the audit, of the fence and of publish::prepare.
Result<publish::Effect> deliver(duck::Connection& clean, duck::Connection& writer, Target& target,
                                const DeliveryRequest& request);

}  // namespace weir::deliver
