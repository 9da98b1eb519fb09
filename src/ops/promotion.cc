#include "ops/promotion.h"

#include <fmt/format.h>

#include "ops/definitions.h"
#include "plan/fingerprint.h"

namespace weir::ops {
namespace {

Diagnostic not_known(const std::string& from, const std::string& model) {
  return {.code = Code::W5507,
          .message = fmt::format("the text of what {} shows of {} is not known any more", from, model),
          .hint = "weir apply --env " + from};
}

Result<void> judge(const std::string& from, const Definitions& definitions) {
  if (definitions.records.empty())
    return fail(Diagnostic{
        .code = Code::W2230, .message = "nothing was deployed to " + from, .hint = "weir apply --env " + from});
  Diagnostics problems;
  for (const auto& [model, made_of] : definitions.shown)
    if (made_of.file.empty()) problems.push_back(not_known(from, model));
  if (!problems.empty()) return fail(std::move(problems));
  return {};
}

/// Texts of one time may mean something else beside those of another: macros of a library that changed between.
Result<void> judge_meaning(const std::string& from, const Definitions& definitions, const Project& project) {
  Diagnostics problems;
  for (const Model& model : project.models) {
    const auto made_of = definitions.shown.find(model.path);
    if (made_of != definitions.shown.end() && made_of->second.local != plan::local_fingerprint(model))
      problems.push_back(not_known(from, model.path));
  }
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
  WEIR_CHECK(workspace.use_texts(texts));
  WEIR_TRY(const Project* project, workspace.project());
  return judge_meaning(from, definitions, *project);
}

}  // namespace weir::ops
