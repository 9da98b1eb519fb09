#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>

#include "project/custom_test.h"

namespace weir {
namespace {

using Owners = std::unordered_map<std::string, std::size_t>;
using Edges = std::vector<std::set<std::size_t>>;

Diagnostic two_producers(const Model& first, const Model& second, const Asset& asset) {
  Diagnostic found{.code = Code::W2001, .path = second.source->path, .span = second.target_span};
  found.message =
      fmt::format("{} is produced by two models: {} and {}", asset.uri(), first.source->path, second.source->path);
  found.hint = "give one of them another target";
  return found;
}

Owners owners_of(const std::vector<Model>& models, std::vector<LinkFault>& faults) {
  Owners owners;
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (const Asset& asset : names_of(models[i])) {
      const auto [at, is_new] = owners.emplace(asset.key(), i);
      if (is_new) continue;
      const Model& first = models[at->second];
      faults.push_back({two_producers(first, models[i], asset), {first.path, models[i].path}});
    }
  }
  return owners;
}

/// The model of this path, or the only one of this short name; models.size() if there is none.
std::size_t index_named(const std::vector<Model>& models, const std::string& name) {
  std::size_t found = models.size();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].path == name) return i;
    if (models[i].path.ends_with("/" + name)) found = found == models.size() ? i : models.size() + 1;
  }
  return std::min(found, models.size());
}

void find_unknown_dependencies(const std::vector<Model>& models, std::vector<LinkFault>& faults) {
  for (const Model& model : models)
    for (const std::string& name : model.depends_on)
      if (index_named(models, name) == models.size())
        faults.push_back({{.code = Code::W2010,
                           .message = fmt::format("depends_on names {}, and no model is called so", name),
                           .path = model.source->path,
                           .hint = "write the path of a model; `weir ls` lists them"},
                          {model.path}});
}

/// Producer indexes per model. A model that reads what it wrote before makes no edge.
Edges edges_of(const std::vector<Model>& models, const Owners& owners) {
  Edges producers(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    for (const std::string& name : models[i].depends_on)
      if (const std::size_t before = index_named(models, name); before < models.size() && before != i)
        producers[i].insert(before);
    for (const Asset& asset : inputs_of(models[i])) {
      const auto owner = owners.find(asset.key());
      if (owner != owners.end() && owner->second != i) producers[i].insert(owner->second);
    }
  }
  return producers;
}

/// The members of one cycle among `left`: walking from reader to producer must come round.
std::vector<std::size_t> cycle_among(const std::set<std::size_t>& left, const Edges& producers) {
  std::vector<std::size_t> walk;
  std::size_t at = *left.begin();
  while (std::find(walk.begin(), walk.end(), at) == walk.end()) {
    walk.push_back(at);
    at = *std::find_if(producers[at].begin(), producers[at].end(), [&left](std::size_t p) { return left.contains(p); });
  }
  return {std::find(walk.begin(), walk.end(), at), walk.end()};
}

Diagnostic cycle(const std::vector<Model>& models, const std::vector<std::size_t>& members) {
  const Model& blamed = models[members.front()];
  std::string way = blamed.path;
  for (auto member = members.rbegin(); member != members.rend(); ++member) way += " → " + models[*member].path;
  Diagnostic found{.code = Code::W2003, .path = blamed.source->path};
  found.message = fmt::format("these models read each other in a cycle: {}", way);
  found.hint = "break it: let one of them read a source, or take an `on` line away";
  for (const Reference& reference : blamed.references)
    for (const std::size_t member : members)
      for (const Asset& output : names_of(models[member]))
        if (reference.asset == output && !reference.macro) found.span = reference.span;
  if (!found.span.empty()) return found;
  const auto is_member = [&](const Asset& asset) {
    return std::any_of(members.begin(), members.end(), [&](const std::size_t member) {
      const std::vector<Asset> outputs = names_of(models[member]);
      return std::find(outputs.begin(), outputs.end(), asset) != outputs.end();
    });
  };
  for (const Test& test : blamed.tests)
    if (test.reference && is_member(*test.reference)) found.span = test.span;
  for (const TestQuery& query : blamed.test_queries)
    for (const Reference& reference : query.references)
      if (is_member(reference.asset)) {
        found.path = query.source->path;
        found.span = place_in_file(blamed, query, reference.span);
      }
  return found;
}

/// How models would be linked.
struct Links {
  Edges producers;
  /// Producers first; what is in a cycle, or reads from one, is missing.
  std::vector<std::size_t> order;
  std::vector<LinkFault> faults;
};

Links links_of(const std::vector<Model>& models) {
  Links links;
  const Owners owners = owners_of(models, links.faults);
  find_unknown_dependencies(models, links.faults);
  links.producers = edges_of(models, owners);
  std::vector<std::size_t> waits(models.size());
  std::vector<std::vector<std::size_t>> readers(models.size());
  std::set<std::size_t> left;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < models.size(); ++i) {
    left.insert(i);
    waits[i] = links.producers[i].size();
    for (const std::size_t producer : links.producers[i]) readers[producer].push_back(i);
    if (waits[i] == 0) ready.push(i);
  }
  while (!left.empty()) {
    const bool is_after_a_cycle = ready.empty();
    if (is_after_a_cycle) {
      // What only reads from a cycle is left too, but not blamed: it goes on as if the cycle was built.
      const std::vector<std::size_t> members = cycle_among(left, links.producers);
      LinkFault fault{cycle(models, members), {}};
      for (const std::size_t member : members) fault.models.push_back(models[member].path);
      links.faults.push_back(std::move(fault));
      for (const std::size_t member : members) {
        left.erase(member);
        for (const std::size_t reader : readers[member])
          if (--waits[reader] == 0 && left.contains(reader)) ready.push(reader);
      }
      continue;
    }
    const std::size_t at = ready.top();
    ready.pop();
    if (left.erase(at) == 0) continue;
    links.order.push_back(at);
    for (const std::size_t reader : readers[at])
      if (--waits[reader] == 0) ready.push(reader);
  }
  return links;
}

void sort_by_path(std::vector<Model>& models) {
  std::sort(models.begin(), models.end(), [](const Model& a, const Model& b) { return a.path < b.path; });
}

}  // namespace

std::vector<Asset> names_of(const Model& model) {
  std::vector<Asset> names = outputs_of(model);
  if (model.plane == Plane::Ephemeral) names.push_back(model.relation);
  return names;
}

std::vector<Asset> inputs_of(const Model& model) {
  std::vector<Asset> inputs;
  std::set<std::string> seen;
  const auto add = [&](const Asset& asset) {
    if (seen.insert(asset.key()).second) inputs.push_back(asset);
  };
  for (const Reference& reference : model.references) add(reference.asset);
  for (const Test& test : model.tests)
    if (test.reference) add(*test.reference);
  for (const TestQuery& query : model.test_queries)
    for (const Reference& reference : query.references) add(reference.asset);
  for (const Trigger& trigger : model.triggers)
    if (trigger.asset) add(*trigger.asset);
  return inputs;
}

std::vector<Asset> outputs_of(const Model& model) {
  std::vector<Asset> outputs;
  if (!model.target) return outputs;
  outputs.push_back(*model.target);
  if (model.is_history() && model.plane == Plane::Managed) {
    Asset current = *model.target;
    current.name += "_current";
    outputs.push_back(std::move(current));
  }
  return outputs;
}

std::vector<LinkFault> Graph::faults(const std::vector<Model>& models) { return links_of(models).faults; }

Result<Graph> Graph::link(std::vector<Model> models) {
  sort_by_path(models);
  const Links links = links_of(models);
  if (!links.faults.empty()) {
    Diagnostics problems;
    for (const LinkFault& fault : links.faults) problems.push_back(fault.diagnostic);
    return fail(std::move(problems));
  }
  std::vector<std::size_t> place(models.size());
  for (std::size_t i = 0; i < links.order.size(); ++i) place[links.order[i]] = i;
  auto body = std::make_shared<Body>();
  body->models.reserve(models.size());
  body->producers.reserve(models.size());
  for (const std::size_t at : links.order) {
    body->models.push_back(std::move(models[at]));
    std::vector<std::size_t>& of_model = body->producers.emplace_back();
    for (const std::size_t producer : links.producers[at]) of_model.push_back(place[producer]);
    std::sort(of_model.begin(), of_model.end());
  }
  index(*body);
  return Graph(std::move(body));
}

void Graph::index(Body& body) {
  body.readers.resize(body.models.size());
  body.by_path.reserve(body.models.size());
  body.by_asset.reserve(body.models.size());
  for (std::size_t i = 0; i < body.models.size(); ++i) {
    body.by_path.emplace(body.models[i].path, i);
    for (const Asset& asset : names_of(body.models[i])) body.by_asset.emplace(asset.key(), i);
    for (const std::size_t producer : body.producers[i]) body.readers[producer].push_back(i);
  }
}

const Model* Graph::producer(const Asset& asset) const {
  const auto owner = body_->by_asset.find(asset.key());
  return owner == body_->by_asset.end() ? nullptr : &body_->models[owner->second];
}

}  // namespace weir
