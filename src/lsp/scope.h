// What the names at a place in a script mean: the tables that its query reads, their columns, and what each query in
// the script returns.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lsp/names.h"
#include "lsp/outline.h"
#include "lsp/view.h"

namespace weir::lsp {

/// A column that a name can mean.
struct ScopeColumn {
  std::string name;
  /// DuckDB's spelling; empty if it is not known.
  std::string type;
  /// The asset that holds it, if it is one's.
  std::optional<Asset> asset;
  /// Otherwise where the script makes it.
  Span made;
};

/// What a name behind FROM means.
struct ScopeTable {
  std::optional<Asset> asset;
  /// The query that makes it: of a CTE, a subquery, a temporary table.
  std::size_t block = kNone;
  /// Where the script names it first: the CTE's name, the temporary table's.
  Span made;
};

class Scope {
 public:
  Scope(const View& view, const Snapshot& snapshot);

  const Outline& outline() const { return outline_; }
  const Names& names() const { return names_; }

  ScopeTable table(const ReadItem& item) const;
  std::vector<ScopeColumn> columns(const ReadItem& item) const;
  /// What a query returns.
  const std::vector<ScopeColumn>& output(std::size_t block) const;
  /// What the queries around `at` read, the innermost first.
  std::vector<const ReadItem*> visible(std::uint32_t at) const;
  /// CTEs and temporary objects that can be read at `at`.
  std::vector<std::pair<std::string, ScopeTable>> named_queries(std::uint32_t at) const;
  /// The columns that `qualifier.name` can mean at `at`; without a qualifier every table counts, the innermost query's
  /// first.
  std::optional<ScopeColumn> find(const std::vector<std::string>& parts, std::uint32_t at) const;
  /// The query whose result is the model's.
  std::size_t result() const;

 private:
  std::vector<ScopeColumn> make_output(std::size_t block) const;
  void add_item(const SelectItem& item, const Arm& arm, std::vector<ScopeColumn>& out) const;
  const std::vector<ScopeColumn>& asset_columns(const Asset& asset) const;

  const Snapshot& snapshot_;
  Outline outline_;
  Names names_;
  mutable int depth_ = 0;
  mutable std::map<std::size_t, std::vector<ScopeColumn>> outputs_;
  mutable std::map<std::string, std::vector<ScopeColumn>> assets_;
};

}  // namespace weir::lsp
