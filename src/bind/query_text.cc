#include "bind/query_text.h"

#include <algorithm>

#include "text/lexer.h"

namespace weir::bind::plan {

bool is_in_on(std::string_view sql, std::size_t at) {
  const auto tokens = text::lex_code(sql);
  int depth = 0;
  // Backwards to the word that opens the clause; what stands in closed brackets before the place is no part of it.
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
    if (token->span.begin >= at) continue;
    const std::string_view word = sql.substr(token->span.begin, token->span.end - token->span.begin);
    if (word == ")") ++depth;
    if (word == "(") depth = std::max(0, depth - 1);
    if (depth > 0 || token->kind != text::TokenKind::Word) continue;
    if (text::same_word(word, "on")) return true;
    for (const std::string_view clause : {"where", "having", "qualify", "select", "from"})
      if (text::same_word(word, clause)) return false;
  }
  return false;
}

}  // namespace weir::bind::plan
