#include "parse/trees.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace weir::parse {
namespace {

constexpr std::size_t kBatchQueries = 200;
constexpr std::size_t kBatchBytes = 4U << 20U;

// The answer of json_serialize_sql to a text without a tree is a small object that says why.
Tree tree_from_error(const std::string& json) {
  Tree tree;
  const auto answer = nlohmann::json::parse(json, nullptr, false);
  if (!answer.is_object()) {
    tree.failure = duck::Failure{duck::FailureType::Other, json, std::nullopt};
    return tree;
  }
  const std::string type = answer.value("error_type", "");
  tree.is_opaque = type == "not implemented";
  if (tree.is_opaque) return tree;
  duck::Failure failure;
  failure.type = type == "parser" ? duck::FailureType::Parser : duck::FailureType::Other;
  failure.message = answer.value("error_message", "");
  if (const auto position = answer.find("position"); position != answer.end() && position->is_string())
    failure.position = static_cast<std::uint32_t>(std::stoul(position->get<std::string>()));
  tree.failure = std::move(failure);
  return tree;
}

constexpr std::string_view kTreeBegin = "{\"error\":false";

}  // namespace

std::string finite_json(std::string json) {
  static constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
  if (json.find("Infinity") == std::string::npos && json.find("NaN") == std::string::npos) return json;
  std::string finite;
  bool is_text = false;
  for (std::size_t at = 0; at < json.size();) {
    const std::string_view rest = std::string_view(json).substr(at);
    const auto word =
        std::find_if(kWords.begin(), kWords.end(), [&rest](std::string_view one) { return rest.starts_with(one); });
    if (!is_text && word != kWords.end()) {
      finite += *word == "-Infinity" ? "-1.7976931348623157e308" : "1.7976931348623157e308";
      at += word->size();
      continue;
    }
    if (json[at] == '"') is_text = !is_text;
    const std::size_t taken = is_text && json[at] == '\\' ? 2 : 1;
    finite += rest.substr(0, taken);
    at += taken;
  }
  return finite;
}

duck::Outcome<void> Trees::fetch(duck::Connection& connection, const std::vector<std::string>& queries) {
  std::vector<std::string> batch;
  std::size_t bytes = 0;
  for (const std::string& query : queries) {
    if (trees_.contains(query)) continue;
    trees_[query] = Tree();
    batch.push_back(query);
    bytes += query.size();
    if (batch.size() < kBatchQueries && bytes < kBatchBytes) continue;
    if (auto done = fetch_batch(connection, batch); !done) return done;
    batch.clear();
    bytes = 0;
  }
  if (batch.empty()) return {};
  return fetch_batch(connection, batch);
}

duck::Outcome<void> Trees::fetch_batch(duck::Connection& connection, const std::vector<std::string>& queries) {
  std::vector<duck::Sql> rows;
  for (std::size_t i = 0; i < queries.size(); ++i) rows.push_back(duck::Sql("({}, {})", i, duck::Literal(queries[i])));
  // The error flag is looked for at the very beginning of the answer, where it always stands.
  auto answer = connection.query(duck::Sql(
      "SELECT i, tree, CASE WHEN starts_with(tree, {}) AND NOT regexp_matches(tree, ':-?(Infinity|NaN)') THEN "
      "json_deserialize_sql(tree) END FROM (SELECT i, "
      "CAST(json_serialize_sql(query) AS VARCHAR) AS tree FROM (VALUES {}) AS queries(i, query)) ORDER BY i",
      duck::Literal(std::string(kTreeBegin)), duck::Sql::join(rows, ", ")));
  if (!answer) return tl::unexpected(answer.error());
  for (std::size_t row = 0; row < answer->size(); ++row) {
    Tree& tree = trees_[queries[static_cast<std::size_t>(answer->integer(row, 0))]];
    if (!answer->text(row, 1).starts_with(kTreeBegin)) {
      tree = tree_from_error(answer->text(row, 1));
      continue;
    }
    tree.json = finite_json(answer->text(row, 1));
    if (!answer->is_null(row, 2)) {
      tree.canonical = answer->text(row, 2);
      continue;
    }
    // DuckDB does not read back the infinity that it wrote.
    auto text = connection.query(duck::Sql("SELECT json_deserialize_sql({})", duck::Literal(tree.json)));
    if (!text) return tl::unexpected(text.error());
    tree.canonical = text->text(0, 0);
  }
  return {};
}

}  // namespace weir::parse
