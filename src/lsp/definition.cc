// Go to definition and find references.
#include <map>
#include <memory>

#include "lsp/features.h"
#include "lsp/json.h"
#include "lsp/places.h"
#include "lsp/unit_tests.h"

namespace weir::lsp {
namespace {

/// Turns places of several files into locations; each file's lines are found once.
class Locations {
 public:
  explicit Locations(const Session& session) : session_(session) {}

  Json of(const std::string& path, Span span) {
    auto file = files_.find(path);
    if (file == files_.end()) {
      const auto& text = texts_.emplace_back(std::make_unique<std::string>(text_of_file(session_, path)));
      file = files_.emplace(path, Positions(*text, session_.encoding)).first;
    }
    return location(session_.uri_of(path), file->second.range(span));
  }

 private:
  const Session& session_;
  std::vector<std::unique_ptr<std::string>> texts_;
  std::map<std::string, Positions> files_;
};

}  // namespace

Answer definition(const Session& session, const Json& params) {
  const auto cursor = cursor_of(session, params);
  if (!cursor || session.snapshot == nullptr) return Json();
  const Reading reading(*cursor->view, *session.snapshot);
  const auto thing = reading.at(cursor->at);
  if (!thing) return Json();
  Locations locations(session);
  Json found = Json::array();
  for (const FilePlace& place : definition_of(*thing, reading, session.encoding))
    found.push_back(locations.of(place.path, place.span));
  return found;
}

Answer references(const Session& session, const Json& params) {
  const auto cursor = cursor_of(session, params);
  if (!cursor || session.snapshot == nullptr) return Json();
  const Reading reading(*cursor->view, *session.snapshot);
  const auto thing = reading.at(cursor->at);
  if (!thing) return Json();
  const Json context = params.value("context", Json::object());
  const auto made = definition_of(*thing, reading, session.encoding);
  Locations locations(session);
  Json found = Json::array();
  const auto is_definition = [&made](const Naming& one) {
    for (const FilePlace& place : made)
      if (place.path == one.path && place.span == one.span) return true;
    return false;
  };
  const bool with_declaration = context.value("includeDeclaration", true);
  for (const Naming& one : namings_of(*thing, reading, session))
    if (with_declaration || !is_definition(one)) found.push_back(locations.of(one.path, one.span));
  return found;
}

}  // namespace weir::lsp
