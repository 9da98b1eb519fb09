#include "project/render.h"

#include <algorithm>
#include <set>

#include "duck/sql.h"
#include "text/lexer.h"

namespace weir {
namespace {

bool lies_in(Span inner, Span outer) { return inner.begin >= outer.begin && inner.end <= outer.end; }

/// The value of a parameter as a complete SQL expression of its declared type.
std::string argument_text(const Argument& argument, const std::map<std::string, std::string>& values) {
  const auto value = values.find(argument.name);
  const duck::Literal literal = value == values.end() ? duck::Literal::null() : duck::Literal(std::string_view(value->second));
  if (text::same_word(argument.type, "s3object")) return literal.rendered();
  return duck::Sql("CAST({} AS {})", literal, duck::Sql::verbatim(argument.type)).text();
}

void add_parameters(const Model& model, const parse::Statement& statement, const std::string& partition,
                    const std::map<std::string, std::string>& values, std::vector<parse::Replacement>& replacements) {
  for (const auto& [name, span] : statement.parameters) {
    const auto declared = std::find_if(model.arguments.begin(), model.arguments.end(), [&name = name](const Argument& a) { return text::same_word(a.name, name); });
    if (declared != model.arguments.end()) replacements.push_back({span, argument_text(*declared, values)});
    else if (name == "partition" && model.partitioning) replacements.push_back({span, duck::Literal(std::string_view(partition)).rendered()});
  }
}

/// Inside a longer literal the token is text with its quotes doubled; elsewhere it is a literal of its own.
std::string token_text(const Model::Token& token, const std::string& partition) {
  const std::string literal = duck::quote_text(partition);
  return token.form == Model::TokenForm::Literal ? literal : literal.substr(1, literal.size() - 2);
}

}  // namespace

parse::Spliced splice_statement(const Model& model, std::size_t index, const WhereToRead& where, const std::string& partition,
                                const std::map<std::string, std::string>& arguments) {
  const parse::Statement& statement = model.script.statements[index];
  switch (statement.kind) {
    case parse::StatementKind::Attach:
    case parse::StatementKind::Use:
    case parse::StatementKind::Install:
    case parse::StatementKind::Load: return {};
    default: break;
  }
  std::vector<parse::Replacement> replacements;
  for (const Reference& reference : model.references) {
    if (reference.statement != index) continue;
    std::string relation = where(reference);
    if (!reference.alias.empty()) relation += " AS " + duck::quote_identifier(reference.alias);
    replacements.push_back({reference.span, std::move(relation)});
  }
  for (const QualifierCut& cut : model.cuts)
    if (lies_in(cut.span, statement.span)) replacements.push_back({cut.span, duck::quote_identifier(cut.alias)});
  if (model.partitioning)
    for (const Model::Token& token : model.tokens)
      if (lies_in(token.span, statement.span) && token.name == "partition") replacements.push_back({token.span, token_text(token, partition)});
  for (const auto& [span, path] : model.storage_paths)
    if (lies_in(span, statement.span)) replacements.push_back({span, duck::quote_text(path)});
  add_parameters(model, statement, partition, arguments, replacements);
  return parse::Spliced::make(model.source->text, statement.span, std::move(replacements));
}

parse::Spliced splice_manual(const Model& model, std::size_t index, const std::string& partition, const std::map<std::string, std::string>& arguments) {
  const parse::Statement& statement = model.script.statements[index];
  std::vector<parse::Replacement> replacements;
  add_parameters(model, statement, partition, arguments, replacements);
  return parse::Spliced::make(model.source->text, statement.span, std::move(replacements));
}

}  // namespace weir
