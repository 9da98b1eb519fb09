// Deployments: what differs is found and written in one transaction, each model wholesale.
#include <algorithm>
#include <map>
#include <set>

#include "io/hash.h"
#include "state/sql_store.h"
#include "state/store.h"

namespace weir::state {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }
std::string text(Field& field) { return std::move(field).value_or(std::string()); }

/// Texts joined so that no two different lists give one text.
class Joined {
 public:
  Joined& operator<<(std::string_view value) {
    text_ += std::to_string(value.size()) + ':';
    text_ += value;
    return *this;
  }
  std::string hash() const { return io::xxh3_hex(text_); }

 private:
  std::string text_;
};

/// What stands in the store about a model, as far as a comparison needs it.
struct Known {
  std::string digest;
  std::string asset;
  std::string source_hash;
};

std::map<std::string, Known> known_models(std::vector<Row> rows) {
  std::map<std::string, Known> known;
  for (Row& row : rows) known[text(row[0])] = {text(row[1]), text(row[2]), text(row[3])};
  return known;
}

/// Finds the deployed model that has what a gone one had: its asset, or its text.
class Successors {
 public:
  explicit Successors(const std::vector<DeployedModel>& models) {
    for (const DeployedModel& model : models) {
      if (!model.asset.empty()) by_asset_.emplace(model.asset, &model.model);
      by_source_.emplace(model.source_hash, &model.model);
    }
  }
  const std::string* of(const Known& gone) const {
    if (const auto found = by_asset_.find(gone.asset); found != by_asset_.end()) return found->second;
    const auto found = by_source_.find(gone.source_hash);
    return found == by_source_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string_view, const std::string*> by_asset_;
  std::map<std::string_view, const std::string*> by_source_;
};

}  // namespace

std::string digest_of(const DeployedModel& model) {
  Joined all;
  all << model.model << model.file << model.plane << model.strategy << model.asset << model.fingerprint
      << model.source_hash << model.partitioned << model.tags_json << model.owner << model.description
      << model.schedule_cron << model.schedule_every << model.schedule_tz << model.freshness;
  for (const EdgeRecord& edge : model.edges) all << edge.kind << edge.asset << edge.uri << edge.debounce;
  for (const MetricRecord& metric : model.metrics)
    all << metric.table << metric.kind << metric.name << metric.expression << metric.filter.value_or("")
        << metric.description << metric.unit << metric.format;
  return all.hash();
}

std::string digest_of(const std::vector<std::pair<std::string, std::string>>& models) {
  std::vector<std::pair<std::string, std::string>> sorted = models;
  std::sort(sorted.begin(), sorted.end());
  Joined all;
  for (const auto& [path, digest] : sorted) all << path << digest;
  return all.hash();
}

DeploymentChanges SqlStore::differences(const Deployment& deployment) {
  const auto known =
      known_models(session_->ask("SELECT model, digest, asset, source_hash FROM model WHERE environment = :environment",
                                 {deployment.environment}, 4));
  DeploymentChanges changes;
  std::set<std::string> deployed;
  for (const DeployedModel& model : deployment.models) {
    deployed.insert(model.model);
    const auto before = known.find(model.model);
    if (before == known.end())
      changes.added.push_back(model.model);
    else if (before->second.digest != model.digest)
      changes.changed.push_back(model.model);
    else
      ++changes.unchanged;
  }
  const std::set<std::string> present(deployment.present.begin(), deployment.present.end());
  const Successors successors(deployment.models);
  for (const auto& [path, before] : known) {
    if (deployed.contains(path) || present.contains(path)) continue;
    if (const std::string* now = successors.of(before); now != nullptr)
      changes.renamed.emplace_back(path, *now);
    else if (deployment.is_whole)
      changes.removed.push_back(path);
  }
  std::set<std::string> taken_out;
  for (Row& row :
       session_->ask("SELECT model FROM taken_out WHERE environment = :environment", {deployment.environment}, 1))
    taken_out.insert(text(row[0]));
  for (const std::string& path : deployment.absent)
    if (!taken_out.contains(path) && !known.contains(path)) changes.removed.push_back(path);
  for (const std::string& path : taken_out)
    if (deployed.contains(path) || present.contains(path)) changes.returned.push_back(path);
  std::map<std::string, std::string> libraries;
  for (Row& row : session_->ask("SELECT library, digest FROM library WHERE environment = :environment",
                                {deployment.environment}, 2))
    libraries[text(row[0])] = text(row[1]);
  for (const DeployedLibrary& library : deployment.libraries) {
    const auto before = libraries.find(library.library);
    if (before == libraries.end() || before->second != library.digest) changes.libraries.push_back(library.library);
    if (before != libraries.end()) libraries.erase(before);
  }
  if (deployment.is_whole)
    for (const auto& [library, digest] : libraries) changes.libraries.push_back(library);
  return changes;
}

namespace {

/// A model whose file was moved is one change, though its rows are written as those of a new one.
DeploymentChanges told_once(DeploymentChanges changes) {
  for (const auto& [path, now] : changes.renamed) std::erase(changes.added, now);
  return changes;
}

}  // namespace

Result<DeploymentChanges> SqlStore::compare(const Deployment& deployment) {
  const std::lock_guard guard(mutex_);
  DeploymentChanges changes;
  WEIR_CHECK(session_->read([&]() -> Result<void> {
    changes = differences(deployment);
    return {};
  }));
  return told_once(std::move(changes));
}

Result<DeploymentChanges> SqlStore::deploy(const Deployment& deployment) {
  const std::lock_guard guard(mutex_);
  DeploymentChanges changes;
  // Two deployments at once: the second sees what the first wrote.
  WEIR_CHECK(session_->write("deploy", [&]() -> Result<void> {
    changes = differences(deployment);
    if (changes.empty()) return {};
    write_deployed(deployment, changes);
    write_libraries(deployment, changes.libraries);
    std::vector<Row> returned, absent;
    for (const std::string& path : changes.returned) returned.push_back({deployment.environment, path});
    for (const std::string& path : deployment.absent) absent.push_back({deployment.environment, path});
    session_->insert("DELETE FROM taken_out WHERE (environment, model) IN (", returned, ")");
    session_->insert("INSERT INTO taken_out (environment, model)", absent, "ON CONFLICT DO NOTHING");
    std::vector<std::pair<std::string, std::string>> all;
    for (Row& row :
         session_->ask("SELECT model, digest FROM model WHERE environment = :environment", {deployment.environment}, 2))
      all.emplace_back(text(row[0]), text(row[1]));
    session_->run(
        "INSERT INTO deployment (deployment, environment, time, run, command, host, written, removed, digest) "
        "VALUES (:deployment, :environment, :time, :run, :command, :host, :written, :removed, :digest)",
        {deployment.deployment, deployment.environment, deployment.time, deployment.run, deployment.command,
         deployment.host, number(std::ssize(changes.added) + std::ssize(changes.changed)),
         number(std::ssize(changes.removed) + std::ssize(changes.renamed)), digest_of(all)});
    return {};
  }));
  return told_once(std::move(changes));
}

void SqlStore::write_deployed(const Deployment& deployment, const DeploymentChanges& changes) {
  const std::string& environment = deployment.environment;
  std::set<std::string> written(changes.added.begin(), changes.added.end());
  written.insert(changes.changed.begin(), changes.changed.end());
  std::vector<Row> gone;
  for (const std::string& path : written) gone.push_back({environment, path});
  for (const std::string& path : changes.removed) gone.push_back({environment, path});
  for (const auto& [path, now] : changes.renamed) gone.push_back({environment, path});
  session_->insert("DELETE FROM model WHERE (environment, model) IN (", gone, ")");
  session_->insert("DELETE FROM edge WHERE (environment, model) IN (", gone, ")");
  session_->insert("DELETE FROM data_metric WHERE (environment, script_path) IN (", gone, ")");

  std::vector<Row> models, edges, metrics;
  std::map<std::string, Row> assets;
  for (const DeployedModel& model : deployment.models) {
    if (!written.contains(model.model)) continue;
    models.push_back({environment,       model.model,       model.file,          model.plane,
                      model.strategy,    model.asset,       model.fingerprint,   model.digest,
                      model.source_hash, model.source,      model.partitioned,   model.tags_json,
                      model.owner,       model.description, model.schedule_cron, model.schedule_every,
                      model.schedule_tz, model.freshness,   deployment.time,     deployment.deployment});
    std::set<std::pair<std::string, std::string>> seen;
    for (const EdgeRecord& edge : model.edges) {
      if (!seen.emplace(edge.asset, edge.kind).second) continue;
      edges.push_back({environment, model.model, edge.asset, edge.kind, edge.debounce});
      assets[edge.asset] = {environment, edge.asset, edge.uri, edge.asset_kind};
    }
    for (const MetricRecord& metric : model.metrics)
      metrics.push_back({environment, model.model, metric.kind, metric.name, metric.table, table_key_of(metric.table),
                         metric.expression, metric.filter, metric.description, metric.unit, metric.format,
                         deployment.time});
  }
  session_->insert(
      "INSERT INTO model (environment, model, file, plane, strategy, asset, fingerprint, digest, source_hash, source, "
      "partitioned, tags_json, owner, description, schedule_cron, schedule_every, schedule_tz, freshness, deployed, "
      "deployment)",
      models, "");
  session_->insert("INSERT INTO edge (environment, model, asset, kind, debounce)", edges, "");
  session_->insert(
      "INSERT INTO data_metric (environment, script_path, kind, name, table_path, table_key, expr, filter, "
      "description, "
      "unit, format, created_at)",
      metrics, "");
  std::vector<Row> named;
  for (auto& [asset, row] : assets) named.push_back(std::move(row));
  session_->insert("INSERT INTO asset (environment, asset, uri, kind)", named,
                   "ON CONFLICT (environment, asset) DO UPDATE SET uri = excluded.uri, kind = excluded.kind");
  session_->run(
      "DELETE FROM asset WHERE environment = :environment AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.environment = "
      "asset.environment AND edge.asset = asset.asset)",
      {environment});
}

void SqlStore::write_libraries(const Deployment& deployment, const std::vector<std::string>& changed) {
  std::vector<Row> gone, macros, libraries;
  for (const std::string& library : changed) gone.push_back({deployment.environment, library});
  session_->insert("DELETE FROM macro WHERE (environment, library) IN (", gone, ")");
  session_->insert("DELETE FROM library WHERE (environment, library) IN (", gone, ")");
  for (const DeployedLibrary& library : deployment.libraries) {
    if (std::find(changed.begin(), changed.end(), library.library) == changed.end()) continue;
    libraries.push_back({deployment.environment, library.library, library.file, library.source, library.digest});
    for (const DeployedLibrary::Macro& macro : library.macros)
      macros.push_back({deployment.environment, library.library, macro.name, macro.definition, library.digest});
  }
  session_->insert("INSERT INTO library (environment, library, file, source, digest)", libraries, "");
  session_->insert("INSERT INTO macro (environment, library, name, definition, digest)", macros, "");
}

Result<std::vector<DeployedModel>> SqlStore::deployed(const std::string& environment) {
  WEIR_TRY(auto found,
           rows("SELECT model, file, plane, strategy, asset, fingerprint, digest, source_hash, partitioned, tags_json, "
                "owner, description, schedule_cron, schedule_every, schedule_tz, freshness, deployed, deployment FROM "
                "model WHERE environment = :environment ORDER BY model",
                {environment}, 18));
  std::vector<DeployedModel> all;
  for (Row& row : found) {
    DeployedModel model;
    std::size_t at = 0;
    for (std::string* field :
         {&model.model, &model.file, &model.plane, &model.strategy, &model.asset, &model.fingerprint, &model.digest,
          &model.source_hash, &model.partitioned, &model.tags_json, &model.owner, &model.description,
          &model.schedule_cron, &model.schedule_every, &model.schedule_tz, &model.freshness, &model.deployed,
          &model.deployment})
      *field = text(row[at++]);
    all.push_back(std::move(model));
  }
  return all;
}

Result<std::vector<std::pair<std::string, std::string>>> SqlStore::deployed_digests(
    const std::string& environment, const std::vector<std::string>& models) {
  const std::lock_guard guard(mutex_);
  std::vector<std::pair<std::string, std::string>> all;
  if (models.empty()) return all;
  WEIR_CHECK(session_->read([&]() -> Result<void> {
    all.clear();
    std::vector<Row> keys;
    for (const std::string& model : models) keys.push_back({environment, model});
    for (Row& row : session_->ask_keys("SELECT model, digest FROM model WHERE (environment, model) IN", keys, "", 2))
      all.emplace_back(text(row[0]), text(row[1]));
    return {};
  }));
  return all;
}

Result<std::vector<std::string>> SqlStore::taken_out(const std::string& environment) {
  WEIR_TRY(auto found, rows("SELECT model FROM taken_out WHERE environment = :environment", {environment}, 1));
  std::vector<std::string> all;
  for (Row& row : found) all.push_back(text(row[0]));
  return all;
}

Result<std::vector<std::pair<std::string, EdgeRecord>>> SqlStore::edges(const std::string& environment) {
  WEIR_TRY(
      auto found,
      rows("SELECT edge.model, edge.asset, asset.uri, asset.kind, edge.kind, edge.debounce FROM edge JOIN asset ON "
           "asset.environment = edge.environment AND asset.asset = edge.asset WHERE edge.environment = "
           ":environment ORDER BY edge.model, edge.asset, edge.kind",
           {environment}, 6));
  std::vector<std::pair<std::string, EdgeRecord>> all;
  for (Row& row : found)
    all.emplace_back(text(row[0]), EdgeRecord{.asset = text(row[1]),
                                              .uri = text(row[2]),
                                              .asset_kind = text(row[3]),
                                              .kind = text(row[4]),
                                              .debounce = text(row[5])});
  return all;
}

Result<std::vector<DeploymentRecord>> SqlStore::deployments(const std::string& environment, std::size_t limit) {
  WEIR_TRY(auto found,
           rows("SELECT deployment, environment, time, run, command, host, written, removed, digest FROM deployment "
                "WHERE environment = :environment ORDER BY deployment DESC LIMIT " +
                    std::to_string(limit),
                {environment}, 9));
  std::vector<DeploymentRecord> all;
  for (Row& row : found)
    all.push_back({.deployment = text(row[0]),
                   .environment = text(row[1]),
                   .time = text(row[2]),
                   .run = text(row[3]),
                   .command = text(row[4]),
                   .host = text(row[5]),
                   .written = std::stoll(text(row[6])),
                   .removed = std::stoll(text(row[7])),
                   .digest = text(row[8])});
  return all;
}

Result<std::vector<DeployedLibrary>> SqlStore::libraries(const std::string& environment) {
  WEIR_TRY(auto found, rows("SELECT macro.library, macro.name, macro.definition, macro.digest, library.file, "
                            "library.source FROM macro JOIN library ON library.environment = macro.environment AND "
                            "library.library = macro.library WHERE macro.environment = :environment "
                            "ORDER BY macro.library, macro.name",
                            {environment}, 6));
  std::vector<DeployedLibrary> all;
  for (Row& row : found) {
    std::string library = text(row[0]);
    if (all.empty() || all.back().library != library)
      all.push_back({library, text(row[3]), {}, text(row[4]), text(row[5])});
    all.back().macros.push_back({text(row[1]), text(row[2])});
  }
  return all;
}

Result<std::map<std::string, std::string>> SqlStore::deployed_texts(const std::string& environment) {
  std::map<std::string, std::string> texts;
  WEIR_TRY(auto models, rows("SELECT file, source FROM model WHERE environment = :environment", {environment}, 2));
  WEIR_TRY(auto libraries, rows("SELECT file, source FROM library WHERE environment = :environment", {environment}, 2));
  for (auto* found : {&models, &libraries})
    for (Row& row : *found) texts[text(row[0])] = text(row[1]);
  return texts;
}

}  // namespace weir::state
