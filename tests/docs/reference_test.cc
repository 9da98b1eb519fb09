// Documentation that cannot fall behind. After a change of a table, `docs_test --write` makes the generated parts anew.
#include "reference.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

#include "cli/command.h"

namespace weir::docs {
namespace {

const std::string kRoot = WEIR_SOURCE;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string page(const std::string& name) { return kRoot + "/docs/reference/" + name + ".md"; }

/// Operation -> its command, or why it has none of its own.
struct Surface {
  const char* command;
  const char* reason;
};

const std::map<std::string, Surface>& surfaces() {
  static const std::map<std::string, Surface> all = {
      {"init", {"init", ""}},
      {"init_data_test", {"init", ""}},
      {"check", {"check", ""}},
      {"run", {"run", ""}},
      {"dry_run", {"run", ""}},
      {"run_cascade", {"run", ""}},
      {"cascade_events", {"status", ""}},
      {"run_of", {"backfill", ""}},
      {"routes_of", {"backfill", ""}},
      {"text_of", {"backfill", ""}},
      {"concerns_of", {"backfill", ""}},
      {"slices_of", {"backfill", ""}},
      {"status", {"status", ""}},
      {"window_status", {"status", ""}},
      {"slice_inputs", {"status", ""}},
      {"freshness", {"status", ""}},
      {"due", {"due", ""}},
      {"inputs", {"inputs", ""}},
      {"list", {"ls", ""}},
      {"show", {"show", ""}},
      {"query", {"query", ""}},
      {"history", {"history", ""}},
      {"test", {"test", ""}},
      {"test_history", {"test", ""}},
      {"unit_test", {"test", ""}},
      {"check_unit_tests", {"check", ""}},
      {"rebuild_state", {"state rebuild", ""}},
      {"deploy", {"deploy", ""}},
      {"deploy_models", {"", "part of every run"}},
      {"take_out_removed", {"", "part of every run"}},
      {"plan", {"plan", ""}},
      {"markdown_of", {"plan", ""}},
      {"file_hashes", {"", "part of a saved plan"}},
      {"read_plan", {"apply", ""}},
      {"expect_unmoved", {"apply", ""}},
      {"apply", {"apply", ""}},
      {"arguments_of", {"", "part of run"}},
      {"changes_in", {"", "part of plan, apply and run"}},
      {"changes_between", {"env diff", ""}},
      {"with_changed_above", {"", "part of plan and apply"}},
      {"work_of", {"", "part of plan and apply"}},
      {"definitions_in", {"", "part of plan, apply and env promote"}},
      {"texts_of", {"", "part of plan, apply and env promote"}},
      {"rollback", {"rollback", ""}},
      {"generations", {"rollback", ""}},
      {"collect", {"gc", ""}},
      {"create_environment", {"env create", ""}},
      {"environments", {"env ls", ""}},
      {"environment", {"env show", ""}},
      {"drop_environment", {"env drop", ""}},
      {"diff_environments", {"env diff", ""}},
      {"take_definitions", {"env promote", ""}},
      {"restore", {"restore", ""}},
      {"preview_restore", {"restore", ""}},
      {"restored_slices", {"", "part of restore"}},
      {"maintain", {"maintain", ""}},
      {"diff", {"diff", ""}},
      {"are_environments", {"diff", ""}},
      {"diff_rows", {"diff", ""}},
      {"parse_operand", {"diff", ""}},
      {"pass_read_only_gate", {"", "part of query and diff"}},
      {"to_lakes", {"", "part of query and diff"}},
      {"rows_where", {"", "part of diff"}},
      {"bind_project", {"", "part of check and run"}},
      {"captured_columns", {"", "part of check"}},
      {"columns_in_lakes", {"", "part of check"}},
      {"schema", {"schema", ""}},
      {"schema_versions", {"schema", ""}},
      {"schema_diff", {"schema", ""}},
      {"metric_warnings", {"", "part of check and deploy"}},
      {"list_metrics", {"metrics ls", ""}},
      {"compose_metrics", {"metrics sql", ""}},
      {"append_metrics", {"metrics sql", ""}},
      {"query_metrics", {"metrics query", ""}},
      {"project_graph", {"graph", ""}},
      {"lineage", {"lineage", ""}},
      {"impact", {"impact", ""}},
      {"doctor", {"doctor", ""}},
      {"choose", {"", "part of run and test"}},
      {"fed_by", {"", "part of run"}},
      {"refuse_if_all_blocked", {"", "part of run"}},
      {"blocked_models", {"", "part of every command that names models"}},
      {"listing", {"query", ""}},
      {"version", {"version", ""}},
  };
  return all;
}

TEST(Reference, GeneratedPartsAreThoseOfTheProgram) {
  for (const auto& [name, part] : generated_parts()) {
    const std::string text = read(page(name));
    EXPECT_NE(text.find(part), std::string::npos) << page(name) << " is stale: build/…/tests/docs_test --write";
  }
}

TEST(Reference, ConfigurationNamesEveryKeyAndNoOther) {
  const auto known = configuration_keys();
  EXPECT_GT(known.size(), 15U);
  EXPECT_EQ(first_column(read(page("configuration"))), known);
}

TEST(Reference, RunResultNamesEveryFieldAndNoOther) {
  const auto fields = result_fields();
  EXPECT_GT(fields.size(), 40U);
  EXPECT_EQ(first_column(read(page("run-result"))), fields);
}

TEST(Reference, EveryOperationHasACommandAndThatIsDocumented) {
  const std::string commands = read(page("commands"));
  std::set<std::string> used;
  for (const std::string& name : declared_functions(kRoot + "/src/ops")) {
    const auto found = surfaces().find(name);
    if (found == surfaces().end()) {
      ADD_FAILURE() << "the operation " << name << " has no command: add it to the table here, or give the reason";
      continue;
    }
    used.insert(name);
    const auto& [command, reason] = found->second;
    if (*reason != '\0') continue;
    EXPECT_NE(commands.find("\n## weir " + std::string(command) + "\n"), std::string::npos) << name;
  }
  EXPECT_GT(used.size(), 10U);
  for (const auto& [name, surface] : surfaces()) EXPECT_TRUE(used.contains(name)) << name << " is gone from src/ops";
}

TEST(Reference, EveryCommandHasExamplesThatNameIt) {
  for (const cli::Command& command : cli::commands())
    EXPECT_NE(std::string(command.examples).find(std::string("weir ") + command.name), std::string::npos)
        << command.name;
}

TEST(Reference, PagesAreReachedFromTheIndex) {
  const std::string index = read(kRoot + "/docs/README.md");
  for (const char* folder : {"guide", "reference", "decisions", "formats"})
    for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/docs/" + folder))
      EXPECT_NE(index.find("(" + std::string(folder) + "/" + entry.path().filename().string() + ")"), std::string::npos)
          << entry.path();
}

TEST(Defects, EveryTestThatTheirPageNamesIsThere) {
  const std::string text = read(kRoot + "/docs/decisions/defects.md");
  const std::regex named("`(([a-z_]+/)+[a-z_.]+)`");
  std::size_t count = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at, ++count) {
    const std::string name = (*at)[1];
    const std::string path = name.ends_with(".cc") ? name : "scenarios/" + name + ".scenario";
    EXPECT_TRUE(std::filesystem::exists(kRoot + "/tests/" + path)) << name;
  }
  EXPECT_GT(count, 60U);
}

TEST(Defects, AreNumberedWithoutAGapAndEachNamesATest) {
  std::istringstream page(read(kRoot + "/docs/decisions/defects.md"));
  const std::regex numbered("\\| ([0-9]+)\\. .*`([a-z_]+/)+[a-z_.]+`.*");
  std::size_t count = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.size() < 3 || std::isdigit(static_cast<unsigned char>(line[2])) == 0 || line[0] != '|') continue;
    std::smatch found;
    ASSERT_TRUE(std::regex_match(line, found, numbered)) << line;
    EXPECT_EQ(found[1], std::to_string(++count)) << line;
  }
  EXPECT_GE(count, 51U);
}

/// The sources of all unit tests.
std::string unit_tests() {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot + "/tests/unit"))
    if (entry.path().extension() == ".cc") all += read(entry.path().string());
  return all;
}

TEST(Cases, EveryTestThatTheirPageNamesIsThere) {
  const std::string text = read(kRoot + "/docs/decisions/cases.md");
  const std::string sources = unit_tests();
  const std::regex named("`(([a-z_]+/)+[a-z_.]+|([A-Z][A-Za-z0-9]*)\\.([A-Z][A-Za-z0-9]*))`");
  std::size_t count = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at, ++count) {
    const std::string name = (*at)[1];
    if ((*at)[3].matched) {
      const std::string test = "(" + (*at)[3].str() + ", " + (*at)[4].str() + ")";
      EXPECT_NE(sources.find(test), std::string::npos) << name;
      continue;
    }
    const bool is_file = name.ends_with(".txt") || name.ends_with(".cc");
    const std::string path = is_file ? name : "scenarios/" + name + ".scenario";
    EXPECT_TRUE(std::filesystem::exists(kRoot + "/tests/" + path)) << name;
  }
  EXPECT_GT(count, 120U);
}

int write_parts() {
  for (const auto& [name, part] : generated_parts()) {
    const std::string before = read(page(name));
    const std::string after = with_part(before, part);
    if (after == before) continue;
    std::ofstream(page(name), std::ios::binary) << after;
    std::cout << "wrote " << page(name) << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace weir::docs

int main(int count, char** values) {
  if (count > 1 && std::strcmp(values[1], "--write") == 0) return weir::docs::write_parts();
  testing::InitGoogleTest(&count, values);
  return RUN_ALL_TESTS();
}
