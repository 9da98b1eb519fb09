#include "lsp/view.h"

#include <algorithm>

#include "lsp/json.h"

namespace weir::lsp {

View::View(std::string_view text, std::string path, Encoding encoding)
    : text_(text), path_(std::move(path)), positions_(text, encoding), header_(find_header(text)) {
  sql_ = blank_header(text, header_);
  tokens_ = text::lex(sql_);
}

HeaderLine View::line_of(const HeaderRegion::Comment& comment) const {
  HeaderLine line;
  line.whole = Piece(text_, comment.text).trimmed();
  line.tail = line.whole;
  line.head = line.tail.take_word();
  line.keyword = keyword_named(line.head.view());
  return line;
}

std::optional<HeaderLine> View::line_at(std::uint32_t at) const {
  for (const HeaderRegion::Comment& comment : header_.comments) {
    if (at < comment.text.begin) break;
    // Blanks behind the last word, which the header leaves out, are where the next one is typed.
    std::uint32_t end = comment.text.end;
    while (end < at && end < text_.size() && is_blank(text_[end]) && text_[end] != '\n') ++end;
    if (at <= end) return line_of(comment);
  }
  return std::nullopt;
}

std::vector<HeaderLine> View::lines() const {
  std::vector<HeaderLine> all;
  for (const HeaderRegion::Comment& comment : header_.comments) all.push_back(line_of(comment));
  return all;
}

bool View::is_in_block(std::uint32_t at) const {
  return header_.block && at > header_.block->text.begin && at <= header_.block->text.end;
}

const text::Token* View::token_at(std::uint32_t at) const {
  const auto after = std::upper_bound(tokens_.begin(), tokens_.end(), at,
                                      [](std::uint32_t byte, const text::Token& one) { return byte < one.span.begin; });
  if (after == tokens_.begin()) return nullptr;
  const text::Token& token = *(after - 1);
  if (at < token.span.end) {
    // Between two tokens the one that is a name is meant.
    if (at == token.span.begin && !token.is_name() && after - 1 != tokens_.begin() && (after - 2)->span.end == at)
      return &*(after - 2);
    return &token;
  }
  return at == token.span.end ? &token : nullptr;
}

std::optional<Cursor> document_of(const Session& session, const Json& params) {
  const Document* document = session.documents.find(params.at("textDocument").at("uri").get<std::string>());
  if (document == nullptr) return std::nullopt;
  Cursor cursor;
  cursor.document = document;
  cursor.view = std::make_unique<View>(document->text, session.path_of(*document), session.encoding);
  return cursor;
}

std::optional<Cursor> cursor_of(const Session& session, const Json& params) {
  auto cursor = document_of(session, params);
  if (cursor) cursor->at = cursor->view->positions().offset(place_of(params.at("position")));
  return cursor;
}

}  // namespace weir::lsp
