#include "run/read_versions.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "lake/past.h"
#include "text/lexer.h"

namespace weir::run {

Result<ReadVersions> newest_versions(lake::Lakes& lakes) {
  ReadVersions chosen;
  WEIR_TRY(duck::Connection connection, lakes.connect());
  for (const lake::Lake& lake : lakes.all()) {
    if (!lake.exists()) continue;
    WEIR_TRY(chosen.lakes[text::lower(lake.name())], lake.newest_version(connection));
  }
  return chosen;
}

Result<ReadVersions> versions_of_run(state::Store& store, lake::Lakes& lakes, const std::string& run) {
  ReadVersions chosen{.lakes = {}, .as_of = run, .tables = {}};
  WEIR_TRY(const std::vector<RecordedInputs> steps, inputs_of_run(store, run));
  std::set<std::pair<std::string, std::int64_t>> needed;
  for (const RecordedInputs& step : steps) {
    for (const RecordedInputs::Table& table : step.tables) {
      chosen.tables.emplace(std::make_pair(step.model, table.asset.key()), table.version);
      needed.emplace(text::lower(table.asset.place), table.version);
    }
  }
  WEIR_TRY(duck::Connection connection, lakes.connect());
  for (const lake::Lake& lake : lakes.all())
    for (const auto& [name, version] : needed)
      if (name == text::lower(lake.name())) WEIR_CHECK(lake::require_version(connection, lake, version));
  return chosen;
}

Result<std::vector<RecordedInputs>> inputs_of_run(state::Store& store, const std::string& run) {
  WEIR_TRY(const auto known, store.run(run));
  if (!known)
    return fail(Diagnostic{.code = Code::W7007,
                           .message = fmt::format("there is no run {}", run),
                           .hint = "`weir status --json` names the run of each slice"});
  WEIR_TRY(const std::vector<state::StepRecord> steps, store.steps(run));
  std::vector<RecordedInputs> all;
  for (const state::StepRecord& step : steps) {
    RecordedInputs one{.model = step.model, .partition = step.slice, .status = step.status, .tables = {}};
    const auto result = nlohmann::json::parse(step.result_json, nullptr, /*allow_exceptions=*/false);
    for (const auto& input : result.value("upstream_snapshots", nlohmann::json::array()))
      if (const auto asset = parse_asset(input.at("asset").get<std::string>()))
        one.tables.push_back({*asset, input.at("snapshot_id").get<std::int64_t>()});
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace weir::run
