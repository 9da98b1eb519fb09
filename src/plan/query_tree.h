// DuckDB's parse tree of one query, made comparable, and what may be asked of its parts.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weir::plan::tree {

using Json = nlohmann::json;
using Names = std::set<std::string>;

/// The answer of json_serialize_sql, which has the one query as statements[0].node. Nothing if there is no such node,
/// or it is nested too deep to be walked.
std::optional<Json> document(const std::string& answer);

/// The root node of the one query in the answer of json_serialize_sql, without places and with the names of tables and
/// columns in lower case. Nothing if there is no such node, or it is nested too deep to be walked.
std::optional<Json> comparable(const std::string& answer);

/// Calls `visit` for every object at or below `part`; it returns false to leave out what lies below.
void walk(const Json& part, const std::function<bool(const Json&)>& visit);

std::string_view text(const Json& object, std::string_view key);
/// A member, or null.
const Json& member(const Json& object, std::string_view key);
bool is_class(const Json& object, std::string_view wanted);
bool is_type(const Json& object, std::string_view wanted);

/// Names that relations have in the query: tables without schema, aliases and CTEs.
Names relations_in(const Json& node);
/// Names of tables as FROM gives them, without schema.
Names tables_in(const Json& node);

/// Both without the named members; equal in all others.
bool equal_but(const Json& one, const Json& other, const std::set<std::string_view>& keys);

/// One entry of a SELECT list.
struct Item {
  /// The name that it gives itself, lower case; empty if DuckDB derives it from the expression.
  std::string name;
  /// Without alias.
  const Json* expression = nullptr;
  bool is_star = false;
};
std::vector<Item> items_of(const Json& select);

}  // namespace weir::plan::tree
