// The walk: layer by layer, producers first. For each model: what it reads and what is known of that; the result from
// the cache if all of it is as before; otherwise the engine's answer; then what its own declarations claim. A layer's
// models know nothing of each other, so they are sent to the engine together.
#include "bind/binder.h"

#include <algorithm>
#include <thread>

#include "bind/bound_cache.h"
#include "bind/described_files.h"
#include "bind/diagnosis.h"
#include "bind/known_assets.h"
#include "bind/lineage.h"
#include "bind/model_binding.h"
#include "bind/test_binding.h"
#include "bind/test_query_binding.h"
#include "io/hash.h"
#include "project/contract.h"
#include "text/render.h"

namespace weir::bind {
namespace {

/// Below this a thread costs more than it saves.
constexpr std::size_t kModelsWorthAThread = 40;
/// Models between two looks at the cancellation.
constexpr std::size_t kModelsAtOnce = 200;

Failed engine_failed(const duck::Failure& failure) {
  if (failure.type == duck::FailureType::Interrupt)
    return fail(Diagnostic{.code = Code::W7010, .message = "checking was interrupted"});
  return fail(
      Diagnostic{.code = Code::W2106, .message = "DuckDB failed while checking: " + first_line(failure.message)});
}

}  // namespace

struct Binder::Body {
  explicit Body(BinderOptions given) : options(std::move(given)), cache(options.cache_file) {}

  BinderOptions options;
  BoundCache cache;
  std::unique_ptr<StandIns> engine;
  std::size_t asked = 0;

  std::unique_ptr<const Config> config;

  Result<StandIns*> stand_ins() {
    if (engine == nullptr) {
      WEIR_TRY(engine, StandIns::open(config.get(), std::move(options.database)));
    }
    return engine.get();
  }
  duck::Connection* connection() {
    const auto opened = stand_ins();
    return opened ? &(*opened)->connection() : nullptr;
  }
};

namespace {

class Walk {
 public:
  Walk(Binder::Body& body, KnownAssets& known, const std::atomic<bool>* cancelled, const std::set<std::string>* only)
      : body_(body), known_(known), cancelled_(cancelled), only_(only) {}

  Result<Bound> run();

 private:
  const std::vector<Model>& models() const { return known_.graph().models(); }
  bool is_wanted(const Model& model) const { return only_ == nullptr || only_->contains(model.path); }
  Result<void> check_cancelled() const {
    if (cancelled_ != nullptr && cancelled_->load())
      return fail(Diagnostic{.code = Code::W7010, .message = "checking was interrupted"});
    return {};
  }

  std::vector<std::vector<std::size_t>> layers() const;
  Result<void> bind_layer(const std::vector<std::size_t>& layer);
  bool gather(ModelBinding& binding);
  void gather_references(ModelBinding& binding, std::string& blame);
  SharedColumns declared_columns(ModelBinding& binding);
  bool gather_files(ModelBinding& binding);
  std::string key_of(const ModelBinding& binding) const;
  bool recall(ModelBinding& binding);
  Result<void> ask(const std::vector<ModelBinding*>& pending);
  Result<void> ask_plain(const std::vector<ModelBinding*>& plain);
  Result<void> ask_alone(ModelBinding& binding);
  Result<void> explain(ModelBinding& binding);
  void check_output(ModelBinding& binding);
  Result<void> bind_tests(ModelBinding& binding);
  Result<void> finish(ModelBinding& binding, bool is_recalled);
  void settle(ModelBinding& binding);

  Binder::Body& body_;
  KnownAssets& known_;
  const std::atomic<bool>* cancelled_;
  const std::set<std::string>* only_;
  Bound bound_;
};

Result<Bound> Walk::run() {
  bound_.models.resize(models().size());
  for (const std::vector<std::size_t>& layer : layers()) WEIR_CHECK(bind_layer(layer));
  bound_.is_lasting = bound_.is_lasting && !known_.has_looked_at_captures();
  bound_.assets = known_.take();
  text::sort_diagnostics(bound_.diagnostics);
  // A library's fault shows in every model that calls it.
  auto& all = bound_.diagnostics;
  const auto is_same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.code == b.code && a.path == b.path && a.span == b.span && a.message == b.message;
  };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return std::move(bound_);
}

std::vector<std::vector<std::size_t>> Walk::layers() const {
  std::vector<std::size_t> depth(models().size());
  std::vector<std::vector<std::size_t>> layers;
  for (std::size_t i = 0; i < models().size(); ++i) {
    for (const std::size_t producer : known_.graph().producers_of(i))
      depth[i] = std::max(depth[i], depth[producer] + 1);
    if (layers.size() <= depth[i]) layers.resize(depth[i] + 1);
    layers[depth[i]].push_back(i);
  }
  return layers;
}

Result<void> Walk::bind_layer(const std::vector<std::size_t>& layer) {
  for (std::size_t begin = 0; begin < layer.size(); begin += kModelsAtOnce) {
    WEIR_CHECK(check_cancelled());
    const std::size_t end = std::min(layer.size(), begin + kModelsAtOnce);
    std::vector<ModelBinding> bindings;
    bindings.reserve(end - begin);
    std::vector<ModelBinding*> pending;
    std::vector<std::pair<ModelBinding*, bool>> done;
    for (std::size_t i = begin; i < end; ++i) {
      const Model& model = models()[layer[i]];
      if (!is_wanted(model)) continue;
      ModelBinding& binding = bindings.emplace_back();
      binding.model = &model;
      binding.index = layer[i];
      if (!gather(binding)) {
        settle(binding);
        continue;
      }
      binding.key = key_of(binding);
      const bool is_recalled = recall(binding);
      if (!is_recalled) pending.push_back(&binding);
      done.emplace_back(&binding, is_recalled);
    }
    if (!pending.empty()) WEIR_CHECK(ask(pending));
    for (const auto& [binding, is_recalled] : done) WEIR_CHECK(finish(*binding, is_recalled));
  }
  return {};
}

void Walk::gather_references(ModelBinding& binding, std::string& blame) {
  const Model& model = *binding.model;
  for (const Reference& reference : model.references) {
    std::string name = reference.asset.key();
    if (std::any_of(binding.inputs.begin(), binding.inputs.end(), [&](const Input& one) { return one.key == name; }))
      continue;
    const Model* producer = known_.graph().producer(reference.asset);
    SharedColumns columns = known_.columns_to_read(reference.asset, producer == &model);
    if (columns == nullptr && producer == &model) columns = declared_columns(binding);
    if (columns == nullptr) {
      if (blame.empty()) blame = producer != nullptr ? producer->path : reference.asset.uri();
      if (producer == nullptr) {
        const auto broken = known_.project().broken.find(name);
        if (broken != known_.project().broken.end()) blame = broken->second;
      }
      continue;
    }
    add_input(binding, std::move(name), known_.history_of(reference.asset).uri(), std::move(columns));
  }
}

/// What the first run reads of the model's own table: no rows of what its header declares. Null if that is not enough.
SharedColumns Walk::declared_columns(ModelBinding& binding) {
  duck::Connection* connection = binding.model->contract.empty() ? nullptr : body_.connection();
  if (connection == nullptr) return nullptr;
  auto types = contract_types(*connection, *binding.model);
  if (!types) {
    std::move(types.error().begin(), types.error().end(), std::back_inserter(binding.found));
    return nullptr;
  }
  auto declared = declared_table(*binding.model, *types);
  return declared ? std::make_shared<Columns>(std::move(*declared)) : nullptr;
}

bool Walk::gather_files(ModelBinding& binding) {
  const Model& model = *binding.model;
  bool all_known = true;
  for (std::size_t i = 0; i < model.script.statements.size(); ++i) {
    for (FileCall& call : file_calls(model, i)) {
      DescribedFile described =
          describe_file(call, known_.project().config.root, body_.cache, [this] { return body_.connection(); });
      if (described.identity.empty()) binding.is_fleeting = true;
      if (described.columns == nullptr) {
        all_known = false;
        const bool is_for_the_run = call.is_remote || call.files.empty();
        Diagnostic found{.code = is_for_the_run ? Code::W2122 : Code::W2121,
                         .severity = is_for_the_run ? Severity::Hint : Severity::Warning,
                         .message = "the columns of this model are not known before it runs: " + described.because,
                         .path = model.source->path,
                         .span = call.span};
        if (described.is_missing) found.hint = "the file is looked for from the project's folder";
        binding.found.push_back(std::move(found));
        binding.bound.opaque_because = described.because;
        continue;
      }
      // Two calls of one file with other options are two tables.
      std::string key = call.asset + '@' + std::to_string(call.span.begin);
      const Input& input = add_input(binding, std::move(key), call.asset, described.columns);
      const std::uint32_t begin = call.span.begin;
      binding.places.files.emplace(begin, std::pair(std::move(call), input.table));
    }
  }
  return all_known;
}

/// Finds out what the model reads. False if it cannot be bound.
bool Walk::gather(ModelBinding& binding) {
  const Model& model = *binding.model;
  if (model.plane == Plane::Manual) {
    binding.bound.state = BoundModel::State::Opaque;
    binding.bound.opaque_because = "a manual script writes its table itself";
    return false;
  }
  std::string blame;
  gather_references(binding, blame);
  const bool files_known = gather_files(binding);
  // What is wrong in a library is said there, and would be said again of everyone that calls it.
  const auto held = known_.project().held_up.find(model.path);
  if (held != known_.project().held_up.end() &&
      std::any_of(model.macros.begin(), model.macros.end(),
                  [&held](const MacroDefinition& one) { return one.source->path == held->second; }))
    blame = held->second;
  if (blame == model.path) {
    binding.bound.state = BoundModel::State::Opaque;
    binding.bound.opaque_because = "it reads its own table, whose columns are not known before its first run";
    return false;
  }
  if (!blame.empty()) {
    binding.bound.state = BoundModel::State::Blocked;
    binding.bound.blocked_by = blame;
    return false;
  }
  if (!files_known) {
    binding.bound.state = BoundModel::State::Opaque;
    return false;
  }
  return true;
}

std::string Walk::key_of(const ModelBinding& binding) const {
  const Model& model = *binding.model;
  std::string text = model.source->hash;
  text += model.path + '\n' + model.relation.key() + '\n';
  for (const Input& input : binding.inputs) text += input.key + '\n' + input.uri + '\n' + input.table;
  for (const Reference& reference : model.references)
    text += std::to_string(reference.span.begin) + reference.asset.key() + reference.alias;
  for (const MacroDefinition& macro : model.macros)
    text += macro.source->hash + std::to_string(macro.statement.span.begin) + '@' + std::to_string(macro.before);
  for (const Test& test : model.tests)
    if (test.reference)
      if (const SharedColumns columns = known_.columns(*test.reference); columns != nullptr)
        text += test.reference->key() + shape_of(*columns);
  for (const TestQuery& query : model.test_queries) {
    text += query.source->path + io::xxh3_hex(query.source->text);
    for (const Reference& reference : query.references) {
      text += reference.asset.key();
      if (const SharedColumns columns = known_.columns(reference.asset); columns != nullptr)
        text += shape_of(*columns);
      else if (const KnownSchema* source = known_.source(reference.asset); source != nullptr)
        text += shape_of(source->columns);
    }
  }
  for (const DeclaredLineage& line : model.lineage)
    for (const auto& [asset, column] : line.sources)
      if (const SharedColumns columns = known_.columns(asset); columns != nullptr)
        text += asset.key() + shape_of(*columns);
  text += known_.project().config.contracts_are_errors ? 'e' : 'w';
  return io::xxh3_hex(text);
}

bool Walk::recall(ModelBinding& binding) {
  auto kept = body_.cache.find(binding.key, body_.options.lineage);
  if (!kept) return false;
  binding.bound = std::move(kept->model);
  for (Diagnostic& one : kept->diagnostics) binding.found.push_back(std::move(one));
  return true;
}

Result<void> Walk::ask(const std::vector<ModelBinding*>& pending) {
  body_.asked += pending.size();
  WEIR_TRY(StandIns * engine, body_.stand_ins());
  std::vector<std::pair<std::string, SharedColumns>> tables;
  std::vector<ModelBinding*> plain;
  std::vector<ModelBinding*> alone;
  for (ModelBinding* binding : pending) {
    for (const Input& input : binding->inputs) tables.emplace_back(input.table, input.columns);
    (has_setup(*binding->model) ? alone : plain).push_back(binding);
  }
  const auto refused = engine->ensure(tables);
  const auto is_lost = [&refused](const ModelBinding* binding) {
    return std::any_of(binding->inputs.begin(), binding->inputs.end(), [&refused](const Input& input) {
      return std::find(refused.begin(), refused.end(), input.table) != refused.end();
    });
  };
  for (auto* group : {&plain, &alone})
    group->erase(std::remove_if(group->begin(), group->end(),
                                [&is_lost](ModelBinding* binding) {
                                  if (!is_lost(binding)) return false;
                                  binding->bound.state = BoundModel::State::Opaque;
                                  binding->bound.opaque_because = "an input has a type that checking does not know";
                                  return true;
                                }),
                 group->end());
  WEIR_CHECK(ask_plain(plain));
  for (ModelBinding* binding : alone) WEIR_CHECK(ask_alone(*binding));
  for (ModelBinding* binding : pending)
    if (binding->refusal) WEIR_CHECK(explain(*binding));
  return {};
}

Result<void> Walk::ask_plain(const std::vector<ModelBinding*>& plain) {
  StandIns& engine = *body_.engine;
  const std::size_t threads =
      std::clamp<std::size_t>(plain.size() / kModelsWorthAThread, 1, std::max(1U, body_.options.threads));
  if (threads == 1) {
    if (auto done = bind_plain(engine.connection(), plain); !done) return engine_failed(done.error());
    return {};
  }
  std::vector<std::vector<ModelBinding*>> shares(threads);
  for (std::size_t i = 0; i < plain.size(); ++i) shares[i % threads].push_back(plain[i]);
  std::vector<duck::Outcome<void>> outcomes(threads);
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < threads; ++i)
    workers.emplace_back([&, i] {
      auto connection = engine.connect();
      outcomes[i] = connection ? bind_plain(*connection, shares[i]) : tl::unexpected(connection.error());
    });
  outcomes[0] = bind_plain(engine.connection(), shares[0]);
  for (std::thread& worker : workers) worker.join();
  for (const auto& outcome : outcomes)
    if (!outcome) return engine_failed(outcome.error());
  return {};
}

Result<void> Walk::ask_alone(ModelBinding& binding) {
  WEIR_CHECK(check_cancelled());
  if (!attaches(*binding.model)) {
    if (auto done = bind_with_setup(*body_.engine, binding); !done) return engine_failed(done.error());
    return {};
  }
  // What it attaches belongs to the instance, so it gets its own.
  WEIR_TRY(const std::unique_ptr<StandIns> own, StandIns::open(body_.config.get()));
  std::vector<std::pair<std::string, SharedColumns>> tables;
  for (const Input& input : binding.inputs) tables.emplace_back(input.table, input.columns);
  (void)own->ensure(tables);
  binding.is_fleeting = true;
  if (auto done = bind_with_setup(*own, binding); !done) return engine_failed(done.error());
  if (binding.refusal && binding.refused_statement + 1 < binding.model->script.statements.size() &&
      binding.model->script.statements[binding.refused_statement].kind == parse::StatementKind::Attach) {
    // Another kind of database than the engine alone opens, or none there now.
    binding.bound.state = BoundModel::State::Opaque;
    binding.bound.opaque_because = first_line(binding.refusal->message);
    binding.refusal.reset();
  }
  return {};
}

Result<void> Walk::explain(ModelBinding& binding) {
  binding.bound.state = BoundModel::State::Failed;
  binding.is_fleeting = true;
  auto connection = connection_for(*body_.engine, binding);
  if (!connection) return engine_failed(connection.error());
  if (auto done = diagnose(*connection, binding, known_); !done) return engine_failed(done.error());
  return {};
}

/// The contract on the result (`columns:`).
void Walk::check_output(ModelBinding& binding) {
  duck::Connection* connection = binding.model->contract.empty() ? nullptr : body_.connection();
  if (connection == nullptr) return;
  Columns columns;
  for (const BoundColumn& column : binding.bound.columns) columns.push_back({column.name, column.type});
  if (auto kept = check_contract(*connection, *binding.model, columns); !kept)
    for (Diagnostic& one : kept.error()) binding.found.push_back(std::move(one));
}

/// Queries of its tests, over the table that it makes.
Result<void> Walk::bind_tests(ModelBinding& binding) {
  std::unique_ptr<StandIns> own;
  const auto engine = [&](bool is_own) -> Result<StandIns*> {
    if (!is_own) return body_.stand_ins();
    WEIR_TRY(own, StandIns::open(body_.config.get()));
    return own.get();
  };
  return bind_test_queries(binding, known_, engine);
}

Result<void> Walk::finish(ModelBinding& binding, bool is_recalled) {
  if (!is_recalled && binding.bound.state == BoundModel::State::Bound) {
    if (auto done = bind_declarations(binding, known_, [this] { return body_.connection(); }); !done)
      return engine_failed(done.error());
    check_output(binding);
    WEIR_CHECK(bind_tests(binding));
    if (!binding.is_fleeting) body_.cache.put(binding.key, {binding.bound, binding.found});
    if (!body_.options.lineage) {
      for (BoundColumn& column : binding.bound.columns) column.from = {};
      binding.bound.rows = {};
    }
  }
  settle(binding);
  return {};
}

/// What readers will find, and what there is to say.
void Walk::settle(ModelBinding& binding) {
  const Model& model = *binding.model;
  BoundModel& bound = binding.bound;
  if (bound.state == BoundModel::State::Bound) {
    known_.set_output(model, bound.columns);
  } else if (const auto last = known_.set_captured(model); last) {
    bound.columns.clear();
    for (const duck::Column& column : last->columns) bound.columns.push_back({column.name, column.type, {}});
  }
  if (bound.state != BoundModel::State::Bound) add_declared_lineage(binding, known_);
  if (bound.state == BoundModel::State::Opaque && binding.found.empty() && model.plane != Plane::Manual)
    binding.found.push_back({Code::W2122,
                             Severity::Hint,
                             "the columns of this model are known only when it runs: " + bound.opaque_because,
                             model.source->path,
                             model.result().span,
                             {}});
  bound_.is_lasting = bound_.is_lasting && !binding.is_fleeting && binding.places.files.empty();
  std::move(binding.found.begin(), binding.found.end(), std::back_inserter(bound_.diagnostics));
  bound_.models[binding.index] = std::move(bound);
}

}  // namespace

Binder::Binder(BinderOptions options) : body_(std::make_unique<Body>(std::move(options))) {}
Binder::Binder(Binder&&) noexcept = default;
Binder::~Binder() = default;

Result<Bound> Binder::bind(const Project& project, const Graph& graph, const Surroundings& surroundings,
                           const std::atomic<bool>* cancelled, const std::set<std::string>* only) {
  KnownAssets known(graph, project, surroundings);
  body_->asked = 0;
  if (body_->config == nullptr) body_->config = std::make_unique<Config>(project.config);
  auto bound = Walk(*body_, known, cancelled, only).run();
  if (bound && only == nullptr) body_->cache.keep_touched();
  return bound;
}

Result<std::vector<BoundExpression>> Binder::bind_expressions(const Columns& columns,
                                                              const std::vector<std::string>& texts) {
  WEIR_TRY(StandIns * engine, body_->stand_ins());
  auto bound = bind_over(*engine, columns, texts);
  if (!bound) return engine_failed(bound.error());
  return std::move(*bound);
}

std::size_t Binder::asked() const { return body_->asked; }

void Binder::save() { body_->cache.save(); }

std::vector<Asset> sources_of(const Graph& graph) {
  std::map<std::string, Asset> found;
  for (const Model& model : graph.models()) {
    for (const Asset& asset : inputs_of(model)) {
      const Model* producer = graph.producer(asset);
      if (producer == nullptr || producer == &model || producer->plane == Plane::Manual)
        found.emplace(asset.key(), asset);
    }
    for (const DeclaredLineage& line : model.lineage)
      for (const auto& [asset, column] : line.sources)
        if (graph.producer(asset) == nullptr) found.emplace(asset.key(), asset);
  }
  std::vector<Asset> assets;
  for (auto& [key, asset] : found) assets.push_back(std::move(asset));
  return assets;
}

}  // namespace weir::bind
