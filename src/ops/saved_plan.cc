#include "ops/saved_plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "io/files.h"
#include "ops/definitions.h"

namespace weir::ops {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "weir plan";
constexpr int kVersion = 1;
constexpr std::size_t kMostNames = 5;

Json json_of(const PlannedModel& planned) {
  const plan::ModelChange& change = planned.change;
  Json object{{"model", change.path},
              {"change", plan::name_of(change.kind)},
              {"category", plan::name_of(change.category)},
              {"action", name_of(planned.action)},
              {"reason", change.reason},
              {"impacted", change.impacted},
              {"everything", change.is_everything}};
  if (change.model != nullptr) object["file"] = change.model->source->path;
  if (change.model != nullptr) object["plane"] = weir::name_of(change.model->plane);
  if (!change.fingerprint.empty()) object["fingerprint"] = change.fingerprint;
  if (change.deployed != nullptr) object["deployed_fingerprint"] = change.deployed->fingerprint;
  if (!planned.note.empty()) object["note"] = planned.note;
  if (planned.outdated_partitions > 0) object["outdated_partitions"] = planned.outdated_partitions;
  if (planned.estimate)
    object["estimate"] = {{"rows", planned.estimate->rows},
                          {"bytes", planned.estimate->bytes},
                          {"unknown_inputs", planned.estimate->unknown}};
  return object;
}

/// Text within a cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '\\') escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  return escaped;
}

std::string size_in_words(const Estimate& estimate) {
  std::string words = fmt::format("{} rows, {} bytes", estimate.rows, estimate.bytes);
  if (estimate.unknown > 0) words += fmt::format(", and {} of unknown size", estimate.unknown);
  return words;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i) all += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) all += fmt::format(" and {} more", names.size() - kMostNames);
  return all;
}

Failed no_plan(const std::string& file, const std::string& why) {
  return fail({.code = Code::W5501,
               .message = file + " is no saved plan: " + why,
               .path = {},
               .span = {},
               .hint = "`weir plan -o " + file + "` writes one"});
}

}  // namespace

nlohmann::ordered_json json_of(const PlanReport& report) {
  Json models = Json::array();
  for (const PlannedModel& planned : report.models) models.push_back(json_of(planned));
  Json summary;
  for (const PlanAction action : {PlanAction::Build, PlanAction::Reuse, PlanAction::Deliver, PlanAction::Gated,
                                  PlanAction::Demote, PlanAction::Nothing})
    summary[std::string(name_of(action))] = report.count(action);
  summary["breaking"] = report.count(plan::ChangeCategory::Breaking);
  return {{"format", kFormat},
          {"version", kVersion},
          {"environment", report.request.environment},
          {"created", report.created},
          {"select", report.request.select},
          {"exclude", report.request.exclude},
          {"forward_only", report.request.forward_only},
          {"summary", std::move(summary)},
          {"models", std::move(models)},
          {"basis",
           {{"files", report.basis.files},
            {"deployed", report.basis.deployed},
            {"generation", report.basis.generation},
            {"lakes", report.basis.lakes},
            {"tables", report.basis.tables}}}};
}

std::string markdown_of(const PlanReport& report) {
  std::string text = fmt::format("### Plan for `{}`\n\n", report.request.environment);
  const auto count = [&](PlanAction action) { return report.count(action); };
  const bool is_empty = report.count(PlanAction::Nothing) == std::ssize(report.models);
  if (is_empty && std::all_of(report.models.begin(), report.models.end(),
                              [](const PlannedModel& one) { return one.change.kind == plan::ChangeKind::Unchanged; }))
    return text + "Nothing changes.\n";
  text += fmt::format("{} to build, {} reused, {} to deliver, {} gated, {} gone", count(PlanAction::Build),
                      count(PlanAction::Reuse), count(PlanAction::Deliver), count(PlanAction::Gated),
                      count(PlanAction::Demote));
  if (const auto breaking = report.count(plan::ChangeCategory::Breaking); breaking > 0)
    text += fmt::format(". **{} breaking**: applying it needs `--force`", breaking);
  text +=
      ".\n\n| model | change | category | action | why | columns | reads |\n| --- | --- | --- | --- | --- | --- | --- "
      "|\n";
  for (const PlannedModel& planned : report.models) {
    const plan::ModelChange& change = planned.change;
    if (change.kind == plan::ChangeKind::Unchanged && planned.action == PlanAction::Nothing) continue;
    const bool is_breaking = change.category == plan::ChangeCategory::Breaking;
    const std::string category(plan::name_of(change.category));
    std::string why = change.reason;
    if (!planned.note.empty()) why += "; " + planned.note;
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", cell(change.path), plan::name_of(change.kind),
                        is_breaking ? "**" + category + "**" : category, name_of(planned.action), cell(why),
                        cell(listed(change.impacted)), planned.estimate ? size_in_words(*planned.estimate) : "");
  }
  return text;
}

Result<SavedPlan> read_plan(const std::string& file) {
  WEIR_TRY(const std::string bytes, io::read_file(file));
  const Json object = Json::parse(bytes, nullptr, false);
  if (!object.is_object() || object.value("format", Json()) != kFormat) return no_plan(file, "it says nothing of one");
  if (object.value("version", Json()) != kVersion)
    return fail({.code = Code::W5502,
                 .message = fmt::format("{} is a plan of version {}, and this weir knows {}", file,
                                        object.value("version", Json()).dump(), kVersion)});
  // Whatever else is damaged shows in a value of another type.
  try {
    SavedPlan saved;
    saved.request.environment = object.at("environment").get<std::string>();
    saved.request.select = object.at("select").get<std::vector<std::string>>();
    saved.request.exclude = object.at("exclude").get<std::vector<std::string>>();
    saved.request.forward_only = object.at("forward_only").get<bool>();
    saved.created = object.at("created").get<std::string>();
    const Json& basis = object.at("basis");
    saved.basis.files = basis.at("files").get<std::map<std::string, std::string>>();
    saved.basis.deployed = basis.at("deployed").get<std::string>();
    saved.basis.generation = basis.at("generation").get<std::int64_t>();
    saved.basis.lakes = basis.at("lakes").get<std::map<std::string, std::int64_t>>();
    saved.basis.tables = basis.at("tables").get<std::vector<std::string>>();
    for (const Json& model : object.at("models"))
      saved.fingerprints[model.at("model").get<std::string>()] = model.value("fingerprint", "");
    return saved;
  } catch (const nlohmann::json::exception&) {
    return no_plan(file, "a part of it is missing or of another type");
  }
}

namespace {

std::vector<std::string> differing(const std::map<std::string, std::string>& before,
                                   const std::map<std::string, std::string>& now) {
  std::vector<std::string> names;
  for (const auto& [path, hash] : before) {
    const auto found = now.find(path);
    if (found == now.end())
      names.push_back(path + " is gone");
    else if (found->second != hash)
      names.push_back(path);
  }
  for (const auto& [path, hash] : now)
    if (!before.contains(path)) names.push_back(path + " is new");
  return names;
}

Result<std::vector<std::string>> moved_tables(Workspace& workspace, const PlanBasis& basis) {
  std::vector<std::string> moved;
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  for (const lake::Lake& lake : lakes->all()) {
    const auto version = basis.lakes.find(lake.name());
    if (!lake.exists()) continue;
    WEIR_TRY(const auto changes, lake.changes_after(connection, version == basis.lakes.end() ? 0 : version->second));
    for (const std::string& table : basis.tables)
      if (const auto found = changes.tables.find(table); found != changes.tables.end())
        moved.push_back(fmt::format("{} (version {})", table, found->second));
  }
  return moved;
}

}  // namespace

Result<void> expect_unmoved(Workspace& workspace, const SavedPlan& saved) {
  Diagnostics moved;
  const auto add = [&moved](Code code, std::string message) {
    moved.push_back({.code = code, .message = std::move(message), .path = {}, .span = {}, .hint = "plan again"});
  };
  WEIR_TRY(const auto hashes, file_hashes(workspace));
  if (const auto files = differing(saved.basis.files, hashes); !files.empty())
    add(Code::W5503, "files changed since the plan was saved: " + listed(files));
  WEIR_TRY(const Definitions now, definitions_in(workspace, saved.request.environment));
  if (now.digest() != saved.basis.deployed || now.generation != saved.basis.generation)
    add(Code::W5504, "what " + saved.request.environment + " runs changed since the plan was saved");
  WEIR_TRY(const auto tables, moved_tables(workspace, saved.basis));
  if (!tables.empty()) add(Code::W5505, "tables changed since the plan was saved: " + listed(tables));
  if (!moved.empty()) return fail(std::move(moved));
  return {};
}

}  // namespace weir::ops
