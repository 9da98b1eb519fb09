#include "project/setup.h"

#include "project/partition_macro.h"

namespace weir {

std::vector<SetupStatement> macros_before(const Model& model, std::size_t index, const WhereToRead& where,
                                          const std::string& partition, SetupFor purpose,
                                          const std::map<std::string, std::vector<parse::Replacement>>& more) {
  std::vector<SetupStatement> made;
  for (std::size_t i = 0; i < model.macros.size(); ++i) {
    const MacroDefinition& macro = model.macros[i];
    if (macro.before != index || (macro.is_for_tests && purpose != SetupFor::Tests)) continue;
    const auto own = more.find(macro.source->path);
    parse::Spliced sql =
        splice_macro(model, i, where, partition, own == more.end() ? std::vector<parse::Replacement>() : own->second);
    if (!sql.text().empty()) made.push_back({std::move(sql), &macro.statement});
  }
  return made;
}

std::vector<SetupStatement> setup_statements(const Model& model, const WhereToRead& where, const std::string& partition,
                                             const std::map<std::string, std::string>& arguments, SetupFor purpose) {
  std::vector<SetupStatement> made;
  for (const duck::Sql& macro : partition_macros(model)) made.push_back({parse::Spliced::generated(macro), nullptr});
  for (std::size_t i = 0; i < model.script.statements.size(); ++i) {
    for (SetupStatement& one : macros_before(model, i, where, partition, purpose)) made.push_back(std::move(one));
    if (i + 1 == model.script.statements.size()) break;
    parse::Spliced sql = splice_statement(model, i, where, partition, arguments);
    if (!sql.text().empty()) made.push_back({std::move(sql), &model.script.statements[i]});
  }
  return made;
}

}  // namespace weir
