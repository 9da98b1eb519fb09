// Completion in SQL: tables behind FROM, columns behind a dot and wherever an expression may stand.
#include <algorithm>
#include <array>

#include "lsp/completion.h"
#include "lsp/json.h"
#include "project/model.h"

namespace weir::lsp {
namespace {

using text::same_word;
using text::Token;
using text::TokenKind;

class SqlCompletion {
 public:
  SqlCompletion(const Reading& reading, std::uint32_t at)
      : reading_(reading), view_(reading.view()), scope_(reading.scope()), at_(at) {}

  Json run() {
    if (const Token* token = view_.token_at(at_); token != nullptr && at_ > token->span.begin) {
      const bool is_open = at_ < token->span.end || !token->is_closed;
      if (token->is_comment()) return Json::array();
      if (token->kind == TokenKind::String && is_open) return braces();
    }
    std::uint32_t begin = at_;
    while (begin > 0 && is_name_char(view_.sql()[begin - 1])) --begin;
    const char before = begin > 0 ? view_.sql()[begin - 1] : ' ';
    if (before == '{') return braces();
    if (before == '$') return arguments({begin - 1, at_});
    if (before == '"') return Json::array();
    const auto qualifier = names_before(begin);
    if (!qualifier.empty()) return behind_dot(qualifier, {begin, at_});
    if (before == '.') return Json::array();
    return expects_table(begin) ? tables({begin, at_}) : expression({begin, at_});
  }

 private:
  /// `a.b` of `a.b.` that ends at `at`.
  std::vector<std::string> names_before(std::uint32_t at) const {
    std::vector<std::string> names;
    const auto& code = scope_.outline().code();
    // The first token that does not end at or before `at`.
    auto token = std::partition_point(code.begin(), code.end(), [at](const Token& one) { return one.span.end <= at; });
    while (token - code.begin() >= 2 && view_.spelled(*(token - 1)) == "." && (token - 2)->is_name()) {
      names.insert(names.begin(), text::name_of_token(view_.spelled(*(token - 2))));
      token -= 2;
    }
    return names;
  }

  /// True behind FROM and JOIN, and behind a comma of a FROM clause.
  bool expects_table(std::uint32_t begin) const {
    const auto& code = scope_.outline().code();
    const Token* last = nullptr;
    for (const Token& token : code) {
      if (token.span.end > begin) break;
      last = &token;
    }
    if (last == nullptr) return false;
    const std::string_view word = view_.spelled(*last);
    for (const std::string_view one : {"from", "join", "into", "pivot", "unpivot", "summarize", "describe", "table"})
      if (same_word(word, one)) return true;
    if (word != ",") return false;
    const std::size_t block = scope_.outline().block_at(begin);
    const Arm* arm = block == kNone ? nullptr : scope_.outline().arm_at(block, begin);
    return arm != nullptr && begin > arm->from.begin && begin <= arm->from.end && !arm->from.empty();
  }

  Json braces() const {
    std::uint32_t begin = at_;
    while (begin > 0 && is_name_char(view_.sql()[begin - 1])) --begin;
    if (begin > 0 && view_.sql()[begin - 1] == '{') --begin;
    std::uint32_t end = at_;
    // Editors close a brace as it is opened.
    if (end < view_.sql().size() && view_.sql()[end] == '}') ++end;
    Items items(view_, {begin, end});
    if (begin == at_) return Json::array();
    const bool has_windows = reading_.declared().strategy == Strategy::IncrementalByTime;
    if (!has_windows)
      items.add({.label = "{partition}", .kind = ItemKind::Variable, .detail = "the partition that is computed"});
    if (has_windows) {
      items.add({.label = "{window_start}", .kind = ItemKind::Variable, .detail = "begin of the window"});
      items.add({.label = "{window_end}", .kind = ItemKind::Variable, .detail = "end of the window"});
    }
    return items.take();
  }

  Json arguments(Span typed) const {
    Items items(view_, typed);
    const Model& model = reading_.declared();
    for (const Argument& argument : model.arguments)
      items.add({.label = "$" + argument.name, .kind = ItemKind::Variable, .detail = argument.type, .group = 1});
    if (model.partitioning)
      items.add({.label = "$partition", .kind = ItemKind::Variable, .detail = "the partition that is computed"});
    if (model.strategy == Strategy::IncrementalByTime)
      for (const char* name : {"$window_start", "$window_end"}) items.add({.label = name, .kind = ItemKind::Variable});
    return items.take();
  }

  Json behind_dot(const std::vector<std::string>& qualifier, Span typed) const {
    Items items(view_, typed);
    for (const ReadItem* item : scope_.visible(at_)) {
      const bool is_being_typed = item->span.begin <= at_ && typed.begin <= item->span.end + 1;
      if (is_being_typed && !item->parts.empty()) continue;
      if (qualifier.size() == 1 && same_word(item->name, qualifier[0])) {
        add_columns(items, scope_.columns(*item), 1);
        return items.take();
      }
      // `dl.orders.`, `dl.sales.orders.`: the table's name as it was read.
      const auto same_parts = [&] {
        return item->parts.size() == qualifier.size() &&
               std::equal(item->parts.begin(), item->parts.end(), qualifier.begin(),
                          [](const std::string& a, const std::string& b) { return same_word(a, b); });
      };
      if (qualifier.size() > 1 && same_parts()) add_columns(items, scope_.columns(*item), 1);
    }
    add_tables_below(items, qualifier);
    return items.take();
  }

  /// Tables of a schema, schemas and tables of an attached lake.
  void add_tables_below(Items& items, const std::vector<std::string>& qualifier) const {
    for (const auto& [key, known] : reading_.snapshot().assets) {
      if (known.asset.name.empty()) continue;
      std::vector<std::string> parts = qualifier;
      parts.push_back(known.asset.name);
      if (const auto meant = scope_.names().asset_of(parts); meant && *meant == known.asset)
        add_table(items, known, sql_name(known.asset.name));
      const bool is_attached = qualifier.size() == 1 && scope_.names().aliases().contains(text::lower(qualifier[0]));
      if (!is_attached || same_word(known.asset.schema, "main")) continue;
      parts = {qualifier[0], known.asset.schema, known.asset.name};
      if (const auto meant = scope_.names().asset_of(parts); meant && *meant == known.asset)
        items.add({.label = known.asset.schema,
                   .kind = ItemKind::Module,
                   .detail = "schema",
                   .insert = sql_name(known.asset.schema)});
    }
  }

  static void add_table(Items& items, const KnownAsset& known, const std::string& spelled) {
    std::string columns;
    if (known.columns != nullptr)
      for (const duck::Column& column : *known.columns) columns += "- `" + column.name + "` " + column.type + "\n";
    items.add({.label = spelled,
               .kind = ItemKind::Class,
               .detail = known.producer.empty() ? "source" : known.producer,
               .documentation = "`" + known.asset.uri() + "`\n\n" + columns,
               .group = 2});
  }

  Json tables(Span typed) const {
    Items items(view_, typed);
    for (const auto& [name, table] : scope_.named_queries(at_))
      items.add({.label = sql_name(name), .kind = ItemKind::Variable, .detail = "query of this file", .group = 1});
    const Model* own = reading_.model();
    for (const auto& [key, known] : reading_.snapshot().assets) {
      const bool is_own = own != nullptr && known.producer == own->source->path;
      if (known.asset.name.empty() || is_own) continue;
      if (const auto spelled = scope_.names().spelling(known.asset)) add_table(items, known, *spelled);
    }
    for (const auto& [alias, place] : scope_.names().aliases())
      items.add({.label = sql_name(alias), .kind = ItemKind::Module, .detail = place.uri(), .group = 3});
    add_macros(items, true);
    add_functions(items, typed, true);
    return with_more_to_come(items, typed);
  }

  void add_macros(Items& items, bool as_tables) const {
    for (const auto& [name, macro] : reading_.snapshot().macros) {
      if (macro.is_table != as_tables) continue;
      items.add({.label = name,
                 .kind = ItemKind::Function,
                 .detail = "macro of " + macro.library,
                 .documentation = "```sql\n" + macro.definition + "\n```",
                 .group = as_tables ? 4 : 3});
    }
  }

  Json expression(Span typed) const {
    Items items(view_, typed);
    const auto visible = scope_.visible(at_);
    for (const ReadItem* item : visible) add_columns(items, scope_.columns(*item), 1);
    for (const ReadItem* item : visible) {
      if (!item->name.empty())
        items.add({.label = sql_name(item->name), .kind = ItemKind::Variable, .detail = "table", .group = 2});
      if (const auto table = scope_.table(*item); table.asset) add_metrics(items, *table.asset);
    }
    add_macros(items, false);
    add_functions(items, typed, false);
    return with_more_to_come(items, typed);
  }

  /// Functions come with the first letter, so an editor has to ask again then.
  static Json with_more_to_come(Items& items, Span typed) {
    if (!typed.empty()) return items.take();
    return {{"isIncomplete", true}, {"items", items.take()}};
  }

  /// DuckDB's own, which are many: only those that begin with what was typed.
  void add_functions(Items& items, Span typed, bool as_tables) const {
    const auto& functions = reading_.snapshot().functions;
    if (typed.empty() || functions == nullptr) return;
    const std::string begin = text::lower(view_.sql().substr(typed.begin, typed.size()));
    for (const KnownFunction& one : *functions) {
      if (one.is_table != as_tables || !one.name.starts_with(begin)) continue;
      items.add({.label = one.name,
                 .kind = ItemKind::Function,
                 .detail = one.signature,
                 .documentation = one.description,
                 .group = 4});
    }
  }

  /// The measures and dimensions of a table that is read, as the expression that computes them.
  void add_metrics(Items& items, const Asset& asset) const {
    const Model* producer = reading_.snapshot().producer(asset);
    if (producer == nullptr) return;
    for (const Metric& metric : producer->metrics) {
      std::string sql = metric.expression;
      if (!metric.filter.empty()) sql += " FILTER (WHERE " + metric.filter + ")";
      items.add({.label = metric.name,
                 .kind = ItemKind::Reference,
                 .detail = std::string(metric.is_measure ? "measure" : "dimension") + " of " + asset.uri(),
                 .documentation = "```sql\n" + sql + "\n```\n" + metric.description,
                 .insert = sql + " AS " + sql_name(metric.name),
                 .group = 3});
    }
  }

  const Reading& reading_;
  const View& view_;
  const Scope& scope_;
  std::uint32_t at_;
};

}  // namespace

Json complete_sql(const Reading& reading, std::uint32_t at) { return SqlCompletion(reading, at).run(); }

}  // namespace weir::lsp
