// The project as it was understood at one moment: what every answer about names is read from. Never changed once made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bind/bound.h"
#include "duck/database.h"
#include "graph/graph.h"
#include "project/project.h"

namespace weir::lsp {

/// An asset that the project reads or writes.
struct KnownAsset {
  Asset asset;
  /// The file of the model that makes it, relative to the project; empty for a source.
  std::string producer;
  /// What readers see; null if it is not known.
  std::shared_ptr<const std::vector<duck::Column>> columns;
};

/// A macro of a library.
struct KnownMacro {
  /// Lower case.
  std::string name;
  /// As `use` names it.
  std::string library;
  /// The library's file, relative to the project, and the name's place in it.
  std::string file;
  Span name_span;
  /// Parameters and body as written.
  std::string definition;
  bool is_table = false;
};

/// A function of DuckDB that a query may call.
struct KnownFunction {
  std::string name;
  /// `round(x, precision) → DOUBLE` of the form with the fewest parameters.
  std::string signature;
  std::string description;
  bool is_table = false;
};
using KnownFunctions = std::vector<KnownFunction>;

struct Snapshot {
  /// Counts edits; equal to the server's own count if nothing was edited since.
  std::uint64_t revision = 0;
  std::string root;
  /// Of a project that cannot be loaded now, as it last was.
  Project project;
  /// Absent while the project has errors.
  std::shared_ptr<const Graph> graph;
  /// Everything to be said about the project as it is.
  Diagnostics diagnostics;
  /// What kept the project from being understood that is no fault of its files; empty if nothing did.
  std::string problem;
  /// The text of weir.yaml, for the places of its diagnostics.
  std::string configuration;
  /// By file. Of a file that is wrong now, the model that it last was.
  std::map<std::string, std::shared_ptr<const Model>> models;
  /// By Asset::key().
  std::map<std::string, KnownAsset> assets;
  /// By name in lower case.
  std::map<std::string, KnownMacro> macros;
  /// Sorted by name; null if the engine was not asked.
  std::shared_ptr<const KnownFunctions> functions;
  /// Columns and lineage of the models that could be bound, by file.
  std::map<std::string, bind::BoundModel> bound;

  /// Null if there is none.
  const Model* model_of_file(const std::string& path) const;
  const KnownAsset* asset(const Asset& asset) const;
  const KnownMacro* macro(const std::string& name) const;
  /// The model that makes the asset; null for a source.
  const Model* producer(const Asset& asset) const;
  const bind::BoundColumn* bound_column(const Asset& asset, const std::string& column) const;
};

}  // namespace weir::lsp
