// Code actions: every suggestion of a diagnostic as one click, and all of a file at once.
#include <algorithm>

#include "lsp/features.h"
#include "lsp/json.h"
#include "lsp/view.h"

namespace weir::lsp {
namespace {

Json edit_of(const Session& session, const Document& document, Json edits) {
  if (session.renames_files)
    return {{"documentChanges", Json::array({{{"textDocument", {{"uri", document.uri}, {"version", document.version}}},
                                              {"edits", std::move(edits)}}})}};
  return {{"changes", {{document.uri, std::move(edits)}}}};
}

/// "Replace `sevrity` by `severity`".
std::string title_of(const Fix& fix, std::string_view text) {
  if (fix.span.empty()) return "Insert `" + fix.replacement + "`";
  const std::string before(text.substr(fix.span.begin, fix.span.size()));
  if (fix.replacement.empty()) return "Remove `" + before + "`";
  return "Replace `" + before + "` by `" + fix.replacement + "`";
}

bool wants(const Json& params, std::string_view kind) {
  const Json context = params.value("context", Json::object());
  if (!context.contains("only") || !context["only"].is_array()) return true;
  return std::any_of(context["only"].begin(), context["only"].end(), [kind](const Json& one) {
    const auto wanted = one.get<std::string>();
    return kind == wanted || kind.starts_with(wanted + ".");
  });
}

}  // namespace

Answer code_actions(const Session& session, const Json& params) {
  const auto cursor = document_of(session, params);
  if (!cursor || session.snapshot == nullptr || cursor->view->path().empty()) return Json::array();
  const View& view = *cursor->view;
  const Range range = range_of(params.at("range"));
  Json actions = Json::array();
  Json every = Json::array();
  std::uint32_t behind = 0;
  for (const Diagnostic& found : session.snapshot->diagnostics) {
    if (found.path != view.path() || !found.fix || found.fix->span.end > view.text().size()) continue;
    const Json edit = text_edit(view.positions().range(found.fix->span), found.fix->replacement);
    if (found.fix->span.begin >= behind) {
      every.push_back(edit);
      behind = found.fix->span.end;
    }
    const Range place = view.positions().range(found.span);
    if (place.end < range.start || range.end < place.start || !wants(params, "quickfix")) continue;
    actions.push_back({{"title", title_of(*found.fix, view.text())},
                       {"kind", "quickfix"},
                       {"isPreferred", true},
                       {"diagnostics", Json::array({json_of(found, view.positions())})},
                       {"edit", edit_of(session, *cursor->document, Json::array({edit}))}});
  }
  if (!every.empty() && wants(params, "source.fixAll.weir"))
    actions.push_back({{"title", "Apply all suggestions of weir in this file"},
                       {"kind", "source.fixAll.weir"},
                       {"edit", edit_of(session, *cursor->document, std::move(every))}});
  return actions;
}

}  // namespace weir::lsp
