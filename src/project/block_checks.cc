// `checks:` of a block header: `{type: column(s)}`, `{type: {params}}` and `{type: <t>, column: …, params…}` become the
// tests that lines declare.
#include <algorithm>

#include "project/block_node.h"
#include "project/header_tests.h"

namespace weir {
namespace {

/// Spellings of parameters that mean the same.
std::string_view canonical(std::string_view name, TestKind kind) {
  if (name == "regex") return "pattern";
  if (name == "expression" && kind == TestKind::Expression) return "predicate";
  if (name == "sql" && kind == TestKind::Sql) return "query";
  return name;
}

class Check {
 public:
  Check(BlockText& block, const std::string& default_lake, Span otherwise)
      : block_(block), default_lake_(default_lake), span_(otherwise) {}

  std::optional<Test> read(const YAML::Node& node) {
    span_ = block_.place(node, span_);
    if (!node.IsMap()) return bad(span_, "an entry of `checks` is a mapping", "write for example `- not_null: id`");
    const auto entries = block_.entries(node);
    const auto typed =
        std::find_if(entries.begin(), entries.end(), [](const BlockEntry& e) { return e.key.text == "type"; });
    const bool read = typed != entries.end() ? read_typed(*typed, entries) : read_keyed(entries);
    if (!read) return std::nullopt;
    if (const auto missing = missing_in(test_)) return bad(span_, *missing, "");
    if (test_.name.empty()) test_.name = default_name(test_);
    test_.span = span_;
    return test_;
  }

 private:
  std::nullopt_t bad(Span span, std::string message, Advice hint) {
    block_.findings().error(Code::W0135, span, std::move(message), std::move(hint));
    return std::nullopt;
  }
  static std::vector<std::string_view> names() {
    std::vector<std::string_view> all;
    for (const auto& entry : test_table()) all.push_back(entry.name);
    return all;
  }
  bool unknown_test(const Word& word) {
    Advice hint = did_you_mean(word, names());
    if (hint.empty()) hint = "tests are " + one_of(names());
    bad(word.span, "`" + word.text + "` is no test", std::move(hint));
    return false;
  }

  bool read_typed(const BlockEntry& type, const std::vector<BlockEntry>& entries) {
    const auto word = block_.text(type);
    if (!word) return false;
    const auto* found = test_named(word->text);
    if (found == nullptr) return unknown_test(*word);
    test_.kind = found->kind;
    bool good = true;
    for (const auto& entry : entries)
      if (entry.key.text != "type") good = set(entry, *found, true) && good;
    return resolve() && good;
  }

  bool read_keyed(const std::vector<BlockEntry>& entries) {
    const auto keyed = std::find_if(entries.begin(), entries.end(),
                                    [](const BlockEntry& e) { return test_named(e.key.text) != nullptr; });
    if (keyed == entries.end()) {
      if (entries.empty()) return bad(span_, "an entry of `checks` is empty", ""), false;
      return unknown_test(entries.front().key);
    }
    const auto& found = *test_named(keyed->key.text);
    test_.kind = found.kind;
    bool good = true;
    const bool nested = keyed->value.IsMap();
    if (nested) {
      for (const auto& entry : block_.entries(keyed->value)) good = set(entry, found, true) && good;
    } else if (found.takes_columns) {
      good = set_columns(*keyed);
    } else {
      good = set_text(*keyed, found.parameters.front());
    }
    // Beside a mapping of parameters stand only the options of every test.
    for (const auto& entry : entries)
      if (entry.key.text != keyed->key.text) good = set(entry, found, !nested) && good;
    return resolve() && good;
  }

  bool set(const BlockEntry& entry, const TestEntry& found, bool own_allowed) {
    const auto name = canonical(entry.key.text, found.kind);
    if (name == "column" || name == "columns") return set_columns(entry);
    const bool own =
        own_allowed && std::find(found.parameters.begin(), found.parameters.end(), name) != found.parameters.end();
    if (!own && !is_common_test_option(name)) {
      std::vector<std::string_view> known = {"where", "severity", "max", "scope", "name"};
      if (own_allowed) known.insert(known.begin(), found.parameters.begin(), found.parameters.end());
      if (found.takes_columns) known.insert(known.begin(), "column");
      block_.unknown_key(entry, "the test `" + std::string(found.name) + "`", known);
      return true;
    }
    if (own && name == "values") return set_values(entry);
    if (!own && name == "max" && !own_allowed) return set_tolerance_of(entry);
    return set_text(entry, name);
  }

  bool set_columns(const BlockEntry& entry) {
    const auto words = block_.words(entry);
    if (!words) return false;
    for (const auto& word : *words) test_.columns.push_back(word.text);
    return true;
  }

  bool set_values(const BlockEntry& entry) {
    const auto words = block_.words(entry);
    if (!words) return false;
    for (const auto& word : *words) test_.values.push_back(word.text);
    return true;
  }

  bool set_tolerance_of(const BlockEntry& entry) {
    const auto word = block_.text(entry, "a number or a share");
    if (!word) return false;
    const auto wrong = set_tolerance(test_, word->text);
    if (wrong) bad(word->span, "`" + word->text + "` is no value of `max`", *wrong);
    return !wrong;
  }

  bool set_text(const BlockEntry& entry, std::string_view name) {
    const auto word = block_.text(entry);
    if (!word) return false;
    if (name == "to") {
      to_ = *word;
      return true;
    }
    if (name == "field") {
      test_.reference_column = word->text;
      return true;
    }
    const auto wrong = set_test_option(test_, name, word->text);
    if (wrong) bad(word->span, "`" + word->text + "` is no value of `" + entry.key.text + "`", *wrong);
    return !wrong;
  }

  /// `to:` is an asset, an asset with its column, or a relation of the default lake.
  bool resolve() {
    if (to_.text.empty()) return true;
    if (to_.text.find("://") == std::string::npos) {
      const auto dot = to_.text.rfind('.');
      const bool has_schema = dot != std::string::npos;
      test_.reference = Asset{AssetKind::Lake, default_lake_, has_schema ? to_.text.substr(0, dot) : "main",
                              has_schema ? to_.text.substr(dot + 1) : to_.text};
      return true;
    }
    if (test_.reference_column.empty()) {
      if (auto reference = read_column_reference(to_.text); reference && may_be_table(reference->first)) {
        test_.reference = std::move(reference->first);
        test_.reference_column = std::move(reference->second);
        return true;
      }
    } else if (auto asset = parse_asset(to_.text); asset && may_be_table(*asset)) {
      test_.reference = std::move(asset);
      return true;
    }
    bad(to_.span, "`" + to_.text + "` is no table",
        "write `to: <schema>.<table>` or `to: ducklake://<lake>/<table>`, and `field: <column>`");
    return false;
  }

  BlockText& block_;
  const std::string& default_lake_;
  Span span_;
  Test test_;
  Word to_;
};

}  // namespace

std::vector<Test> read_checks(BlockText& block, const BlockEntry& entry, const std::string& default_lake) {
  std::vector<Test> tests;
  if (!entry.value.IsSequence()) {
    block.wrong_type(entry, "a list");
    return tests;
  }
  for (const auto& node : entry.value)
    if (auto test = Check(block, default_lake, entry.key.span).read(node)) tests.push_back(*std::move(test));
  return tests;
}

}  // namespace weir
