#include "lake/extensions.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "lake/lakes.h"

namespace weir::lake {
namespace {

struct Recorded {
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
};

Failed refuse(std::string message) {
  return fail(Diagnostic{.code = Code::W9001,
                         .message = std::move(message),
                         .path = {},
                         .span = {},
                         .hint = "run scripts/setup, or reinstall weir"});
}

std::map<std::string, Recorded> read_record(std::ifstream& file) {
  std::map<std::string, Recorded> records;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    Recorded one;
    if (words >> name >> one.size >> one.mtime_ns >> one.inode) records[name] = one;
  }
  return records;
}

}  // namespace

Result<void> check_extensions(const std::string& folder, const std::vector<std::string>& names) {
  const std::string record_path = folder + "/verified";
  std::ifstream file(record_path);
  if (!file) return refuse(fmt::format("there is no record of checked extensions at {}", record_path));
  const auto records = read_record(file);
  for (const std::string& name : names) {
    const std::string path = duck::Database::extension_file(folder, name);
    const auto recorded = records.find(name);
    if (recorded == records.end())
      return refuse(fmt::format("the extension {} was never checked: {} does not name it", name, record_path));
    struct stat found {};
    if (::stat(path.c_str(), &found) != 0) return refuse(fmt::format("the extension {} is missing: {}", name, path));
    const std::int64_t mtime_ns =
        static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec;
    if (found.st_size != recorded->second.size || mtime_ns != recorded->second.mtime_ns ||
        found.st_ino != recorded->second.inode)
      return refuse(fmt::format("the extension {} is not the file that was checked: {}", name, path));
  }
  return {};
}

Result<void> load_extensions(duck::Database& database, const std::string& folder,
                             const std::vector<std::string>& names) {
  WEIR_CHECK(check_extensions(folder, names));
  for (const std::string& name : names)
    if (auto loaded = database.load(name); !loaded)
      return fail(explain(Code::W9001, "the extension " + name + " cannot be loaded", loaded.error()));
  return {};
}

}  // namespace weir::lake
