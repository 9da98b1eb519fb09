#include "project/contract.h"

#include <fmt/format.h>

#include <algorithm>

#include "project/validity.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir {
namespace {

constexpr std::string_view kPartitionColumn = "_wm_partition";

using text::TokenKind;

/// True if the text can only be a type where a type is asked for: no end of statement or of a parenthesis around it.
bool may_be_type(std::string_view type) {
  int depth = 0;
  bool is_empty = true;
  for (const text::Token& token : text::lex(type)) {
    const char first = type[token.span.begin];
    if (!token.is_closed || token.is_comment() || token.kind == TokenKind::Semicolon ||
        token.kind == TokenKind::Operator || token.kind == TokenKind::Parameter)
      return false;
    if (first == '(' && token.kind == TokenKind::Punctuation) ++depth;
    if (first == ')' && token.kind == TokenKind::Punctuation && --depth < 0) return false;
    is_empty = false;
  }
  return depth == 0 && !is_empty;
}

duck::Sql cast_to(const std::string& type) { return {"CAST(NULL AS {})", duck::Sql::verbatim(type)}; }

Diagnostic unknown_type(const Model& model, const ContractColumn& column, const std::string& why) {
  return {.code = Code::W2404,
          .message = fmt::format("`{}` of column {} is no type: {}", *column.type, column.name, why),
          .path = model.source->path,
          .span = column.span,
          .hint = "write it as SQL does: BIGINT, DECIMAL(18,2), STRUCT(a INTEGER)"};
}

}  // namespace

Result<std::vector<std::optional<std::string>>> contract_types(duck::Connection& connection, const Model& model) {
  std::vector<std::optional<std::string>> types(model.contract.size());
  std::vector<duck::Sql> casts;
  std::vector<std::size_t> places;
  Diagnostics errors;
  for (std::size_t i = 0; i < model.contract.size(); ++i) {
    const auto& type = model.contract[i].type;
    if (!type) continue;
    if (!may_be_type(*type)) {
      errors.push_back(unknown_type(model, model.contract[i], "not one type alone"));
      continue;
    }
    casts.push_back(cast_to(*type));
    places.push_back(i);
  }
  if (casts.empty() && errors.empty()) return types;
  if (!casts.empty()) {
    if (const auto all = connection.describe(duck::Sql("SELECT {}", duck::Sql::join(casts, ", "))); all) {
      for (std::size_t i = 0; i < places.size(); ++i) types[places[i]] = all->at(i).type;
    } else {
      // One by one, to see whose fault it is.
      for (const std::size_t place : places) {
        const auto one = connection.describe(duck::Sql("SELECT {}", cast_to(*model.contract[place].type)));
        if (!one)
          errors.push_back(unknown_type(model, model.contract[place],
                                        one.error().message.substr(0, one.error().message.find('\n'))));
      }
      std::stable_sort(errors.begin(), errors.end(),
                       [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
      if (errors.empty()) return fail(Diagnostic{.code = Code::W4001, .message = all.error().message});
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return types;
}

void add_kept_columns(const Model& model, std::vector<duck::Column>& columns) {
  const auto add = [&columns](std::string_view name, std::string_view type) {
    const bool is_there = std::any_of(columns.begin(), columns.end(),
                                      [name](const duck::Column& one) { return text::same_word(one.name, name); });
    if (!is_there) columns.push_back({std::string(name), std::string(type)});
  };
  if (model.is_history())
    for (const auto& [name, type] : validity_columns(model).columns()) add(name, type);
  if (model.keep_hash) add(kHashColumn, "VARCHAR");
  if (model.partitioning && model.plane == Plane::Managed) add(kPartitionColumn, "VARCHAR");
}

std::optional<std::vector<duck::Column>> declared_table(const Model& model,
                                                        const std::vector<std::optional<std::string>>& types) {
  if (model.contract.empty()) return std::nullopt;
  std::vector<duck::Column> columns;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!types[i]) return std::nullopt;
    columns.push_back({model.contract[i].name, *types[i]});
  }
  add_kept_columns(model, columns);
  return columns;
}

Diagnostics judge_contract(const Model& model, const std::vector<std::optional<std::string>>& types,
                           const std::vector<duck::Column>& columns) {
  Diagnostics found;
  std::vector<std::string> names;
  for (const duck::Column& column : columns) names.push_back(column.name);
  const auto report = [&](Code code, Span span, std::string message, std::string hint) {
    found.push_back({code, Severity::Error, std::move(message), model.source->path, span, std::move(hint)});
  };
  for (std::size_t i = 0; i < model.contract.size(); ++i) {
    const ContractColumn& wanted = model.contract[i];
    const auto has = std::find_if(columns.begin(), columns.end(), [&wanted](const duck::Column& column) {
      return text::same_word(column.name, wanted.name);
    });
    if (has == columns.end()) {
      const auto near = text::nearest(wanted.name, names);
      report(
          Code::W2401, wanted.span,
          fmt::format("the contract of {} names the column {}, which the query does not have", model.path, wanted.name),
          near ? fmt::format("it has `{}`: correct one of the two names", *near)
               : "add it to the query, or take it from `columns:`");
    } else if (types[i] && *types[i] != has->type) {
      report(
          Code::W2402, wanted.span,
          fmt::format("column {} of {} is {}, and its contract says {}", has->name, model.path, has->type, *types[i]),
          fmt::format("CAST({} AS {}) in the query, or change `columns:`", duck::quote_identifier(has->name),
                      *types[i]));
    }
  }
  if (!model.contract_exact) return found;
  for (const duck::Column& column : columns) {
    const bool is_named = std::any_of(model.contract.begin(), model.contract.end(), [&column](const auto& wanted) {
      return text::same_word(column.name, wanted.name);
    });
    if (!is_named)
      report(Code::W2403, model.contract.empty() ? Span{} : model.contract.front().span,
             fmt::format("column {} ({}) of {} is not in its contract, which is exact", column.name, column.type,
                         model.path),
             "name it under `columns:`, or leave it out of the query");
  }
  return found;
}

Result<void> check_contract(duck::Connection& connection, const Model& model,
                            const std::vector<duck::Column>& columns) {
  if (model.contract.empty()) return {};
  WEIR_TRY(const auto types, contract_types(connection, model));
  std::vector<duck::Column> spelled = columns;
  for (duck::Column& column : spelled) {
    const bool is_asked = std::any_of(model.contract.begin(), model.contract.end(), [&column](const auto& wanted) {
      return wanted.type && text::same_word(wanted.name, column.name);
    });
    if (!is_asked) continue;
    // Both sides in one spelling; a type that no cast can name (an untyped NULL) stays as it is.
    if (auto one = connection.describe(duck::Sql("SELECT {}", cast_to(column.type))); one) column.type = (*one)[0].type;
  }
  if (Diagnostics found = judge_contract(model, types, spelled); !found.empty()) return fail(std::move(found));
  return {};
}

}  // namespace weir
