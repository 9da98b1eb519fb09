#include "run/inline.h"

#include <map>

namespace weir::run {

std::string inlined(const Model& model, const WhereToRead& where) {
  std::map<std::string, std::string> arguments;
  for (const Argument& argument : model.arguments)
    if (argument.default_value) arguments[argument.name] = *argument.default_value;
  const parse::Spliced query = splice_statement(model, model.script.statements.size() - 1, where, {}, arguments);
  // A comment at the end of the query must not swallow the parenthesis.
  return "(" + query.text() + "\n)";
}

}  // namespace weir::run
