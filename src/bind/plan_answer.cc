#include "bind/plan_answer.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>

#include "parse/trees.h"

namespace weir::bind {
namespace {

// The plan alone does not carry the names of set operations and stars in every form; a table made from the query has
// them all.
constexpr std::string_view kHead = "CREATE TEMP TABLE \"_weir_result\" AS ";

duck::FailureType type_named(const std::string& name) {
  using duck::FailureType;
  if (name == "parser" || name == "syntax") return FailureType::Parser;
  if (name == "binder") return FailureType::Binder;
  if (name == "catalog") return FailureType::Catalog;
  if (name == "conversion") return FailureType::Conversion;
  if (name == "io") return FailureType::Io;
  if (name == "permission") return FailureType::Permission;
  if (name == "not implemented") return FailureType::NotImplemented;
  if (name == "invalid input") return FailureType::InvalidInput;
  if (name == "internal") return FailureType::Internal;
  return FailureType::Other;
}

// Lists come as one text with commas, which signatures hold too.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : list) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

Refusal refusal_from(const nlohmann::json& answer) {
  Refusal refusal;
  const auto text = [&answer](const char* key) {
    const auto found = answer.find(key);
    return found != answer.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  refusal.type = type_named(text("error_type"));
  refusal.is_unsupported = refusal.type == duck::FailureType::NotImplemented;
  refusal.subtype = text("error_subtype");
  refusal.entry = text("type");
  refusal.name = text("name");
  refusal.candidates = split(text("candidates"));
  refusal.message = text("error_message");
  const std::string position = text("position");
  if (!position.empty() && position.find_first_not_of("0123456789") == std::string::npos && position.size() < 10) {
    const auto at = std::stoul(position);
    refusal.position_in_sent = static_cast<std::uint32_t>(at);
    if (at >= kHead.size()) refusal.position = static_cast<std::uint32_t>(at - kHead.size());
  }
  return refusal;
}

// The columns stand at the end, behind the tree of operators. Inside a JSON text quotes are escaped, so what is looked
// for can be nowhere else.
std::vector<std::string> names_in(const std::string& plan) {
  std::vector<std::string> names;
  const auto tail = plan.rfind("\"columns\":{\"columns\":[");
  if (tail == std::string::npos) return names;
  const auto list = plan.find('[', tail);
  std::size_t end = list;
  int depth = 0;
  bool in_text = false;
  for (; end < plan.size(); ++end) {
    const char c = plan[end];
    if (in_text && c == '\\') {
      ++end;
      continue;
    }
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) break;
  }
  simdjson::dom::parser parser;
  simdjson::dom::array columns;
  if (parser.parse(plan.data() + list, std::min(end + 1, plan.size()) - list).get(columns) != simdjson::SUCCESS)
    return names;
  for (const simdjson::dom::element column : columns) {
    std::string_view name;
    if (column["name"].get(name) == simdjson::SUCCESS) names.emplace_back(name);
  }
  return names;
}

}  // namespace

duck::Outcome<std::vector<PlanAnswer>> bind_queries(duck::Connection& connection,
                                                    const std::vector<std::string>& queries) {
  std::vector<PlanAnswer> answers(queries.size());
  if (queries.empty()) return answers;
  std::vector<duck::Sql> rows;
  rows.reserve(queries.size());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    answers[i].sql = std::string(kHead) + queries[i];
    rows.emplace_back("({}, {})", i, duck::Literal(answers[i].sql));
  }
  auto told = connection.query(
      duck::Sql("SELECT i, CAST(json_serialize_plan(query) AS VARCHAR) FROM (VALUES {}) AS queries(i, query)",
                duck::Sql::join(rows, ", ")));
  if (!told) return tl::unexpected(told.error());
  for (std::size_t row = 0; row < told->size(); ++row) {
    PlanAnswer& answer = answers.at(static_cast<std::size_t>(told->integer(row, 0)));
    answer.plan = parse::finite_json(told->text(row, 1));
    if (answer.plan.starts_with("{\"error\":false")) {
      answer.names = names_in(answer.plan);
      continue;
    }
    const auto json = nlohmann::json::parse(answer.plan, nullptr, false);
    answer.plan.clear();
    answer.refusal = json.is_object() ? refusal_from(json) : Refusal{.message = "DuckDB gave no answer"};
  }
  return answers;
}

std::string first_line(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  while (!line.empty() && (line.back() == '.' || line.back() == '!' || line.back() == ' ')) line.pop_back();
  return line;
}

}  // namespace weir::bind
