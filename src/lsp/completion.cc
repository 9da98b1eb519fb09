#include "lsp/completion.h"

#include <set>

#include "lsp/features.h"
#include "lsp/json.h"

namespace weir::lsp {

struct Items::Body {
  Range range;
  Json list = Json::array();
  std::set<std::string> labels;
};

Items::Items(const View& view, Span typed) : body_(std::make_unique<Body>()) {
  body_->range = view.positions().range(typed);
}
Items::~Items() = default;

void Items::add(const Item& item) {
  if (item.label.empty() || !body_->labels.insert(item.label).second) return;
  const std::string& written = item.insert.empty() ? item.label : item.insert;
  Json made = {{"label", item.label},
               {"kind", static_cast<int>(item.kind)},
               // Said outright: of a URI an editor would compare the last word only.
               {"filterText", item.filter.empty() ? item.label : item.filter},
               {"sortText", std::to_string(item.group) + item.label},
               {"textEdit", text_edit(body_->range, written)}};
  if (!item.detail.empty()) made["detail"] = item.detail;
  if (!item.documentation.empty()) made["documentation"] = markdown(item.documentation);
  body_->list.push_back(std::move(made));
}

Json Items::take() { return std::move(body_->list); }

void add_columns(Items& items, const std::vector<ScopeColumn>& columns, int group) {
  for (const ScopeColumn& column : columns)
    items.add({.label = column.name,
               .kind = ItemKind::Field,
               .detail = column.type,
               .documentation = column.asset ? "of `" + column.asset->uri() + "`" : "",
               .insert = sql_name(column.name),
               .group = group});
}

std::vector<ScopeColumn> own_columns(const Reading& reading) {
  const std::size_t result = reading.scope().result();
  std::vector<ScopeColumn> columns;
  if (result != kNone) columns = reading.scope().output(result);
  // Binding knows the types of expressions; the text as it is now knows the names.
  if (reading.model() == nullptr) return columns;
  const auto bound = reading.snapshot().bound.find(reading.view().path());
  if (bound == reading.snapshot().bound.end()) return columns;
  if (columns.empty())
    for (const bind::BoundColumn& one : bound->second.columns)
      columns.push_back({one.name, one.type, std::nullopt, {}});
  for (ScopeColumn& column : columns)
    for (const bind::BoundColumn& one : bound->second.columns)
      if (column.type.empty() && text::same_word(one.name, column.name)) column.type = one.type;
  return columns;
}

Answer completion(const Session& session, const Json& params) {
  const auto cursor = cursor_of(session, params);
  if (!cursor) return Json::array();
  static const Snapshot nothing;
  const Reading reading(*cursor->view, session.snapshot != nullptr ? *session.snapshot : nothing);
  if (const auto line = cursor->view->line_at(cursor->at)) return complete_line(reading, *line, cursor->at);
  if (cursor->view->is_in_block(cursor->at)) return complete_block(reading, cursor->at);
  return complete_sql(reading, cursor->at);
}

}  // namespace weir::lsp
