// The message of a failed audit: counts only, because messages travel to logs and notifications.
#include "audit/audit.h"

#include <algorithm>

namespace weir::audit {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string line_of(const Verdict& verdict) {
  const std::string count = " — " + std::to_string(verdict.violating) + " violating row(s)";
  switch (verdict.status) {
    case Verdict::Status::Passed:
      return "  ✓ " + verdict.test;
    case Verdict::Status::Error:
      return (verdict.blocks() ? "  ✗ " : "  ! ") + verdict.test +
             " — error: " + (verdict.is_refused ? first_line(verdict.error) : "it could not be run");
    case Verdict::Status::Failed:
      break;
  }
  return (verdict.blocks() ? "  ✗ " : "  ! ") + verdict.test + count;
}

/// By the name that readers use: where weir owns the table, its rows lie under another.
std::string named(const Model& model) {
  if (model.plane == Plane::Virtual || model.plane == Plane::View) return model.relation.uri();
  return model.target ? model.target->uri() : model.path;
}

}  // namespace

bool stops(const std::vector<Verdict>& verdicts, const Model& model) {
  return verdicts.size() < model.tests.size() ||
         std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) { return verdict.blocks(); });
}

std::string failure_message(const std::vector<Verdict>& verdicts, const Model& model, const std::string& partition,
                            Audited audited) {
  std::size_t blocking = 0;
  for (const auto& verdict : verdicts) blocking += verdict.blocks() ? 1 : 0;
  std::string message = "audit failed: " + std::to_string(blocking) + " of " + std::to_string(verdicts.size()) +
                        " tests on " + named(model);
  if (!partition.empty()) message += " [" + partition + "]";
  if (audited == Audited::HeldBack) message += "; nothing was published";
  if (audited == Audited::Published) message += "; it is published all the same";
  if (audited == Audited::AsItWas) message += "; the table is as it was before this run";
  for (const bool passed : {false, true})
    for (const auto& verdict : verdicts)
      if ((verdict.status == Verdict::Status::Passed) == passed) message += "\n" + line_of(verdict);
  if (verdicts.size() < model.tests.size())
    message += "\n  only " + std::to_string(verdicts.size()) + " of " + std::to_string(model.tests.size()) +
               " tests came back";
  return message;
}

}  // namespace weir::audit
