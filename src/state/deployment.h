// What an environment runs, as the state store keeps it: its models with their edges and metrics, wholesale per model,
// written by `weir deploy` and by every run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::state {

/// How a model stands to an asset.
struct EdgeRecord {
  std::string asset;       // key()
  std::string uri;         // as the user spells it
  std::string asset_kind;  // lake | datatable | storage | other
  std::string kind;        // writes | reads | test | on | after | mute; `mute` of everything has the asset "*"
  std::string debounce;    // of `on`
};

/// One measure or dimension.
struct MetricRecord {
  std::string script;  // path of the model that declares it
  std::string table;   // <lake>/<schema>.<table>
  std::string kind;    // measure | dimension
  std::string name;
  std::string expression;
  std::optional<std::string> filter;
  std::string description;
  std::string unit;
  std::string format;
  std::string deployed;  // time
};

struct DeployedModel {
  std::string model;  // path
  std::string file;
  std::string plane;
  std::string strategy;
  /// key() of the asset it produces, or of an ephemeral model's relation; empty if there is neither.
  std::string asset;
  /// Of the definition: what its data depends on.
  std::string fingerprint;
  /// Of everything that is recorded about it: equal digests, equal records. Made by digest_of().
  std::string digest;
  std::string source_hash;
  std::string source;  // the file's text
  std::string partitioned;
  std::string tags_json;
  std::string owner;
  std::string description;
  std::string schedule_cron;  // as declared
  std::string schedule_every;
  std::string schedule_tz;
  std::string freshness;
  std::string deployed;  // time
  std::string deployment;
  std::vector<EdgeRecord> edges;
  std::vector<MetricRecord> metrics;
};

/// One macro library with its macros.
struct DeployedLibrary {
  struct Macro {
    std::string name;
    std::string definition;
  };
  std::string library;  // path
  std::string digest;   // of its text
  std::vector<Macro> macros;
  std::string file;
  std::string source;  // the file's text
};

struct Deployment {
  std::string deployment;  // sortable id, see new_run_id()
  std::string environment;
  std::string time;
  std::string run;  // the run that deploys what it runs; empty: `weir deploy`
  std::string command;
  std::string host;
  /// True: models and libraries that are not listed here are taken out. False: only renamed ones are.
  bool is_whole = false;
  std::vector<DeployedModel> models;
  std::vector<DeployedLibrary> libraries;
  /// Paths of all models of the project, deployed now or not: what is missing here is gone.
  std::vector<std::string> present;
  /// Of a whole deployment: paths of models that the environment has from those that it comes from, and that the
  /// project no longer has.
  std::vector<std::string> absent;
};

/// What a deployment changes (or would).
struct DeploymentChanges {
  std::vector<std::string> added;
  std::vector<std::string> changed;
  /// Old path and new path: the old one is gone, and the new one has its asset or its text.
  std::vector<std::pair<std::string, std::string>> renamed;
  std::vector<std::string> removed;
  std::vector<std::string> returned;   // had been taken out, and are there again
  std::vector<std::string> libraries;  // added, changed or removed
  std::int64_t unchanged = 0;
  bool empty() const {
    return added.empty() && changed.empty() && renamed.empty() && removed.empty() && returned.empty() &&
           libraries.empty();
  }
};

/// The digest of a model's record, and of an environment that holds exactly these models (path and digest).
std::string digest_of(const DeployedModel& model);
std::string digest_of(const std::vector<std::pair<std::string, std::string>>& models);

/// What table paths are compared by: names do without case.
std::string table_key_of(const std::string& path);

struct DeploymentRecord {
  std::string deployment;
  std::string environment;
  std::string time;
  std::string run;
  std::string command;
  std::string host;
  std::int64_t written = 0;
  std::int64_t removed = 0;
  /// Of the environment after it.
  std::string digest;
};

/// Where a page of metrics ended.
struct MetricCursor {
  std::string table;
  std::string kind;
  std::string name;
  std::string script;
};

struct MetricQuery {
  std::string environment;
  /// Canonical path of a table; names compare without case.
  std::optional<std::string> table;
  /// Folder of the declaring models.
  std::optional<std::string> folder;
  /// At least 1; more than 1000 counts as 1000.
  std::size_t limit = 1000;
  std::optional<MetricCursor> after;
};

struct MetricPage {
  /// By table, kind, name and script.
  std::vector<MetricRecord> metrics;
  /// Set if there are more.
  std::optional<MetricCursor> next;
};

}  // namespace weir::state
