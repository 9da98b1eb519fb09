#include "run/deferral.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "env/environment.h"
#include "run/lake_change.h"
#include "text/lexer.h"

namespace weir::run {
namespace {

using Name = std::pair<std::string, std::string>;  // schema and name in lower case

Name name_of(const std::string& schema, const std::string& name) { return {text::lower(schema), text::lower(name)}; }

/// A relation to show, and the name to show it under.
struct Shown {
  const lake::Lake* lake = nullptr;
  std::string from_schema;
  std::string schema;
  std::string name;
  bool is_view = false;

  duck::TableName readable() const { return lake->readable(from_schema, name); }
  /// As lake::Relation::shows.
  std::string place() const {
    std::string dotted = lake->reader() + "." + from_schema + "." + name;
    std::erase(dotted, '"');
    return dotted;
  }
};

using Shows = std::map<Name, Shown>;

bool is_prod_level(const lake::Lake& lake) {
  return lake.config().fork_of.empty() || lake.config().environment == env::kProd;
}

/// What the environment reads, by name: the nearest wins.
class Wanted {
 public:
  /// What lies in a parent's lake under its own name. Tables that weir owns are nobody's to name.
  void add_all(const lake::Lake& lake, const std::vector<lake::Relation>& relations) {
    for (const lake::Relation& one : relations) {
      const bool is_hidden = !one.shows.empty() || env::is_physical({AssetKind::Lake, {}, one.schema, one.name});
      // Such views belong to environments.
      const bool is_elsewhere = one.is_view && one.schema.find("__") != std::string::npos;
      if (!is_hidden && !is_elsewhere) add({&lake, one.schema, one.schema, one.name, one.is_view});
    }
  }
  /// The views by which an environment shows owned models: `dev__main.report` under the name `main.report`.
  void add_views(const lake::Lake& lake, const std::vector<lake::Relation>& relations, const std::string& environment) {
    const std::string prefix = environment + "__";
    for (const lake::Relation& one : relations)
      if (one.is_view && one.schema.starts_with(prefix))
        add({&lake, one.schema, one.schema.substr(prefix.size()), one.name, true});
  }
  Shows& all() { return all_; }

 private:
  void add(Shown shown) {
    const Name name = name_of(shown.schema, shown.name);
    all_.emplace(name, std::move(shown));
  }
  Shows all_;
};

class Deferrals {
 public:
  Deferrals(lake::Lakes& lakes, const lake::Lake& fork, const std::string& environment)
      : lakes_(lakes), fork_(fork), environment_(environment) {}

  Result<void> refresh(const std::atomic<bool>& stop) {
    WEIR_CHECK(compare());
    if (made_.empty() && gone_.empty()) return {};
    // Somebody else may do the same: whoever has the lock looks again.
    WEIR_TRY(const auto lock, fork_.lock(stop));
    WEIR_CHECK(compare());
    if (made_.empty() && gone_.empty()) return {};
    lake::CommitRecord record;
    record.environment = environment_;
    WEIR_TRY(const std::int64_t version,
             change_lake(lakes_, fork_, statements(), std::move(record),
                         "making views on the parents in lake " + fork_.name(), "views on what the parents have"));
    (void)version;
    return {};
  }

 private:
  Result<void> compare() {
    made_.clear();
    gone_.clear();
    WEIR_TRY(duck::Connection connection, lakes_.connect());
    WEIR_TRY(const auto here, fork_.relations(connection));
    WEIR_TRY(Shows wanted, shows(connection));
    for (const lake::Relation& one : here) {
      const auto found = wanted.find(name_of(one.schema, one.name));
      const bool is_right = found != wanted.end() && found->second.place() == one.shows;
      if (!one.shows.empty() && !is_right) gone_.push_back(one);
      if (found != wanted.end() && (one.shows.empty() || is_right)) wanted.erase(found);
    }
    for (auto& [name, shown] : wanted) {
      // What nobody can read there is no loss here.
      const auto bound = [&]() { return connection.describe(duck::Sql("FROM {}", shown.readable())).has_value(); };
      if (!shown.is_view || bound()) made_.push_back(std::move(shown));
    }
    return {};
  }

  Result<Shows> shows(duck::Connection& connection) {
    Wanted wanted;
    const lake::Lake& base = lakes_.lake(fork_.config().fork_of);
    const bool holds_views = &base == &lakes_.all().front();
    std::vector<lake::Relation> views;
    if (holds_views) {
      WEIR_TRY(views, base.relations(connection));
      wanted.add_views(base, views, environment_);
    }
    const lake::Lake* last = &base;
    for (const lake::Lake& one : lakes_.all())
      if (!one.config().fork_of.empty() && is_prod_level(one) && text::same_word(one.config().fork_of, base.name()))
        last = &one;
    WEIR_TRY(const auto of_prod, last->relations(connection));
    for (const lake::Lake& one : lakes_.all()) {
      const bool is_parent = &one != &fork_ && one.config().is_read_only && !is_prod_level(one) &&
                             text::same_word(one.config().fork_of, base.name());
      if (!is_parent) continue;
      WEIR_TRY(const auto relations, one.relations(connection));
      wanted.add_all(one, relations);
      if (holds_views) wanted.add_views(*last, of_prod, one.config().environment);
    }
    wanted.add_all(*last, of_prod);
    return std::move(wanted.all());
  }

  std::vector<duck::Sql> statements() const {
    std::vector<duck::Sql> statements;
    for (const lake::Relation& one : gone_)
      statements.emplace_back("DROP VIEW IF EXISTS {}", fork_.writable(one.schema, one.name));
    std::set<std::string> schemas;
    for (const Shown& one : made_) {
      if (schemas.insert(text::lower(one.schema)).second)
        statements.emplace_back("CREATE SCHEMA IF NOT EXISTS {}", duck::TableName{{}, fork_.writer(), one.schema});
      statements.emplace_back("CREATE OR REPLACE VIEW {} AS SELECT * FROM {}", fork_.writable(one.schema, one.name),
                              one.readable());
    }
    return statements;
  }

  lake::Lakes& lakes_;
  const lake::Lake& fork_;
  const std::string& environment_;
  std::vector<Shown> made_;
  std::vector<lake::Relation> gone_;
};

}  // namespace

Result<void> refresh_deferrals(const Config& config, lake::Lakes& lakes, const std::string& environment,
                               const std::atomic<bool>& stop) {
  for (const LakeConfig& one : config.lakes) {
    if (one.environment != environment || one.fork_of.empty() || one.is_read_only) continue;
    WEIR_CHECK(Deferrals(lakes, lakes.lake(one.name), environment).refresh(stop));
  }
  return {};
}

}  // namespace weir::run
