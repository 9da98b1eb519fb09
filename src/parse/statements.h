// What the lexer alone can say about a text: where its statements lie, of which kind each is, and which parts of it are
// queries that DuckDB's parser shall be asked about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parse/script.h"
#include "text/lexer.h"

namespace weir::parse {

/// A part of a statement to be parsed as a query: the text to send, and what to add to a position in it to get one in
/// the source.
struct QueryPart {
  std::string text;
  std::int64_t offset = 0;
  /// The body of a macro; empty for other parts.
  Span body;
};

/// A statement before DuckDB was asked.
struct Draft {
  Statement statement;
  std::vector<text::Token> tokens;  // without comments
  std::vector<QueryPart> parts;
  /// Leads with WITH, FROM or a parenthesis: only the tree, or a look at its verbs, says whether it is a query.
  bool needs_tree_for_kind = false;
};

/// The text as it goes to the parser, byte for byte as long: wide white space becomes blanks, and a bare token such as
/// {partition} becomes a text literal of the same length, since braces around a name are no SQL.
std::string readable_by_parser(std::string_view sql);

/// Cuts the text (as readable_by_parser made it) at its semicolons and classifies the statements by their leading
/// words.
std::vector<Draft> draft_statements(std::string_view sql);

/// Reads the dotted name that begins at token `at`; returns the index behind it. `parts` receives the names.
std::size_t read_dotted_name(std::string_view sql, const std::vector<text::Token>& tokens, std::size_t at,
                             std::vector<std::string>& parts);

}  // namespace weir::parse
