#include "run/arguments.h"

#include <fmt/format.h>

#include "text/lexer.h"

namespace weir::run {
namespace {

/// The value that a model's argument gets: its own, else the one for all.
std::string* value_for(ArgumentValues& values, const Model& model, const std::string& name) {
  for (const std::string& scope : {model.path, std::string()}) {
    const auto scoped = values.find(scope);
    if (scoped == values.end()) continue;
    if (const auto value = scoped->second.find(name); value != scoped->second.end()) return &value->second;
  }
  return nullptr;
}

Diagnostic refused(const Model& model, const Argument& argument, const std::string& value) {
  Diagnostic found{.code = Code::W8005, .path = model.source->path, .span = argument.span};
  found.message = fmt::format("the value `{}` of argument ${} is no {}", value, argument.name, argument.type);
  found.hint = fmt::format("give one that can be cast: --arg {}=…", argument.name);
  return found;
}

bool is_castable(duck::Connection& connection, const Argument& argument, const std::string& value) {
  return connection
      .execute(duck::Sql("SELECT CAST({} AS {})", duck::Literal(std::string_view(value)),
                         duck::Sql::verbatim(argument.type)))
      .has_value();
}

}  // namespace

Result<ArgumentValues> check_arguments(const Graph& graph, const std::set<std::string>& selected, const Config& config,
                                       lake::Lakes& lakes, ArgumentValues values, Diagnostics& notes) {
  Diagnostics problems;
  std::optional<duck::Connection> connection;
  for (const Model& model : graph.models()) {
    if (!selected.contains(model.path)) continue;
    for (const Argument& argument : model.arguments) {
      std::string* value = value_for(values, model, argument.name);
      if (value == nullptr && !argument.default_value) {
        Diagnostic note{
            .code = Code::W8006, .severity = Severity::Warning, .path = model.source->path, .span = argument.span};
        note.message = fmt::format("argument ${} has no value and no default, so it is NULL", argument.name);
        note.hint =
            fmt::format("give it with --arg {0}=…, or write a default: `${0} ({1}) = …`", argument.name, argument.type);
        notes.push_back(std::move(note));
      }
      if (text::same_word(argument.type, "s3object")) {
        if (value != nullptr) *value = storage_path(config, *value).value_or(*value);
        continue;
      }
      const std::string* checked = value != nullptr         ? value
                                   : argument.default_value ? &*argument.default_value
                                                            : nullptr;
      if (checked == nullptr) continue;
      if (!connection) {
        WEIR_TRY(connection, lakes.connect());
      }
      if (!is_castable(*connection, argument, *checked)) problems.push_back(refused(model, argument, *checked));
    }
  }
  if (!problems.empty()) return fail(std::move(problems));
  return values;
}

}  // namespace weir::run
