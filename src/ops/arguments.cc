#include "ops/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "text/lexer.h"

namespace weir::ops {
namespace {

/// `left=right`, where left may be `model:name`.
struct Binding {
  std::string model;
  std::string name;
  std::string value;
};

std::optional<Binding> parse(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  Binding binding{{}, text.substr(0, equals), text.substr(equals + 1)};
  if (const auto colon = binding.name.find(':'); colon != std::string::npos) {
    binding.model = binding.name.substr(0, colon);
    binding.name = binding.name.substr(colon + 1);
  }
  return binding;
}

Diagnostic malformed(std::string message, std::string hint) {
  return {.code = Code::W8003, .message = std::move(message), .hint = std::move(hint)};
}

/// The argument that an upload without a name means, or the named one.
Result<const Argument*> file_argument(const Model& model, const std::string& name) {
  std::vector<const Argument*> files;
  std::vector<std::string> names;
  for (const Argument& argument : model.arguments) {
    if (!text::same_word(argument.type, "s3object")) continue;
    names.push_back(argument.name);
    if (name.empty() || text::same_word(argument.name, name)) files.push_back(&argument);
  }
  if (files.size() == 1) return files.front();
  if (names.empty())
    return fail(malformed(fmt::format("{} takes no file", model.path),
                          "declare one in its header: -- $file (s3object); other values are given with --arg"));
  const std::string hint =
      fmt::format("--upload {}:{}=FILE; its files are {}", model.path, names.front(), fmt::join(names, ", "));
  if (files.empty()) return fail(malformed(fmt::format("{} takes no file named {}", model.path, name), hint));
  return fail(malformed(fmt::format("{} takes more than one file", model.path), hint));
}

Result<void> add_upload(const Project& project, const std::string& text, run::ArgumentValues& values) {
  std::optional<Binding> binding = parse(text);
  if (!binding || binding->value.empty())
    return fail(malformed(fmt::format("--upload {} is not model=file", text),
                          "--upload model=file, or --upload model:name=file"));
  // Without a colon the name is the model's.
  if (binding->model.empty()) binding->model = std::exchange(binding->name, {});
  WEIR_TRY(const Model* model, find_model(project, binding->model));
  WEIR_TRY(const Argument* argument, file_argument(*model, binding->name));
  std::error_code error;
  const bool is_remote = binding->value.find("://") != std::string::npos;
  if (!is_remote && !std::filesystem::is_regular_file(binding->value, error))
    return fail(
        malformed(fmt::format("--upload: there is no file {}", binding->value), "name a file, or an s3:// URI"));
  values[model->path].emplace(argument->name, binding->value);
  return {};
}

}  // namespace

Result<run::ArgumentValues> arguments_of(const Project& project, const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& uploads) {
  run::ArgumentValues values;
  for (const std::string& text : arguments) {
    const auto binding = parse(text);
    if (!binding)
      return fail(
          malformed(fmt::format("--arg {} is not name=value", text), "--arg name=value, or --arg model:name=value"));
    std::string scope;
    if (!binding->model.empty()) {
      WEIR_TRY(const Model* model, find_model(project, binding->model));
      scope = model->path;
    }
    values[scope][binding->name] = binding->value;
  }
  for (const std::string& text : uploads) WEIR_CHECK(add_upload(project, text, values));
  return values;
}

Result<std::set<std::string>> fed_by(const Project& project, const std::vector<std::string>& uploads) {
  run::ArgumentValues values;
  for (const std::string& text : uploads) WEIR_CHECK(add_upload(project, text, values));
  std::set<std::string> fed;
  for (const auto& [path, files] : values) fed.insert(path);
  return fed;
}

}  // namespace weir::ops
