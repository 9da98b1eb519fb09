// Renaming a model. What moves depends on who decides the table's name:
//  - an owned model's table is called after its file, so the file is renamed and everything that reads the table
//    follows;
//  - a managed or manual model names its table itself, in the header. Renaming the table replaces the name there and
//    wherever it is read, and the file keeps its name; the next run makes the new table, the old one stays in the lake.
//    Renaming the model, where it is named by its path, renames the file and the table keeps its name.
#include <filesystem>
#include <map>

#include "io/files.h"
#include "lsp/features.h"
#include "lsp/json.h"
#include "lsp/places.h"
#include "lsp/unit_tests.h"

namespace weir::lsp {
namespace {

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find_first_of("/\\.\"'` \t\r\n;:?#") == std::string::npos && name[0] != '_' &&
         !(name[0] >= '0' && name[0] <= '9');
}

/// What a rename means.
struct Renaming {
  Thing thing;
  const Model* model = nullptr;
  /// The file gets the new name, and with it whatever names the model.
  bool moves_file = false;
  /// The table gets it, and with it whatever reads the table.
  bool names_table = false;

  /// The name that is replaced.
  std::string name() const { return names_table ? thing.asset->name : last_part(model->path); }
  static std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }
};

/// True if the model's table is called after its file.
bool is_named_by_file(const Model& model) {
  return model.target && model.target_span.empty() &&
         text::same_word(Renaming::last_part(model.path), model.target->name);
}

tl::expected<Renaming, Refusal> renaming_at(const Session& session, const Reading& reading, std::uint32_t at) {
  auto thing = reading.at(at);
  const bool names_model =
      thing && (thing->kind == ThingKind::Asset || thing->kind == ThingKind::Model) && thing->asset;
  if (!names_model) return tl::unexpected(Refusal{kRequestFailed, "only models and their tables can be renamed"});
  Renaming found{.thing = *std::move(thing)};
  found.model = session.snapshot->producer(*found.thing.asset);
  if (found.model == nullptr)
    return tl::unexpected(Refusal{kRequestFailed, found.thing.asset->uri() + " is a source: no model makes it"});
  if (!(found.model->target && *found.model->target == *found.thing.asset))
    return tl::unexpected(Refusal{kRequestFailed, "this is the view of a history: rename the history's table"});
  const bool is_one_name = is_named_by_file(*found.model);
  const bool is_model = found.thing.kind == ThingKind::Model;
  found.moves_file = is_one_name || is_model;
  found.names_table = is_one_name || !is_model;
  if (found.names_table && !is_one_name && found.model->target_span.empty())
    return tl::unexpected(Refusal{kRequestFailed, "this name comes from the model's folders: move the file instead"});
  if (found.moves_file && !session.renames_files)
    return tl::unexpected(Refusal{kRequestFailed, "this editor cannot rename files as part of an edit"});
  return found;
}

std::string renamed_file(const Model& model, const std::string& name) {
  return std::filesystem::path(model.source->path).replace_filename(name + ".sql").string();
}

std::optional<Refusal> judge_name(const Session& session, const Renaming& renaming, const std::string& name) {
  if (!is_plain_name(name))
    return Refusal{kInvalidParams,
                   "a model's name has no blanks, dots, slashes or quotes and does not begin with _ or a digit"};
  Asset renamed = *renaming.thing.asset;
  renamed.name = name;
  const bool is_other = !text::same_word(name, renaming.name());
  if (renaming.names_table && is_other && session.snapshot->asset(renamed) != nullptr)
    return Refusal{kInvalidParams, renamed.uri() + " exists already"};
  if (!renaming.moves_file) return std::nullopt;
  const std::string file = renamed_file(*renaming.model, name);
  const bool is_taken = session.snapshot->project.source(file) != nullptr || io::exists(session.root + "/" + file);
  if (is_taken) return Refusal{kInvalidParams, file + " exists already"};
  return std::nullopt;
}

/// The edits of every file, by path.
std::map<std::string, Json> edits_of(const Session& session, const Renaming& renaming, const Reading& reading,
                                     const std::string& name) {
  std::map<std::string, Json> edits;
  for (const Naming& place : namings_of(renaming.thing, reading, session)) {
    if (!(place.kind == ThingKind::Model ? renaming.moves_file : renaming.names_table)) continue;
    const std::string text = text_of_file(session, place.path);
    const Positions positions(text, session.encoding);
    auto& list = edits.try_emplace(place.path, Json::array()).first->second;
    list.push_back(text_edit(positions.range(place.own), place.is_sql ? sql_name(name) : name));
  }
  return edits;
}

Json workspace_edit(const Session& session, const std::map<std::string, Json>& edits, const std::optional<Json>& file) {
  if (!session.renames_files) {
    Json changes = Json::object();
    for (const auto& [path, list] : edits) changes[session.uri_of(path)] = list;
    return {{"changes", std::move(changes)}};
  }
  Json documents = Json::array();
  for (const auto& [path, list] : edits) {
    const std::string uri = session.uri_of(path);
    const Document* open = session.documents.find(uri);
    documents.push_back({{"textDocument", {{"uri", uri}, {"version", open != nullptr ? Json(open->version) : Json()}}},
                         {"edits", list}});
  }
  if (file) documents.push_back(*file);
  return {{"documentChanges", std::move(documents)}};
}

}  // namespace

Answer prepare_rename(const Session& session, const Json& params) {
  const auto cursor = cursor_of(session, params);
  if (!cursor || session.snapshot == nullptr) return Json();
  const Reading reading(*cursor->view, *session.snapshot);
  const auto renaming = renaming_at(session, reading, cursor->at);
  if (!renaming) return tl::unexpected(renaming.error());
  const Span own = renaming->thing.own.empty() ? renaming->thing.span : renaming->thing.own;
  return Json{{"range", json_of(cursor->view->positions().range(own))}, {"placeholder", renaming->name()}};
}

Answer rename(const Session& session, const Json& params) {
  const auto cursor = cursor_of(session, params);
  const auto name = params.at("newName").get<std::string>();
  if (!cursor || session.snapshot == nullptr)
    return tl::unexpected(Refusal{kRequestFailed, "the document belongs to no project"});
  const Reading reading(*cursor->view, *session.snapshot);
  const auto renaming = renaming_at(session, reading, cursor->at);
  if (!renaming) return tl::unexpected(renaming.error());
  if (auto refusal = judge_name(session, *renaming, name)) return tl::unexpected(*std::move(refusal));
  std::optional<Json> file;
  if (renaming->moves_file)
    file = Json{{"kind", "rename"},
                {"oldUri", session.uri_of(renaming->model->source->path)},
                {"newUri", session.uri_of(renamed_file(*renaming->model, name))}};
  return workspace_edit(session, edits_of(session, *renaming, reading, name), file);
}

// A file that is renamed in the editor's own list of files, within its folder: its names follow it.
Answer will_rename_files(const Session& session, const Json& params) {
  if (session.snapshot == nullptr) return Json();
  std::map<std::string, Json> edits;
  for (const Json& one : params.at("files")) {
    const auto before = path_of_uri(one.at("oldUri").get<std::string>());
    const auto after = path_of_uri(one.at("newUri").get<std::string>());
    if (!before || !after) continue;
    const std::filesystem::path next(*after);
    const bool stays_here = next.parent_path() == std::filesystem::path(*before).parent_path();
    const std::string path = below(session.root, *before).value_or("");
    const Model* model = session.snapshot->model_of_file(path);
    const std::string name = next.stem().string();
    if (!stays_here || model == nullptr || !model->target || next.extension() != ".sql" || !is_plain_name(name))
      continue;
    const std::string text = text_of_file(session, path);
    const View view(text, path, session.encoding);
    const Reading reading(view, *session.snapshot);
    Renaming renaming{.thing = {.kind = ThingKind::Model, .name = model->path, .asset = model->target}, .model = model};
    renaming.moves_file = true;
    renaming.names_table = is_named_by_file(*model);
    for (auto& [file, list] : edits_of(session, renaming, reading, name)) {
      Json& all = edits.try_emplace(file, Json::array()).first->second;
      all.insert(all.end(), list.begin(), list.end());
    }
  }
  if (edits.empty()) return Json();
  return workspace_edit(session, edits, std::nullopt);
}

}  // namespace weir::lsp
