#include "lsp/analysis.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>

#include "bind/binder.h"
#include "io/files.h"
#include "lsp/functions.h"
#include "metric/judge.h"
#include "ops/binding.h"
#include "ops/check.h"
#include "ops/workspace.h"
#include "project/cache.h"
#include "text/lexer.h"
#include "text/render.h"

namespace weir::lsp {
namespace {

/// What stays from question to question.
class Analyst {
 public:
  /// Null if the question was cancelled.
  std::shared_ptr<const Snapshot> answer(const Question& question, const std::atomic<bool>& cancelled) {
    if (root_ != question.root) begin(question.root);
    auto made = std::make_shared<Snapshot>();
    made->revision = question.revision;
    made->root = question.root;
    made->configuration = configuration_of(question);
    try {
      if (!understand(question, cancelled, *made)) return nullptr;
    } catch (const std::exception& problem) {
      // Neither a folder that vanishes while it is read nor a lack of memory ends the server: what was known stays.
      made->problem = problem.what();
      made->diagnostics.clear();
      if (last_ != nullptr) keep(*last_, *made);
      begin_engine();
    }
    text::sort_diagnostics(made->diagnostics);
    last_ = made;
    return made;
  }

 private:
  /// False if it was cancelled.
  bool understand(const Question& question, const std::atomic<bool>& cancelled, Snapshot& made) {
    auto project = load_project(question.root, *parser_, question.open, *cache_);
    cache_->keep_touched();
    if (!project.has_value()) {
      made.diagnostics = std::move(project).error();
      if (last_ != nullptr) keep(*last_, made);
      // A fault that lies in no file may be the engine's: it is opened anew.
      const bool is_elsewhere = std::any_of(made.diagnostics.begin(), made.diagnostics.end(),
                                            [](const Diagnostic& one) { return one.path.empty(); });
      if (is_elsewhere) begin_engine();
      return true;
    }
    made.project = std::move(*project);
    const auto judged = metric::judge(made.project, *parser_, fit_metrics_);
    made.diagnostics = made.project.diagnostics;
    if (!judged.has_value()) say(judged.error(), made);
    link(made);
    if (!bind(made, cancelled)) return false;
    add_macros(made);
    add_functions(made);
    return true;
  }

  void begin(const std::string& root) {
    root_ = root;
    cache_ = std::make_unique<ParseCache>(root + "/.weir/cache/parsed");
    begin_engine();
    last_ = nullptr;
    sources_ = {};
    asked_for_.clear();
    looked_ = {};
  }

  void begin_engine() {
    parser_ = ops::Workspace::lazy_parser();
    // Texts that are being typed are nobody else's: what is learnt of them stays in memory.
    binder_ = std::make_unique<bind::Binder>(bind::BinderOptions{.cache_file = "", .threads = 1});
  }

  static std::string configuration_of(const Question& question) {
    if (const auto open = question.open.find("weir.yaml"); open != question.open.end()) return open->second;
    auto bytes = io::read_file(question.root + "/weir.yaml");
    return bytes.has_value() ? std::move(*bytes) : std::string();
  }

  // A project that cannot be loaded at all is shown as it was: a slip in weir.yaml does not take every name away.
  static void keep(const Snapshot& last, Snapshot& made) {
    made.project = last.project;
    made.graph = last.graph;
    made.models = last.models;
    made.assets = last.assets;
    made.macros = last.macros;
    made.bound = last.bound;
  }

  void link(Snapshot& made) {
    for (const Model& model : made.project.models)
      made.models.emplace(model.source->path, std::make_shared<const Model>(model));
    if (last_ != nullptr)
      for (const auto& source : made.project.sources)
        if (const auto before = last_->models.find(source->path); before != last_->models.end())
          made.models.emplace(source->path, before->second);
    // A file that is wrong now takes part as it last was, so that its readers are not blamed for a half-typed word.
    std::vector<Model> models;
    for (const auto& [path, model] : made.models) models.push_back(*model);
    auto graph = Graph::link(std::move(models));
    if (graph.has_value())
      made.graph = std::make_shared<const Graph>(std::move(*graph));
    else if (!has_errors(made.project.diagnostics))
      say(std::move(graph).error(), made);
    for (const auto& [path, model] : made.models) add_assets(*model, made);
  }

  static void say(Diagnostics found, Snapshot& made) {
    std::move(found.begin(), found.end(), std::back_inserter(made.diagnostics));
  }

  /// False if it was cancelled.
  bool bind(Snapshot& made, const std::atomic<bool>& cancelled) {
    if (made.graph == nullptr) return true;
    look_at_sources(*made.graph);
    bind::Surroundings surroundings;
    surroundings.sources = sources_.schemas;
    surroundings.captured = [this] { return captured(); };
    auto bound = binder_->bind(made.project, *made.graph, surroundings, &cancelled);
    if (cancelled) return false;
    if (!bound.has_value()) {
      say(std::move(bound).error(), made);
      begin_engine();
      return true;
    }
    Diagnostics missing = ops::warn_of_missing_sources(*made.graph, made.project, *bound, sources_.missing);
    std::move(missing.begin(), missing.end(), std::back_inserter(bound->diagnostics));
    // Places in a model that is only remembered are places in a text that is no more.
    std::set<std::string> remembered;
    for (const auto& [path, model] : made.models) remembered.insert(path);
    for (const Model& model : made.project.models) remembered.erase(model.source->path);
    for (Diagnostic& found : bound->diagnostics)
      if (!remembered.contains(found.path)) made.diagnostics.push_back(std::move(found));
    const auto& models = made.graph->models();
    for (std::size_t i = 0; i < models.size() && i < bound->models.size(); ++i)
      made.bound.emplace(models[i].source->path, std::move(bound->models[i]));
    for (auto& [key, known] : made.assets)
      if (const auto columns = bound->assets.find(key); columns != bound->assets.end()) known.columns = columns->second;
    warn_of_metrics(*bound, made);
    return true;
  }

  void warn_of_metrics(const bind::Bound& bound, Snapshot& made) {
    const auto table_of = [&bound](const Model& model) -> std::optional<metric::KnownTable> {
      const bind::Columns* columns = bound.columns_of(*model.target);
      if (columns == nullptr) return std::nullopt;
      return metric::KnownTable{*columns, std::nullopt, ""};
    };
    auto found = metric::bound_warnings(made.project, table_of, *parser_, bound_metrics_);
    say(found.has_value() ? std::move(*found) : std::move(found).error(), made);
  }

  /// Asks the lakes for the columns of sources, but not at every key: when a name is new, and every few seconds. What a
  /// lake does not tell is known from captures, and nothing is said about it: `weir check` says that a lake is away.
  void look_at_sources(const Graph& graph) {
    constexpr auto kFresh = std::chrono::seconds(10);
    const std::vector<Asset> wanted = bind::sources_of(graph);
    const bool is_new = std::any_of(wanted.begin(), wanted.end(),
                                    [this](const Asset& asset) { return !asked_for_.contains(asset.key()); });
    if (!is_new && (wanted.empty() || std::chrono::steady_clock::now() - looked_ < kFresh)) return;
    asked_for_.clear();
    for (const Asset& asset : wanted) asked_for_.insert(asset.key());
    looked_ = std::chrono::steady_clock::now();
    auto workspace = ops::Workspace::open(root_);
    if (!workspace.has_value()) return;
    auto found = ops::columns_in_lakes(*workspace, wanted);
    if (found.has_value())
      sources_ = std::move(*found);
    else
      sources_ = {captured(), {}};
  }

  bind::KnownSchemas captured() const {
    auto workspace = ops::Workspace::open(root_);
    if (!workspace.has_value()) return {};
    auto known = ops::captured_columns(*workspace);
    return known.has_value() ? std::move(*known) : bind::KnownSchemas();
  }

  // A library that is wrong now keeps the macros that it last had.
  void add_macros(Snapshot& made) const {
    std::set<std::string> files;
    for (const MacroLibrary& library : made.project.libraries) {
      files.insert(library.source->path);
      for (const MacroLibrary::Macro& one : library.macros) {
        const Span whole = library.script.statements[one.statement].span;
        made.macros.try_emplace(one.name,
                                KnownMacro{.name = one.name,
                                           .library = library.path,
                                           .file = library.source->path,
                                           .name_span = one.name_span,
                                           .definition = library.source->text.substr(whole.begin, whole.size()),
                                           .is_table = one.is_table});
      }
    }
    if (last_ == nullptr) return;
    for (const auto& [name, macro] : last_->macros)
      if (!files.contains(macro.file) && made.project.source(macro.file) != nullptr)
        made.macros.try_emplace(name, macro);
  }

  /// Asked of the engine once.
  void add_functions(Snapshot& made) {
    if (functions_ == nullptr)
      if (const auto connection = parser_->connection(); connection.has_value())
        functions_ = functions_of(**connection);
    made.functions = functions_;
  }

  static void add_assets(const Model& model, Snapshot& made) {
    for (const Asset& asset : inputs_of(model)) made.assets.try_emplace(asset.key(), KnownAsset{asset, "", nullptr});
    for (const Asset& asset : outputs_of(model)) produce(asset, model, made);
    if (!model.target) produce(model.relation, model, made);
  }

  static void produce(const Asset& asset, const Model& model, Snapshot& made) {
    if (asset.name.empty()) return;
    KnownAsset& known = made.assets[asset.key()];
    known.asset = asset;
    known.producer = model.source->path;
  }

  std::string root_;
  std::unique_ptr<ParserProvider> parser_;  // DuckDB's, opened once for the life of the server
  std::unique_ptr<ParseCache> cache_;
  std::unique_ptr<bind::Binder> binder_;
  ops::SourceColumns sources_;
  std::set<std::string> asked_for_;
  std::shared_ptr<const KnownFunctions> functions_;
  std::chrono::steady_clock::time_point looked_;
  metric::FitTexts fit_metrics_;
  metric::FitTexts bound_metrics_;
  std::shared_ptr<const Snapshot> last_;
};

}  // namespace

const Model* Snapshot::model_of_file(const std::string& path) const {
  const auto found = models.find(path);
  return found == models.end() ? nullptr : found->second.get();
}

const KnownAsset* Snapshot::asset(const Asset& wanted) const {
  const auto found = assets.find(wanted.key());
  return found == assets.end() ? nullptr : &found->second;
}

const KnownMacro* Snapshot::macro(const std::string& name) const {
  const auto found = macros.find(name);
  return found == macros.end() ? nullptr : &found->second;
}

const Model* Snapshot::producer(const Asset& wanted) const {
  const KnownAsset* known = asset(wanted);
  return known == nullptr ? nullptr : model_of_file(known->producer);
}

const bind::BoundColumn* Snapshot::bound_column(const Asset& wanted, const std::string& column) const {
  const Model* model = producer(wanted);
  const auto found = model == nullptr ? bound.end() : bound.find(model->source->path);
  if (found == bound.end()) return nullptr;
  for (const bind::BoundColumn& one : found->second.columns)
    if (text::same_word(one.name, column)) return &one;
  return nullptr;
}

Analysis::Analysis(std::function<void()> ready) : ready_(std::move(ready)), thread_([this] { work(); }) {}

Analysis::~Analysis() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    cancelled_ = true;
  }
  asked_.notify_one();
  thread_.join();
}

void Analysis::ask(Question question) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(question);
    cancelled_ = true;
  }
  asked_.notify_one();
}

std::shared_ptr<const Snapshot> Analysis::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, nullptr);
}

void Analysis::work() {
  Analyst analyst;
  while (true) {
    Question question;
    {
      std::unique_lock lock(mutex_);
      asked_.wait(lock, [this] { return stop_ || waiting_; });
      if (stop_) return;
      question = std::move(*waiting_);
      waiting_.reset();
      cancelled_ = false;
    }
    auto snapshot = analyst.answer(question, cancelled_);
    if (snapshot == nullptr) continue;
    {
      const std::lock_guard lock(mutex_);
      finished_ = std::move(snapshot);
    }
    ready_();
  }
}

}  // namespace weir::lsp
