#include "ops/clean_check.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "io/bytes.h"
#include "io/files.h"
#include "io/hash.h"
#include "ops/list.h"

namespace weir::ops {
namespace {

constexpr std::string_view kFormat = "weir clean 1\n";
constexpr std::chrono::seconds kCoarsestClock{2};

/// Variables that the text may take its values from: `${NAME}`, `${NAME:-default}`.
void add_variables(io::ByteWriter& out, const std::string& text) {
  for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
    const std::string name = text.substr(at + 2, text.find_first_of(":}", at) - at - 2);
    const char* value = std::getenv(name.c_str());
    out.text(name);
    out.text(value == nullptr ? "" : std::string("=") + value);
  }
}

/// Adds the state of a file. False if it may change without its state doing so, or cannot be seen.
bool add_file(io::ByteWriter& out, const std::string& path) {
  const auto state = io::state_of_file(path);
  if (!state) return false;
  out.number(state->size);
  out.number(static_cast<std::uint64_t>(state->modified_ns));
  out.number(state->inode);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds(state->modified_ns) + kCoarsestClock < now;
}

std::string hash_of(const SourceColumns& columns) {
  io::ByteWriter out;
  for (const auto& [key, schema] : columns.schemas) {
    out.text(key);
    out.number(schema.columns.size());
    for (const duck::Column& column : schema.columns) {
      out.text(column.name);
      out.text(column.type);
    }
  }
  for (const std::string& key : columns.missing) out.text(key);
  return io::xxh3_hex(out.take());
}

}  // namespace

std::optional<CleanCheck> CleanCheck::look(const std::string& root, const Config& config) {
  io::ByteWriter out;
  out.text(version());
  // Another weir may say something else.
  if (!add_file(out, "/proc/self/exe")) return std::nullopt;
  for (const char* name : {"/weir.yaml", "/.env"}) {
    auto text = io::read_file(root + name);
    out.text(text ? *text : std::string());
    if (text) add_variables(out, *text);
  }
  for (const auto* roots : {&config.models, &config.tests})
    for (const std::string& folder : *roots) {
      const std::string path = (std::filesystem::path(root) / folder).string();
      const auto names = io::list_files(path);
      if (!names) return std::nullopt;
      out.text(folder);
      for (const std::string& name : *names) {
        const bool counts = name.ends_with(".sql") || name.ends_with(".yaml") || name.ends_with(".yml");
        if (!counts) continue;
        out.text(name);
        if (!add_file(out, path + "/" + name)) return std::nullopt;
      }
    }
  return CleanCheck(root + "/.weir/cache/clean", io::xxh3_hex(out.take()));
}

std::optional<std::size_t> CleanCheck::recall(Workspace& workspace) const {
  const auto bytes = io::read_file(file_);
  if (!bytes || !bytes->starts_with(kFormat)) return std::nullopt;
  io::ByteReader in(std::string_view(*bytes).substr(kFormat.size()));
  const std::string state = in.text();
  const std::size_t models = in.number();
  const std::vector<std::string> keys = in.texts();
  const std::string columns = in.text();
  if (!in.good() || !in.done() || state != state_) return std::nullopt;
  std::vector<Asset> sources;
  for (const std::string& key : keys) {
    auto asset = parse_asset(key);
    if (!asset) return std::nullopt;
    sources.push_back(std::move(*asset));
  }
  if (sources.empty()) return models;
  const auto now = columns_in_lakes(workspace, sources);
  if (!now || hash_of(*now) != columns) return std::nullopt;
  return models;
}

void CleanCheck::remember(std::size_t models, const std::vector<Asset>& sources, const SourceColumns& columns) const {
  io::ByteWriter out;
  out.text(state_);
  out.number(models);
  std::vector<std::string> keys;
  for (const Asset& asset : sources) keys.push_back(asset.key());
  out.texts(keys);
  out.text(hash_of(columns));
  // What cannot be kept is found out again.
  (void)io::write_file(file_, std::string(kFormat) + out.take());
}

}  // namespace weir::ops
