// Plays scenario files against the built binary: `run --weir PATH --extensions FOLDER [--catalog sqlite|postgres]
// FILE-OR-FOLDER…`. One line a scenario; for one that fails also the step, what was expected and what was got. Exit 1
// if any failed.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "player.h"

namespace {

using weir::scenario::Place;
using weir::scenario::Player;
using weir::scenario::Tools;

int usage() {
  std::cerr << "usage: run --weir PATH --extensions FOLDER [--catalog sqlite|postgres] [--postgres-file PATH] [--keep] "
               "[--rewrite] FILE-OR-FOLDER…\n";
  return 2;
}

void add_files(const std::string& path, std::vector<std::string>& files) {
  if (!std::filesystem::is_directory(path)) {
    files.push_back(path);
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".scenario") files.push_back(entry.path());
}

/// True if the scenario went as written, or does not apply to this catalog.
bool play(const std::string& file, const Place::Options& options, const Tools& tools) {
  std::string problem;
  const auto scenario = weir::scenario::read_scenario(file, problem);
  if (!scenario) {
    std::cout << "FAILED " << file << ": " << problem << "\n";
    return false;
  }
  if (!scenario->runs_on(options.catalog)) {
    std::cout << "not on " << options.catalog << ": " << scenario->claim << "\n";
    return true;
  }
  const auto place = Place::make(*scenario, options, problem);
  if (place == nullptr) {
    std::cout << "FAILED " << file << ": " << problem << "\n";
    return false;
  }
  Player player(*scenario, *place, tools);
  if (const auto wrong = player.play()) {
    std::cout << "FAILED " << scenario->claim << "\n"
              << *wrong << (options.keep ? "  project: " + place->folder() + "\n" : "");
    return false;
  }
  std::cout << "passed " << scenario->claim << "\n";
  return true;
}

}  // namespace

int main(int count, char** values) {
  Place::Options options{.catalog = "sqlite"};
  Tools tools;
  std::vector<std::string> files;
  if (const char* path = std::getenv("WEIR_TEST_POSTGRES_FILE"); path != nullptr) options.postgres_file = path;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    const bool has_value = i + 1 < count;
    if (word == "--keep")
      options.keep = true;
    else if (word == "--rewrite")
      tools.rewrite = true;
    else if (word == "--weir" && has_value)
      tools.weir = std::filesystem::absolute(values[++i]);
    else if (word == "--extensions" && has_value)
      tools.extension_folder = std::filesystem::absolute(values[++i]);
    else if (word == "--catalog" && has_value)
      options.catalog = values[++i];
    else if (word == "--postgres-file" && has_value)
      options.postgres_file = values[++i];
    else if (word.starts_with("--"))
      return usage();
    else
      add_files(word, files);
  }
  if (tools.weir.empty() || files.empty() || (tools.rewrite && std::getenv("CI") != nullptr)) return usage();
  std::sort(files.begin(), files.end());
  std::size_t failed = 0;
  for (const auto& file : files)
    if (!play(file, options, tools)) ++failed;
  std::cout << files.size() - failed << " of " << files.size() << " scenarios passed on " << options.catalog << "\n";
  return failed == 0 ? 0 : 1;
}
