// What stands under the cursor: the one reading of a place that hover, definition, references and rename share.
#pragma once

#include <optional>
#include <string>

#include "lsp/scope.h"
#include "lsp/view.h"
#include "project/header_block.h"

namespace weir::lsp {

enum class ThingKind {
  Keyword,   // of a header line
  Option,    // of a keyword, or a word behind it
  BlockKey,  // of the block header
  Asset,
  Column,  // of an asset, or of a query in this file
  Query,   // a CTE or temporary table, an alias of a table
  Model,   // named by its path
  Macro,
  Metric,
  Library,
  CustomTest,
  Token,  // {partition} and its like
  Argument,
};

struct Thing {
  ThingKind kind = ThingKind::Keyword;
  /// Where it is named.
  Span span = {};
  /// The part of the span that spells a table's own name: what a rename replaces.
  Span own = {};
  /// Column, macro, metric, argument, token, path or word.
  std::string name = {};
  /// Of Asset and Column, where there is one; of Query, what its alias stands for.
  std::optional<Asset> asset = {};
  std::string type = {};
  /// Where this file makes it: the item of a select list, a CTE's name.
  Span made = {};
  const KeywordEntry* keyword = nullptr;
  const OptionEntry* option = nullptr;
  const BlockKeyEntry* key = nullptr;
};

/// A file with everything that reading a place needs.
class Reading {
 public:
  Reading(const View& view, const Snapshot& snapshot)
      : view_(view), snapshot_(snapshot), scope_(view, snapshot), model_(snapshot.model_of_file(view.path())) {}

  std::optional<Thing> at(std::uint32_t byte) const;

  const View& view() const { return view_; }
  const Snapshot& snapshot() const { return snapshot_; }
  const Scope& scope() const { return scope_; }
  /// The model of this file as it last was; null if it never was one.
  const Model* model() const { return model_; }
  /// What the header says as it is now.
  const Model& declared() const;

 private:
  std::optional<Thing> in_line(const HeaderLine& line, std::uint32_t byte) const;
  std::optional<Thing> in_tail(const HeaderLine& line, const Piece& word, bool is_first, std::uint32_t byte) const;
  std::optional<Thing> in_block(std::uint32_t byte) const;
  std::optional<Thing> in_sql(std::uint32_t byte) const;
  std::optional<Thing> table_name(const std::vector<text::Token>& chain, std::size_t index) const;
  std::optional<Thing> column_name(const std::vector<text::Token>& chain, std::size_t index) const;
  std::optional<Thing> made_here(const text::Token& token) const;
  std::optional<Thing> uri(const Piece& word) const;
  std::optional<Thing> own_column(const std::string& name, Span span) const;
  std::optional<Thing> path_of_project(const std::string& path, Span span) const;

  const View& view_;
  const Snapshot& snapshot_;
  Scope scope_;
  const Model* model_;
  mutable std::optional<Model> declared_;
};

/// True if both name the same. `path` is the file that each was found in: what a file makes for itself is only its own.
bool is_same(const Thing& a, const std::string& a_path, const Thing& b, const std::string& b_path);

}  // namespace weir::lsp
