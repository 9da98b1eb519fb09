// Renaming a model. What moves depends on who decides the table's name:
//  - an owned model's table is called after its file, so the file is renamed and everything that reads the table
//    follows;
//  - a managed or manual model names its table itself, in the header, so the table's name is replaced there and
//    wherever it is read; the file keeps its name, and so does what the lake holds until the next run makes the new
//    table. The old one stays in the lake.
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

/// The model that a rename at this place means, and what names it.
struct Renaming {
  Thing thing;
  const Model* model = nullptr;
  /// The path, and with it the table's name, is the file's.
  bool moves_file = false;
};

tl::expected<Renaming, Refusal> renaming_at(const Session& session, const Reading& reading, std::uint32_t at) {
  auto thing = reading.at(at);
  const bool names_model =
      thing && (thing->kind == ThingKind::Asset || thing->kind == ThingKind::Model) && thing->asset;
  if (!names_model) return tl::unexpected(Refusal{kRequestFailed, "only models and their tables can be renamed"});
  Renaming found{.thing = *std::move(thing)};
  found.model = session.snapshot->producer(*found.thing.asset);
  if (found.model == nullptr)
    return tl::unexpected(Refusal{kRequestFailed, found.thing.asset->uri() + " is a source: no model makes it"});
  if (!text::same_word(found.model->relation.key(), found.thing.asset->key()) &&
      !(found.model->target && *found.model->target == *found.thing.asset))
    return tl::unexpected(Refusal{kRequestFailed, "this is the view of a history: rename the history's table"});
  const std::string last = found.model->path.substr(found.model->path.rfind('/') + 1);
  found.moves_file = found.model->target_span.empty() && text::same_word(last, found.thing.asset->name);
  if (found.model->target_span.empty() && !found.moves_file)
    return tl::unexpected(Refusal{kRequestFailed, "this name comes from the model's folders: move the file instead"});
  if (found.moves_file && !session.renames_files)
    return tl::unexpected(Refusal{kRequestFailed, "this editor cannot rename files as part of an edit"});
  return found;
}

/// What takes the place of one naming.
std::string spelled_as(const std::string& name, const Naming& place) { return place.is_sql ? sql_name(name) : name; }

std::optional<Refusal> judge_name(const Session& session, const Renaming& renaming, const std::string& name) {
  if (!is_plain_name(name))
    return Refusal{kInvalidParams,
                   "a model's name has no blanks, dots, slashes or quotes and does not begin with _ or a digit"};
  Asset renamed = *renaming.thing.asset;
  renamed.name = name;
  if (session.snapshot->asset(renamed) != nullptr && !text::same_word(name, renaming.thing.asset->name))
    return Refusal{kInvalidParams, renamed.uri() + " exists already"};
  if (!renaming.moves_file) return std::nullopt;
  const auto file = std::filesystem::path(renaming.model->source->path).replace_filename(name + ".sql").string();
  const bool is_taken = session.snapshot->project.source(file) != nullptr || io::exists(session.root + "/" + file);
  if (is_taken) return Refusal{kInvalidParams, file + " exists already"};
  return std::nullopt;
}

}  // namespace

Answer prepare_rename(const Session& session, const Json& params) {
  const auto cursor = cursor_of(session, params);
  if (!cursor || session.snapshot == nullptr) return Json();
  const Reading reading(*cursor->view, *session.snapshot);
  const auto renaming = renaming_at(session, reading, cursor->at);
  if (!renaming) return tl::unexpected(renaming.error());
  const Span own = renaming->thing.own.empty() ? renaming->thing.span : renaming->thing.own;
  return Json{{"range", json_of(cursor->view->positions().range(own))}, {"placeholder", renaming->thing.asset->name}};
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
  std::map<std::string, Json> edits;
  for (const Naming& place : namings_of(renaming->thing, reading, session)) {
    // Where the file stays, its path stays too.
    if (place.kind == ThingKind::Model && !renaming->moves_file) continue;
    const std::string text = text_of_file(session, place.path);
    const Positions positions(text, session.encoding);
    auto& list = edits.try_emplace(place.path, Json::array()).first->second;
    list.push_back(text_edit(positions.range(place.own), spelled_as(name, place)));
  }
  if (!session.renames_files) {
    Json changes = Json::object();
    for (auto& [path, list] : edits) changes[session.uri_of(path)] = std::move(list);
    return Json{{"changes", std::move(changes)}};
  }
  Json documents = Json::array();
  for (auto& [path, list] : edits) {
    const std::string uri = session.uri_of(path);
    const Document* open = session.documents.find(uri);
    documents.push_back({{"textDocument", {{"uri", uri}, {"version", open != nullptr ? Json(open->version) : Json()}}},
                         {"edits", std::move(list)}});
  }
  if (renaming->moves_file) {
    const std::string& file = renaming->model->source->path;
    const std::string next = std::filesystem::path(file).replace_filename(name + ".sql").string();
    documents.push_back({{"kind", "rename"}, {"oldUri", session.uri_of(file)}, {"newUri", session.uri_of(next)}});
  }
  return Json{{"documentChanges", std::move(documents)}};
}

}  // namespace weir::lsp
