#include "build/work.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "build/names.h"

namespace weir::build {
namespace {

constexpr std::size_t kLongestShown = 80;

std::string shown(std::string value) {
  if (value.size() <= kLongestShown) return value;
  std::size_t end = kLongestShown;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
  return value.substr(0, end) + "…";
}

bool is_plain_name(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 0x80; });
}

// True if the outermost SELECT has an expression without alias that is neither a column nor a star. `named` gets the
// aliases.
bool has_unnamed_expression(const nlohmann::json& tree, std::set<std::string>& named) {
  if (!tree.is_object() || tree.value("error", true) || !tree.contains("statements")) return false;
  const nlohmann::json* node = &tree["statements"][0]["node"];
  while (node->is_object() && node->contains("left") && !node->contains("select_list")) node = &(*node)["left"];
  if (!node->is_object() || !node->contains("select_list")) return false;
  const auto& list = (*node)["select_list"];
  for (const auto& expression : list) named.insert(expression.value("alias", ""));
  return std::any_of(list.begin(), list.end(), [](const auto& expression) {
    const std::string kind = expression.value("class", "");
    return expression.value("alias", "").empty() && kind != "COLUMN_REF" && kind != "STAR";
  });
}

}  // namespace

Diagnostic Work::about(Code code, std::string message, std::string hint) const {
  return {code,
          Severity::Error,
          std::move(message),
          request.model.source->path,
          request.model.script.statements.empty() ? Span{} : request.model.result().span,
          std::move(hint)};
}

Diagnostic Work::warning(Code code, std::string message) const {
  Diagnostic said = about(code, std::move(message));
  said.severity = Severity::Warning;
  return said;
}

bool Work::may_show(const std::string& column) const {
  return request.samples && std::none_of(request.private_columns.begin(), request.private_columns.end(),
                                         [&](const auto& hidden) { return same_name(hidden, column); });
}

std::string Work::one_value(const std::string& column, const std::string& value) const {
  return may_show(column) ? ", for example " + shown(value) : "";
}

std::string Work::sample_text(const duck::Rows& sample) const {
  if (!request.samples || sample.size() == 0) return "";
  std::string text;
  for (std::size_t i = 0; i < sample.size(); ++i) text += (i == 0 ? ": " : ", ") + shown(sample.text(i, 0));
  return text;
}

Diagnostic Work::lost_values(const Cell& cell, std::int64_t count, const duck::Rows& sample) const {
  const std::string values = may_show(cell.source) ? sample_text(sample) : "";
  return about(
      Code::W4202,
      fmt::format("{} of {} {} not survive the cast from {} to {}{}",
                  count == 1 ? "1 value" : fmt::format("{} values", count), cell.source, count == 1 ? "does" : "do",
                  cell.raw_type, cell.type, values),
      fmt::format("cast or round {} in the query, or give the table the query's type: weir run {} --full-refresh "
                  "rebuilds it",
                  duck::quote_identifier(cell.source), request.model.path));
}

duck::Sql sample_columns(const Layout& layout, const StageRequest& request) {
  std::vector<duck::Sql> columns;
  for (const Cell& cell : layout.cells) {
    const duck::Identifier name(cell.name);
    const bool is_private = std::any_of(request.private_columns.begin(), request.private_columns.end(),
                                        [&](const auto& hidden) { return same_name(hidden, cell.name); });
    columns.push_back(is_private ? duck::Sql("CASE WHEN stage.{} IS NOT NULL THEN '•••' END AS {}", name, name)
                                 : duck::Sql("stage.{}", name));
  }
  return duck::Sql::join(columns, ", ");
}

Result<void> note_unnamed(Work& work, const std::vector<duck::Column>& result, Diagnostics& notes) {
  std::vector<std::string> suspects;
  for (const auto& column : result)
    if (!is_plain_name(column.name)) suspects.push_back(column.name);
  if (suspects.empty()) return {};
  auto tree = work.connection.query(duck::Sql("SELECT CAST(system.main.json_serialize_sql({}) AS VARCHAR)",
                                              duck::Literal(work.request.query.text())));
  if (!tree) return work.failed(tree.error(), work.request.query, std::nullopt);
  std::set<std::string> named;
  if (!has_unnamed_expression(nlohmann::json::parse(tree->text(0, 0), nullptr, false), named)) return {};
  std::erase_if(suspects, [&named](const std::string& name) { return named.contains(name); });
  for (const auto& name : suspects)
    notes.push_back(
        work.warning(Code::W4102, fmt::format("the query does not name the column {}: give it a name with AS", name)));
  return {};
}

}  // namespace weir::build
