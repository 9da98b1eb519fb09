#include "project/judge_plane.h"

#include <fmt/format.h>

#include "project/render.h"
#include "text/lexer.h"

namespace weir {
namespace {

Diagnostic about(const Model& model, Code code, Span span, std::string message, std::string hint) {
  return {code, Severity::Error, std::move(message), model.source->path, span, std::move(hint)};
}

/// Statements of the model's own that would run before its query.
std::vector<Span> own_statements(const Model& model) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i + 1 < model.script.statements.size(); ++i)
    if (const parse::Statement& statement = model.script.statements[i]; !is_answered(model, statement))
      spans.push_back(statement.span);
  return spans;
}

void judge_view(const Model& model, Diagnostics& problems) {
  const auto refuse = [&](Span span, const std::string& what) {
    problems.push_back(about(model, Code::W5406, span, "a view cannot read " + what,
                             "make it a table (`materialise: virtual`), or an ephemeral model"));
  };
  for (const Span span : own_statements(model)) refuse(span, "what the model's setup makes");
  for (const MacroDefinition& macro : model.macros)
    if (!macro.is_for_tests && !macro.is_setup())
      refuse(model.result().span, fmt::format("the macro {} of library {}", macro.name, macro.library));
  for (const Reference& reference : model.references) {
    if (reference.macro) continue;
    if (reference.asset.kind != AssetKind::Lake)
      refuse(reference.span, reference.asset.uri() + ", which is in no lake");
    else if (!text::same_word(reference.asset.place, model.relation.place))
      refuse(reference.span, fmt::format("{}, which is in another lake", reference.asset.uri()));
  }
  if (!model.files || !model.files->empty()) refuse(model.result().span, "files");
}

}  // namespace

Diagnostics judge_plane(const Model& model, const std::set<std::string>& ephemeral) {
  Diagnostics problems;
  if (model.script.statements.empty()) return problems;
  for (const Reference& reference : model.references)
    if (reference.has_at && !reference.macro && ephemeral.contains(reference.asset.key()))
      problems.push_back(about(model, Code::W5411, reference.span,
                               reference.asset.uri() + " is an ephemeral model, which has no versions",
                               "put AT at the tables that it reads"));
  if (model.plane == Plane::View) judge_view(model, problems);
  if (model.plane != Plane::Ephemeral) return problems;
  for (const Span span : own_statements(model))
    problems.push_back(about(model, Code::W5410, span, "an ephemeral model is one query, and this is another statement",
                             "put macros into a library, and the rest into the models that read it"));
  return problems;
}

}  // namespace weir
