#include "project/header_tests.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "calendar/partition.h"
#include "text/suggest.h"

namespace weir {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<double> decimal(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<std::string> set_bound(Test& test, std::optional<std::string>& bound, std::string_view value) {
  if (test.kind == TestKind::RowCount && !whole_number(value)) return "a number of rows is a whole number";
  bound = std::string(value);
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Text of a predicate or query, short enough for a name.
std::string shortened(const std::string& text) {
  std::string one_line;
  for (const char c : text) {
    if (is_blank(c) && (one_line.empty() || one_line.back() == ' ')) continue;
    one_line += is_blank(c) ? ' ' : c;
  }
  constexpr std::size_t kLongest = 60;
  if (one_line.size() <= kLongest) return one_line;
  std::size_t size = kLongest;
  while ((static_cast<unsigned char>(one_line[size]) & 0xC0) == 0x80) --size;
  return one_line.substr(0, size) + "…";
}

/// The asset without its scheme: `main/main.orders`.
std::string path_of(const Asset& asset) {
  const auto uri = asset.uri();
  return uri.substr(uri.find("://") + 3);
}

void split_values(Piece list, Test& test) {
  const auto text = list.view();
  std::size_t begin = 0;
  while (begin <= text.size()) {
    std::size_t end = begin;
    while (end < text.size() && is_blank(text[end])) ++end;
    // A quoted value may hold commas.
    if (end < text.size() && (text[end] == '"' || text[end] == '\'')) {
      const auto close = text.find(text[end], end + 1);
      if (close != std::string_view::npos) end = close;
    }
    end = std::min(text.find(',', end), text.size());
    const auto value = list.sub(begin, end - begin).trimmed();
    if (!value.empty()) test.values.push_back(value.unquoted().text);
    begin = end + 1;
  }
}

class TestLine {
 public:
  TestLine(Piece tail, Findings& findings)
      : keyword_(*keyword_named("data_test")), whole_(tail.trimmed()), findings_(findings) {}

  std::optional<Test> read() {
    Piece rest = whole_;
    const Piece head = rest.take_word();
    const auto cut = options_begin(keyword_, rest.view());
    arguments_ = rest.sub(0, cut).trimmed();
    options_ = rest.sub(cut).trimmed();
    test_.span = whole_.span();
    entry_ = test_named(head.view());
    // A line names a script by its path alone, and has no room for a query.
    if (entry_ != nullptr && (entry_->kind == TestKind::Sql || entry_->kind == TestKind::Custom)) entry_ = nullptr;
    if (entry_ == nullptr) return custom(head);
    test_.kind = entry_->kind;
    if (!read_arguments() || !read_options_of_test()) return std::nullopt;
    if (const auto missing = missing_in(test_)) return malformed(whole_.span(), *missing, example());
    if (test_.name.empty()) test_.name = default_name(test_);
    return test_;
  }

 private:
  std::nullopt_t malformed(Span span, std::string message, Advice hint) {
    findings_.warn(Code::W0114, span, std::move(message) + ": the test is left out", std::move(hint));
    return std::nullopt;
  }
  std::string example() const { return "write for example `data_test " + std::string(entry_->example) + "`"; }

  std::optional<Test> custom(const Piece& head) {
    if (!arguments_.empty()) {
      std::vector<std::string_view> names;
      for (const auto& entry : test_table()) names.push_back(entry.name);
      Advice hint = did_you_mean(head.word(), names);
      if (hint.empty()) hint = "tests are " + one_of(keyword_.heads) + ", or the path of a test script alone";
      return malformed(head.span(), "`" + std::string(head.view()) + "` is no test", hint);
    }
    test_.kind = TestKind::Custom;
    test_.text = std::string(head.view());
    if (!read_options_of_test()) return std::nullopt;
    if (test_.name.empty()) test_.name = default_name(test_);
    return test_;
  }

  bool read_arguments() {
    switch (test_.kind) {
      case TestKind::AcceptedValues:
        return read_accepted_values();
      case TestKind::Relationships:
        return read_relationships();
      default:
        break;
    }
    Piece rest = arguments_;
    if (entry_->takes_columns) {
      const Piece columns = rest.take_quoted_word();
      if (columns.empty()) return fail(whole_.span(), "`" + std::string(entry_->name) + "` names no column");
      Findings unheard(findings_.path(), ignored_);
      for (auto& name : split_names(columns, unheard)) test_.columns.push_back(std::move(name.text));
      if (has_errors(ignored_) || test_.columns.empty() || (test_.columns.size() > 1 && !entry_->takes_several_columns))
        return fail(columns.span(), "`" + std::string(columns.view()) + "` is no column name");
    }
    if (!rest.empty() && rest.view().find('=') != std::string_view::npos) {
      // Words of the shape of options, none of which is one.
      options_ = Piece(whole_.source(), {rest.span().begin, whole_.span().end});
      return true;
    }
    if (!rest.empty())
      return fail(rest.span(),
                  "`" + std::string(rest.view()) + "` is too much for `" + std::string(entry_->name) + "`");
    return true;
  }

  bool read_accepted_values() {
    const auto equals = arguments_.view().find('=');
    if (equals == std::string_view::npos) return fail(arguments_.span(), "`accepted_values` has no `=` with values");
    Piece left = arguments_.sub(0, equals);
    const Piece column = left.take_quoted_word();
    if (column.empty() || !left.empty()) return fail(arguments_.span(), "one column name must stand before `=`");
    test_.columns = {column.name().text};
    split_values(arguments_.sub(equals + 1), test_);
    if (test_.values.empty()) return fail(arguments_.span(), "`accepted_values` lists no value");
    return true;
  }

  bool read_relationships() {
    const auto arrow = arguments_.view().find("->");
    if (arrow == std::string_view::npos)
      return fail(arguments_.span(), "`relationships` has no `->` with an asset and its column");
    Piece left = arguments_.sub(0, arrow);
    const Piece column = left.take_quoted_word();
    if (column.empty() || !left.empty()) return fail(arguments_.span(), "one column name must stand before `->`");
    const Piece target = arguments_.sub(arrow + 2).trimmed();
    auto reference = read_column_reference(target.view());
    if (!reference)
      return fail(target.empty() ? arguments_.span() : target.span(), "the other side must be `<asset>.<column>`");
    if (!may_be_table(reference->first))
      return fail(target.span(), "the other side must be a table of a lake or of a database");
    test_.columns = {column.name().text};
    test_.reference = std::move(reference->first);
    test_.reference_column = std::move(reference->second);
    return true;
  }

  bool read_options_of_test() {
    // A parameter whose value is refused is not missing as well.
    std::optional<Diagnostic> refused;
    for (const auto& option : read_options(keyword_, options_, findings_)) {
      const auto& name = option.name.text;
      const bool own = entry_ != nullptr && std::find(entry_->parameters.begin(), entry_->parameters.end(), name) !=
                                                entry_->parameters.end();
      if (!own && !is_common_test_option(name)) {
        findings_.warn(Code::W0110, option.span(), "`" + name + "` has no effect on this test");
        continue;
      }
      const auto wrong = set_test_option(test_, name, option.value.text);
      if (!wrong) continue;
      std::string message = "`" + option.value.text + "` is no value of `" + name + "`";
      if (own && !refused)
        refused = Diagnostic{.message = std::move(message), .span = option.value.span, .hint = *wrong};
      else
        findings_.warn(Code::W0107, option.value.span, std::move(message), *wrong);
    }
    if (!refused) return true;
    if (missing_in(test_)) {
      malformed(refused->span, refused->message, refused->hint);
      return false;
    }
    findings_.warn(Code::W0107, refused->span, refused->message, refused->hint);
    return true;
  }

  bool fail(Span span, const std::string& message) {
    malformed(span.empty() ? whole_.span() : span, message, example());
    return false;
  }

  const KeywordEntry& keyword_;
  Piece whole_;
  Findings& findings_;
  Diagnostics ignored_;
  const TestEntry* entry_ = nullptr;
  Piece arguments_;
  Piece options_;
  Test test_;
};

}  // namespace

const std::vector<TestEntry>& test_table() {
  static const std::vector<TestEntry> table = {
      {"unique", TestKind::Unique, true, true, {}, "unique id"},
      {"not_null", TestKind::NotNull, true, true, {}, "not_null id"},
      {"accepted_values", TestKind::AcceptedValues, true, false, {"values"}, "accepted_values status = paid,open"},
      {"relationships",
       TestKind::Relationships,
       true,
       false,
       {"to", "field"},
       "relationships sku -> ducklake://main/products.sku"},
      {"range", TestKind::Range, true, false, {"min", "max"}, "range amount min=0 max=1000"},
      {"pattern", TestKind::Pattern, true, false, {"pattern"}, "pattern email pattern=\"^[^@]+@[^@]+$\""},
      {"expression", TestKind::Expression, false, false, {"predicate"}, "expression predicate=\"amount >= 0\""},
      {"freshness", TestKind::Freshness, true, false, {"max_age"}, "freshness updated_at max_age=1d"},
      {"row_count", TestKind::RowCount, false, false, {"min", "max"}, "row_count min=1"},
      {"sql", TestKind::Sql, false, false, {"query"}, "f/tests/orders_are_sane"},
      {"custom", TestKind::Custom, false, false, {"path"}, "f/tests/orders_are_sane"},
  };
  return table;
}

const TestEntry* test_named(std::string_view name) {
  for (const auto& entry : test_table())
    if (entry.name == name) return &entry;
  return nullptr;
}

const TestEntry& entry_of(TestKind kind) {
  return *std::find_if(test_table().begin(), test_table().end(),
                       [&](const TestEntry& entry) { return entry.kind == kind; });
}

std::optional<std::string> set_tolerance(Test& test, std::string_view value) {
  if (value.ends_with('%')) {
    const auto share = decimal(value.substr(0, value.size() - 1));
    if (!share || *share < 0 || *share > 100) return "a share lies between 0% and 100%";
    test.tolerated_share = *share / 100;
    return std::nullopt;
  }
  const auto rows = whole_number(value);
  if (!rows) return "it is a number of rows, such as `10`, or a share of them, such as `1%`";
  test.tolerated_rows = *rows;
  return std::nullopt;
}

bool is_common_test_option(std::string_view name) {
  return name == "where" || name == "severity" || name == "max" || name == "scope" || name == "name";
}

std::optional<std::string> set_test_option(Test& test, std::string_view name, std::string_view value) {
  const bool has_bounds = test.kind == TestKind::Range || test.kind == TestKind::RowCount;
  if (name == "where") {
    test.where = value;
  } else if (name == "name") {
    test.name = value;
  } else if (name == "severity") {
    if (value == "error")
      test.severity = TestSeverity::Error;
    else if (value == "warn")
      test.severity = TestSeverity::Warn;
    else if (value == "info")
      test.severity = TestSeverity::Info;
    else
      return "it is `error`, `warn` or `info`";
  } else if (name == "scope") {
    if (value == "slice")
      test.scope = TestScope::Slice;
    else if (value == "table")
      test.scope = TestScope::Table;
    else
      return "it is `slice` or `table`";
  } else if (name == "min") {
    return set_bound(test, test.minimum, value);
  } else if (name == "max") {
    return has_bounds ? set_bound(test, test.maximum, value) : set_tolerance(test, value);
  } else if (name == "max_age") {
    if (!calendar::parse_duration(value)) return "it is a duration such as `1d`";
    test.text = value;
  } else {
    test.text = value;
  }
  return std::nullopt;
}

std::optional<std::string> missing_in(const Test& test) {
  const auto& entry = entry_of(test.kind);
  const std::string name = "`" + std::string(entry.name) + "`";
  if (entry.takes_columns && test.columns.empty()) return name + " names no column";
  switch (test.kind) {
    case TestKind::AcceptedValues:
      if (test.values.empty()) return name + " lists no value";
      break;
    case TestKind::Relationships:
      if (!test.reference || test.reference_column.empty()) return name + " names no asset and column to look in";
      break;
    case TestKind::Range:
    case TestKind::RowCount:
      if (!test.minimum && !test.maximum) return name + " has neither `min` nor `max`";
      break;
    case TestKind::Pattern:
    case TestKind::Expression:
    case TestKind::Freshness:
    case TestKind::Sql:
    case TestKind::Custom:
      if (test.text.empty()) return name + " has no `" + std::string(entry.parameters.front()) + "`";
      break;
    case TestKind::Unique:
    case TestKind::NotNull:
      break;
  }
  return std::nullopt;
}

std::string default_name(const Test& test) {
  std::string name(entry_of(test.kind).name);
  switch (test.kind) {
    case TestKind::Relationships:
      return name + "(" + joined(test.columns) + " -> " + path_of(*test.reference) + "." + test.reference_column + ")";
    case TestKind::Custom:
    case TestKind::Expression:
    case TestKind::Sql:
      return name + "(" + shortened(test.text) + ")";
    case TestKind::RowCount:
      return name;
    default:
      return name + "(" + joined(test.columns) + ")";
  }
}

std::optional<Test> read_test_line(Piece tail, Findings& findings) { return TestLine(tail, findings).read(); }

bool may_be_table(const Asset& asset) {
  return (asset.kind == AssetKind::Lake || asset.kind == AssetKind::Datatable) && !asset.name.empty();
}

std::optional<std::pair<Asset, std::string>> read_column_reference(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == text.size()) return std::nullopt;
  auto asset = parse_asset(text.substr(0, dot));
  if (!asset || asset->name.empty()) return std::nullopt;
  return std::pair{*std::move(asset), std::string(text.substr(dot + 1))};
}

}  // namespace weir
