#include "plan/effect.h"

#include <algorithm>

#include "text/lexer.h"

namespace weir::plan {
namespace {

using bind::BoundColumn;
using bind::BoundModel;

/// (asset, column), both in lower case.
using Source = std::pair<std::string, std::string>;

Source source_of(const bind::AssetColumn& column) { return {text::lower(column.asset), text::lower(column.column)}; }

std::set<Source> values_of(const BoundColumn& column) {
  std::set<Source> sources;
  for (const bind::ColumnOrigin& origin : column.from)
    if (!origin.is_declared) sources.insert(source_of(origin.from));
  return sources;
}

std::set<std::pair<Source, bind::RowRole>> rows_of(const BoundModel& model) {
  std::set<std::pair<Source, bind::RowRole>> rows;
  for (const bind::RowOrigin& origin : model.rows) rows.emplace(source_of(origin.from), origin.role);
  return rows;
}

/// Columns by name; nothing if two have the same.
std::optional<std::map<std::string, const BoundColumn*>> by_name(const BoundModel& model) {
  std::map<std::string, const BoundColumn*> columns;
  for (const BoundColumn& column : model.columns)
    if (!columns.emplace(text::lower(column.name), &column).second) return std::nullopt;
  return columns;
}

std::string quoted(const std::string& name) { return "`" + name + "`"; }

class Spreading {
 public:
  Spreading(const Model& model, const QueryDiff& query, const std::vector<ChangedInput>& inputs,
            const BoundModel& before, const BoundModel& after)
      : model_(model), query_(query), inputs_(inputs), before_(before), after_(after) {}

  Spread run() {
    if (query_.is_everything) return everything(query_.why);
    for (const ChangedInput& input : inputs_)
      if (input.effect->is_everything) {
        result_.from.insert(input.path);
        return everything("reads " + quoted(input.path) + ", whose rows may differ");
      }
    const auto before = by_name(before_);
    const auto after = by_name(after_);
    if (!before || !after) return everything("two of its columns have one name");
    compare_columns(*before, *after);
    for (const auto& [name, column] : *after)
      if (const auto old = before->find(name); old != before->end()) follow(name, *old->second, *column);
    follow_new(*before, *after);
    if (!follow_rows()) return std::move(result_);
    if (auto name = decided_by()) return everything("column " + quoted(*name) + " decides which rows it keeps");
    return std::move(result_);
  }

 private:
  Effect& effect() { return result_.effect; }
  Spread everything(std::string why) {
    effect().is_everything = true;
    effect().why = std::move(why);
    return std::move(result_);
  }

  void compare_columns(const std::map<std::string, const BoundColumn*>& before,
                       const std::map<std::string, const BoundColumn*>& after) {
    for (const auto& [name, column] : before) {
      const auto now = after.find(name);
      const bool is_same = now != after.end() && now->second->name == column->name && now->second->type == column->type;
      if (!is_same || query_.changed.contains(name) || query_.gone.contains(name) || query_.added.contains(name))
        effect().touched.insert(name);
    }
    for (const auto& [name, column] : after)
      if (!before.contains(name)) effect().added.insert(name);
    const auto order = [](const BoundModel& model, const auto& other) {
      std::vector<std::string> names;
      for (const BoundColumn& column : model.columns)
        if (other.contains(text::lower(column.name))) names.push_back(text::lower(column.name));
      return names;
    };
    effect().is_reordered = order(before_, after) != order(after_, before);
  }

  const ChangedInput* input_of(const Source& source) const {
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [&](const ChangedInput& one) { return one.asset == source.first; });
    return found == inputs_.end() ? nullptr : &*found;
  }

  void note(const ChangedInput& input, const std::string& reason) {
    if (result_.from.insert(input.path).second) result_.reasons.push_back(reason);
  }
  void note_choice(const ChangedInput& input, const std::string& column) {
    result_.chosen_from.insert(input.path);
    if (effect().choice.empty())
      effect().choice = "reads " + quoted(column) + " of " + quoted(input.path) +
                        ", which is built anew, and may come out differently: " + input.effect->choice;
  }

  void follow(const std::string& name, const BoundColumn& before, const BoundColumn& after) {
    const std::set<Source> old_sources = values_of(before);
    std::set<Source> sources = values_of(after);
    if (old_sources != sources) effect().touched.insert(name);
    sources.insert(old_sources.begin(), old_sources.end());
    for (const Source& source : sources) {
      const ChangedInput* input = input_of(source);
      if (input == nullptr) continue;
      const Effect& from = *input->effect;
      if (from.touched.contains(source.second) || from.added.contains(source.second)) {
        effect().touched.insert(name);
        note(*input, "reads " + quoted(source.second) + " of " + quoted(input->path) + ", which changed");
      }
      if (from.may_choose_rows || from.may_choose.contains(source.second)) {
        effect().may_choose.insert(name);
        note_choice(*input, source.second);
      }
    }
  }

  /// A new column that a star brings is a reason of its own.
  void follow_new(const std::map<std::string, const BoundColumn*>& before,
                  const std::map<std::string, const BoundColumn*>& after) {
    const auto look = [&](const auto& here, const auto& there, const char* what) {
      for (const auto& [name, column] : here) {
        if (there.contains(name)) continue;
        for (const Source& source : values_of(*column))
          if (const ChangedInput* input = input_of(source);
              input != nullptr &&
              (input->effect->added.contains(source.second) || input->effect->touched.contains(source.second)))
            note(*input, std::string(what) + quoted(source.second) + " of " + quoted(input->path));
      }
    };
    look(after, before, "takes in ");
    look(before, after, "loses ");
  }

  /// False if everything may differ.
  bool follow_rows() {
    const auto old_rows = rows_of(before_);
    auto rows = rows_of(after_);
    // An edit may add a subquery with rows of its own; that of the model's rows nothing changed is `query`'s to say.
    const bool is_same_text = query_.is_clean() && !query_.is_ordered_anew;
    const bool means_other_columns = is_same_text && old_rows != rows;
    rows.insert(old_rows.begin(), old_rows.end());
    for (const auto& [source, role] : rows) {
      const ChangedInput* input = input_of(source);
      if (input == nullptr) continue;
      const Effect& from = *input->effect;
      if (from.touched.contains(source.second) || from.added.contains(source.second)) {
        result_.from.insert(input->path);
        effect().is_everything = true;
        effect().why = "its rows go by " + quoted(source.second) + " of " + quoted(input->path) + ", which changed";
        return false;
      }
      if (from.may_choose.contains(source.second)) {
        effect().may_choose_rows = true;
        note_choice(*input, source.second);
      }
    }
    if (means_other_columns) {
      effect().is_everything = true;
      effect().why = "names in its query mean other columns than before";
      return false;
    }
    for (const ChangedInput& input : inputs_)
      if (input.effect->may_choose_rows) {
        effect().may_choose_rows = true;
        result_.chosen_from.insert(input.path);
        if (effect().choice.empty())
          effect().choice = "reads " + quoted(input.path) +
                            ", which is built anew, and may come out with other rows: " + input.effect->choice;
      }
    return true;
  }

  std::optional<std::string> decided_by() {
    if (effect().touched.empty() && effect().added.empty()) return std::nullopt;
    if (model_.is_history()) return effect().touched.empty() ? *effect().added.begin() : *effect().touched.begin();
    for (const std::string& name : deciding_columns(model_))
      if (effect().touched.contains(name)) return name;
    return std::nullopt;
  }

  const Model& model_;
  const QueryDiff& query_;
  const std::vector<ChangedInput>& inputs_;
  const BoundModel& before_;
  const BoundModel& after_;
  Spread result_;
};

}  // namespace

std::set<std::string> deciding_columns(const Model& model) {
  std::set<std::string> names;
  for (const auto* columns : {&model.key, &model.order, &model.track})
    for (const std::string& name : *columns) names.insert(text::lower(name.substr(0, name.find(' '))));
  if (!model.time_column.empty()) names.insert(text::lower(model.time_column));
  if (!model.valid_from.empty()) names.insert(text::lower(model.valid_from));
  return names;
}

Spread spread(const Model& model, const QueryDiff& query, const std::vector<ChangedInput>& inputs,
              const bind::BoundModel& before, const bind::BoundModel& after) {
  return Spreading(model, query, inputs, before, after).run();
}

}  // namespace weir::plan
