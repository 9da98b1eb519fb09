// Completion in its two halves: header and SQL. Both fill one list.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lsp/thing.h"

namespace weir::lsp {

/// Kinds of the protocol's CompletionItemKind that are used.
enum class ItemKind {
  Function = 3,
  Field = 5,
  Variable = 6,
  Class = 7,
  Module = 9,
  Property = 10,
  Value = 12,
  Keyword = 14,
  File = 17,
  Reference = 18,
  Constant = 21
};

struct Item {
  std::string label;
  ItemKind kind = ItemKind::Value;
  std::string detail = {};
  std::string documentation = {};
  /// What is written; empty: the label.
  std::string insert = {};
  /// What the typed text is compared with; empty: the label.
  std::string filter = {};
  /// Earlier groups are shown first.
  int group = 5;
};

/// The list that an editor gets. Every item replaces the same bytes: what was typed of it so far.
class Items {
 public:
  Items(const View& view, Span typed);
  ~Items();
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;

  void add(const Item& item);
  nlohmann::json take();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

/// What may stand at byte `at` of a header line, of the block header, and of SQL.
nlohmann::json complete_line(const Reading& reading, const HeaderLine& line, std::uint32_t at);
nlohmann::json complete_block(const Reading& reading, std::uint32_t at);
nlohmann::json complete_sql(const Reading& reading, std::uint32_t at);

/// Columns of an asset, and of the file's own result.
void add_columns(Items& items, const std::vector<ScopeColumn>& columns, int group);
std::vector<ScopeColumn> own_columns(const Reading& reading);

}  // namespace weir::lsp
