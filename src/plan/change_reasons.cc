#include "plan/change_reasons.h"

#include <algorithm>

namespace weir::plan {
namespace {

constexpr std::size_t kMostNames = 5;

/// "`a`, `b` and `c`".
std::string listed(const std::vector<std::string>& names) {
  std::string all;
  const std::size_t shown = std::min(names.size(), kMostNames);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == names.size();
    if (i > 0) all += is_last ? " and " : ", ";
    all += "`" + names[i] + "`";
  }
  if (names.size() > shown) all += " and " + std::to_string(names.size() - shown) + " more";
  return all;
}

std::string columns(const std::set<std::string>& names, std::string_view one, std::string_view several) {
  if (names.empty()) return {};
  const std::vector<std::string> all(names.begin(), names.end());
  return (all.size() == 1 ? "column " : "columns ") + listed(all) + " " + std::string(all.size() == 1 ? one : several);
}

class Sentence {
 public:
  void add(const std::string& part) {
    if (part.empty()) return;
    if (!text_.empty()) text_ += "; ";
    text_ += part;
  }
  bool empty() const { return text_.empty(); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// What the edit itself did.
void add_edit(Sentence& sentence, const DefinitionDiff& definition, const Effect& effect) {
  const QueryDiff& query = definition.query;
  if (!definition.macros.empty())
    sentence.add((definition.macros.size() == 1 ? "macro " : "macros ") + listed(definition.macros) + " changed");
  sentence.add(columns(query.changed, "changed its expression", "changed their expressions"));
  sentence.add(columns(query.gone, "is gone", "are gone"));
  sentence.add(columns(query.added, "is new", "are new"));
  if (query.is_ordered_anew) sentence.add("its rows are written in another order");
  if (effect.is_reordered && query.added.empty()) sentence.add("its columns stand in another order");
}

/// Columns that differ for no reason named so far.
std::set<std::string> rest_of(const std::set<std::string>& all, const QueryDiff& query) {
  std::set<std::string> rest;
  for (const std::string& name : all)
    if (!query.changed.contains(name) && !query.gone.contains(name) && !query.added.contains(name)) rest.insert(name);
  return rest;
}

}  // namespace

std::string reason_of(const ModelChange& change, const DefinitionDiff& definition, const Spread& reached) {
  const Effect& effect = reached.effect;
  Sentence sentence;
  if (effect.is_everything) {
    if (!definition.macros.empty())
      sentence.add((definition.macros.size() == 1 ? "macro " : "macros ") + listed(definition.macros) + " changed");
    sentence.add(effect.why);
    return sentence.take();
  }
  add_edit(sentence, definition, effect);
  for (const std::string& reason : reached.reasons) sentence.add(reason);
  if (reached.reasons.empty()) {
    sentence.add(columns(rest_of(effect.touched, definition.query), "has another type or spelling",
                         "have other types or spellings"));
    sentence.add(columns(rest_of(effect.added, definition.query), "is new", "are new"));
  }
  if (sentence.empty() && effect.may_choose_any()) sentence.add(effect.choice);
  if (definition.is_gate_alone) sentence.add("it is delivered in other environments, with the same rows");
  if (!change.reuse) return sentence.take();
  if (sentence.empty())
    sentence.add(change.kind == ChangeKind::Modified ? "its edit changes neither its columns nor its rows"
                                                     : "reads nothing of what changed above it");
  return sentence.take();
}

std::string readers_in_words(const std::vector<std::string>& readers, const Effect& effect) {
  if (readers.empty()) return {};
  const bool is_one = effect.touched.size() + effect.added.size() <= 1 || effect.is_everything;
  return "; " + listed(readers) + (readers.size() == 1 ? " reads " : " read ") + (is_one ? "it" : "them");
}

}  // namespace weir::plan
