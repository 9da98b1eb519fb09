#include "project/validity.h"

#include <algorithm>

#include "text/lexer.h"

namespace weir {

std::vector<std::pair<std::string_view, std::string_view>> ValidityColumns::columns() const {
  std::vector<std::pair<std::string_view, std::string_view>> all{{from, "TIMESTAMP"}, {to, "TIMESTAMP"}};
  if (!current.empty()) all.emplace_back(current, "BOOLEAN");
  return all;
}

bool ValidityColumns::contains(std::string_view name) const {
  const auto all = columns();
  return std::any_of(all.begin(), all.end(), [name](const auto& one) { return text::same_word(one.first, name); });
}

duck::Sql ValidityColumns::is_open(std::string_view alias) const {
  const duck::Sql prefix = alias.empty() ? duck::Sql() : duck::Sql("{}.", duck::Identifier(std::string(alias)));
  if (!current.empty()) return duck::Sql("{}{}", prefix, duck::Identifier(std::string(current)));
  return duck::Sql("{}{} IS NULL", prefix, duck::Identifier(std::string(to)));
}

ValidityColumns validity_columns(Plane plane) {
  if (plane == Plane::Managed) return {"valid_from", "valid_to", "is_current"};
  return {"_valid_from", "_valid_to", {}};
}

}  // namespace weir
