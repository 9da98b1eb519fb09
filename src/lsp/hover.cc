// Hover: what a name is, in a few lines of Markdown.
#include <fmt/format.h>

#include "calendar/partition.h"
#include "lsp/features.h"
#include "lsp/json.h"
#include "lsp/thing.h"

namespace weir::lsp {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "`" : ", `") + word + "`";
  return text;
}

std::string list_of(const std::vector<std::string_view>& words) { return joined({words.begin(), words.end()}); }

std::string fenced(const std::string& sql) { return "```sql\n" + sql + "\n```\n"; }

std::string about_keyword(const KeywordEntry& keyword) {
  std::string text = fmt::format("`{}`\n\n{}\n", keyword.shape, keyword.meaning);
  if (!keyword.heads.empty()) text += fmt::format("\nFirst word: {}\n", list_of(keyword.heads));
  for (const OptionEntry& option : keyword.options) {
    text += fmt::format("\n- `{}`: {}", option.name, option.meaning);
    if (!option.values.empty()) text += fmt::format(" ({})", list_of(option.values));
  }
  return text;
}

std::string about_option(const Thing& thing) {
  if (thing.option == nullptr) return about_keyword(*thing.keyword);
  std::string text =
      fmt::format("`{}` of `{}`\n\n{}\n", thing.option->name, thing.keyword->name, thing.option->meaning);
  if (!thing.option->values.empty()) text += fmt::format("\nValues: {}\n", list_of(thing.option->values));
  return text;
}

/// How the model's header was understood.
std::string about_model(const Model& model) {
  std::string text = fmt::format("model `{}` · plane {}", model.path, name_of(model.plane));
  if (model.plane != Plane::Manual) text += fmt::format(" · strategy {}", name_of(model.strategy));
  if (model.partitioning) text += fmt::format(" · partitioned {}", calendar::name_of(model.partitioning->kind));
  text += "\n";
  if (model.target) text += fmt::format("\n- target `{}`", model.target->uri());
  if (!model.key.empty()) text += "\n- key " + joined(model.key);
  if (!model.track.empty()) text += "\n- track " + joined(model.track);
  if (!model.valid_from.empty()) text += "\n- valid_from " + model.valid_from;
  if (model.deletes != Deletes::Leave) text += fmt::format("\n- deletes {}", name_of(model.deletes));
  if (model.plane == Plane::Managed) {
    text += fmt::format("\n- on_schema_change {}", name_of(model.on_schema_change));
    if (!model.key.empty()) text += fmt::format("\n- duplicates {}", name_of(model.duplicates));
  }
  if (!model.tests.empty())
    text += fmt::format("\n- {} {}", model.tests.size(), model.tests.size() == 1 ? "test" : "tests");
  if (!model.freshness.empty()) text += "\n- freshness " + model.freshness;
  if (!model.tags.empty()) text += "\n- tags " + joined(model.tags);
  if (!model.owner.empty()) text += "\n- owner " + model.owner;
  if (!model.description.empty()) text += "\n\n" + model.description;
  return text + "\n";
}

std::string about_asset(const Asset& asset, const Snapshot& snapshot) {
  std::string text = fmt::format("`{}`\n\n", asset.uri());
  const Model* producer = snapshot.producer(asset);
  text += producer != nullptr ? "made by " + about_model(*producer) : std::string("a source: no model makes it\n");
  const KnownAsset* known = snapshot.asset(asset);
  if (known == nullptr || known->columns == nullptr) return text;
  constexpr std::size_t kShown = 40;
  text += "\n| column | type |\n| --- | --- |\n";
  std::size_t shown = 0;
  for (const duck::Column& column : *known->columns) {
    if (shown++ == kShown) break;
    text += fmt::format("| `{}` | {} |\n", column.name, column.type);
  }
  if (known->columns->size() > kShown) text += fmt::format("\nand {} more\n", known->columns->size() - kShown);
  return text;
}

std::string about_column(const Thing& thing, const Snapshot& snapshot) {
  const bind::BoundColumn* bound = thing.asset ? snapshot.bound_column(*thing.asset, thing.name) : nullptr;
  const std::string type = !thing.type.empty() ? thing.type : bound != nullptr ? bound->type : "";
  std::string text = fenced(thing.name + (type.empty() ? "" : " " + type));
  if (!thing.asset) return text + "\na column of a query in this file\n";
  text += fmt::format("\nof `{}`", thing.asset->uri());
  const Model* producer = snapshot.producer(*thing.asset);
  text += producer != nullptr ? fmt::format(", made by `{}`\n", producer->path) : std::string(", a source\n");
  if (bound == nullptr || bound->from.empty()) return text;
  text += "\ncomes from\n";
  for (const bind::ColumnOrigin& origin : bound->from)
    text += fmt::format("\n- `{}.{}` ({}{})", origin.from.asset, origin.from.column, bind::name_of(origin.kind),
                        origin.is_declared ? ", declared" : "");
  return text + "\n";
}

std::string about_metric(const Metric& metric) {
  std::string sql = metric.expression;
  if (!metric.filter.empty()) sql += " FILTER (WHERE " + metric.filter + ")";
  std::string text =
      fmt::format("{} `{}`\n\n{}", metric.is_measure ? "measure" : "dimension", metric.name, fenced(sql));
  if (!metric.description.empty()) text += "\n" + metric.description + "\n";
  if (!metric.unit.empty()) text += "\nunit: " + metric.unit + "\n";
  return text;
}

std::string about(const Thing& thing, const Reading& reading) {
  const Snapshot& snapshot = reading.snapshot();
  switch (thing.kind) {
    case ThingKind::Keyword: {
      const bool decides = thing.name == "materialize" || thing.name == "partitioned";
      return (decides ? about_model(reading.declared()) + "\n---\n\n" : "") + about_keyword(*thing.keyword);
    }
    case ThingKind::Option:
      return about_option(thing);
    case ThingKind::BlockKey: {
      std::string text = fmt::format("`{}`\n\n{}\n", thing.key->name, thing.key->meaning);
      if (!thing.key->values.empty()) text += fmt::format("\nValues: {}\n", list_of(thing.key->values));
      if (thing.key->decides) text = about_model(reading.declared()) + "\n---\n\n" + text;
      return text;
    }
    case ThingKind::Asset:
      return about_asset(*thing.asset, snapshot);
    case ThingKind::Column:
      return about_column(thing, snapshot);
    case ThingKind::Query:
      if (thing.asset) return "`" + thing.name + "` stands for " + about_asset(*thing.asset, snapshot);
      return "`" + thing.name + "` is a query of this file\n";
    case ThingKind::Model:
      for (const auto& [file, model] : snapshot.models)
        if (model->path == thing.name) return about_model(*model);
      return {};
    case ThingKind::Macro:
      if (const KnownMacro* macro = snapshot.macro(thing.name))
        return fenced(macro->definition) + "\nof the library `" + macro->library + "`\n";
      return {};
    case ThingKind::Metric:
      for (const Metric& metric : reading.declared().metrics)
        if (metric.name == thing.name) return about_metric(metric);
      return {};
    case ThingKind::Argument:
      for (const Argument& argument : reading.declared().arguments)
        if (text::same_word(argument.name, thing.name))
          return fmt::format("argument `${}` {}{}\n", argument.name, argument.type,
                             argument.written_default ? " = " + *argument.written_default : "");
      return {};
    case ThingKind::Token:
      return "`" + thing.name + "` becomes a text literal when the model runs: the slice that is computed\n";
    case ThingKind::Library: {
      std::string macros;
      for (const auto& [name, macro] : snapshot.macros)
        if (macro.library == thing.name) macros += "\n- `" + name + "`";
      return macros.empty() ? macros : "the library `" + thing.name + "`\n" + macros + "\n";
    }
    case ThingKind::CustomTest:
      return {};
  }
  return {};
}

}  // namespace

Answer hover(const Session& session, const Json& params) {
  const auto cursor = cursor_of(session, params);
  if (!cursor) return Json();
  static const Snapshot nothing;
  const Reading reading(*cursor->view, session.snapshot != nullptr ? *session.snapshot : nothing);
  const auto thing = reading.at(cursor->at);
  if (!thing) return Json();
  const std::string text = about(*thing, reading);
  if (text.empty()) return Json();
  return Json{{"contents", markdown(text)}, {"range", json_of(cursor->view->positions().range(thing->span))}};
}

}  // namespace weir::lsp
