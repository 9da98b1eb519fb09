#include "env/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/environment.h"
#include "io/hash.h"
#include "lake/lakes.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir::env {
namespace {

constexpr std::size_t kLongestName = 30;
/// What PostgreSQL takes as a name.
constexpr std::size_t kLongestSchema = 63;
constexpr std::string_view kSchemaPrefix = "weir_fork_";

Diagnostic no_name(const std::string& name, const std::string& why) {
  return {.code = Code::W5402,
          .message = fmt::format("`{}` is no name for an environment: {}", name, why),
          .hint = "a letter, then letters, digits and single underscores, at most 30 characters"};
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Settings settings_of(const state::EnvironmentRecord& record) {
  Settings settings{.name = record.environment, .parent = record.parent, .created = record.created};
  const auto json = nlohmann::json::parse(record.settings_json, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return settings;
  for (const auto& lake : json.value("shared", nlohmann::json::array()))
    settings.shared.insert(lake.get<std::string>());
  settings.pins = json.value("pins", std::map<std::string, std::int64_t>());
  settings.copies = json.value("seed", "") == "copy";
  return settings;
}

Diagnostic unknown(const std::string& name, const std::vector<Settings>& all) {
  std::vector<std::string> names;
  for (const Settings& one : all) names.push_back(one.name);
  const auto near = text::nearest(name, names);
  return {.code = Code::W5401,
          .message = "there is no environment " + name,
          .hint = near ? "did you mean `" + *near + "`?" : "make it: weir env create " + name};
}

/// `lake/main.sqlite` -> `lake/main@dev.sqlite`.
std::string beside(const std::string& file, const std::string& environment) {
  const auto slash = file.rfind('/');
  const auto dot = file.rfind('.');
  const bool has_end = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  return has_end ? file.substr(0, dot) + "@" + environment + file.substr(dot) : file + "@" + environment;
}

/// A name of at most 63 bytes, another one for every lake and environment.
std::string schema_of(const std::string& fork) {
  std::string name = lake::reserved_name(kSchemaPrefix, fork);
  if (name.size() <= kLongestSchema) return name;
  // reserved_name() makes no single underscore before a digit or letter but for `_x` and two digits.
  const std::string sum = io::sha256_hex(text::lower(fork)).substr(0, 24);
  return name.substr(0, kLongestSchema - 1 - sum.size()) + "_" + sum;
}

}  // namespace

bool is_fork_schema(const std::string& schema) { return schema.starts_with(kSchemaPrefix); }

std::string settings_text(const Settings& settings) {
  nlohmann::json json{{"shared", settings.shared}};
  if (!settings.pins.empty()) json["pins"] = settings.pins;
  if (settings.copies) json["seed"] = "copy";
  return json.dump();
}

Result<void> judge_name(const std::string& name) {
  if (name.empty() || !is_letter(name.front())) return fail(no_name(name, "it does not begin with a letter"));
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_letter(c) && !is_digit(c) && c != '_') return fail(no_name(name, fmt::format("it holds `{}`", c)));
    if (c == '_' && (i + 1 == name.size() || name[i + 1] == '_'))
      return fail(no_name(name, "an underscore stands between letters or digits"));
  }
  if (name.size() > kLongestName) return fail(no_name(name, fmt::format("it has {} characters", name.size())));
  const std::string lower = text::lower(name);
  // `<name>__<schema>` must be no schema of weir's own.
  for (const std::string_view taken : {"prod", "interlace", "weir", "ducklake", "main", "information_schema"})
    if (lower == taken) return fail(no_name(name, "weir uses it itself"));
  return {};
}

Result<Registry> Registry::read(const Config& config, state::Store* store) {
  Registry registry;
  registry.all_.push_back({.name = std::string(kProd)});
  if (store != nullptr) {
    WEIR_TRY(const auto records, store->environments());
    for (const state::EnvironmentRecord& record : records) registry.all_.push_back(settings_of(record));
  }
  for (const auto& [name, declared] : config.environments) {
    if (registry.find(name) != nullptr) continue;
    WEIR_CHECK(judge_name(name));
    Settings settings{.name = name, .parent = declared.from};
    for (const std::string& lake : declared.shared) settings.shared.insert(text::lower(lake));
    registry.all_.push_back(std::move(settings));
  }
  std::sort(registry.all_.begin() + 1, registry.all_.end(),
            [](const Settings& a, const Settings& b) { return a.name < b.name; });
  return registry;
}

const Settings* Registry::find(const std::string& name) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&name](const Settings& one) { return text::same_word(one.name, name); });
  return found == all_.end() ? nullptr : &*found;
}

Result<std::vector<Settings>> Registry::chain(const std::string& name) const {
  std::vector<Settings> chain;
  for (std::string next = name; true; next = chain.back().parent) {
    const Settings* one = find(next);
    // Names are unique without case, and written as they were given: state and lakes hold them so.
    if (one == nullptr && !chain.empty())
      return fail(Diagnostic{
          .code = Code::W5401,
          .message = fmt::format("environment {} comes from {}, which is there no more", chain.back().name, next),
          .hint = fmt::format("make {} again, or give up the other: weir env drop {}", next, chain.back().name)});
    if (one == nullptr || one->name != next) return fail(unknown(next, all_));
    const bool again =
        std::any_of(chain.begin(), chain.end(), [one](const Settings& earlier) { return earlier.name == one->name; });
    if (again)
      return fail(Diagnostic{.code = Code::W5427,
                             .message = fmt::format("environment {} comes from itself", one->name),
                             .hint = "`from` leads to prod in the end"});
    chain.push_back(*one);
    if (one->parent.empty()) return chain;
  }
}

std::vector<std::string> Registry::children(const std::string& name) const {
  std::vector<std::string> children;
  for (const Settings& one : all_)
    if (!one.parent.empty() && text::same_word(one.parent, name)) children.push_back(one.name);
  return children;
}

Result<LakeConfig> fork_of(const Config& config, const LakeConfig& lake, const std::string& environment) {
  LakeConfig fork = lake;
  fork.name = lake.name + "@" + environment;
  fork.fork_of = lake.name;
  fork.environment = environment;
  const auto scheme = lake.data.find("://");
  const bool is_whole_bucket = scheme != std::string::npos && lake.data.find('/', scheme + 3) == std::string::npos;
  if (is_whole_bucket)
    return fail(Diagnostic{.code = Code::W5422,
                           .message = fmt::format("the data of lake {} is all of {}", lake.name, lake.data),
                           .hint = "give the lake a prefix of its own, or share it: --lake " + lake.name + "=shared"});
  fork.data = lake.data + "@" + environment;
  if (lake.catalog.kind == DatabaseLocation::Kind::Postgres) {
    fork.metadata_schema = schema_of(fork.name);
    fork.catalog.shown += ", schema " + fork.metadata_schema;
  } else {
    fork.catalog.target = beside(lake.catalog.target, environment);
    fork.catalog.shown = beside(lake.catalog.shown, environment);
  }
  for (const LakeConfig& other : config.lakes) {
    const bool is_file = fork.catalog.kind != DatabaseLocation::Kind::Postgres;
    if (!other.fork_of.empty() ||
        (other.data != fork.data && (!is_file || other.catalog.target != fork.catalog.target)))
      continue;
    return fail(Diagnostic{.code = Code::W5422,
                           .message = fmt::format("lake {} of weir.yaml lies where the fork of {} for {} would",
                                                  other.name, lake.name, environment),
                           .hint = "take another name for the environment, or move that lake"});
  }
  return fork;
}

namespace {

/// What the nearest of them that pins the lake says.
std::optional<std::int64_t> pin_of(const std::vector<Settings>& chain, const std::string& lake) {
  for (const Settings& level : chain)
    if (const auto pin = level.pins.find(text::lower(lake)); pin != level.pins.end()) return pin->second;
  return std::nullopt;
}

}  // namespace

Result<void> add_forks(Config& config, const std::vector<Settings>& chain) {
  const std::vector<LakeConfig> own = config.lakes;
  for (LakeConfig& lake : config.lakes) lake.is_read_only = chain.size() > 1;
  for (std::size_t level = 0; level + 1 < chain.size(); ++level)
    for (const LakeConfig& lake : own) {
      if (chain[level].shared.contains(text::lower(lake.name))) continue;
      WEIR_TRY(LakeConfig fork, fork_of(config, lake, chain[level].name));
      fork.is_read_only = true;
      fork.version = pin_of(chain, fork.name);
      fork.copies = chain[level].copies;
      config.lakes.push_back(std::move(fork));
    }
  for (const LakeConfig& lake : own) {
    const auto version = pin_of(chain, lake.name);
    if (!version) continue;
    LakeConfig pinned = lake;
    pinned.name += "@" + std::string(kProd);
    pinned.fork_of = lake.name;
    pinned.environment = kProd;
    pinned.is_read_only = true;
    pinned.version = version;
    config.lakes.push_back(std::move(pinned));
  }
  config.lakes.front().is_read_only = false;
  // What the environment writes: its own fork, or what the nearest environment writes whose lake it shares.
  for (const LakeConfig& lake : own) {
    std::string written = lake.name;
    for (const Settings& level : chain) {
      if (level.parent.empty()) break;
      if (level.shared.contains(text::lower(lake.name))) continue;
      written = lake.name + "@" + level.name;
      break;
    }
    for (LakeConfig& one : config.lakes)
      if (one.name == written) one.is_read_only = false;
  }
  return {};
}

std::vector<std::string> lakes_to_pin(const Config& config, const std::set<std::string>& shared) {
  std::vector<std::string> lakes;
  for (const LakeConfig& lake : config.lakes) {
    const std::string& base = lake.fork_of.empty() ? lake.name : lake.fork_of;
    const bool is_pinned =
        lake.version || (lake.fork_of.empty() && config.lake(lake.name + "@" + std::string(kProd)) != nullptr);
    if (!is_pinned && !shared.contains(text::lower(base))) lakes.push_back(lake.name);
  }
  return lakes;
}

}  // namespace weir::env
