#include "run/rendered.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "io/file_identity.h"
#include "project/contract.h"
#include "project/setup.h"
#include "run/inline.h"
#include "text/lexer.h"

namespace weir::run {
namespace {

/// A read of the table that the model writes, where it writes it; of a history also as `<t>_current`.
bool is_own(const Model& model, const Reference& reference) {
  if (!model.target || reference.has_at) return false;
  Asset current = *model.target;
  current.name += "_current";
  return reference.asset == *model.target || (model.is_history() && reference.asset == current);
}

/// Statements of the model rendered for this run: references to where the data is, tokens and arguments filled in.
class Renderer {
 public:
  /// `own_table`: what stands for the model's own table where nothing has made it yet; empty if it is read as any
  /// other.
  Renderer(Session& session, StepWork& work, std::string own_table)
      : session_(session), work_(work), own_table_(std::move(own_table)) {}

  /// Requires: images' mutex held shared, the lakes in `versions` pinned by the caller's transaction. Errors: W6031.
  Result<Rendered> render(const std::map<std::string, std::int64_t>& versions) {
    const Model& model = *work_.step->model;
    const auto where = [&](const Reference& reference) { return relation_of(reference, versions); };
    Rendered rendered;
    std::vector<SetupStatement> setup = setup_statements(model, where, work_.step->slice, work_.step->arguments);
    for (const SetupStatement& one : with_test_macros(model, setup, where)) rendered.test_setup.push_back(one.sql);
    for (SetupStatement& one : setup) rendered.setup.push_back(std::move(one.sql));
    rendered.query =
        splice_statement(model, model.script.statements.size() - 1, where, work_.step->slice, work_.step->arguments);
    rendered.largest_stage = largest_stage_;
    rendered.times = times_;
    if (model.plane == Plane::View) rendered.view_sql = stored_query(model);
    if (!unread_.empty()) return fail(not_read(model));
    return rendered;
  }

 private:
  std::vector<SetupStatement> with_test_macros(const Model& model, const std::vector<SetupStatement>& setup,
                                               const WhereToRead& where) const {
    const bool has_more = std::any_of(model.macros.begin(), model.macros.end(),
                                      [](const MacroDefinition& macro) { return macro.is_for_tests; });
    if (!has_more) return setup;
    return setup_statements(model, where, work_.step->slice, work_.step->arguments, SetupFor::Tests);
  }

  /// The query with the names by which every reader of the lake finds its tables: two parts, since a lake may be
  /// attached under any name.
  std::string stored_query(const Model& model) const {
    const WhereToRead where = [&](const Reference& reference) -> std::string {
      const Model* producer = session_.graph.producer(reference.asset);
      if (producer != nullptr && producer->plane == Plane::Ephemeral) return inlined(*producer, where);
      return duck::Sql("{}", duck::TableName{{}, reference.asset.schema, reference.asset.name}).text();
    };
    return splice_statement(model, model.script.statements.size() - 1, where, work_.step->slice, work_.step->arguments)
        .text();
  }

  Diagnostics not_read(const Model& model) const {
    Diagnostics problems;
    for (const Reference& reference : unread_)
      problems.push_back({.code = Code::W6031,
                          .message = fmt::format("the run {} did not read {} for {}", session_.read_versions.as_of,
                                                 reference.asset.uri(), model.path),
                          .path = model.source->path,
                          .hint = "`weir inputs RUN` lists what a run read; name one that built the model"});
    return problems;
  }

  /// True for a model whose query stands for its rows here.
  bool is_inlined(const Model* producer, bool has_image) const {
    if (producer == nullptr || producer == work_.step->model) return false;
    return producer->plane == Plane::Ephemeral || (producer->plane == Plane::View && !has_image);
  }

  std::string relation_of(const Reference& reference, const std::map<std::string, std::int64_t>& versions) {
    if (reference.asset.kind == AssetKind::Datatable) {
      largest_stage_.reset();
      return duck::Sql("{}", work_.datatables.at(reference.asset.key())).text();
    }
    const lake::Lake& lake = session_.lakes.lake(reference.asset.place);
    const auto version = versions.find(lake.name());
    const std::int64_t pinned = version == versions.end() ? 0 : version->second;
    if (reference.has_at) {
      note_input(reference.asset, {}, reference.version.value_or(pinned), pinned);
      largest_stage_.reset();
      return duck::Sql("{}", lake.readable(reference.asset.schema, reference.asset.name)).text();
    }
    const std::optional<Images::Found> image = session_.images.find(reference.asset, pinned);
    const Model* producer = session_.graph.producer(reference.asset);
    if (!own_table_.empty() && is_own(*work_.step->model, reference)) return own_table_;
    if (is_inlined(producer, image.has_value())) {
      largest_stage_.reset();
      return inlined(*producer, [&](const Reference& inner) { return relation_of(inner, versions); });
    }
    const std::optional<std::int64_t> chosen = image || !lake.exists() ? std::nullopt : chosen_version(reference);
    note_input(reference.asset, image, chosen.value_or(pinned), chosen.value_or(pinned));
    note_rows(image);
    if (image) return image->relation.text();
    const duck::TableName table = lake.readable(reference.asset.schema, reference.asset.name);
    // A query of its own: an alias behind AT is a syntax error.
    if (chosen) return duck::Sql("(SELECT * FROM {} AT (VERSION => {}))", table, *chosen).text();
    return duck::Sql("{}", table).text();
  }

  /// The version to read a committed table at; nothing: the transaction's.
  std::optional<std::int64_t> chosen_version(const Reference& reference) {
    const ReadVersions& versions = session_.read_versions;
    if (!versions.are_chosen()) return std::nullopt;
    const std::string key = reference.asset.key();
    const auto of_lake = versions.lakes.find(text::lower(reference.asset.place));
    const auto pinned = of_lake == versions.lakes.end() ? std::nullopt : std::optional(of_lake->second);
    const auto producer = session_.plan.producers.find(key);
    if (producer != session_.plan.producers.end() &&
        session_.plan.steps[producer->second].action == plan::Action::Build) {
      if (session_.plan.steps[producer->second].model->plane == Plane::Manual) return std::nullopt;
      const auto published = session_.images.published(producer->second);
      return published ? published : pinned;
    }
    if (versions.as_of.empty()) return pinned;
    const auto of_table = versions.tables.find({work_.step->model->path, key});
    if (of_table != versions.tables.end()) return of_table->second;
    unread_.push_back(reference);
    return std::nullopt;
  }

  void note_rows(const std::optional<Images::Found>& image) {
    if (!image || !image->rows) largest_stage_.reset();
    if (largest_stage_) largest_stage_ = std::max(*largest_stage_, *image->rows);
    if (!image || !image->times) return;
    if (!times_) times_ = image->times;
    times_ = {std::min(times_->first, image->times->first), std::max(times_->second, image->times->second)};
  }

  void note_input(const Asset& asset, const std::optional<Images::Found>& image, std::int64_t version,
                  std::int64_t known) {
    if (!seen_.emplace(asset.key(), version).second) return;
    // In the producer's spelling, whatever the reader's.
    const Model* producer = session_.graph.producer(asset);
    const bool is_target = producer != nullptr && producer->target && producer->target->key() == asset.key();
    work_.report.inputs.push_back({is_target ? *producer->target : asset, version, {}, known});
    if (image && image->step)
      work_.staged_inputs.push_back({*image->step, work_.report.inputs.size() - 1, image->base});
  }

  Session& session_;
  StepWork& work_;
  const std::string own_table_;
  std::set<std::pair<std::string, std::int64_t>> seen_;
  std::vector<Reference> unread_;
  std::optional<std::int64_t> largest_stage_ = 0;
  std::optional<std::pair<std::string, std::string>> times_;
};

/// No rows of the model's own table, for its first run; empty if it reads none of its own, if the table is there, and
/// if the header does not declare it.
Result<std::string> first_table(const StepWork& work, duck::Connection& connection) {
  const Model& model = *work.step->model;
  const bool reads_own = std::any_of(model.references.begin(), model.references.end(),
                                     [&model](const Reference& reference) { return is_own(model, reference); });
  if (!reads_own || work.target.exists || work.target.is_deferral) return std::string();
  WEIR_TRY(const auto types, contract_types(connection, model));
  const auto columns = declared_table(model, types);
  if (!columns) return std::string();
  std::vector<duck::Sql> empty;
  for (const duck::Column& column : *columns)
    empty.emplace_back("CAST(NULL AS {}) AS {}", duck::Sql::verbatim(column.type), duck::Identifier(column.name));
  return duck::Sql("(SELECT {} WHERE false)", duck::Sql::join(empty, ", ")).text();
}

/// Lakes that the step reads in committed form, or through an image that reads its target; also in queries that are
/// put into its own.
void add_lakes_to_pin(const Session& session, const Model& model, std::set<std::string>& names) {
  for (const Reference& reference : model.references) {
    if (reference.asset.kind != AssetKind::Lake) continue;
    if (reference.has_at || session.images.needs_pin(reference.asset))
      names.insert(session.lakes.lake(reference.asset.place).name());
    const Model* producer = session.graph.producer(reference.asset);
    if (producer != nullptr && producer != &model &&
        (producer->plane == Plane::Ephemeral || producer->plane == Plane::View))
      add_lakes_to_pin(session, *producer, names);
  }
}

}  // namespace

Result<void> begin(Reading& reading, duck::Connection& connection) {
  if (reading) return {};
  auto transaction = duck::Transaction::begin(connection);
  if (!transaction) return fail(lake::explain(Code::W4001, "cannot begin to read", transaction.error()));
  reading.emplace(std::move(*transaction));
  return {};
}

Result<Rendered> pin_and_render(Session& session, StepWork& work, duck::Connection& connection, Reading& reading) {
  const Model& model = *work.step->model;
  std::shared_lock commits(session.images.commits(), std::defer_lock);
  std::shared_lock lock(session.images.mutex());
  std::set<std::string> names;
  add_lakes_to_pin(session, model, names);
  if (!names.empty()) {
    lock.unlock();
    commits.lock();
    lock.lock();
    add_lakes_to_pin(session, model, names);
  }
  std::map<std::string, std::int64_t> versions;
  for (const std::string& name : names) {
    WEIR_CHECK(begin(reading, connection));
    WEIR_TRY(versions[name], session.lakes.lake(name).current_version(connection));
  }
  work.report.inputs.clear();
  work.staged_inputs.clear();
  WEIR_TRY(std::string own_table, first_table(work, connection));
  return Renderer(session, work, std::move(own_table)).render(versions);
}

Result<void> open_datatables(Session& session, StepWork& work) {
  for (const Reference& reference : work.step->model->references) {
    const Asset& asset = reference.asset;
    if (asset.kind != AssetKind::Datatable) continue;
    WEIR_TRY(work.datatables[asset.key()], session.lakes.datatable(asset.place, asset.schema, asset.name));
  }
  return {};
}

void note_files(const Session& session, StepWork& work) {
  for (const std::string& file : work.step->model->files.value_or(std::vector<std::string>{}))
    if (auto identity = io::file_identity(session.project.config.root, file))
      work.file_inputs.push_back({"file:" + file, *identity});
}

}  // namespace weir::run
