// What the rows of a stage add up to. Bounds are kept for types whose values have one spelling however they were found;
// texts are left out because a commit record is no place for a user's values. Row hashes are summed, never xored: xor
// misses values swapped between rows.
#include "build/content.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "build/names.h"
#include "build/types.h"

namespace weir::build {
namespace {

// INTERVAL: equal intervals may be spelled and hashed apart; ±0.0 are equal but not the same value. Inside nested
// values both hash by the text, which holds them. The text of a DOUBLE costs more than all else (67 of 97 ns a row of
// four columns), so a column of its own is hashed by value, with whether it is -0.0 beside it.
bool hashes_as_text(const Type& type) {
  return contains(type, "INTERVAL") || contains(type, "FLOAT") || contains(type, "DOUBLE");
}

duck::Sql hashed(const lake::ColumnState& column, const std::set<std::string>& by_value) {
  const duck::Identifier name(column.name);
  const Type type = parse_type(column.type);
  if (by_value.contains(column.name) || !hashes_as_text(type)) return {"stage.{}", name};
  if (type.name == "FLOAT" || type.name == "DOUBLE")
    return {"stage.{}, stage.{} = 0 AND system.main.signbit(stage.{})", name, name, name};
  return {"CAST(stage.{} AS VARCHAR)", name};
}

duck::Sql row_of(const std::vector<lake::ColumnState>& columns, const std::set<std::string>& by_value = {}) {
  std::vector<duck::Sql> values;
  for (const auto& column : columns) values.push_back(hashed(column, by_value));
  return duck::Sql::join(values, ", ");
}

/// A name that no column has.
duck::Identifier free_name(const std::vector<lake::ColumnState>& columns) {
  std::string name = "_weir_hash";
  while (find_column(columns, name) != nullptr) name += '_';
  return duck::Identifier(name);
}

// True for a column whose values include two that are equal and spelled apart; nested values are judged by their texts,
// which may say so too often: then equal values pass for unchanged.
std::optional<duck::Sql> holds_spellings(const lake::ColumnState& column) {
  const duck::Identifier name(column.name);
  const Type type = parse_type(column.type);
  const auto any = [](const duck::Sql& condition) {
    return duck::Sql("coalesce(system.main.bool_or({}), false)", condition);
  };
  if (type.name == "FLOAT" || type.name == "DOUBLE")
    return duck::Sql("{} AND {}", any({"stage.{} = 0 AND system.main.signbit(stage.{})", name, name}),
                     any({"stage.{} = 0 AND NOT system.main.signbit(stage.{})", name, name}));
  const duck::Sql text("CAST(stage.{} AS VARCHAR)", name);
  if (type.name == "INTERVAL")
    return duck::Sql("system.main.count(DISTINCT stage.{}) < system.main.count(DISTINCT {})", name, text);
  if (contains(type, "INTERVAL")) return duck::Sql("system.main.count(DISTINCT {}) > 1", text);
  if (contains(type, "FLOAT") || contains(type, "DOUBLE"))
    return duck::Sql("{} AND {}", any({"system.main.regexp_matches({}, {})", text, duck::Literal("-0\\.0([^0-9]|$)")}),
                     any({"system.main.regexp_matches({}, {})", text, duck::Literal("(^|[^-0-9.])0\\.0([^0-9]|$)")}));
  return std::nullopt;
}

}  // namespace

std::string to_json(const Content& content) {
  nlohmann::ordered_json json;
  json["rows"] = content.rows;
  auto& columns = json["columns"] = nlohmann::ordered_json::object();
  for (const auto& [name, sums] : content.columns) {
    auto& column = columns[name] = {{"nulls", sums.nulls}};
    if (sums.minimum) column["min"] = *sums.minimum;
    if (sums.maximum) column["max"] = *sums.maximum;
  }
  if (!content.sum.empty()) json["sum"] = content.sum;
  if (!content.sum_of_hashes.empty()) json["sum_of_hashes"] = content.sum_of_hashes;
  return json.dump();
}

std::optional<Content> content_from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto is_count = [](const nlohmann::json& object, const char* key) {
    return object.contains(key) && object[key].is_number_integer();
  };
  if (!json.is_object() || !is_count(json, "rows") || !json.contains("columns") || !json["columns"].is_object())
    return std::nullopt;
  const auto text_of = [](const nlohmann::json& object, const char* key) -> std::optional<std::string> {
    if (!object.contains(key) || !object[key].is_string()) return std::nullopt;
    return object[key].get<std::string>();
  };
  Content content;
  content.rows = json["rows"].get<std::int64_t>();
  for (const auto& [name, column] : json["columns"].items()) {
    if (!column.is_object() || !is_count(column, "nulls")) return std::nullopt;
    content.columns[name] = {column["nulls"].get<std::int64_t>(), text_of(column, "min"), text_of(column, "max")};
  }
  content.sum = text_of(json, "sum").value_or("");
  content.sum_of_hashes = text_of(json, "sum_of_hashes").value_or("");
  return content;
}

namespace {

/// A SELECT list under way: where each of its aggregates comes back.
class Aggregates {
 public:
  template <class... Pieces>
  std::size_t add(const Pieces&... pieces) {
    parts_.emplace_back(pieces...);
    return parts_.size() - 1;
  }
  duck::Sql list() const { return duck::Sql::join(parts_, ", "); }

 private:
  std::vector<duck::Sql> parts_;
};

struct Counted {
  std::optional<std::size_t> values;
  std::optional<std::size_t> minimum;
  std::optional<std::size_t> maximum;
};

Counted count_column(const lake::ColumnState& column, Sums wanted, Aggregates& aggregates) {
  const duck::Identifier name(column.name);
  Counted counted;
  if (wanted != Sums::Counts || !column.nullable) counted.values = aggregates.add("system.main.count(stage.{})", name);
  if (wanted != Sums::Bounds || !has_bounds(parse_type(column.type))) return counted;
  counted.minimum = aggregates.add("CAST(system.main.min(stage.{}) AS VARCHAR)", name);
  counted.maximum = aggregates.add("CAST(system.main.max(stage.{}) AS VARCHAR)", name);
  return counted;
}

}  // namespace

duck::Outcome<Content> sum_up(duck::Connection& connection, const duck::Sql& relation,
                              const std::vector<lake::ColumnState>& columns, Sums wanted) {
  const bool with_hashes = wanted == Sums::Hashes;
  Aggregates aggregates;
  const std::size_t count = aggregates.add("system.main.count_star()");
  std::vector<Counted> counted;
  for (const auto& column : columns) counted.push_back(count_column(column, wanted, aggregates));
  const duck::Identifier hash = free_name(columns);
  std::optional<std::size_t> sums;
  if (with_hashes) {
    sums = aggregates.add("CAST(system.main.sum(stage.{}) AS VARCHAR)", hash);
    aggregates.add("CAST(system.main.sum(system.main.hash(stage.{})) AS VARCHAR)", hash);
  }
  const duck::Sql source = with_hashes ? duck::Sql("(SELECT *, system.main.hash({}) AS {} FROM {} AS stage)",
                                                   row_of(columns), hash, relation)
                                       : relation;
  auto rows = connection.query(duck::Sql("SELECT {} FROM {} AS stage", aggregates.list(), source));
  if (!rows) return tl::unexpected(rows.error());
  Content content;
  content.rows = rows->integer(0, count);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Content::ColumnSums& found = content.columns[columns[i].name];
    if (counted[i].values) found.nulls = content.rows - rows->integer(0, *counted[i].values);
    if (counted[i].minimum) found.minimum = rows->maybe_text(0, *counted[i].minimum);
    if (counted[i].maximum) found.maximum = rows->maybe_text(0, *counted[i].maximum);
  }
  if (sums) {
    content.sum = rows->maybe_text(0, *sums).value_or("0");
    content.sum_of_hashes = rows->maybe_text(0, *sums + 1).value_or("0");
  }
  return content;
}

Result<std::set<std::string>> merged_columns(duck::Connection& clean, const duck::Sql& relation,
                                             const std::vector<lake::ColumnState>& columns) {
  std::vector<std::string> names;
  std::vector<duck::Sql> questions;
  for (const auto& column : columns) {
    const auto question = holds_spellings(column);
    if (!question) continue;
    names.push_back(column.name);
    questions.push_back(*question);
  }
  std::set<std::string> merged;
  if (names.empty()) return merged;
  auto rows = clean.query(duck::Sql("SELECT {} FROM {} AS stage", duck::Sql::join(questions, ", "), relation));
  if (!rows)
    return fail(
        {Code::W4001, Severity::Error, fmt::format("cannot read the stage: {}", rows.error().message), {}, {}, {}});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (rows->boolean(0, i)) merged.insert(names[i]);
  return merged;
}

Result<void> add_hashes(duck::Connection& clean, Stage& stage, const std::set<std::string>& by_value) {
  // The sum over 64-bit hashes is a HUGEINT and cannot overflow below 2^63 rows.
  auto rows =
      clean.query(duck::Sql("SELECT coalesce(sum(h), 0)::VARCHAR, coalesce(sum(hash(h)), 0)::VARCHAR FROM (SELECT "
                            "hash({}) AS h FROM {} AS stage)",
                            row_of(stage.columns, by_value), stage.relation));
  if (!rows)
    return fail(
        {Code::W4001, Severity::Error, fmt::format("cannot add up the stage: {}", rows.error().message), {}, {}, {}});
  stage.content.sum = rows->text(0, 0);
  stage.content.sum_of_hashes = rows->text(0, 1);
  return {};
}

}  // namespace weir::build
