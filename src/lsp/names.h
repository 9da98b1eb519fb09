// Which table a dotted name in a file means, and how a file may name a table. The rules are those of
// project/references.h, from tokens: they hold while the file does not parse.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lsp/outline.h"
#include "lsp/session.h"
#include "lsp/view.h"

namespace weir::lsp {

class Names {
 public:
  Names(const View& view, const Outline& outline, const Snapshot& snapshot);

  /// Nothing for a name of the connection's own.
  std::optional<Asset> asset_of(const std::vector<std::string>& parts) const;
  /// How this file can name the asset; nothing if it cannot without an ATTACH.
  std::optional<std::string> spelling(const Asset& asset) const;
  /// Bound by ATTACH, as the file spells them.
  const std::map<std::string, Asset>& aliases() const { return aliases_; }

 private:
  std::optional<Asset> target_named(const std::string& table) const;

  const Snapshot& snapshot_;
  std::string default_lake_;
  std::string own_schema_ = "main";
  bool is_explicit_ = false;
  /// Kind and place; by name in lower case.
  std::map<std::string, Asset> aliases_;
  std::optional<Asset> used_;
};

/// A name as it can stand in SQL: quoted where it must be.
std::string sql_name(const std::string& name);

}  // namespace weir::lsp
