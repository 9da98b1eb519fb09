#include "bind/macro_binding.h"

#include <algorithm>

#include "project/macro_place.h"
#include "project/render.h"

namespace weir::bind {
namespace {

Code code_of(const Refusal& refusal) {
  if (refusal.subtype == "COLUMN_NOT_FOUND") return Code::W2101;
  if (refusal.subtype == "NO_MATCHING_FUNCTION") return Code::W2103;
  if (refusal.subtype == "MISSING_ENTRY")
    return refusal.entry.find("Function") == std::string::npos ? Code::W2107 : Code::W2104;
  return Code::W2106;
}

void blame(ModelBinding& binding, const SetupStatement& made, const Refusal& refusal) {
  Diagnostic found{.code = code_of(refusal),
                   .message = first_line(refusal.message),
                   .path = made.sql.path().empty() ? binding.model->source->path : made.sql.path(),
                   .span = made.statement->span};
  if (refusal.position)
    if (const auto place = made.sql.source_of(*refusal.position)) found.span = *place;
  if (!made.sql.path().empty()) found.hint = "the model " + binding.model->path + " calls it";
  binding.found.push_back(std::move(found));
}

}  // namespace

bool blame_macro(duck::Connection& connection, ModelBinding& binding) {
  const Model& model = *binding.model;
  std::vector<SetupStatement> ran;
  for (std::size_t i = 0; i <= binding.refused_statement; ++i) {
    for (SetupStatement& one : macros_for_binding(model, i, binding.places)) ran.push_back(std::move(one));
    if (i < binding.refused_statement)
      ran.push_back({text_for_binding(model, i, binding.places), &model.script.statements[i]});
  }
  std::vector<const parse::Spliced*> setup;
  for (const SetupStatement& one : ran) setup.push_back(&one.sql);
  const parse::Spliced failing = text_for_binding(model, binding.refused_statement, binding.places);
  // Binding sends more than the statement, and takes that off every place, of macros too: asked for once more.
  const auto plain = connection.describe(failing.sql());
  if (plain) return false;
  const auto macro = macro_of_fault(connection, setup, failing.sql(), plain.error());
  if (!macro) return false;
  Refusal refusal = *binding.refusal;
  refusal.position = plain.error().position;
  blame(binding, ran[*macro], refusal);
  return true;
}

}  // namespace weir::bind
