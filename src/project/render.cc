#include "project/render.h"

#include <algorithm>
#include <set>

#include "duck/sql.h"
#include "parse/readers.h"
#include "project/macros.h"
#include "project/token_text.h"
#include "project/window_rows.h"
#include "text/lexer.h"

namespace weir {
namespace {

bool lies_in(Span inner, Span outer) { return inner.begin >= outer.begin && inner.end <= outer.end; }

/// The value of a parameter as a complete SQL expression of its declared type.
std::string argument_text(const Argument& argument, const std::map<std::string, std::string>& values) {
  const auto value = values.find(argument.name);
  const duck::Literal literal =
      value == values.end() ? duck::Literal::null() : duck::Literal(std::string_view(value->second));
  if (text::same_word(argument.type, "s3object")) return literal.rendered();
  return duck::Sql("CAST({} AS {})", literal, duck::Sql::verbatim(argument.type)).text();
}

void add_parameters(const Model& model, const parse::Statement& statement, const std::string& partition,
                    const std::map<std::string, std::string>& values, std::vector<parse::Replacement>& replacements) {
  for (const auto& [name, span] : statement.parameters) {
    const auto declared = std::find_if(model.arguments.begin(), model.arguments.end(),
                                       [&name = name](const Argument& a) { return text::same_word(a.name, name); });
    if (declared != model.arguments.end())
      replacements.push_back({span, argument_text(*declared, values)});
    else if (name == "partition" && model.partitioning)
      replacements.push_back({span, duck::Literal(std::string_view(partition)).rendered()});
    else if (const auto bound = window_bound(model, name, partition))
      replacements.push_back({span, timestamp_literal(*bound)});
  }
}

std::string with_partition(const Model& model, std::string path, const std::string& partition) {
  constexpr std::string_view kToken = "{partition}";
  if (!model.partitioning) return path;
  for (auto at = path.find(kToken); at != std::string::npos; at = path.find(kToken, at + partition.size()))
    path.replace(at, kToken.size(), partition);
  return path;
}

void add_reference(const Reference& reference, const WhereToRead& where,
                   std::vector<parse::Replacement>& replacements) {
  std::string relation = where(reference);
  if (reference.is_table_form) relation.insert(0, "FROM ");
  if (!reference.alias.empty()) relation += " AS " + duck::quote_identifier(reference.alias);
  replacements.push_back({reference.span, std::move(relation)});
}

bool is_lake_or_database(const parse::Statement& statement) {
  return statement.kind == parse::StatementKind::Attach &&
         (statement.attach_uri.starts_with("ducklake") || statement.attach_uri.starts_with("datatable"));
}

}  // namespace

bool is_answered(const Model& model, const parse::Statement& statement) {
  if (statement.kind == parse::StatementKind::Install || statement.kind == parse::StatementKind::Load ||
      is_lake_or_database(statement))
    return true;
  if (statement.kind != parse::StatementKind::Use) return false;
  const std::string_view alias = std::string_view(statement.alias).substr(0, statement.alias.find('.'));
  return std::any_of(
      model.script.statements.begin(), model.script.statements.end(),
      [alias](const parse::Statement& one) { return is_lake_or_database(one) && text::same_word(one.alias, alias); });
}

parse::Spliced splice_statement(const Model& model, std::size_t index, const WhereToRead& where,
                                const std::string& partition, const std::map<std::string, std::string>& arguments,
                                std::vector<parse::Replacement> more) {
  const parse::Statement& statement = model.script.statements[index];
  if (is_answered(model, statement)) return {};
  std::vector<parse::Replacement> replacements = std::move(more);
  for (parse::Replacement& guard : parse::guard_readers(model.source->text, statement.span))
    replacements.push_back(std::move(guard));
  for (const Reference& reference : model.references) {
    if (reference.statement != index) continue;
    add_reference(reference, where, replacements);
  }
  for (const QualifierCut& cut : model.cuts)
    if (lies_in(cut.span, statement.span)) replacements.push_back({cut.span, duck::quote_identifier(cut.alias)});
  // A path replaces its whole literal, so a token within is filled in here; Spliced::make drops the replacement that it
  // covers.
  for (const auto& [span, path] : model.storage_paths)
    if (lies_in(span, statement.span))
      replacements.push_back({span, duck::quote_text(with_partition(model, path, partition))});
  for (parse::Replacement& token : token_replacements(model, statement, partition))
    replacements.push_back(std::move(token));
  add_parameters(model, statement, partition, arguments, replacements);
  return parse::Spliced::make(model.source->text, statement.span, std::move(replacements));
}

parse::Spliced splice_macro(const Model& model, std::size_t index, const WhereToRead& where,
                            const std::string& partition, std::vector<parse::Replacement> more) {
  const MacroDefinition& macro = model.macros[index];
  if (macro.is_setup() && is_answered(model, macro.statement)) return {};
  std::vector<parse::Replacement> replacements = std::move(more);
  if (!macro.is_setup())
    if (const auto head = read_macro_head(macro.source->text, macro.statement.span))
      replacements.push_back({head->words, "CREATE OR REPLACE TEMP MACRO"});
  if (model.plane != Plane::Manual)
    for (parse::Replacement& guard : parse::guard_readers(macro.source->text, macro.statement.span))
      replacements.push_back(std::move(guard));
  for (const Reference& reference : model.references) {
    if (reference.macro != index || model.plane == Plane::Manual) continue;
    add_reference(reference, where, replacements);
  }
  if (model.plane != Plane::Manual)
    for (const QualifierCut& cut : macro.cuts) replacements.push_back({cut.span, duck::quote_identifier(cut.alias)});
  for (const auto& [span, path] : macro.storage_paths)
    replacements.push_back({span, duck::quote_text(with_partition(model, path, partition))});
  for (parse::Replacement& token : token_replacements(model, macro, partition))
    replacements.push_back(std::move(token));
  return parse::Spliced::make(macro.source->text, macro.statement.span, std::move(replacements), macro.source->path);
}

parse::Spliced splice_test(const Model& model, const TestQuery& query, const std::string& target,
                           const WhereToRead& where, const std::string& partition,
                           std::vector<parse::Replacement> more) {
  std::vector<parse::Replacement> replacements = std::move(more);
  for (parse::Replacement& guard : parse::guard_readers(query.source->text, query.statement.span))
    replacements.push_back(std::move(guard));
  const auto own = [&target](const Reference&) { return target; };
  for (const Reference& reference : query.targets) add_reference(reference, own, replacements);
  for (const Reference& reference : query.references) add_reference(reference, where, replacements);
  for (const QualifierCut& cut : query.cuts) replacements.push_back({cut.span, duck::quote_identifier(cut.alias)});
  for (const auto& [span, path] : query.storage_paths)
    replacements.push_back({span, duck::quote_text(with_partition(model, path, partition))});
  for (parse::Replacement& token : token_replacements(model, query, partition))
    replacements.push_back(std::move(token));
  add_parameters(model, query.statement, partition, {}, replacements);
  return parse::Spliced::make(query.source->text, query.statement.span, std::move(replacements),
                              query.is_in_header ? std::string() : query.source->path);
}

parse::Spliced splice_manual(const Model& model, std::size_t index, const std::string& partition,
                             const std::map<std::string, std::string>& arguments) {
  const parse::Statement& statement = model.script.statements[index];
  std::vector<parse::Replacement> replacements;
  add_parameters(model, statement, partition, arguments, replacements);
  return parse::Spliced::make(model.source->text, statement.span, std::move(replacements));
}

}  // namespace weir
