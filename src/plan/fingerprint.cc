#include "plan/fingerprint.h"

#include <algorithm>
#include <set>

#include "io/hash.h"

namespace weir::plan {
namespace {

/// Part of the text that is hashed, so that a new way of making fingerprints is a decision and not an accident.
constexpr std::string_view kVersion = "weir fingerprint 1";

/// Collects named values so that no two different lists give the same text.
class Digest {
 public:
  void add(std::string_view name, std::string_view value) {
    text_ += std::to_string(name.size()) + ':' + std::string(name) + '=' + std::to_string(value.size()) + ':' +
             std::string(value) + ';';
  }
  void add(std::string_view name, const std::vector<std::string>& values) {
    add(name, std::to_string(values.size()));
    for (const std::string& value : values) add(name, value);
  }
  std::string hex() const { return io::sha256_hex(text_).substr(0, 16); }

 private:
  std::string text_{kVersion};
};

void add_options(Digest& digest, const Model& model) {
  digest.add("plane", name_of(model.plane));
  digest.add("strategy", name_of(model.strategy));
  digest.add("target", model.target ? model.target->key() : "");
  digest.add("key", model.key);
  digest.add("duplicates", name_of(model.duplicates));
  digest.add("order", model.order);
  digest.add("track", model.track);
  digest.add("deletes", name_of(model.deletes));
  if (!model.valid_from.empty()) digest.add("valid_from", model.valid_from);
  if (model.refreshes_untracked) digest.add("untracked", "refresh");
  if (!model.validity.empty()) digest.add("validity", model.validity);
  digest.add("hash", model.keep_hash ? "true" : "");
  digest.add("time_column", model.time_column);
  digest.add("interval", model.interval);
  digest.add("lookback", model.lookback);
  if (!model.tz.empty()) digest.add("tz of windows", model.tz);
  digest.add("path", model.file_path);
  digest.add("format", model.file_format);
  std::vector<std::string> environments = model.environments;
  std::sort(environments.begin(), environments.end());
  digest.add("environments", environments);
  if (model.partitioning) {
    const calendar::Partitioning& partitioning = *model.partitioning;
    digest.add("partitioned", calendar::name_of(partitioning.kind));
    digest.add("tz", partitioning.tz);
    digest.add("format", partitioning.format);
    digest.add("partition key", partitioning.key_path);
  }
  for (const Argument& argument : model.arguments) {
    digest.add("argument", argument.name);
    digest.add("type", argument.type);
    digest.add("default", argument.written_default.value_or(""));
    digest.add("has default", argument.written_default ? "yes" : "no");
  }
}

void add_definition(Digest& digest, const Model& model) {
  add_options(digest, model);
  for (const parse::Statement& statement : model.script.statements) digest.add("statement", statement.canonical);
  // The bodies of the macros that it calls: a library that changes changes its callers and nothing else.
  for (const MacroDefinition& macro : model.macros)
    if (!macro.is_for_tests) digest.add("macro", macro.statement.canonical);
  // A manual script's other statements have no tree: their text counts.
  if (model.plane == Plane::Manual)
    for (const parse::Statement& statement : model.script.statements)
      digest.add("text", std::string_view(model.source->text).substr(statement.span.begin, statement.span.size()));
}

/// True if the edge from `producer` is there for tests of `model` alone.
bool is_only_tested(const Model& model, const Model& producer) {
  std::vector<Asset> outputs = outputs_of(producer);
  outputs.push_back(producer.relation);
  const auto is_made = [&outputs](const Asset& asset) {
    return std::find(outputs.begin(), outputs.end(), asset) != outputs.end();
  };
  const bool is_tested = std::any_of(model.tests.begin(), model.tests.end(),
                                     [&](const Test& test) { return test.reference && is_made(*test.reference); }) ||
                         std::any_of(model.test_queries.begin(), model.test_queries.end(), [&](const TestQuery& query) {
                           return std::any_of(query.references.begin(), query.references.end(),
                                              [&](const Reference& reference) { return is_made(reference.asset); });
                         });
  if (!is_tested) return false;
  const auto is_for_tests = [&model](const Reference& reference) {
    return reference.macro && model.macros[*reference.macro].is_for_tests;
  };
  return std::none_of(
             model.references.begin(), model.references.end(),
             [&](const Reference& reference) { return !is_for_tests(reference) && is_made(reference.asset); }) &&
         std::none_of(model.triggers.begin(), model.triggers.end(),
                      [&](const Trigger& trigger) { return trigger.asset && is_made(*trigger.asset); }) &&
         std::none_of(model.depends_on.begin(), model.depends_on.end(), [&producer](const std::string& name) {
           return producer.path == name || producer.path.ends_with("/" + name);
         });
}

}  // namespace

std::string local_fingerprint(const Model& model) {
  Digest digest;
  add_definition(digest, model);
  return digest.hex();
}

std::map<std::string, std::string> fingerprints(const Graph& graph,
                                                const std::map<std::string, std::string>& own_data) {
  std::map<std::string, std::string> all;
  for (std::size_t i = 0; i < graph.models().size(); ++i) {
    const Model& model = graph.models()[i];
    Digest digest;
    add_definition(digest, model);
    // What only its tests read decides nothing about its rows.
    std::vector<std::string> inputs;
    for (const std::size_t producer : graph.producers_of(i))
      if (!is_only_tested(model, graph.models()[producer])) inputs.push_back(all.at(graph.models()[producer].path));
    std::sort(inputs.begin(), inputs.end());
    digest.add("input", inputs);
    std::set<std::string> rows;
    if (!own_data.empty())
      for (const Reference& reference : model.references)
        if (const auto own = own_data.find(reference.asset.key()); own != own_data.end())
          rows.insert(own->first + " of " + own->second);
    if (!rows.empty()) digest.add("rows", std::vector<std::string>(rows.begin(), rows.end()));
    all.emplace(model.path, digest.hex());
  }
  return all;
}

std::map<std::string, std::string> test_fingerprints(const Graph& graph, const std::vector<CustomTest>& custom_tests) {
  std::map<std::string, std::string> all;
  for (const Model& model : graph.models()) {
    if (model.tests.empty() && model.contract.empty() && !model.contract_exact) continue;
    Digest digest;
    for (const ContractColumn& column : model.contract) {
      digest.add("column", column.name);
      digest.add("of type", column.type.value_or("any"));
    }
    if (model.contract_exact) digest.add("columns exact", "yes");
    for (const Test& test : model.tests) {
      digest.add("kind", std::to_string(static_cast<int>(test.kind)));
      digest.add("name", test.name);
      digest.add("columns", test.columns);
      digest.add("values", test.values);
      digest.add("reference", test.reference ? test.reference->key() + "." + test.reference_column : "");
      digest.add("minimum", test.minimum ? "=" + *test.minimum : "");
      digest.add("maximum", test.maximum ? "=" + *test.maximum : "");
      digest.add("text", test.text);
      digest.add("where", test.where);
      digest.add("severity", std::to_string(static_cast<int>(test.severity)));
      digest.add("scope", std::to_string(static_cast<int>(test.scope)));
      digest.add("tolerated rows", std::to_string(test.tolerated_rows));
      digest.add("tolerated share", test.tolerated_share ? std::to_string(*test.tolerated_share) : "");
      if (test.kind != TestKind::Custom) continue;
      for (const CustomTest& custom : custom_tests)
        if (custom.path == test.text) digest.add("script", custom.source->text);
    }
    all.emplace(model.path, digest.hex());
  }
  return all;
}

}  // namespace weir::plan
