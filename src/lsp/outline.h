// The shape of a script by its tokens alone: queries within queries, what each reads and what it returns. While
// somebody types, a statement rarely parses, and that is when its names are asked for; so this never refuses a text, it
// only knows less about it. What binding says is preferred wherever there is an answer of it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/lexer.h"

namespace weir::lsp {

inline constexpr std::size_t kNone = SIZE_MAX;

/// Something a query reads: `sales.orders AS o`, a subquery, a table function, a file.
struct ReadItem {
  /// The dotted name; empty for subqueries, functions and files.
  std::vector<std::string> parts;
  Span span;
  /// What its columns are qualified with: the alias, or the last part of the name.
  std::string name;
  Span name_span;
  /// The query in parentheses.
  std::size_t block = kNone;
  /// Names in parentheses behind the alias.
  std::vector<std::string> columns;
};

/// An entry of a select list.
struct SelectItem {
  Span span;
  /// The name of the output; empty if it has none of its own.
  std::string name;
  Span name_span;
  /// A column and nothing else: its dotted name.
  std::vector<std::string> parts;
  bool is_star = false;
  /// `o.*`
  std::string star_of;
  /// Names under EXCLUDE, in lower case.
  std::set<std::string> excluded;
};

struct CommonTable {
  std::string name;
  Span name_span;
  /// From the name to the closing parenthesis.
  Span span;
  std::size_t block = kNone;
  std::vector<std::string> columns;
  bool is_recursive = false;
};

/// SELECT … FROM … between set operators.
struct Arm {
  Span span;
  /// The list behind SELECT; empty where there is none.
  Span select;
  Span from;
  bool has_select = false;
  std::vector<SelectItem> items;
  std::vector<ReadItem> reads;
  /// The arm is a query in parentheses.
  std::size_t block = kNone;
};

struct Block {
  Span span;
  std::size_t parent = kNone;
  std::size_t statement = 0;
  std::vector<CommonTable> tables;
  std::vector<Arm> arms;
};

struct OutlinedStatement {
  Span span;
  /// Its outermost query.
  std::size_t block = kNone;
  /// CREATE TEMP TABLE, VIEW or MACRO: the name.
  std::string created;
  Span created_span;
  bool is_macro = false;
  /// CREATE MACRO … AS TABLE …
  bool is_table_macro = false;
};

class Outline {
 public:
  /// `tokens` are those of `sql`, comments among them or not.
  Outline(std::string_view sql, const std::vector<text::Token>& tokens);

  const std::vector<OutlinedStatement>& statements() const { return statements_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  /// The innermost query that holds byte `at`, or kNone. A query that the text ends in goes on to the end.
  std::size_t block_at(std::uint32_t at) const;
  /// The arm of the block that holds `at`; null if none does.
  const Arm* arm_at(std::size_t block, std::uint32_t at) const;
  /// Without comments.
  const std::vector<text::Token>& code() const { return code_; }

 private:
  friend class OutlineReader;
  std::vector<text::Token> code_;
  std::vector<OutlinedStatement> statements_;
  std::vector<Block> blocks_;
};

}  // namespace weir::lsp
