// DuckDB's failures in the user's terms: the place in the file, and the setting or the cure where there is one.
#include "build/stage.h"

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

}  // namespace weir::build
