#include "lsp/places.h"

#include <algorithm>

#include "lsp/unit_tests.h"

namespace weir::lsp {
namespace {

/// Columns that are copied along longer chains of models are not followed to their end.
constexpr int kLongestChain = 50;

class Definitions {
 public:
  Definitions(const Snapshot& snapshot, Encoding encoding) : snapshot_(snapshot), encoding_(encoding) {}

  std::vector<FilePlace> asset(const Asset& asset) const {
    const Model* model = snapshot_.producer(asset);
    if (model == nullptr) return {};
    return {{model->source->path, model->target_span}};
  }

  /// The item of the producer's select list; through a star, the column that it copies.
  std::vector<FilePlace> column(const Asset& asset, const std::string& name, int depth = 0) const {
    const Model* model = snapshot_.producer(asset);
    if (model == nullptr || depth > kLongestChain) return {};
    if (const Source* source = snapshot_.project.source(model->source->path)) {
      const View view(source->text, source->path, encoding_);
      const Scope scope(view, snapshot_);
      if (const std::size_t result = scope.result(); result != kNone)
        for (const Arm& arm : scope.outline().blocks()[result].arms)
          for (const SelectItem& item : arm.items)
            if (text::same_word(item.name, name)) return {{source->path, item.name_span}};
      if (const std::size_t result = scope.result(); result != kNone)
        for (const ScopeColumn& column : scope.output(result))
          if (text::same_word(column.name, name) && !column.asset && !column.made.empty())
            return {{source->path, column.made}};
    }
    if (const bind::BoundColumn* bound = snapshot_.bound_column(asset, name))
      for (const bind::ColumnOrigin& origin : bound->from)
        if (const auto from = parse_asset(origin.from.asset);
            from && origin.kind == bind::ValueKind::Copy && *from != asset)
          if (auto found = column(*from, origin.from.column, depth + 1); !found.empty()) return found;
    return this->asset(asset);
  }

  std::vector<FilePlace> file(const std::string& path) const {
    for (const auto& source : snapshot_.project.sources) {
      if (!source->path.ends_with(path + ".sql") && source->path != path) continue;
      const auto before = source->path.size() - path.size() - (source->path == path ? 0 : 4);
      if (before == 0 || source->path[before - 1] == '/') return {{source->path, {}}};
    }
    return {};
  }

 private:
  const Snapshot& snapshot_;
  Encoding encoding_;
};

std::vector<FilePlace> metric_place(const Thing& thing, const Reading& reading) {
  for (const Metric& metric : reading.declared().metrics)
    if (metric.name == thing.name) return {{reading.view().path(), metric.span}};
  return {};
}

std::vector<FilePlace> argument_place(const Thing& thing, const Reading& reading) {
  for (const Argument& argument : reading.declared().arguments)
    if (text::same_word(argument.name, thing.name)) return {{reading.view().path(), argument.span}};
  return {};
}

/// The word by which a thing can be found in a text before anything is understood.
std::string short_name(const Thing& thing) {
  if (thing.kind == ThingKind::Asset && thing.asset) return thing.asset->name;
  const auto slash = thing.name.rfind('/');
  return slash == std::string::npos ? thing.name : thing.name.substr(slash + 1);
}

/// Namings of the thing in one file, at the places where its word stands.
void add_namings(const Thing& thing, const std::string& thing_path, const std::vector<std::string>& words,
                 const Reading& reading, std::vector<Naming>& found) {
  const View& view = reading.view();
  const std::string text = text::lower(view.text());
  for (const std::string& word : words) {
    const std::string wanted = text::lower(word);
    if (wanted.empty()) continue;
    for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) {
      const std::size_t end = at + wanted.size();
      if (at > 0 && is_name_char(text[at - 1])) continue;
      if (end < text.size() && is_name_char(text[end])) continue;
      const auto here = reading.at(static_cast<std::uint32_t>(end));
      if (!here || !is_same(thing, thing_path, *here, view.path())) continue;
      const bool is_header =
          view.line_at(static_cast<std::uint32_t>(end)) || view.is_in_block(static_cast<std::uint32_t>(end));
      found.push_back({view.path(), here->span, here->own.empty() ? here->span : here->own, !is_header, here->kind});
    }
  }
}

}  // namespace

std::vector<FilePlace> definition_of(const Thing& thing, const Reading& reading, Encoding encoding) {
  const Definitions definitions(reading.snapshot(), encoding);
  switch (thing.kind) {
    case ThingKind::Asset:
      return definitions.asset(*thing.asset);
    case ThingKind::Column:
      if (!thing.made.empty()) return {{reading.view().path(), thing.made}};
      if (thing.asset) return definitions.column(*thing.asset, thing.name);
      return {};
    case ThingKind::Query:
      if (!thing.made.empty() && thing.made != thing.span) return {{reading.view().path(), thing.made}};
      return thing.asset ? definitions.asset(*thing.asset)
                         : std::vector<FilePlace>{{reading.view().path(), thing.made}};
    case ThingKind::Model:
      for (const auto& [file, model] : reading.snapshot().models)
        if (model->path == thing.name) return {{file, model->target_span}};
      return {};
    case ThingKind::Macro:
      if (const KnownMacro* macro = reading.snapshot().macro(thing.name)) return {{macro->file, macro->name_span}};
      return {};
    case ThingKind::Library:
    case ThingKind::CustomTest:
      return definitions.file(thing.name);
    case ThingKind::Metric:
      return metric_place(thing, reading);
    case ThingKind::Argument:
      return argument_place(thing, reading);
    default:
      return {};
  }
}

std::vector<Naming> namings_of(const Thing& thing, const Reading& reading, const Session& session) {
  std::vector<Naming> found;
  std::vector<std::string> words{short_name(thing)};
  if (thing.asset && (thing.kind == ThingKind::Asset || thing.kind == ThingKind::Model)) {
    words = {thing.asset->name};
    if (const Model* model = reading.snapshot().producer(*thing.asset)) {
      const std::string last = model->path.substr(model->path.rfind('/') + 1);
      if (!text::same_word(last, words.front())) words.push_back(last);
      found = unit_test_namings(session, *model, *thing.asset);
    }
  }
  const std::string& path = reading.view().path();
  add_namings(thing, path, words, reading, found);
  const bool is_local = thing.kind == ThingKind::Query || thing.kind == ThingKind::Argument ||
                        thing.kind == ThingKind::Metric || (thing.kind == ThingKind::Column && !thing.asset);
  if (!is_local)
    for (const auto& source : reading.snapshot().project.sources) {
      if (source->path == path) continue;
      const std::string text = text::lower(source->text);
      if (std::none_of(words.begin(), words.end(),
                       [&text](const std::string& word) { return text.find(text::lower(word)) != std::string::npos; }))
        continue;
      const View view(source->text, source->path, session.encoding);
      add_namings(thing, path, words, Reading(view, reading.snapshot()), found);
    }
  const auto order = [](const Naming& a, const Naming& b) {
    return std::tie(a.path, a.own.begin, a.own.end) < std::tie(b.path, b.own.begin, b.own.end);
  };
  std::sort(found.begin(), found.end(), order);
  const auto same = [](const Naming& a, const Naming& b) { return a.path == b.path && a.own == b.own; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

}  // namespace weir::lsp
