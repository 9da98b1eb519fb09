#include "deliver/deliver.h"

#include <chrono>
#include <thread>

#include "base/failpoint.h"

namespace weir::deliver {
namespace {

using namespace std::chrono_literals;

/// A lost answer is asked for again this often, with a pause between.
constexpr int kQuestions = 5;
constexpr auto kPause = 300ms;

bool same_columns(const lake::TableState& a, const lake::TableState& b) {
  if (a.exists != b.exists || a.columns.size() != b.columns.size()) return false;
  for (std::size_t i = 0; i < a.columns.size(); ++i)
    if (a.columns[i].name != b.columns[i].name || a.columns[i].type != b.columns[i].type ||
        a.columns[i].nullable != b.columns[i].nullable)
      return false;
  return true;
}

/// What differs, now that the target stands still.
Result<Delta> compare(duck::Connection& clean, Target& target, const publish::PrepareRequest& request) {
  return work_out(clean, request, [&](std::string_view type) { return target.kept_as(type); });
}

/// After a commit whose answer was lost: did it happen? Nothing: it cannot be asked.
std::optional<bool> happened(duck::Connection& clean, Target& target, const std::string& token) {
  for (int i = 0; i < kQuestions; ++i) {
    if (i > 0) std::this_thread::sleep_for(kPause);
    if (const auto record = target.record_of(clean, token)) return record->has_value();
  }
  return std::nullopt;
}

Result<void> write(duck::Connection& writer, Target& target, const Delta& delta, const DeliveryRequest& request,
                   const std::optional<DeliveryRow>& row) {
  if (row) WEIR_CHECK(target.note(writer, *row));
  WEIR_CHECK(target.shape(writer, delta));
  WEIR_CHECK(target.write(writer, delta));
  return request.check_fence();
}

}  // namespace

Result<publish::Effect> deliver(duck::Connection& clean, duck::Connection& writer, Target& target,
                                const DeliveryRequest& request) {
  const Model& model = request.prepare.model;
  auto transaction = duck::Transaction::begin(writer);
  if (!transaction) return fail(target.refused(Code::W6501, "beginning a delivery", transaction.error()));
  WEIR_CHECK(target.hold(writer, request.prepare.target, model.strategy));
  failpoint("after_hold");
  WEIR_TRY(const lake::TableState now, target.observe(clean));
  if (!same_columns(now, request.prepare.target))
    return fail(target.problem(Code::W6509,
                               "the columns of " + model.target->uri() + " changed while its new rows were computed",
                               "run the model again"));
  WEIR_TRY(Delta delta, compare(clean, target, request.prepare));
  WEIR_CHECK(target.check_names(delta.effect.columns));
  if (request.audit) WEIR_CHECK(request.audit(delta.effect));
  if (!delta.effect.changes) return std::move(delta.effect);

  std::optional<DeliveryRow> row;
  if (model.strategy == Strategy::Append && model.ledger) row = request.note(delta.effect);
  WEIR_CHECK(write(writer, target, delta, request, row));
  failpoint("before_deliver_commit");
  auto committed = transaction->commit();
  failpoint("after_deliver_commit");
  if (committed && failpoint("lost_answer"))
    committed = tl::unexpected(duck::Failure{duck::FailureType::Io, "failpoint", {}});
  if (committed) return std::move(delta.effect);

  if (!row && model.strategy != Strategy::Append)
    return fail(target.refused(Code::W6501, "committing the delivery to " + model.target->uri(), committed.error(),
                               "running it again is safe: rows that are there already are not written twice"));
  const auto known = row ? happened(clean, target, row->token) : std::nullopt;
  if (known == std::optional(true)) return std::move(delta.effect);
  if (known == std::optional(false))
    return fail(target.refused(Code::W6501, "committing the delivery to " + model.target->uri(), committed.error()));
  return fail(target.refused(
      Code::W6505, "it is not known whether the rows arrived in " + model.target->uri(), committed.error(),
      row ? "run it again when the database answers: what arrived is not delivered twice"
          : "look at the table before you run it again: without the ledger nothing tells whether they are there"));
}

}  // namespace weir::deliver
