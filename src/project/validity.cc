#include "project/validity.h"

#include <algorithm>

#include "text/lexer.h"

namespace weir {

std::vector<std::pair<std::string_view, std::string_view>> ValidityColumns::columns() const {
  std::vector<std::pair<std::string_view, std::string_view>> all{{from, "TIMESTAMP"}, {to, "TIMESTAMP"}};
  if (!current.empty()) all.emplace_back(current, "BOOLEAN");
  if (!deleted.empty()) all.emplace_back(deleted, "BOOLEAN");
  if (!reported.empty()) all.emplace_back(reported, kReportedType);
  return all;
}

bool ValidityColumns::contains(std::string_view name) const {
  const auto all = columns();
  return std::any_of(all.begin(), all.end(), [name](const auto& one) { return text::same_word(one.first, name); });
}

ValidityColumns ValidityColumns::of_table(const std::function<bool(std::string_view)>& has_column) const {
  ValidityColumns held = *this;
  if (!deleted.empty() && !has_column(deleted)) held.deleted = {};
  return held;
}

duck::Sql ValidityColumns::is_open(std::string_view alias) const {
  const duck::Sql prefix = alias.empty() ? duck::Sql() : duck::Sql("{}.", duck::Identifier(std::string(alias)));
  if (!current.empty()) return duck::Sql("{}{}", prefix, duck::Identifier(std::string(current)));
  return duck::Sql("{}{} IS NULL", prefix, duck::Identifier(std::string(to)));
}

duck::Sql ValidityColumns::is_live(std::string_view alias) const {
  if (deleted.empty()) return is_open(alias);
  const duck::Sql prefix = alias.empty() ? duck::Sql() : duck::Sql("{}.", duck::Identifier(std::string(alias)));
  // NULL in rows that are older than the option.
  return duck::Sql("{} AND {}{} IS NOT TRUE", is_open(alias), prefix, duck::Identifier(std::string(deleted)));
}

ValidityColumns validity_columns(const Model& model) {
  ValidityColumns columns{"_valid_from", "_valid_to", {}, {}, {}};
  if (model.plane == Plane::Managed) columns = {"valid_from", "valid_to", "is_current", {}, {}};
  if (model.validity.size() >= 2) {
    columns.from = model.validity[0];
    columns.to = model.validity[1];
    columns.current = model.validity.size() > 2 ? std::string_view(model.validity[2]) : std::string_view();
  }
  if (model.deletes == Deletes::Mark) columns.deleted = kDeletedColumn;
  if (!model.valid_from.empty()) columns.reported = kReportedColumn;
  return columns;
}

}  // namespace weir
