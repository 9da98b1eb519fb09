// Graph: which model reads which asset. Acyclic by construction: to hold one is proof that an order exists, so no later
// stage checks again.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "project/model.h"

namespace weir {

/// Why models cannot be linked with the others.
struct LinkFault {
  Diagnostic diagnostic;
  /// Paths of the models that it is about.
  std::vector<std::string> models;
};

class Graph {
 public:
  /// Links every reference to the model that produces its asset, or leaves it a source. Edges come from reads in any
  /// statement, from relationships tests and queries of tests, from `on`, and from `depends_on`. Errors: W2001 two
  /// producers of one asset, W2003 cycle (blamed on a member, names all of them), W2010 `depends_on` of no model.
  static Result<Graph> link(std::vector<Model> models);
  /// All that link() would refuse. Two producers of one asset are both to blame; of a cycle every member, and nobody
  /// who only reads from it.
  static std::vector<LinkFault> faults(const std::vector<Model>& models);

  /// Producers first; ties by path, so plans and goldens are stable.
  const std::vector<Model>& models() const { return body_->models; }
  /// Index of the model with this path. Requires: it exists.
  std::size_t index_of(const std::string& path) const { return body_->by_path.at(path); }
  /// Indexes of the models whose assets model `index` reads (or waits for by `on`), ascending.
  const std::vector<std::size_t>& producers_of(std::size_t index) const { return body_->producers[index]; }
  /// Indexes of the models that read what model `index` produces, ascending.
  const std::vector<std::size_t>& readers_of(std::size_t index) const { return body_->readers[index]; }
  /// The model that produces the asset (`<t>_current` is its history's), or nothing: a source.
  const Model* producer(const Asset& asset) const;

 private:
  struct Body {
    std::vector<Model> models;
    std::unordered_map<std::string, std::size_t> by_path;
    std::unordered_map<std::string, std::size_t> by_asset;
    std::vector<std::vector<std::size_t>> producers;
    std::vector<std::vector<std::size_t>> readers;
  };
  explicit Graph(std::shared_ptr<const Body> body) : body_(std::move(body)) {}
  static void index(Body& body);

  /// Copies share it: a project's models are most of what is held of it.
  std::shared_ptr<const Body> body_;
};

/// Every asset the model reads: references of its SQL, relationships tests, queries of tests, `on` triggers; without
/// repeats, in order of appearance.
std::vector<Asset> inputs_of(const Model& model);
/// The assets that lead to the model: what it produces, and the name of an ephemeral one, which produces nothing.
std::vector<Asset> names_of(const Model& model);
/// What the model produces: its target, and `<t>_current` beside a managed history.
std::vector<Asset> outputs_of(const Model& model);

}  // namespace weir
