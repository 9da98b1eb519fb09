// Completion in headers. Keywords, options and values come from the tables that the header's reader uses.
#include <algorithm>
#include <map>

#include "lsp/completion.h"
#include "lsp/json.h"
#include "project/header_options.h"
#include "project/header_tests.h"

namespace weir::lsp {
namespace {

/// What was typed of the word that ends at `at`.
template <class Keeps>
Span typed_before(const View& view, std::uint32_t begin, std::uint32_t at, Keeps keeps) {
  Span typed{at, at};
  while (typed.begin > begin && keeps(view.text()[typed.begin - 1])) --typed.begin;
  return typed;
}

bool is_no_blank(char c) { return !is_blank(c); }

class LineCompletion {
 public:
  LineCompletion(const Reading& reading, const HeaderLine& line, std::uint32_t at)
      : reading_(reading), view_(reading.view()), line_(line), at_(at) {}

  Json run() {
    const bool in_head = at_ <= line_.head.span().end || line_.whole.empty();
    if (in_head) return keywords();
    if (line_.keyword == nullptr) return Json::array();
    before_ = std::string(view_.text().substr(line_.head.span().end, at_ - line_.head.span().end));
    const std::string_view keyword = line_.keyword->name;
    const Span word = typed_before(view_, line_.head.span().end, at_, is_no_blank);
    const std::string typed(view_.text().substr(word.begin, word.size()));
    const bool is_first = before_.find_first_not_of(" \t") == std::string::npos || first_word() == word.begin;
    if (const auto equals = typed.find('=');
        equals != std::string::npos && keyword != "measure" && keyword != "dimension")
      return value(typed.substr(0, equals), word.begin + static_cast<std::uint32_t>(equals) + 1);
    if (typed.find("://") != std::string::npos && has_columns_of_assets()) return asset_or_column(word, typed);
    Items items(view_, word);
    if (is_first) {
      for (const std::string_view head : line_.keyword->heads)
        items.add({.label = std::string(head), .kind = ItemKind::Keyword, .group = 1});
      if (keyword == "use") add_libraries(items);
      if (keyword == "data_test") add_custom_tests(items);
      if (takes_asset_first()) add_assets(items, keyword == "materialize");
      return items.take();
    }
    return behind_first(word, typed);
  }

 private:
  std::uint32_t first_word() const {
    std::uint32_t at = line_.head.span().end;
    while (at < at_ && is_blank(view_.text()[at])) ++at;
    return at;
  }
  bool takes_asset_first() const {
    const std::string_view keyword = line_.keyword->name;
    return keyword == "materialize" || keyword == "on" || keyword == "mute";
  }
  bool has_columns_of_assets() const {
    const std::string_view keyword = line_.keyword->name;
    return keyword == "column" || keyword == "data_test";
  }

  Json keywords() const {
    const Span typed{std::min(at_, line_.head.empty() ? at_ : line_.head.span().begin), at_};
    Items items(view_, typed);
    for (const KeywordEntry& keyword : header_keywords())
      items.add({.label = std::string(keyword.name),
                 .kind = ItemKind::Keyword,
                 .detail = std::string(keyword.shape),
                 .documentation = std::string(keyword.meaning)});
    return items.take();
  }

  Json value(const std::string& name, std::uint32_t begin) const {
    const OptionEntry* option = line_.keyword->option(name);
    if (option == nullptr) return Json::array();
    if (option->form == OptionForm::Choice) {
      Items items(view_, {begin, at_});
      for (const std::string_view one : option->values)
        items.add(
            {.label = std::string(one), .kind = ItemKind::Constant, .documentation = std::string(option->meaning)});
      return items.take();
    }
    const bool holds_columns = option->form == OptionForm::Names || name == "where" || name == "predicate";
    if (!holds_columns) return Json::array();
    Items items(view_, typed_before(view_, begin, at_, is_name_char));
    add_columns(items, own_columns(reading_), 1);
    return items.take();
  }

  /// Behind the first word of the tail.
  Json behind_first(Span word, const std::string& typed) const {
    const std::string_view keyword = line_.keyword->name;
    if (keyword == "measure" || keyword == "dimension") {
      if (before_.find('=') == std::string::npos) return Json::array();
      Items items(view_, typed_before(view_, word.begin, at_, is_name_char));
      add_columns(items, own_columns(reading_), 1);
      return items.take();
    }
    if (keyword == "column") {
      Items items(view_, word);
      if (before_.find("<-") != std::string::npos) add_assets(items, false);
      return items.take();
    }
    if (keyword == "data_test") return test_word(word, typed);
    Items items(view_, word);
    const std::string first = view_.text().substr(first_word(), 8).starts_with("manual") ? "manual" : "";
    const bool names_plane = keyword == "materialize" && before_.find("://") == std::string::npos;
    if (names_plane)
      add_assets(items, true);
    else if (first.empty())
      add_options(items, line_.keyword->option_names());
    return items.take();
  }

  Json test_word(Span word, const std::string& typed) const {
    std::uint32_t begin = first_word();
    std::uint32_t end = begin;
    while (end < at_ && !is_blank(view_.text()[end])) ++end;
    const TestEntry* test = test_named(view_.text().substr(begin, end - begin));
    if (before_.find("->") != std::string::npos && typed != "->") {
      Items items(view_, word);
      add_assets(items, false);
      return items.take();
    }
    while (end < at_ && is_blank(view_.text()[end])) ++end;
    const bool is_column = test != nullptr && test->takes_columns && end == word.begin;
    Items items(view_, is_column ? typed_before(view_, word.begin, at_, is_name_char) : word);
    if (is_column) {
      add_columns(items, own_columns(reading_), 1);
      return items.take();
    }
    std::vector<std::string_view> names;
    for (const std::string_view name : line_.keyword->option_names()) {
      const bool is_own = test != nullptr &&
                          std::find(test->parameters.begin(), test->parameters.end(), name) != test->parameters.end();
      if (is_own || is_common_test_option(name)) names.push_back(name);
    }
    add_options(items, names);
    return items.take();
  }

  void add_options(Items& items, const std::vector<std::string_view>& names) const {
    for (const std::string_view name : names) {
      const OptionEntry& option = *line_.keyword->option(name);
      const std::string given = " " + std::string(name);
      const bool is_given =
          before_.find(given + "=") != std::string::npos || before_.find(given + " ") != std::string::npos;
      if (is_given) continue;
      std::string values;
      for (const std::string_view one : option.values) values += (values.empty() ? "" : " | ") + std::string(one);
      const std::string suffix = option.form == OptionForm::Flag ? "" : "=";
      items.add({.label = std::string(name) + suffix,
                 .kind = ItemKind::Property,
                 .detail = values,
                 .documentation = std::string(option.meaning)});
    }
  }

  /// `makes`: the assets that a model may make, not what others make.
  void add_assets(Items& items, bool makes) const {
    const Snapshot& snapshot = reading_.snapshot();
    for (const auto& [key, known] : snapshot.assets) {
      const bool is_table = known.asset.kind == AssetKind::Lake && !known.asset.name.empty();
      if (makes && (!is_table || !known.producer.empty())) continue;
      items.add({.label = known.asset.uri(),
                 .kind = ItemKind::Class,
                 .detail = known.producer.empty() ? "source" : known.producer,
                 .group = known.producer.empty() ? 3 : 2});
    }
    if (makes)
      for (const LakeConfig& lake : snapshot.project.config.lakes)
        items.add({.label = "ducklake://" + lake.name + "/", .kind = ItemKind::Module, .detail = "lake", .group = 1});
  }

  /// `ducklake://main/orders.` goes on with a column, or with a table of the schema `orders`.
  Json asset_or_column(Span word, const std::string& typed) const {
    const auto comma = typed.rfind(',');
    const std::uint32_t begin =
        comma == std::string::npos ? word.begin : word.begin + static_cast<std::uint32_t>(comma) + 1;
    const std::string uri = typed.substr(begin - word.begin);
    const auto dot = uri.rfind('.');
    Items items(view_, {begin, at_});
    if (dot != std::string::npos && dot > uri.find("://"))
      if (const auto asset = parse_asset(uri.substr(0, dot)))
        if (const KnownAsset* known = reading_.snapshot().asset(*asset); known != nullptr && known->columns != nullptr)
          for (const duck::Column& column : *known->columns)
            items.add({.label = column.name,
                       .kind = ItemKind::Field,
                       .detail = column.type,
                       .documentation = "of `" + asset->uri() + "`",
                       .insert = uri.substr(0, dot + 1) + column.name,
                       .filter = uri.substr(0, dot + 1) + column.name,
                       .group = 1});
    add_assets(items, false);
    return items.take();
  }

  void add_libraries(Items& items) const {
    std::map<std::string, std::string> libraries;
    for (const auto& [name, macro] : reading_.snapshot().macros) libraries[macro.library] += "- `" + name + "`\n";
    for (const auto& [path, macros] : libraries)
      items.add({.label = path, .kind = ItemKind::Module, .detail = "macros", .documentation = macros, .group = 1});
  }

  void add_custom_tests(Items& items) const {
    for (const CustomTest& test : reading_.snapshot().project.custom_tests)
      items.add({.label = test.path, .kind = ItemKind::File, .detail = "test", .group = 2});
  }

  const Reading& reading_;
  const View& view_;
  const HeaderLine& line_;
  std::uint32_t at_;
  std::string before_;
};

/// The name of the key on the line that ends at `at`, and where its value begins; nothing if the line has no colon.
std::optional<std::pair<std::string, std::uint32_t>> key_before(std::string_view text, std::uint32_t begin,
                                                                std::uint32_t at) {
  const std::string_view line = text.substr(begin, at - begin);
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const auto first = line.find_first_not_of(" \t-{");
  if (first == std::string_view::npos || first > colon) return std::nullopt;
  return std::pair{std::string(line.substr(first, colon - first)), begin + static_cast<std::uint32_t>(colon) + 2};
}

}  // namespace

Json complete_line(const Reading& reading, const HeaderLine& line, std::uint32_t at) {
  return LineCompletion(reading, line, at).run();
}

Json complete_block(const Reading& reading, std::uint32_t at) {
  const View& view = reading.view();
  std::uint32_t begin = at;
  while (begin > view.header().block->text.begin && view.text()[begin - 1] != '\n') --begin;
  const auto key = key_before(view.text(), begin, at);
  if (!key) {
    Items items(view, typed_before(view, begin, at, is_name_char));
    for (const BlockKeyEntry& entry : block_keys()) {
      std::string values;
      for (const std::string_view one : entry.values) values += (values.empty() ? "" : " | ") + std::string(one);
      items.add({.label = std::string(entry.name) + ":",
                 .kind = ItemKind::Property,
                 .detail = values,
                 .documentation = std::string(entry.meaning)});
    }
    return items.take();
  }
  const BlockKeyEntry* entry = block_key_named(key->first);
  if (entry == nullptr) return Json::array();
  const auto in_word = [](char c) { return is_name_char(c) || c == '/' || c == ':' || c == '.'; };
  Items items(view, typed_before(view, key->second, at, in_word));
  for (const std::string_view one : entry->values)
    items.add({.label = std::string(one), .kind = ItemKind::Constant, .group = 1});
  if (entry->name == "partitioned")
    for (const std::string_view one : keyword_named("partitioned")->heads)
      items.add({.label = std::string(one), .kind = ItemKind::Constant, .group = 1});
  if (entry->form == BlockForm::Flag)
    for (const char* one : {"true", "false"}) items.add({.label = one, .kind = ItemKind::Constant, .group = 1});
  const bool names_columns = entry->name == "key" || entry->name == "track" || entry->name == "order" ||
                             entry->name == "valid_from" || entry->name == "time_column";
  if (names_columns) add_columns(items, own_columns(reading), 1);
  if (entry->name == "depends_on")
    for (const auto& [file, model] : reading.snapshot().models)
      items.add({.label = model->path, .kind = ItemKind::File, .group = 1});
  if (entry->form == BlockForm::Assets || entry->form == BlockForm::Triggers || entry->name == "target")
    for (const auto& [name, known] : reading.snapshot().assets)
      items.add({.label = known.asset.uri(),
                 .kind = ItemKind::Class,
                 .detail = known.producer.empty() ? "source" : known.producer,
                 .group = 2});
  return items.take();
}

}  // namespace weir::lsp
