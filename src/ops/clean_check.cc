#include "ops/clean_check.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <unordered_map>

#include "io/bytes.h"
#include "io/files.h"
#include "io/hash.h"
#include "ops/edited_check.h"
#include "ops/list.h"
#include "project/sql_file.h"

namespace weir::ops {
namespace {

/// Some file systems count in seconds: a file may be changed again and have the same state.
constexpr std::chrono::seconds kCoarsestClock{2};
/// With more files than this the project as a whole is looked at.
constexpr std::size_t kMostEdited = 20;

/// Variables that the text may take its values from: `${NAME}`, `${NAME:-default}`.
void add_variables(io::ByteWriter& out, const std::string& text) {
  for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at + 2)) {
    const std::string name = text.substr(at + 2, text.find_first_of(":}", at) - at - 2);
    const char* value = std::getenv(name.c_str());
    out.text(name);
    out.text(value == nullptr ? "" : std::string("=") + value);
  }
}

/// The state of a file, all 0 if it was changed a moment ago. Nothing if it cannot be seen.
std::optional<io::FileState> state_of(const std::string& path) {
  auto state = io::state_of_file(path);
  if (!state) return std::nullopt;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (std::chrono::nanoseconds(state->modified_ns) + kCoarsestClock >= now) return io::FileState();
  return *state;
}

bool is_same(const io::FileState& a, const io::FileState& b) {
  return a.modified_ns != 0 && a.size == b.size && a.modified_ns == b.modified_ns && a.inode == b.inode;
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

/// What the lakes have of the sources now; nothing if it is not what they had.
std::optional<SourceColumns> same_sources(Workspace& workspace, const SeenProject& seen) {
  if (seen.sources.empty()) return SourceColumns();
  std::vector<Asset> sources;
  for (const std::string& key : seen.sources) {
    auto asset = parse_asset(key);
    if (!asset) return std::nullopt;
    sources.push_back(std::move(*asset));
  }
  auto now = columns_in_lakes(workspace, sources);
  if (!now || hash_of(*now) != seen.columns) return std::nullopt;
  return std::move(*now);
}

/// Takes the hashes of what was seen before where the text is the same. The other texts; nothing if they are too many,
/// or one cannot be read.
std::optional<OpenTexts> edited_texts(const std::string& root, std::vector<SeenFile>& now,
                                      const std::vector<SeenFile>& before) {
  OpenTexts edited;
  for (std::size_t i = 0; i < now.size(); ++i) {
    now[i].hash = before[i].hash;
    if (is_same(now[i].state, before[i].state)) continue;
    auto text = io::read_file(root + "/" + now[i].path);
    if (!text) return std::nullopt;
    std::string hash = io::xxh3_hex(*text);
    if (hash == before[i].hash) continue;
    now[i].hash = std::move(hash);
    edited.emplace(now[i].path, std::move(*text));
    if (edited.size() > kMostEdited) return std::nullopt;
  }
  return edited;
}

}  // namespace

std::optional<CleanCheck> CleanCheck::look(const std::string& root, const Config& config) {
  io::ByteWriter out;
  out.text(version());
  // Another weir may say something else.
  const auto self = state_of("/proc/self/exe");
  if (!self || self->modified_ns == 0) return std::nullopt;
  out.number(self->size);
  out.number(static_cast<std::uint64_t>(self->modified_ns));
  out.number(self->inode);
  for (const char* name : {"/weir.yaml", "/.env"}) {
    auto text = io::read_file(root + name);
    out.text(text ? *text : std::string());
    if (text) add_variables(out, *text);
  }
  SeenProject seen;
  seen.surroundings = io::xxh3_hex(out.take());
  for (const auto* roots : {&config.models, &config.tests})
    for (const std::string& folder : *roots) {
      const auto names = io::list_files((std::filesystem::path(root) / folder).string());
      if (!names) return std::nullopt;
      for (const std::string& name : *names) {
        const bool counts = is_sql_file(name) || name.ends_with(".yaml") || name.ends_with(".yml");
        if (!counts) continue;
        std::string path = (std::filesystem::path(folder) / name).lexically_normal().string();
        const auto state = state_of(root + "/" + path);
        if (!state) return std::nullopt;
        seen.files.push_back({std::move(path), *state, {}});
      }
    }
  return CleanCheck(root, std::move(seen));
}

std::optional<std::size_t> CleanCheck::recall(Workspace& workspace) {
  auto seen = SeenProject::read(file());
  if (!seen || seen->surroundings != now_.surroundings || seen->files.size() != now_.files.size()) return std::nullopt;
  const auto is_same_path = [](const SeenFile& a, const SeenFile& b) { return a.path == b.path; };
  if (!std::equal(seen->files.begin(), seen->files.end(), now_.files.begin(), is_same_path)) return std::nullopt;
  std::vector<SeenFile> files = now_.files;
  const auto edited = edited_texts(root_, files, seen->files);
  if (!edited) return std::nullopt;
  const auto sources = same_sources(workspace, *seen);
  if (!sources) return std::nullopt;
  if (!edited->empty() && !edits_are_clean(root_, *seen, *edited, sources->schemas)) return std::nullopt;
  const bool has_news = !std::equal(files.begin(), files.end(), seen->files.begin(),
                                    [](const SeenFile& a, const SeenFile& b) { return is_same(a.state, b.state); });
  seen->files = std::move(files);
  if (has_news) seen->write(file());
  return seen->models;
}

void CleanCheck::remember(const Project& project, const BoundGraph& bound) {
  std::unordered_map<std::string_view, std::string_view> hashes;
  for (const auto& source : project.sources) hashes.emplace(source->path, source->hash);
  for (SeenFile& one : now_.files) {
    if (const auto known = hashes.find(one.path); known != hashes.end()) {
      one.hash = known->second;
    } else if (const auto text = io::read_file(root_ + "/" + one.path); text) {
      one.hash = io::xxh3_hex(*text);
    }
  }
  now_.models = project.models.size();
  for (const Asset& asset : bound.sources) now_.sources.push_back(asset.key());
  now_.columns = hash_of(*bound.columns);
  for (const MacroLibrary& library : project.libraries) now_.libraries.push_back(library.source->path);
  const std::vector<Model>& models = bound.graph.models();
  for (std::size_t i = 0; i < models.size(); ++i)
    if (bound.bound.models[i].state == bind::BoundModel::State::Bound)
      now_.add(models[i].source->path, seen_model(models[i], project, bound.bound.models[i].columns));
  now_.write(file());
}

}  // namespace weir::ops
