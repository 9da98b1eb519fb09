#include "project/unit_test.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "io/files.h"
#include "io/hash.h"
#include "text/suggest.h"

namespace weir {
namespace {

using Reader = std::function<void(const Word&, const YAML::Node&)>;
using Keys = std::vector<std::pair<std::string, Reader>>;

/// A plain `~` or nothing is NULL; a quoted text never is.
bool is_null(const YAML::Node& node) { return !node.IsDefined() || node.IsNull(); }

/// Scalars inside lists and mappings: plain numbers and truth values as JSON knows them, all else as text.
nlohmann::ordered_json json_of(const YAML::Node& node) {
  if (is_null(node)) return nullptr;
  if (node.IsSequence()) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& item : node) list.push_back(json_of(item));
    return list;
  }
  if (node.IsMap()) {
    auto map = nlohmann::ordered_json::object();
    for (const auto& entry : node) map[entry.first.Scalar()] = json_of(entry.second);
    return map;
  }
  const std::string& text = node.Scalar();
  const bool is_plain = node.Tag() != "!";
  if (is_plain && (text == "true" || text == "false")) return text == "true";
  if (!is_plain || !nlohmann::ordered_json::accept(text)) return text;
  auto value = nlohmann::ordered_json::parse(text);
  // Digits that a number would lose stay text; DuckDB reads either.
  const bool is_number = value.is_number_integer() || (value.is_number() && value.dump() == text);
  return is_number ? value : nlohmann::ordered_json(text);
}

class FileReader {
 public:
  explicit FileReader(UnitTest& test) : test_(test), text_(test.source->text) {}

  void run() {
    YAML::Node root;
    try {
      root = YAML::Load(text_);
    } catch (const YAML::Exception& problem) {
      Span span;
      if (!problem.mark.is_null() && problem.mark.pos >= 0) span = line_at(problem.mark);
      return report(Code::W2410, span, "this is no YAML: " + problem.msg,
                    "a value with `: ` or `#` in it needs quotes");
    }
    if (!root.IsMap())
      return report(Code::W2410, {}, "a unit test is a mapping of `model:`, `inputs:` and `expect:`",
                    "begin with `model: <path>`");
    mapping(
        root, "a unit test",
        {{"model", word(test_.model)},
         {"description", [this](const Word&, const YAML::Node& node) { test_.description = scalar_or_empty(node); }},
         {"partition", maybe(test_.partition)},
         {"window", [this](const Word&, const YAML::Node& node) { window(node); }},
         {"args", [this](const Word& key, const YAML::Node& node) { arguments(key, node); }},
         {"now", maybe(test_.now)},
         {"inputs", [this](const Word& key, const YAML::Node& node) { inputs(key, node); }},
         {"expect", [this](const Word& key, const YAML::Node& node) { expect(key, node); }}});
    if (!seen("model")) report(Code::W2412, {}, "the test names no model", "add `model: <path>`");
    if (!seen("expect"))
      report(Code::W2412, {}, "the test expects nothing", "add `expect:` with rows, or `expect: []` for none");
  }

 private:
  void report(Code code, Span span, std::string message, std::string hint) {
    test_.diagnostics.push_back({code, Severity::Error, std::move(message), test_.source->path, span, std::move(hint)});
  }

  Span line_at(const YAML::Mark& mark) const {
    const auto size = static_cast<std::uint32_t>(text_.size());
    const auto begin = std::min(size, static_cast<std::uint32_t>(std::max(mark.pos, 0)));
    auto end = begin;
    while (end < size && text_[end] != '\n' && text_[end] != '\r') ++end;
    return {begin, end};
  }

  Span place(const YAML::Node& node, Span otherwise) const {
    if (!node.IsDefined() || node.Mark().is_null()) return otherwise;
    const Span line = line_at(node.Mark());
    const std::string_view rest = std::string_view(text_).substr(line.begin, line.size());
    if (!node.IsScalar()) return line.empty() ? otherwise : line;
    if (node.Scalar().empty()) return otherwise;
    if (!rest.empty() && (rest.front() == '"' || rest.front() == '\''))
      if (const auto close = rest.find(rest.front(), 1); close != std::string_view::npos)
        return {line.begin, line.begin + static_cast<std::uint32_t>(close) + 1};
    if (rest.starts_with(node.Scalar()))
      return {line.begin, line.begin + static_cast<std::uint32_t>(node.Scalar().size())};
    return line;
  }

  bool seen(const std::string& key) const { return std::find(seen_.begin(), seen_.end(), key) != seen_.end(); }

  void mapping(const YAML::Node& node, const std::string& where, const Keys& keys) {
    for (const auto& entry : node) {
      const Word key{entry.first.IsScalar() ? entry.first.Scalar() : std::string(), place(entry.first, {})};
      const auto reader =
          std::find_if(keys.begin(), keys.end(), [&key](const auto& one) { return one.first == key.text; });
      if (reader != keys.end()) {
        seen_.push_back(key.text);
        reader->second(key, entry.second);
        continue;
      }
      std::vector<std::string> known;
      std::string all;
      for (const auto& [name, unused] : keys) {
        known.push_back(name);
        all += (all.empty() ? "" : ", ") + name;
      }
      const auto near = text::nearest(key.text, known);
      report(Code::W2411, key.span, fmt::format("`{}` is no key of {}", key.text, where),
             near ? fmt::format("did you mean `{}`?", *near) : "known are " + all);
      if (near) test_.diagnostics.back().fix = Fix{key.span, *near};
    }
  }

  std::string scalar_or_empty(const YAML::Node& node) { return node.IsScalar() ? node.Scalar() : std::string(); }

  std::optional<Word> scalar(const Word& key, const YAML::Node& node) {
    if (node.IsScalar() && !node.Scalar().empty()) return Word{node.Scalar(), place(node, key.span)};
    report(Code::W2412, place(node, key.span), fmt::format("`{}` takes one value", key.text), "");
    return std::nullopt;
  }

  Reader word(Word& into) {
    return [this, &into](const Word& key, const YAML::Node& node) {
      if (auto value = scalar(key, node)) into = std::move(*value);
    };
  }
  Reader maybe(std::optional<Word>& into) {
    return [this, &into](const Word& key, const YAML::Node& node) { into = scalar(key, node); };
  }

  void window(const YAML::Node& node) {
    if (!node.IsMap())
      return report(Code::W2412, place(node, {}), "`window` takes `start` and `end`",
                    "window: {start: 2026-07-05, end: 2026-07-06}");
    mapping(node, "`window`", {{"start", maybe(test_.window_start)}, {"end", maybe(test_.window_end)}});
  }

  void arguments(const Word& key, const YAML::Node& node) {
    if (is_null(node)) return;
    if (!node.IsMap())
      return report(Code::W2412, place(node, key.span), "`args` takes names with values", "args: {cutoff: 2026-01-01}");
    for (const auto& entry : node) {
      const Word name{entry.first.Scalar(), place(entry.first, key.span)};
      if (auto value = scalar(name, entry.second)) test_.arguments.emplace_back(name, std::move(*value));
    }
  }

  void inputs(const Word& key, const YAML::Node& node) {
    if (is_null(node)) return;
    if (!node.IsMap())
      return report(Code::W2412, place(node, key.span), "`inputs` takes the names of what the model reads, with rows",
                    "inputs: {main.orders: [{id: 1}]}");
    for (const auto& entry : node) {
      UnitRows input;
      input.name = {entry.first.Scalar(), place(entry.first, key.span)};
      rows(input.name, entry.second, input, false);
      test_.inputs.push_back(std::move(input));
    }
  }

  void expect(const Word& key, const YAML::Node& node) {
    test_.expected.name = key;
    rows(key, node, test_.expected, true);
  }

  // A list of rows, or a mapping with `rows:` and more.
  void rows(const Word& key, const YAML::Node& node, UnitRows& into, bool is_expected) {
    if (is_null(node) && !is_expected) return;
    if (node.IsSequence()) return list(key, node, into);
    if (!node.IsMap())
      return report(Code::W2412, place(node, key.span), fmt::format("`{}` takes a list of rows", key.text),
                    "- {id: 1, name: a}");
    Keys keys{{"rows", [&](const Word& inner, const YAML::Node& value) {
                 if (value.IsSequence()) return list(inner, value, into);
                 if (!is_null(value))
                   report(Code::W2412, place(value, inner.span), "`rows` takes a list of rows", "- {id: 1, name: a}");
               }}};
    if (is_expected)
      keys.emplace_back("ordered", [this](const Word& inner, const YAML::Node& value) {
        if (!value.IsScalar() || !YAML::convert<bool>::decode(value, test_.is_ordered))
          report(Code::W2412, place(value, inner.span), "`ordered` takes `true` or `false`", "");
      });
    else
      keys.emplace_back("columns", [this, &into](const Word& inner, const YAML::Node& value) {
        if (!value.IsMap())
          return report(Code::W2412, place(value, inner.span), "`columns` takes names with types", "{id: BIGINT}");
        for (const auto& entry : value) {
          const Word name{entry.first.Scalar(), place(entry.first, inner.span)};
          if (auto type = scalar(name, entry.second)) into.columns.emplace_back(name, std::move(*type));
        }
      });
    mapping(node, is_expected ? "`expect`" : "an input", keys);
  }

  void list(const Word& key, const YAML::Node& node, UnitRows& into) {
    for (const auto& item : node) {
      const Span span = place(item, key.span);
      if (!item.IsMap()) {
        report(Code::W2412, span, "a row is a mapping of columns to values", "- {id: 1, name: a}");
        continue;
      }
      UnitRow row{span, {}};
      for (const auto& cell : item) {
        const Word column{cell.first.Scalar(), place(cell.first, span)};
        UnitValue value{place(cell.second, column.span), is_null(cell.second), !cell.second.IsScalar(), {}};
        if (!value.is_null) value.text = value.is_nested ? json_of(cell.second).dump() : cell.second.Scalar();
        row.cells.emplace_back(column, std::move(value));
      }
      into.rows.push_back(std::move(row));
    }
  }

  UnitTest& test_;
  const std::string& text_;
  std::vector<std::string> seen_;
};

}  // namespace

UnitTest read_unit_test(std::shared_ptr<const Source> source, const std::string& name) {
  UnitTest test;
  test.name = name;
  test.source = std::move(source);
  FileReader(test).run();
  return test;
}

Result<std::vector<UnitTest>> read_unit_tests(const Config& config) {
  std::vector<UnitTest> tests;
  for (const std::string& root : config.tests) {
    const std::string folder = (std::filesystem::path(config.root) / root).lexically_normal().string();
    WEIR_TRY(const auto names, io::list_files(folder));
    for (const std::string& name : names) {
      const std::string_view ending = name.ends_with(".yaml") ? ".yaml" : ".yml";
      if (!name.ends_with(ending)) continue;
      auto source = std::make_shared<Source>();
      source->path = (std::filesystem::path(root) / name).lexically_normal().string();
      WEIR_TRY(source->text, io::read_file(folder + "/" + name));
      source->hash = io::xxh3_hex(source->text);
      tests.push_back(read_unit_test(std::move(source), name.substr(0, name.size() - ending.size())));
    }
  }
  std::sort(tests.begin(), tests.end(),
            [](const UnitTest& a, const UnitTest& b) { return a.source->path < b.source->path; });
  return tests;
}

}  // namespace weir
