// Reads weir.yaml strictly: a key that weir does not know is an error, since a slip there would silently change where
// data goes.
#include "project/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "calendar/partition.h"
#include "io/files.h"
#include "project/asset.h"
#include "project/private_files.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFile = "weir.yaml";

using Variables = std::map<std::string, std::string>;

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

// NAME=value lines; `export` before and quotes around are taken off; # begins a comment line.
Variables read_env_file(const std::string& path) {
  Variables variables;
  if (!fs::exists(path)) return variables;
  const auto text = io::read_file(path);
  if (!text.has_value()) return variables;
  std::size_t at = 0;
  while (at < text->size()) {
    const auto end = std::min(text->find('\n', at), text->size());
    std::string line = trim(std::string_view(*text).substr(at, end - at));
    at = end + 1;
    if (line.starts_with("export ")) line = trim(line.substr(7));
    const auto equals = line.find('=');
    if (line.empty() || line[0] == '#' || equals == std::string::npos) continue;
    std::string value = trim(std::string_view(line).substr(equals + 1));
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
      value = value.substr(1, value.size() - 2);
    variables[trim(std::string_view(line).substr(0, equals))] = value;
  }
  return variables;
}

// The password of a connection string is replaced for printing, in URI and in keyword form.
std::string masked(const std::string& target) {
  std::string shown = target;
  if (const auto scheme = shown.find("://"); scheme != std::string::npos) {
    const auto at = shown.find('@', scheme + 3);
    const auto colon = shown.find(':', scheme + 3);
    if (at != std::string::npos && colon != std::string::npos && colon < at)
      shown.replace(colon + 1, at - colon - 1, "***");
  }
  if (const auto word = text::lower(shown).find("password="); word != std::string::npos) {
    const auto begin = word + 9;
    const auto end = shown[begin] == '\'' ? shown.find('\'', begin + 1) + 1
                                          : std::min(shown.find_first_of(" &", begin), shown.size());
    shown.replace(begin, end - begin, "***");
  }
  return shown;
}

class ConfigReader {
 public:
  ConfigReader(Config& config, Variables file_variables, std::string_view bytes)
      : config_(config), variables_(std::move(file_variables)), bytes_(bytes) {}

  Diagnostics read(const YAML::Node& root) {
    if (!root.IsNull()) top(root);
    if (config_.lakes.empty())
      report(Code::W0004, root, "`lakes:` names no lake",
             "add `lakes: {main: {catalog: lake/main.sqlite, data: lake/main}}`");
    return std::move(found_);
  }

 private:
  using Reader = std::function<void(const YAML::Node&)>;
  using Keys = std::map<std::string, Reader>;

  void report(Code code, const YAML::Node& node, std::string message, std::string hint) {
    Diagnostic diagnostic{.code = code, .message = std::move(message), .path = kFile, .hint = std::move(hint)};
    const auto mark = node.Mark();
    if (!mark.is_null() && mark.pos >= 0 && static_cast<std::size_t>(mark.pos) < bytes_.size()) {
      auto end = bytes_.find_first_of(" :,\r\n]}", static_cast<std::size_t>(mark.pos));
      end = std::min(end, bytes_.size());
      diagnostic.span = {static_cast<std::uint32_t>(mark.pos), static_cast<std::uint32_t>(std::max<std::size_t>(
                                                                   end, static_cast<std::size_t>(mark.pos) + 1))};
    }
    found_.push_back(std::move(diagnostic));
  }

  void mapping(const YAML::Node& node, const std::string& where, const Keys& keys) {
    if (node.IsNull()) return;
    if (!node.IsMap()) return report(Code::W0004, node, "`" + where + "` takes keys with values", "");
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      const auto reader = keys.find(key);
      if (reader != keys.end()) {
        reader->second(entry.second);
        continue;
      }
      std::vector<std::string> known;
      for (const auto& [name, unused] : keys) known.push_back(name);
      const auto near = text::nearest(key, known);
      std::string all;
      for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
      report(Code::W0003, entry.first, "unknown key `" + key + "`" + (where.empty() ? "" : " in `" + where + "`"),
             near ? "did you mean `" + *near + "`?" : "known keys: " + all);
      if (near && !found_.back().span.empty()) found_.back().fix = Fix{found_.back().span, *near};
    }
  }

  void each(const YAML::Node& node, const std::string& where,
            const std::function<void(const std::string&, const YAML::Node&)>& reader) {
    if (node.IsNull()) return;
    if (!node.IsMap()) return report(Code::W0004, node, "`" + where + "` takes names with values", "");
    for (const auto& entry : node) reader(entry.first.Scalar(), entry.second);
  }

  // ${NAME} and ${NAME:-default}, from the process first, then .env.
  std::string expand(const YAML::Node& node, const std::string& value) {
    std::string expanded;
    std::size_t at = 0;
    while (true) {
      const auto begin = value.find("${", at);
      const auto end = begin == std::string::npos ? begin : value.find('}', begin);
      if (end == std::string::npos) return expanded + value.substr(at);
      expanded += value.substr(at, begin - at);
      std::string name = value.substr(begin + 2, end - begin - 2);
      std::optional<std::string> fallback;
      if (const auto split = name.find(":-"); split != std::string::npos) {
        fallback = name.substr(split + 2);
        name.resize(split);
      }
      const char* own = std::getenv(name.c_str());
      if (own != nullptr && *own != '\0')
        expanded += own;
      else if (const auto filed = variables_.find(name); filed != variables_.end())
        expanded += filed->second;
      else if (fallback)
        expanded += *fallback;
      else
        report(Code::W0005, node, "the variable ${" + name + "} is not set",
               "set it in the environment or in .env, or give a default: ${" + name + ":-value}");
      at = end + 1;
    }
  }

  std::string scalar(const YAML::Node& node, const std::string& key) {
    if (node.IsScalar()) return expand(node, node.Scalar());
    report(Code::W0004, node, "`" + key + "` takes one value", "");
    return {};
  }

  Reader text(std::string& target, const std::string& key) {
    return [this, &target, key](const YAML::Node& node) { target = scalar(node, key); };
  }

  Reader truth(bool& target, const std::string& key) {
    return [this, &target, key](const YAML::Node& node) {
      const std::string value = text::lower(scalar(node, key));
      if (value == "true" || value == "yes" || value == "on")
        target = true;
      else if (value == "false" || value == "no" || value == "off")
        target = false;
      else
        report(Code::W0004, node, "`" + key + "` is true or false, not `" + value + "`", "");
    };
  }

  /// "4GB", "1.5 GiB"; "80%" where a share is meant too.
  Reader size(std::string& target, const std::string& key, bool may_be_share) {
    return [this, &target, key, may_be_share](const YAML::Node& node) {
      const std::string value = scalar(node, key);
      if (value.empty()) return;
      const auto end = std::min(value.find_first_not_of("0123456789."), value.size());
      const std::string number = value.substr(0, end);
      const std::string unit = text::lower(value.substr(std::min(value.find_first_not_of(' ', end), value.size())));
      static const std::set<std::string> units = {"b",  "byte", "bytes", "kb",  "mb", "gb",
                                                  "tb", "kib",  "mib",   "gib", "tib"};
      const bool is_number = !number.empty() && number.size() < 16 && number.front() != '.' && number.back() != '.' &&
                             std::count(number.begin(), number.end(), '.') < 2 &&
                             number.find_first_not_of("0.") != std::string::npos;
      const bool is_share = may_be_share && unit == "%" && number.find('.') == std::string::npos &&
                            (number.size() < 3 || number == "100");
      if (is_number && (units.contains(unit) || is_share))
        target = value;
      else
        report(Code::W0004, node,
               "`" + key + "` is a size such as 4GB" + (may_be_share ? ", or a share such as 80%" : "") + ", not `" +
                   value + "`",
               "");
    };
  }

  Reader number(int& target, const std::string& key, int least, int most = 999'999) {
    return [this, &target, key, least, most](const YAML::Node& node) {
      const std::string value = scalar(node, key);
      const bool is_number = !value.empty() && value.size() < 7 &&
                             std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (is_number && std::stoi(value) >= least && std::stoi(value) <= most)
        target = std::stoi(value);
      else
        report(Code::W0004, node,
               "`" + key + "` is a whole number of at least " + std::to_string(least) +
                   (most < 999'999 ? " and at most " + std::to_string(most) : "") + ", not `" + value + "`",
               "");
    };
  }

  Reader list(std::vector<std::string>& target, const std::string& key) {
    return [this, &target, key](const YAML::Node& node) {
      target.clear();
      if (node.IsScalar()) target.push_back(scalar(node, key));
      if (node.IsSequence())
        for (const auto& item : node) target.push_back(scalar(item, key));
      if (node.IsMap()) report(Code::W0004, node, "`" + key + "` takes a list", "");
    };
  }

  /// Folders that are searched; one of another name than the usual must be there, or a slip would find nothing in
  /// silence.
  Reader roots(std::vector<std::string>& target, const std::string& key) {
    return [this, &target, key](const YAML::Node& node) {
      list(target, key)(node);
      for (std::size_t i = 0; i < target.size(); ++i) {
        std::error_code problem;
        if (target[i] == key || fs::is_directory(fs::path(config_.root) / target[i], problem)) continue;
        report(Code::W0004, node.IsSequence() && i < node.size() ? node[i] : node,
               "there is no folder `" + target[i] + "`, which `" + key + "` lists", "");
      }
    };
  }

  Reader one_of(const std::string& key, const std::string& first, const std::string& second, bool& is_second) {
    return [=, this, &is_second](const YAML::Node& node) {
      const std::string value = scalar(node, key);
      is_second = value == second;
      if (value != first && value != second)
        report(Code::W0004, node, "`" + key + "` is " + first + " or " + second + ", not `" + value + "`", "");
    };
  }

  std::string absolute(const std::string& path) const {
    if (path.empty() || path.find("://") != std::string::npos) return path;
    std::string resolved = (fs::path(config_.root) / path).lexically_normal().string();
    while (resolved.size() > 1 && resolved.back() == '/') resolved.pop_back();
    return resolved;
  }

  DatabaseLocation location(const std::string& value) const {
    DatabaseLocation place;
    if (value.starts_with("postgres://") || value.starts_with("postgresql://") || value.starts_with("postgres:")) {
      place.kind = DatabaseLocation::Kind::Postgres;
      const bool is_uri = value.find("://") != std::string::npos;
      place.target = is_uri ? value : value.substr(value.find(':') + 1);
      place.shown = masked(place.target);
      return place;
    }
    std::string path = value;
    if (path.starts_with("sqlite:")) path = path.substr(7);
    if (value.starts_with("duckdb:")) {
      place.kind = DatabaseLocation::Kind::DuckDb;
      path = path.substr(7);
    }
    place.target = absolute(path);
    place.shown = path;
    return place;
  }

  void lake(const std::string& name, const YAML::Node& node) {
    LakeConfig lake;
    lake.name = name;
    std::string catalog;
    std::string data;
    std::string retention;
    const std::size_t said = found_.size();
    mapping(node, "lakes." + name,
            {{"catalog", text(catalog, "catalog")},
             {"data", text(data, "data")},
             {"retention", text(retention, "retention")}});
    if (config_.lake(name) != nullptr)
      report(Code::W0004, node, "the lake `" + name + "` is named twice (names compare without case)", "");
    // A misspelt key has been said; that it is missing need not be said again.
    if ((catalog.empty() || data.empty()) && found_.size() > said) {
      config_.lakes.push_back(std::move(lake));
      return;
    }
    if (catalog.empty() || data.empty())
      return report(Code::W0004, node, "the lake `" + name + "` needs `catalog:` and `data:`",
                    "for example `catalog: lake/" + name + ".sqlite` and `data: lake/" + name + "`");
    const std::string lowered = text::lower(catalog);
    const bool is_duckdb = lowered.starts_with("duckdb:") || lowered.ends_with(".duckdb") ||
                           lowered.ends_with(".ducklake") || lowered.ends_with(".db");
    const bool has_other_scheme = lowered.find("://") != std::string::npos && !lowered.starts_with("postgres");
    if (is_duckdb || has_other_scheme || lowered.starts_with("mysql:"))
      return report(
          Code::W0006, node,
          "the catalog `" + masked(catalog) + "` of the lake `" + name + "` is of a kind that weir does not support",
          "use a SQLite file (`catalog: lake/" + name +
              ".sqlite`) or PostgreSQL (`catalog: postgres://host/database`); a DuckDB file serves one process only");
    lake.catalog = location(catalog);
    lake.data = absolute(data);
    for (const LakeConfig& other : config_.lakes) judge_neighbours(other, lake, node);
    if (!retention.empty() && !calendar::parse_duration(retention))
      report(Code::W0004, node, "the retention `" + retention + "` of the lake `" + name + "` is no duration",
             "write for example `retention: 30d`; without it versions are kept for ever");
    if (!retention.empty()) lake.retention = retention;
    config_.lakes.push_back(std::move(lake));
  }

  /// Files that a lake's catalog does not know are leftovers, and one lock guards one lake.
  void judge_neighbours(const LakeConfig& one, const LakeConfig& other, const YAML::Node& node) {
    const std::string both = "the lakes `" + one.name + "` and `" + other.name + "` ";
    if (one.catalog.kind == other.catalog.kind && one.catalog.target == other.catalog.target)
      return report(Code::W0004, node, both + "have one catalog", "give each a catalog of its own");
    if (lies_under(one.data, other.data) || lies_under(other.data, one.data))
      report(Code::W0004, node, both + "keep their files in one place: each would take the other's for leftovers",
             "give each a `data:` of its own");
  }

  void database(const std::string& name, const YAML::Node& node) {
    const YAML::Node value = node.IsMap() && node["url"] ? node["url"] : node;
    config_.databases[name] = location(scalar(value, "databases." + name));
  }

  void environment(const std::string& name, const YAML::Node& node) {
    Config::Environment environment;
    mapping(node, "environments." + name,
            {{"from", text(environment.from, "from")}, {"shared", list(environment.shared, "shared")}});
    config_.environments[name] = std::move(environment);
  }

  void secret(const std::string& name, const YAML::Node& node) {
    each(node, "secrets." + name, [&](const std::string& key, const YAML::Node& value) {
      config_.secrets[name][key] = scalar(value, "secrets." + name + "." + key);
    });
  }

  void top(const YAML::Node& root) {
    std::string state = ".weir/state.sqlite";
    std::string temp_folder = ".weir/tmp";
    const Reader databases = [this](const YAML::Node& node) {
      each(node, "databases", [this](const auto& name, const auto& value) { database(name, value); });
    };
    mapping(root, "",
            {{"name", text(config_.name, "name")},
             {"strict", truth(config_.strict, "strict")},
             {"models", roots(config_.models, "models")},
             {"tests", roots(config_.tests, "tests")},
             {"lakes",
              [this](const YAML::Node& node) {
                each(node, "lakes", [this](const auto& name, const auto& value) { lake(name, value); });
              }},
             {"databases", databases},
             {"attach", databases},
             {"storages",
              [this](const YAML::Node& node) {
                each(node, "storages", [this](const auto& name, const auto& value) {
                  config_.storages[name] = absolute(scalar(value, "storages." + name));
                });
              }},
             {"secrets",
              [this](const YAML::Node& node) {
                each(node, "secrets", [this](const auto& name, const auto& value) { secret(name, value); });
              }},
             {"state", text(state, "state")},
             {"environments",
              [this](const YAML::Node& node) {
                each(node, "environments", [this](const auto& name, const auto& value) { environment(name, value); });
              }},
             {"audit", one_of("audit", "before", "after", config_.audit_after)},
             {"jobs", number(config_.jobs, "jobs", 1)},
             {"memory", size(config_.memory, "memory", true)},
             {"threads", number(config_.threads, "threads", 0, 1024)},
             {"temp",
              [&, this](const YAML::Node& node) {
                mapping(node, "temp",
                        {{"folder", text(temp_folder, "folder")}, {"limit", size(config_.temp_limit, "limit", false)}});
              }},
             {"allow_paths", list(config_.allow_paths, "allow_paths")},
             {"contracts", one_of("contracts", "warn", "error", config_.contracts_are_errors)},
             {"always_commit", truth(config_.always_commit, "always_commit")},
             {"samples", truth(config_.samples, "samples")},
             {"private", list(config_.private_columns, "private")}});
    config_.state = location(state);
    for (const LakeConfig& lake : config_.lakes)
      if (config_.state.kind != DatabaseLocation::Kind::Postgres && lake.catalog.target == config_.state.target)
        report(Code::W0004, root["state"] ? root["state"] : root,
               "`state:` and the catalog of the lake `" + lake.name + "` are one file",
               "give the state a file of its own");
    config_.temp_folder = absolute(temp_folder);
    for (std::string& path : config_.allow_paths)
      if (path != "any") path = absolute(path);
  }

  Config& config_;
  Variables variables_;
  std::string_view bytes_;
  Diagnostics found_;
};

}  // namespace

const LakeConfig* Config::lake(std::string_view name) const {
  const auto found = std::find_if(lakes.begin(), lakes.end(),
                                  [name](const LakeConfig& lake) { return text::same_word(lake.name, name); });
  return found == lakes.end() ? nullptr : &*found;
}

Result<std::string> find_project(const std::string& folder) {
  std::error_code problem;
  fs::path at = fs::absolute(folder.empty() ? "." : folder, problem).lexically_normal();
  if (at.has_relative_path() && at.filename().empty()) at = at.parent_path();
  while (true) {
    if (fs::is_regular_file(at / kFile, problem)) return at.string();
    if (at == at.parent_path()) break;
    at = at.parent_path();
  }
  return fail(Diagnostic{.code = Code::W0001,
                         .message = "no weir.yaml in this folder or any above it",
                         .hint = "`weir init` makes a project here; -C names the folder of one"});
}

Result<Config> load_config(const std::string& root, Diagnostics& warnings) {
  return load_config(root, warnings, std::nullopt);
}

Result<Config> load_config(const std::string& root, Diagnostics&, const std::optional<std::string>& text) {
  Config config;
  config.root = fs::absolute(root).lexically_normal().string();
  config.name = fs::path(config.root).filename().string();
  config.models = {"models"};
  config.tests = {"tests"};
  config.memory = "80%";
  config.temp_limit = "50GB";
  const Result<std::string> bytes = text ? Result<std::string>(*text) : io::read_file(config.root + "/" + kFile);
  if (!bytes.has_value()) {
    Diagnostic found = bytes.error().front();
    found.code = Code::W0002;
    found.path = kFile;
    return fail(std::move(found));
  }
  try {
    ConfigReader reader(config, read_env_file(config.root + "/.env"), *bytes);
    Diagnostics found = reader.read(YAML::Load(*bytes));
    if (!found.empty()) return fail(std::move(found));
  } catch (const YAML::Exception& problem) {
    Diagnostic found{.code = Code::W0002, .message = "weir.yaml is not YAML: " + problem.msg, .path = kFile};
    if (!problem.mark.is_null() && problem.mark.pos >= 0)
      found.span = {static_cast<std::uint32_t>(problem.mark.pos), static_cast<std::uint32_t>(problem.mark.pos) + 1};
    return fail(std::move(found));
  }
  return config;
}

std::optional<std::string> storage_path(const Config& config, std::string_view uri) {
  const auto asset = parse_asset(uri);
  if (!asset || asset->kind != AssetKind::Storage) return std::nullopt;
  const auto storage = config.storages.find(asset->place.empty() ? "default" : asset->place);
  if (storage == config.storages.end()) return std::nullopt;
  return storage->second + "/" + asset->name;
}

}  // namespace weir
