#include "ops/promotion.h"

#include <fmt/format.h>

#include "ops/definitions.h"

namespace weir::ops {
namespace {

Result<void> judge(const std::string& from, const Definitions& definitions) {
  const std::string hint = "weir apply --env " + from;
  if (definitions.records.empty())
    return fail(Diagnostic{.code = Code::W2230, .message = "nothing was deployed to " + from, .hint = hint});
  Diagnostics problems;
  for (const auto& [model, text] : definitions.shown_texts)
    if (text.empty())
      problems.push_back({.code = Code::W5507,
                          .message = fmt::format("the text of what {} shows of {} is not known any more", from, model),
                          .hint = hint});
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

}  // namespace

Result<void> take_definitions(Workspace& workspace, const std::string& from) {
  WEIR_TRY(const Definitions definitions, definitions_in(workspace, from));
  WEIR_CHECK(judge(from, definitions));
  WEIR_TRY(OpenTexts texts, texts_of(workspace, from, definitions));
  // Tests are no part of a definition, and of data tests no text was recorded.
  const auto parser = Workspace::lazy_parser();
  WEIR_TRY(const Project files, load_project(workspace.root(), *parser));
  for (const CustomTest& test : files.custom_tests) texts.emplace(test.source->path, test.source->text);
  return workspace.use_texts(texts);
}

}  // namespace weir::ops
