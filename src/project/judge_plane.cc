#include "project/judge_plane.h"

#include <fmt/format.h>

#include <map>
#include <optional>

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

/// What keeps a view in the lake from reading it; nothing if nothing does.
std::optional<std::string> obstacle(const Reference& reference, const std::string& lake) {
  if (reference.macro) return std::nullopt;
  if (reference.asset.kind != AssetKind::Lake) return reference.asset.uri() + ", which is in no lake";
  if (!text::same_word(reference.asset.place, lake)) return reference.asset.uri() + ", which is in another lake";
  return std::nullopt;
}

/// What keeps a view from taking the query of an ephemeral model in, or of one that this reads.
std::optional<std::string> obstacle(const Model& inner, const std::map<std::string, const Model*>& ephemeral,
                                    std::set<std::string>& seen) {
  if (!seen.insert(inner.relation.key()).second) return std::nullopt;
  const std::string from = ", as the ephemeral model " + inner.path + " does";
  for (const Reference& reference : inner.references) {
    if (const auto what = obstacle(reference, inner.relation.place)) return *what + from;
    const auto next = ephemeral.find(reference.asset.key());
    if (next == ephemeral.end()) continue;
    if (auto what = obstacle(*next->second, ephemeral, seen)) return what;
  }
  if (!inner.files || !inner.files->empty()) return "files" + from;
  return std::nullopt;
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
  for (const Reference& reference : model.references)
    if (const auto what = obstacle(reference, model.relation.place)) refuse(reference.span, *what);
  if (!model.files || !model.files->empty()) refuse(model.result().span, "files");
}

}  // namespace

Diagnostics judge_views(const std::vector<Model>& models) {
  std::map<std::string, const Model*> ephemeral;
  for (const Model& model : models)
    if (model.plane == Plane::Ephemeral) ephemeral.emplace(model.relation.key(), &model);
  Diagnostics problems;
  for (const Model& model : models) {
    if (model.plane != Plane::View) continue;
    for (const Reference& reference : model.references) {
      const auto inner = ephemeral.find(reference.asset.key());
      if (inner == ephemeral.end()) continue;
      std::set<std::string> seen;
      if (const auto what = obstacle(*inner->second, ephemeral, seen))
        problems.push_back(about(model, Code::W5406, reference.span, "a view cannot read " + *what,
                                 "make it a table (`materialise: virtual`), or an ephemeral model"));
    }
  }
  return problems;
}

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
