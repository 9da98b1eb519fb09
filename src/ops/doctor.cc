#include "ops/doctor.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "io/installation.h"
#include "ops/list.h"
#include "run/recovery.h"

namespace weir::ops {
namespace {

constexpr std::uintmax_t kLittleDisk = 1'000'000'000;

Finding bad(const std::string& what, const Diagnostics& problems) {
  const Diagnostic& first = problems.front();
  return {what, false, first.message,
          first.hint.empty() ? fmt::format("weir explain {}", name_of(first.code)) : first.hint};
}

void look_at_lakes(Workspace& workspace, std::vector<Finding>& findings) {
  auto lakes = workspace.lakes(false);
  if (!lakes) {
    findings.push_back(bad("lakes", lakes.error()));
    return;
  }
  auto connection = (*lakes)->connect();
  if (!connection) {
    findings.push_back(bad("lakes", connection.error()));
    return;
  }
  for (const lake::Lake& lake : (*lakes)->all()) {
    const std::string what = fmt::format("lake {}", lake.name());
    if (!lake.exists()) {
      findings.push_back({what, true, fmt::format("{}: no run has made it yet", lake.config().catalog.shown), ""});
      continue;
    }
    const auto version = lake.current_version(*connection);
    if (!version)
      findings.push_back(bad(what, version.error()));
    else
      findings.push_back({what, true, fmt::format("{}, version {}", lake.config().catalog.shown, *version), ""});
  }
}

void look_at_state(Workspace& workspace, std::vector<Finding>& findings) {
  auto store = workspace.store();
  if (!store) {
    findings.push_back(bad("state", store.error()));
    return;
  }
  const auto version = (*store)->schema_version();
  findings.push_back({"state", version.has_value(),
                      fmt::format("{}, schema {}", (*store)->describe(), version.value_or(0)),
                      version ? "" : "weir state rebuild"});
  const auto project = workspace.project();
  if (!project) return;
  if (const auto dead = run::dead_runs(**project, **store); dead && !dead->empty())
    findings.push_back({"dead runs", false,
                        fmt::format("{} run{} died and left things behind", dead->size(), dead->size() == 1 ? "" : "s"),
                        "the next `weir run` recovers them"});
  if (const auto leases = (*store)->leases(); leases && !leases->empty())
    findings.push_back({"slices held", true, fmt::format("{} by run {}", leases->size(), leases->front().run), ""});
}

void look_at_disk(Workspace& workspace, std::vector<Finding>& findings) {
  std::error_code error;
  const auto space = std::filesystem::space(workspace.root(), error);
  if (error) return;
  const bool is_enough = space.available > kLittleDisk;
  findings.push_back({"free disk", is_enough, fmt::format("{:.1f} GB", static_cast<double>(space.available) / 1e9),
                      is_enough ? "" : "make room, or move `data:` and `temp:`"});
}

}  // namespace

std::vector<Finding> doctor(Workspace& workspace) {
  std::vector<Finding> findings;
  findings.push_back({"weir", true, version(), ""});
  findings.push_back({"DuckDB", true, duck::Database::version(), ""});
  findings.push_back({"extensions", true, io::extension_folder(), ""});
  const auto now = std::chrono::system_clock::now();
  const bool clock_is_set = now > std::chrono::sys_days{std::chrono::year{2025} / 1 / 1};
  findings.push_back({"clock", clock_is_set, state::now_text(),
                      clock_is_set ? "" : "set the machine's clock: versions and histories carry its time"});
  if (const auto config = workspace.config(); !config) {
    findings.push_back(bad("weir.yaml", config.error()));
    return findings;
  }
  look_at_disk(workspace, findings);
  look_at_lakes(workspace, findings);
  look_at_state(workspace, findings);
  return findings;
}

}  // namespace weir::ops
