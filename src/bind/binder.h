// Binds a whole project: every model once, producers first, against empty stand-ins of what it reads. What is known
// from an earlier time by the same text and the same columns of its inputs is not asked again, so an edited model costs
// itself and those readers whose inputs changed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bind/bound.h"

namespace weir::bind {

/// What binding has to be told, since it looks at no lake and no state itself.
struct Surroundings {
  /// Columns of assets that no model of the project returns (sources_of says which), as the lake holds them or as they
  /// were captured. Absent: not known.
  KnownSchemas sources;
  /// The last captured columns of all assets. Called once at most, when the first model fails.
  std::function<KnownSchemas()> captured;
};

struct BinderOptions {
  /// File that keeps results between processes; empty: memory only.
  std::string cache_file;
  /// Models of one layer are bound by so many threads.
  unsigned threads = 2;
  /// The instance that the parser of the project was opened in, if it was: opening another takes 20 ms.
  std::shared_ptr<duck::Database> database = nullptr;
  /// Whether bind() gives the lineage of models; it is kept in the cache in any case.
  bool lineage = true;
};

/// One expression bound against the columns of a table.
struct BoundExpression {
  /// DuckDB's spelling; empty if it does not bind.
  std::string type;
  bool has_aggregate = false;
  bool has_window = false;
  /// Columns of the table that it reads, sorted.
  std::vector<std::string> columns;
  /// Why it does not bind; nothing if it does.
  std::optional<duck::Failure> failure;
  /// COLUMN_NOT_FOUND, NO_MATCHING_FUNCTION, MISSING_ENTRY where the engine says so.
  std::string failure_kind;
  /// The name that was not found.
  std::string missing_name;
};

/// Threads: one at a time, save that `cancelled` may be set by any.
class Binder {
 public:
  explicit Binder(BinderOptions options);
  Binder(Binder&&) noexcept;
  ~Binder();

  /// Binds the models of `graph`, a part of them if `only` names some (those above them included by the caller).
  /// Calling it again with a changed project binds what changed. Errors: W7010 cancelled, W2106 the engine cannot be
  /// started; never what is wrong in a model, which is among the diagnostics.
  Result<Bound> bind(const Project& project, const Graph& graph, const Surroundings& surroundings,
                     const std::atomic<bool>* cancelled = nullptr, const std::set<std::string>* only = nullptr);

  /// Binds each text as an expression over one table; a text that is no single expression fails.
  Result<std::vector<BoundExpression>> bind_expressions(const Columns& columns, const std::vector<std::string>& texts);

  /// Writes what was learnt, if anything. A cache that cannot be written only costs time.
  void save();

  /// Models whose result the last bind() did not find in the cache.
  std::size_t asked() const;

  struct Body;

 private:
  std::unique_ptr<Body> body_;
};

/// Assets whose columns bind() does not find in the project: sources, targets of manual scripts that are read, and the
/// own table of a model that reads itself.
std::vector<Asset> sources_of(const Graph& graph);

}  // namespace weir::bind
