// One file as the questions look at it: its text, its header's lines, and the tokens of its SQL. Made from the editor's
// text alone, so that it is there at once and whatever the text is worth.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/positions.h"
#include "lsp/session.h"
#include "project/header.h"
#include "project/header_keywords.h"
#include "project/piece.h"
#include "text/lexer.h"

namespace weir::lsp {

/// A line annotation under the cursor.
struct HeaderLine {
  /// What follows the comment's mark, blanks at both ends left out.
  Piece whole;
  /// The first word, known or not.
  Piece head;
  /// Null if the first word is no keyword.
  const KeywordEntry* keyword = nullptr;
  /// What follows the first word.
  Piece tail;
};

class View {
 public:
  /// `path` is relative to the project; empty if the text lies outside.
  View(std::string_view text, std::string path, Encoding encoding);
  /// Keeps views of its text.
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  std::string_view text() const { return text_; }
  const std::string& path() const { return path_; }
  const Positions& positions() const { return positions_; }
  const HeaderRegion& header() const { return header_; }
  /// The text with its header blanked.
  std::string_view sql() const { return sql_; }
  /// Of sql(), comments included.
  const std::vector<text::Token>& tokens() const { return tokens_; }
  std::string_view spelled(const text::Token& token) const {
    return std::string_view(sql_).substr(token.span.begin, token.span.size());
  }

  /// The annotation whose comment holds byte `at` (its end included).
  std::optional<HeaderLine> line_at(std::uint32_t at) const;
  std::vector<HeaderLine> lines() const;
  /// True if `at` lies in the block header.
  bool is_in_block(std::uint32_t at) const;
  /// The token that holds byte `at`, or that ends there; null for none.
  const text::Token* token_at(std::uint32_t at) const;

 private:
  HeaderLine line_of(const HeaderRegion::Comment& comment) const;

  std::string_view text_;
  std::string path_;
  Positions positions_;
  HeaderRegion header_;
  std::string sql_;
  std::vector<text::Token> tokens_;
};

/// A question about a place in an open document.
struct Cursor {
  const Document* document = nullptr;
  std::unique_ptr<View> view;
  std::uint32_t at = 0;
};

/// The document and place that `params` name; nothing if it is not open.
std::optional<Cursor> cursor_of(const Session& session, const nlohmann::json& params);
/// The document alone.
std::optional<Cursor> document_of(const Session& session, const nlohmann::json& params);

}  // namespace weir::lsp
