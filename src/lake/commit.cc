#include "lake/commit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/failpoint.h"

namespace weir::lake {
namespace {

using duck::Identifier;
using duck::Literal;
using duck::Sql;
using nlohmann::json;

/// The value of a key if it has the wanted type, else the default.
template <class T>
T value_or(const json& object, const char* key, T otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<std::string>() : otherwise;
  } else {
    return found->is_number_integer() ? found->get<T>() : otherwise;
  }
}

json step_to_json(const CommittedStep& step) {
  json object{{"asset", step.asset},
              {"model", step.model},
              {"slice", step.slice},
              {"definition", step.definition},
              {"strategy", step.strategy},
              {"rows", step.rows},
              {"tests_passed", step.tests_passed}};
  if (!step.arguments_hash.empty()) object["arguments"] = step.arguments_hash;
  if (!step.counts.empty()) object["counts"] = step.counts;
  if (!step.inputs.empty()) object["inputs"] = step.inputs;
  if (!step.content.empty()) {
    // Content is JSON already; text that is not is kept as text rather than lost.
    json content = json::parse(step.content, nullptr, false);
    object["content"] = content.is_discarded() ? json(step.content) : std::move(content);
  }
  return object;
}

CommittedStep step_from_json(const json& object) {
  CommittedStep step;
  step.asset = value_or(object, "asset", std::string());
  step.model = value_or(object, "model", std::string());
  step.slice = value_or(object, "slice", std::string());
  step.definition = value_or(object, "definition", std::string());
  step.arguments_hash = value_or(object, "arguments", std::string());
  step.strategy = value_or(object, "strategy", std::string());
  step.rows = value_or(object, "rows", std::int64_t{0});
  step.tests_passed = value_or(object, "tests_passed", std::int64_t{0});
  if (const auto counts = object.find("counts"); counts != object.end() && counts->is_object())
    for (const auto& [name, count] : counts->items())
      if (count.is_number_integer()) step.counts[name] = count.get<std::int64_t>();
  if (const auto inputs = object.find("inputs"); inputs != object.end() && inputs->is_object())
    for (const auto& [name, version] : inputs->items())
      if (version.is_string()) step.inputs[name] = version.get<std::string>();
  if (const auto content = object.find("content"); content != object.end())
    step.content = content->is_string() ? content->get<std::string>() : content->dump();
  return step;
}

Diagnostic did_not_happen(const Lake& lake, const std::string& reason) {
  return {.code = Code::W6007,
          .message = fmt::format("nothing was committed to lake {}: {}", lake.name(), mask_secrets(reason)),
          .path = {},
          .span = {},
          .hint = "readers still see the previous version; run again"};
}

/// Asks for the token with some patience: a connection that was lost with the commit needs a moment to be made again.
Result<std::optional<std::int64_t>> look_up(duck::Connection& writer, const Lake& lake, const std::string& token,
                                            std::int64_t base_version) {
  constexpr int kAttempts = 4;
  for (int attempt = 1;; ++attempt) {
    auto version = lake.version_of_token(writer, token, base_version);
    if (version || attempt == kAttempts) return version;
    std::this_thread::sleep_for(std::chrono::milliseconds(100 * attempt));
  }
}

}  // namespace

std::string CommitRecord::to_json() const {
  json object{{"weir", weir}, {"token", token}, {"run", run}, {"environment", environment}, {"steps", json::array()}};
  for (const CommittedStep& step : steps) object["steps"].push_back(step_to_json(step));
  if (generation > 0) object["generation"] = generation;
  for (const auto& [view, shown] : views)
    object["views"][view] = {shown.table, shown.model, shown.fingerprint, shown.definition};
  // Names come from files of any bytes: what is not UTF-8 is replaced, a record must never fail a commit.
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<CommitRecord> CommitRecord::from_json(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("weir") || !object["weir"].is_string()) return std::nullopt;
  CommitRecord record;
  record.weir = object["weir"].get<std::string>();
  record.token = value_or(object, "token", std::string());
  record.run = value_or(object, "run", std::string());
  record.environment = value_or(object, "environment", std::string());
  if (const auto steps = object.find("steps"); steps != object.end() && steps->is_array())
    for (const json& step : *steps)
      if (step.is_object()) record.steps.push_back(step_from_json(step));
  record.generation = value_or(object, "generation", std::int64_t{0});
  if (const auto views = object.find("views"); views != object.end() && views->is_object())
    for (const auto& [view, shown] : views->items())
      if (shown.is_array() && shown.size() == 4 &&
          std::all_of(shown.begin(), shown.end(), [](const json& part) { return part.is_string(); }))
        record.views[view] = {shown[0].get<std::string>(), shown[1].get<std::string>(), shown[2].get<std::string>(),
                              shown[3].get<std::string>()};
  return record;
}

std::string author() {
  const char* user = std::getenv("USER");
  return user != nullptr ? user : "weir";
}

Result<std::optional<std::int64_t>> commit(duck::Connection& writer, const Lake& lake, duck::Transaction&& transaction,
                                           const CommitRecord& record, const std::string& author,
                                           const std::string& message, std::int64_t base_version) {
  duck::Transaction ours = std::move(transaction);
  const auto said =
      writer.execute(Sql("CALL {}.set_commit_message({}, {}, extra_info => {})", Identifier(lake.writer()),
                         Literal(author), Literal(message), Literal(record.to_json())));
  if (!said) return fail(did_not_happen(lake, said.error().message));
  if (failpoint("before_commit")) return fail(did_not_happen(lake, "failpoint before_commit"));
  auto committed = ours.commit();
  if (failpoint("after_commit"))
    committed = tl::unexpected(duck::Failure{duck::FailureType::Other, "failpoint after_commit", std::nullopt});

  auto version = look_up(writer, lake, record.token, base_version);
  if (!version) {
    Diagnostics all{
        {.code = Code::W6008,
         .message = fmt::format("lake {} does not say whether the commit {} happened", lake.name(), record.token),
         .path = {},
         .span = {},
         .hint = "the next command that writes asks again"}};
    if (!committed) all.push_back(explain(Code::W6008, "the commit's own report", committed.error()));
    for (Diagnostic& one : version.error()) all.push_back(std::move(one));
    return fail(std::move(all));
  }
  if (!*version && !committed) return fail(did_not_happen(lake, committed.error().message));
  return version;
}

}  // namespace weir::lake
