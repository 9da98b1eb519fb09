// Document symbols: the header's parts, the statements before the query, its CTEs, and the columns that it returns.
#include "lsp/features.h"
#include "lsp/json.h"
#include "lsp/outline.h"
#include "lsp/view.h"

namespace weir::lsp {
namespace {

// SymbolKind of the protocol.
constexpr int kProperty = 7;
constexpr int kField = 8;
constexpr int kFunction = 12;
constexpr int kVariable = 13;
constexpr int kObject = 19;
constexpr int kStruct = 23;

Json symbol(const View& view, const std::string& name, int kind, Span whole, Span chosen,
            const std::string& detail = "") {
  Json made = {{"name", name.empty() ? "?" : name},
               {"kind", kind},
               {"range", json_of(view.positions().range(whole))},
               {"selectionRange", json_of(view.positions().range(chosen))}};
  if (!detail.empty()) made["detail"] = detail;
  return made;
}

void add_header(const View& view, Json& symbols) {
  for (const HeaderLine& line : view.lines()) {
    if (line.keyword == nullptr) continue;
    const bool is_metric = line.keyword->name == "measure" || line.keyword->name == "dimension";
    symbols.push_back(symbol(view, std::string(line.head.view()), is_metric ? kFunction : kProperty, line.whole.span(),
                             line.head.span(), std::string(line.tail.view())));
  }
  if (view.header().block)
    symbols.push_back(symbol(view, "header", kObject, view.header().block->whole, view.header().block->whole));
}

Json columns_of(const View& view, const Block& block) {
  Json columns = Json::array();
  if (block.arms.empty()) return columns;
  for (const SelectItem& item : block.arms.front().items) {
    if (item.is_star)
      columns.push_back(symbol(view, item.star_of.empty() ? "*" : item.star_of + ".*", kField, item.span, item.span));
    else if (!item.name.empty())
      columns.push_back(symbol(view, item.name, kField, item.span, item.name_span));
  }
  return columns;
}

void add_query(const View& view, const Outline& outline, std::size_t index, Json& symbols) {
  const Block& block = outline.blocks()[index];
  for (const CommonTable& one : block.tables) {
    Json made = symbol(view, one.name, kStruct, one.span, one.name_span, "CTE");
    if (one.block != kNone) made["children"] = columns_of(view, outline.blocks()[one.block]);
    symbols.push_back(std::move(made));
  }
  for (Json& column : columns_of(view, block)) symbols.push_back(std::move(column));
}

}  // namespace

Answer document_symbols(const Session& session, const Json& params) {
  const auto cursor = document_of(session, params);
  if (!cursor) return Json::array();
  const View& view = *cursor->view;
  Json symbols = Json::array();
  add_header(view, symbols);
  const Outline outline(view.sql(), view.tokens());
  for (const OutlinedStatement& statement : outline.statements()) {
    if (statement.created.empty()) {
      if (statement.block != kNone) add_query(view, outline, statement.block, symbols);
      continue;
    }
    Json made = symbol(view, statement.created, statement.is_macro ? kFunction : kVariable, statement.span,
                       statement.created_span, statement.is_macro ? "macro" : "temporary");
    made["children"] = Json::array();
    if (statement.block != kNone) add_query(view, outline, statement.block, made["children"]);
    symbols.push_back(std::move(made));
  }
  return symbols;
}

}  // namespace weir::lsp
