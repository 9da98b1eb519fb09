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

// INTERVAL: equal intervals may be spelled and hashed apart; ±0.0 are equal but not the same value. Both hash by their
// text, also inside nested values, whose text holds them.
bool hashes_as_text(const Type& type) {
  return contains(type, "INTERVAL") || contains(type, "FLOAT") || contains(type, "DOUBLE");
}

duck::Sql hashed(const lake::ColumnState& column) {
  const duck::Identifier name(column.name);
  if (hashes_as_text(parse_type(column.type))) return {"CAST(stage.{} AS VARCHAR)", name};
  return {"stage.{}", name};
}

duck::Sql row_of(const std::vector<lake::ColumnState>& columns) {
  std::vector<duck::Sql> values;
  for (const auto& column : columns) values.push_back(hashed(column));
  return duck::Sql::join(values, ", ");
}

/// A name that no column has.
duck::Identifier free_name(const std::vector<lake::ColumnState>& columns) {
  std::string name = "_weir_hash";
  while (find_column(columns, name) != nullptr) name += '_';
  return duck::Identifier(name);
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

duck::Outcome<Content> sum_up(duck::Connection& connection, const duck::Sql& relation,
                              const std::vector<lake::ColumnState>& columns, Sums wanted) {
  const bool with_hashes = wanted == Sums::Hashes;
  std::vector<duck::Sql> parts = {"system.main.count_star()"};
  for (const auto& column : columns) {
    const duck::Identifier name(column.name);
    parts.emplace_back("system.main.count(stage.{})", name);
    if (!with_hashes && has_bounds(parse_type(column.type)))
      parts.emplace_back("CAST(system.main.min(stage.{}) AS VARCHAR), CAST(system.main.max(stage.{}) AS VARCHAR)", name,
                         name);
    else
      parts.emplace_back("NULL, NULL");
  }
  const duck::Identifier hash = free_name(columns);
  if (with_hashes)
    parts.emplace_back(
        "CAST(system.main.sum(stage.{}) AS VARCHAR), CAST(system.main.sum(system.main.hash(stage.{})) AS VARCHAR)",
        hash, hash);
  const duck::Sql source = with_hashes ? duck::Sql("(SELECT *, system.main.hash({}) AS {} FROM {} AS stage)",
                                                   row_of(columns), hash, relation)
                                       : relation;
  auto rows = connection.query(duck::Sql("SELECT {} FROM {} AS stage", duck::Sql::join(parts, ", "), source));
  if (!rows) return tl::unexpected(rows.error());
  Content content;
  content.rows = rows->integer(0, 0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t at = 1 + 3 * i;
    content.columns[columns[i].name] = {content.rows - rows->integer(0, at), rows->maybe_text(0, at + 1),
                                        rows->maybe_text(0, at + 2)};
  }
  if (with_hashes) {
    content.sum = rows->maybe_text(0, 1 + 3 * columns.size()).value_or("0");
    content.sum_of_hashes = rows->maybe_text(0, 2 + 3 * columns.size()).value_or("0");
  }
  return content;
}

Result<void> add_hashes(duck::Connection& clean, Stage& stage) {
  // The sum over 64-bit hashes is a HUGEINT and cannot overflow below 2^63 rows.
  auto rows =
      clean.query(duck::Sql("SELECT coalesce(sum(h), 0)::VARCHAR, coalesce(sum(hash(h)), 0)::VARCHAR FROM (SELECT "
                            "hash({}) AS h FROM {} AS stage)",
                            row_of(stage.columns), stage.relation));
  if (!rows)
    return fail(
        {Code::W4001, Severity::Error, fmt::format("cannot add up the stage: {}", rows.error().message), {}, {}, {}});
  stage.content.sum = rows->text(0, 0);
  stage.content.sum_of_hashes = rows->text(0, 1);
  return {};
}

}  // namespace weir::build
