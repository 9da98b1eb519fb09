#include "graph/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>

#include "text/lexer.h"
#include "text/suggest.h"

namespace weir {
namespace {

using Indexes = std::set<std::size_t>;

constexpr std::size_t kAll = static_cast<std::size_t>(-1);

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string short_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// `*` and `?` stay within a folder, `**` crosses them.
bool matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) return path.empty();
  if (pattern.starts_with("**")) {
    std::string_view rest = pattern.substr(2);
    if (rest.starts_with('/') && matches(rest.substr(1), path)) return true;
    for (std::size_t i = 0; i <= path.size(); ++i)
      if (matches(rest, path.substr(i))) return true;
    return false;
  }
  if (pattern.front() == '*') {
    for (std::size_t i = 0; i <= path.size(); ++i) {
      if (matches(pattern.substr(1), path.substr(i))) return true;
      if (i < path.size() && path[i] == '/') return false;
    }
    return false;
  }
  if (path.empty()) return false;
  if (pattern.front() != '?' && pattern.front() != path.front()) return false;
  if (pattern.front() == '?' && path.front() == '/') return false;
  return matches(pattern.substr(1), path.substr(1));
}

Diagnostic unknown(const Graph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (const Model& model : graph.models()) {
    known.push_back(model.path);
    known.push_back(short_name(model.path));
  }
  Diagnostic found{.code = Code::W2010, .message = fmt::format("no model is called {}", name)};
  const auto near = text::nearest(name, known);
  found.hint = near ? fmt::format("did you mean {}?", *near) : "`weir ls` lists the models";
  return found;
}

Result<std::size_t> index_named(const Graph& graph, const std::string& name) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < graph.models().size(); ++i) {
    if (graph.models()[i].path == name) return i;
    if (short_name(graph.models()[i].path) == name) found.push_back(i);
  }
  // Its file, or its table: schema.table, or an asset.
  for (std::size_t i = 0; found.empty() && i < graph.models().size(); ++i) {
    const Model& model = graph.models()[i];
    const auto& target = model.target;
    const bool is_table =
        target && (text::same_word(target->schema + "." + target->name, name) || text::same_word(target->uri(), name));
    if (model.source->path == name || is_table) return i;
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) return fail(unknown(graph, name));
  std::string candidates;
  for (const std::size_t i : found) candidates += (candidates.empty() ? "" : ", ") + graph.models()[i].path;
  return fail(Diagnostic{.code = Code::W2011,
                         .message = fmt::format("several models are called {}: {}", name, candidates),
                         .hint = "write the whole path"});
}

/// A model by name, or the model that produces an asset URI.
Result<std::size_t> end_named(const Graph& graph, const std::string& name) {
  if (const auto asset = parse_asset(name); asset && !asset->name.empty()) {
    if (const Model* producer = graph.producer(*asset)) return graph.index_of(producer->path);
    return fail(unknown(graph, name));
  }
  return index_named(graph, name);
}

/// The models in a state. None is no mistake: nothing may be modified.
Result<Indexes> in_state(const Graph& graph, const Selection& selection, const std::string& state) {
  if ((state != "modified" && state != "failed") || !selection.in_state)
    return fail(Diagnostic{.code = Code::W2010,
                           .message = fmt::format("there is no state called {}", state),
                           .hint = "state:modified and state:failed"});
  WEIR_TRY(const std::set<std::string> paths, selection.in_state(state));
  Indexes found;
  for (std::size_t i = 0; i < graph.models().size(); ++i)
    if (paths.contains(graph.models()[i].path)) found.insert(i);
  return found;
}

Result<Indexes> named(const Graph& graph, const Selection& selection, const std::string& name) {
  if (name.starts_with("state:")) return in_state(graph, selection, name.substr(6));
  Indexes found;
  const auto& models = graph.models();
  const bool is_glob = name.find_first_of("*?") != std::string::npos;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Model& model = models[i];
    bool is_meant = false;
    if (name.starts_with("tag:"))
      is_meant = std::find(model.tags.begin(), model.tags.end(), name.substr(4)) != model.tags.end();
    else if (name.starts_with("folder:"))
      is_meant = model.path.starts_with(name.substr(7) + "/") || folder_of(model.path) == name.substr(7);
    else if (is_glob)
      is_meant = matches(name, model.path);
    if (is_meant) found.insert(i);
  }
  if (is_glob || name.starts_with("tag:") || name.starts_with("folder:")) {
    if (found.empty())
      return fail(Diagnostic{.code = Code::W2010,
                             .message = fmt::format("{} selects no model", name),
                             .hint = "`weir ls` lists the models"});
    return found;
  }
  WEIR_TRY(const std::size_t one, index_named(graph, name));
  found.insert(one);
  return found;
}

template <class Next>
Indexes reach(const Indexes& start, std::size_t steps, Next next) {
  Indexes reached = start;
  std::deque<std::pair<std::size_t, std::size_t>> open;
  for (const std::size_t i : start) open.emplace_back(i, 0);
  while (!open.empty()) {
    const auto [at, depth] = open.front();
    open.pop_front();
    if (steps != kAll && depth == steps) continue;
    for (const std::size_t other : next(at))
      if (reached.insert(other).second) open.emplace_back(other, depth + 1);
  }
  return reached;
}

Indexes above(const Graph& graph, const Indexes& start, std::size_t steps) {
  return reach(start, steps,
               [&graph](std::size_t i) -> const std::vector<std::size_t>& { return graph.producers_of(i); });
}
Indexes below(const Graph& graph, const Indexes& start, std::size_t steps) {
  return reach(start, steps,
               [&graph](std::size_t i) -> const std::vector<std::size_t>& { return graph.readers_of(i); });
}

/// As many steps as a graph can have stand for all.
std::size_t steps_in(std::string_view digits) {
  std::size_t steps = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), steps);
  return read.ec == std::errc() ? steps : kAll;
}

/// "2+name+1": a name, and how far what is selected reaches up and down.
struct Part {
  std::string name;
  std::optional<std::size_t> up;
  std::optional<std::size_t> down;
};

Part parted(std::string_view text) {
  std::optional<std::size_t> up;
  std::optional<std::size_t> down;
  std::size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
  if (digits < text.size() && text[digits] == '+') {
    up = digits == 0 ? kAll : steps_in(text.substr(0, digits));
    text.remove_prefix(digits + 1);
  }
  std::size_t tail = text.size();
  while (tail > 0 && std::isdigit(static_cast<unsigned char>(text[tail - 1])) != 0) --tail;
  if (tail > 0 && text[tail - 1] == '+') {
    down = tail == text.size() ? kAll : steps_in(text.substr(tail));
    text = text.substr(0, tail - 1);
  }
  return {.name = std::string(text), .up = up, .down = down};
}

Result<Indexes> part(const Graph& graph, const Selection& selection, std::string_view text) {
  const auto [name, up, down] = parted(text);
  WEIR_TRY(const Indexes found, named(graph, selection, name));
  Indexes all = found;
  if (up) all.merge(above(graph, found, *up));
  if (down) all.merge(below(graph, found, *down));
  return all;
}

Result<Indexes> entry(const Graph& graph, const Selection& selection, const std::string& text) {
  std::optional<Indexes> all;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto comma = std::min(text.find(',', begin), text.size());
    WEIR_TRY(const Indexes found, part(graph, selection, std::string_view(text).substr(begin, comma - begin)));
    if (!all) {
      all = found;
    } else {
      Indexes both;
      std::set_intersection(all->begin(), all->end(), found.begin(), found.end(), std::inserter(both, both.end()));
      all = both;
    }
    begin = comma + 1;
  }
  return *all;
}

Result<Indexes> entries(const Graph& graph, const Selection& selection, const std::vector<std::string>& texts) {
  Indexes all;
  Diagnostics problems;
  for (const std::string& text : texts) {
    // A model's own name comes first: it may hold a space, a comma or a plus.
    const auto whole = std::find_if(graph.models().begin(), graph.models().end(),
                                    [&text](const Model& model) { return model.path == text; });
    if (whole != graph.models().end()) {
      all.insert(static_cast<std::size_t>(whole - graph.models().begin()));
      continue;
    }
    // One argument may hold several selectors, separated by spaces.
    std::size_t begin = text.find_first_not_of(' ');
    while (begin != std::string::npos) {
      const auto end = std::min(text.find(' ', begin), text.size());
      auto found = entry(graph, selection, text.substr(begin, end - begin));
      if (found)
        all.merge(*found);
      else
        problems.insert(problems.end(), found.error().begin(), found.error().end());
      begin = text.find_first_not_of(' ', end);
    }
  }
  if (!problems.empty()) return fail(std::move(problems));
  return all;
}

std::string names_of(const Graph& graph, const Indexes& indexes) {
  std::string names;
  for (const std::size_t i : indexes) names += (names.empty() ? "" : ", ") + graph.models()[i].path;
  return names;
}

/// A schedule needs nothing but the time; every other event brings what the model reads.
bool waits_for_input(const Model& model) {
  return std::any_of(model.triggers.begin(), model.triggers.end(), [](const Trigger& trigger) {
    return !trigger.native_kind.empty() && trigger.native_kind != "schedule";
  });
}

/// Where --to alone is given: the model that everything chosen begins with.
Result<std::size_t> sole_root(const Graph& graph, const Indexes& chosen, const Indexes& barriers) {
  Indexes roots;
  for (const std::size_t i : chosen) {
    const auto& producers = graph.producers_of(i);
    const bool is_root =
        std::none_of(producers.begin(), producers.end(), [&chosen](std::size_t at) { return chosen.contains(at); });
    if (is_root && !barriers.contains(i)) roots.insert(i);
  }
  if (roots.size() == 1) return *roots.begin();
  if (roots.empty())
    return fail(Diagnostic{.code = Code::W2013,
                           .message = "every model that something could start with waits for an event",
                           .hint = "give one its file with --upload, or start at it with --from"});
  return fail(Diagnostic{.code = Code::W2013,
                         .message = fmt::format("--to alone does not say which of several models to start with: {}",
                                                names_of(graph, roots)),
                         .hint = "say where to start with --from, or select with +NAME"});
}

/// The models between --from and --to.
Result<Indexes> between(const Graph& graph, const Selection& selection, const Indexes& all, Diagnostics& warnings,
                        PathBetween& path) {
  Indexes ends;
  for (const std::string& name : selection.to) {
    WEIR_TRY(const std::size_t end, end_named(graph, name));
    ends.insert(end);
  }
  Indexes barriers;
  for (std::size_t i = 0; i < graph.models().size(); ++i)
    if (waits_for_input(graph.models()[i]) && !selection.fed.contains(graph.models()[i].path)) barriers.insert(i);
  std::size_t first = 0;
  if (selection.from) {
    WEIR_TRY(first, index_named(graph, *selection.from));
  } else {
    WEIR_TRY(first, sole_root(graph, all, barriers));
  }
  // Who is named is started.
  barriers.erase(first);
  const Indexes start{first};
  path.start = graph.models()[first].path;
  Indexes met;
  const Indexes reachable = reach(start, kAll, [&](std::size_t i) {
    std::vector<std::size_t> next;
    for (const std::size_t reader : graph.readers_of(i)) {
      if (barriers.contains(reader))
        met.insert(reader);
      else
        next.push_back(reader);
    }
    return next;
  });
  for (const std::size_t i : met) path.barriers.push_back(graph.models()[i].path);
  if (selection.to.empty()) return reachable;
  Indexes reached_ends;
  for (const std::size_t end : ends) {
    const std::string& name = graph.models()[end].path;
    path.ends.push_back(name);
    if (reachable.contains(end)) {
      reached_ends.insert(end);
      continue;
    }
    path.dropped_ends.push_back(name);
    warnings.push_back({.code = Code::W2014,
                        .severity = Severity::Warning,
                        .message = fmt::format("{} does not lie downstream of {}; it is left out", name, path.start)});
  }
  const Indexes leading = above(graph, reached_ends, kAll);
  Indexes chosen = start;
  std::set_intersection(reachable.begin(), reachable.end(), leading.begin(), leading.end(),
                        std::inserter(chosen, chosen.end()));
  return chosen;
}

}  // namespace

std::set<std::string> models_called(const Graph& graph, const std::vector<std::string>& selectors) {
  std::set<std::string> paths;
  for (const std::string& text : selectors) {
    if (const auto whole = index_named(graph, text)) paths.insert(graph.models()[*whole].path);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find_first_of(" ,", begin), text.size());
      if (const auto one = index_named(graph, parted(std::string_view(text).substr(begin, end - begin)).name))
        paths.insert(graph.models()[*one].path);
      begin = end + 1;
    }
  }
  return paths;
}

Result<std::set<std::string>> select(const Graph& graph, const Selection& selection, Diagnostics& warnings,
                                     std::optional<PathBetween>* path) {
  Indexes chosen;
  if (!selection.select.empty()) {
    WEIR_TRY(chosen, entries(graph, selection, selection.select));
  } else {
    for (std::size_t i = 0; i < graph.models().size(); ++i) chosen.insert(i);
  }
  if (selection.from || !selection.to.empty()) {
    PathBetween found;
    WEIR_TRY(const Indexes way, between(graph, selection, chosen, warnings, found));
    std::erase_if(chosen, [&way](std::size_t i) { return !way.contains(i); });
    if (path != nullptr) *path = std::move(found);
  }
  WEIR_TRY(const Indexes excluded, entries(graph, selection, selection.exclude));
  std::set<std::string> paths;
  for (const std::size_t i : chosen)
    if (!excluded.contains(i)) paths.insert(graph.models()[i].path);
  return paths;
}

}  // namespace weir
