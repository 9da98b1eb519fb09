#include "ops/project_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "duck/sql.h"
#include "io/files.h"

namespace weir::ops {
namespace {

constexpr std::string_view kConfig = R"(name: {}
strict: true
models: [models]
tests: [tests]
lakes:
  main:
    catalog: lake/main.sqlite   # or postgres://host/database, for many machines
    data: lake/main             # or s3://bucket/prefix
state: .weir/state.sqlite
)";

constexpr std::string_view kModel = R"(-- pipeline
-- materialize ducklake://main/hello key=id
-- data_test unique id
-- data_test not_null greeting

SELECT * FROM (VALUES (1, 'Hello'), (2, 'Bonjour'), (3, 'Hola')) AS greetings (id, greeting)
)";

constexpr std::string_view kIgnore = "/lake/\n/.weir/\n/.env\n";

Result<void> must_be_free(const std::string& path) {
  if (!io::exists(path)) return {};
  return fail(Diagnostic{.code = Code::W8012,
                         .message = fmt::format("{} is there already", path),
                         .hint = "weir never overwrites: choose another place, or remove it first"});
}

/// A project's name as its folder suggests it.
std::string name_of_folder(const std::string& folder) {
  std::error_code lost;
  std::string name = std::filesystem::weakly_canonical(folder, lost).filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '-'; }, '_');
  return name.empty() ? "project" : name;
}

}  // namespace

Result<std::vector<std::string>> init(const std::string& folder) {
  const std::string base = folder == "." ? "" : folder + "/";
  std::vector<std::pair<std::string, std::string>> files = {
      {base + "weir.yaml", fmt::format(kConfig, name_of_folder(folder))},
      {base + "models/hello.sql", std::string(kModel)},
      {base + ".gitignore", std::string(kIgnore)},
  };
  // A repository that exists already keeps its .gitignore, with our lines added.
  const bool has_ignore = io::exists(files[2].first);
  for (const auto& [path, text] : files)
    if (!(has_ignore && path == files[2].first)) WEIR_CHECK(must_be_free(path));
  if (has_ignore) {
    WEIR_TRY(const std::string before, io::read_file(files[2].first));
    files[2].second = before + (before.empty() || before.ends_with('\n') ? "" : "\n") + std::string(kIgnore);
  }
  std::vector<std::string> made;
  for (const auto& [path, text] : files) {
    WEIR_CHECK(io::write_file(path, text));
    made.push_back(path);
  }
  WEIR_CHECK(io::make_folder(base + "tests"));
  return made;
}

Result<NewTest> init_data_test(Workspace& workspace, const std::string& name, const std::string& model_name) {
  WEIR_TRY(const Project* project, workspace.project());
  WEIR_TRY(const Model* model, find_model(*project, model_name));
  std::string path = name.ends_with(".sql") ? name : name + ".sql";
  if (path.find('/') == std::string::npos) path = project->config.tests.front() + "/" + path;
  WEIR_CHECK(must_be_free(path));
  const std::string table = model->target ? model->target->name : model->path.substr(model->path.rfind('/') + 1);
  const std::string text = fmt::format(
      "-- Rows that break the rule; no rows: the test passes.\nSELECT *\nFROM {}\nWHERE false  -- say here what must "
      "not be\n",
      duck::Sql("_wm_target.{}", duck::Identifier(table)).text());
  WEIR_CHECK(io::write_file(path, text));
  return NewTest{path, fmt::format("-- data_test {}", path.substr(0, path.size() - 4))};
}

}  // namespace weir::ops
