// DuckDB's failures in the user's terms: the place in the file, and the setting or the cure where there is one.
#include <fmt/format.h>

#include "build/stage.h"
#include "text/lexer.h"
#include "text/line_index.h"

namespace weir::build {
namespace {

Diagnostic diagnostic_of(const duck::Failure& failure) {
  switch (failure.type) {
    case duck::FailureType::OutOfMemory:
      return {Code::W4002,
              Severity::Error,
              failure.message,
              {},
              {},
              "raise `memory:` in weir.yaml, or give `temp:` more room to spill"};
    case duck::FailureType::Io:
      return {Code::W9010,
              Severity::Error,
              failure.message,
              {},
              {},
              "check that the file or address exists and may be read, and that the disk has room"};
    case duck::FailureType::Permission:
      return {Code::W4004,
              Severity::Error,
              failure.message,
              {},
              {},
              "models reach files inside the project only; add the folder to `allow_paths:` in weir.yaml"};
    case duck::FailureType::Refused:
      return {Code::W4003, Severity::Error, failure.message, {}, {}, "keep data in other files"};
    case duck::FailureType::Interrupt:
      return {Code::W7010, Severity::Error, "interrupted", {}, {}, {}};
    default:
      return {Code::W4001, Severity::Error, failure.message, {}, {}, {}};
  }
}

/// Where a macro that the model calls is made; "" if none is called so.
std::string place_of_macro(const Model& model, const std::string& name) {
  const auto shown = [&name](const Source& source, Span span) {
    return fmt::format("{} ({}:{})", name, source.path, text::LineIndex(source.text).position(span.begin).line);
  };
  for (const MacroDefinition& macro : model.macros)
    if (macro.name == name) return shown(*macro.source, macro.statement.span);
  for (const parse::Statement& statement : model.script.statements)
    if (statement.kind == parse::StatementKind::CreateTempMacro && text::same_word(statement.object_name, name))
      return shown(*model.source, statement.span);
  return {};
}

/// Of a fault while a scalar macro runs the engine knows the place of the outermost call alone.
void name_macro(Diagnostic& found, const Model& model) {
  if (found.path != model.source->path || !found.hint.empty()) return;
  for (const parse::Statement& statement : model.script.statements)
    for (const parse::FunctionCall& call : statement.functions) {
      if (call.span.begin != found.span.begin) continue;
      const std::string macro = place_of_macro(model, call.name);
      if (!macro.empty()) found.hint = fmt::format("it happened in the macro {}, or in what is given to it", macro);
      return;
    }
}

}  // namespace

Diagnostic explain(const duck::Failure& failure, const Model& model, const parse::Spliced& sql) {
  Diagnostic found = diagnostic_of(failure);
  found.path = sql.path().empty() ? model.source->path : sql.path();
  std::optional<Span> place;
  if (failure.position) place = sql.source_of(*failure.position);
  if (place)
    found.span = *place;
  else if (found.code == Code::W4001)
    found.hint = "weir show --sql prints the statement that DuckDB refused";
  return found;
}

Diagnostic explain(const duck::Failure& failure, const Model& model, const parse::Spliced& sql, std::size_t before,
                   const MacroPlaces& macros) {
  duck::Failure moved = failure;
  if (!moved.position) return explain(moved, model, sql);
  const std::size_t at = *moved.position;
  if (at >= before + sql.text().size())
    if (const auto place = macros.find(*moved.position)) {
      moved.position = place->byte;
      return explain(moved, model, *place->macro);
    }
  moved.position.reset();
  if (at >= before) moved.position = static_cast<std::uint32_t>(at - before);
  Diagnostic found = explain(moved, model, sql);
  name_macro(found, model);
  return found;
}

}  // namespace weir::build
