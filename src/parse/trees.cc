#include "parse/trees.h"

#include <nlohmann/json.hpp>

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

}  // namespace

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
  auto answer = connection.query(
      duck::Sql("SELECT i, tree, CASE WHEN starts_with(tree, '{{\"error\":false') THEN json_deserialize_sql(tree) END "
                "FROM (SELECT i, "
                "CAST(json_serialize_sql(query) AS VARCHAR) AS tree FROM (VALUES {}) AS queries(i, query)) ORDER BY i",
                duck::Sql::join(rows, ", ")));
  if (!answer) return tl::unexpected(answer.error());
  for (std::size_t row = 0; row < answer->size(); ++row) {
    Tree& tree = trees_[queries[static_cast<std::size_t>(answer->integer(row, 0))]];
    if (answer->is_null(row, 2)) {
      tree = tree_from_error(answer->text(row, 1));
    } else {
      tree.json = answer->text(row, 1);
      tree.canonical = answer->text(row, 2);
    }
  }
  return {};
}

}  // namespace weir::parse
