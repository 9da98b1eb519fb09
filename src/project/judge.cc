#include "project/judge.h"

namespace weir {

Judgement judge_file(std::shared_ptr<const Source> source, const std::string& model_path, const Config&) {
  Judgement judgement;
  judgement.blanked_sql = source->text;
  judgement.model.path = model_path;
  judgement.model.source = std::move(source);
  return judgement;
}

}  // namespace weir
