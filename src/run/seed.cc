#include "run/seed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/failpoint.h"
#include "project/validity.h"
#include "publish/strategy.h"
#include "run/lake_change.h"
#include "run/ledger.h"

namespace weir::run {
namespace {

bool is_fork(const lake::Lake& lake) { return !lake.config().fork_of.empty(); }

ValidityColumns validity_of(const Model& model, const lake::TableState& table) {
  return validity_columns(model).of_table([&table](std::string_view name) { return table.column(name) != nullptr; });
}

Result<lake::TableState> state_of(const lake::Lakes& lakes, duck::Connection& reader, const Asset& asset) {
  const lake::Lake& lake = lakes.lake(asset.place);
  WEIR_TRY(const std::int64_t version, lake.newest_version(reader));
  WEIR_TRY(auto states, lake.observe(reader, {asset}, version));
  return std::move(states.at(asset.key()));
}

/// The seeds that go into one lake.
class Copying {
 public:
  Copying(lake::Lakes& lakes, state::Store& store, const lake::Lake& lake, const std::string& run,
          const std::string& environment)
      : lakes_(lakes), store_(store), lake_(lake), run_(run), environment_(environment) {}

  Result<std::vector<Seed>> copy(const std::vector<Seed>& seeds, const std::atomic<bool>& stop) {
    WEIR_TRY(const auto lock, lake_.lock(stop));
    WEIR_CHECK(look(seeds));
    if (copies_.empty()) return std::vector<Seed>();
    std::vector<duck::Sql> statements;
    lake::CommitRecord record;
    record.run = run_;
    record.environment = environment_;
    std::vector<std::string> names;
    for (const Copy& one : copies_) {
      for (duck::Sql& statement : statements_of(one)) statements.push_back(std::move(statement));
      record.steps.insert(record.steps.end(), one.steps.begin(), one.steps.end());
      names.push_back(one.seed.from.uri());
    }
    WEIR_TRY(const std::int64_t version,
             change_lake(lakes_, lake_, statements, record, fmt::format("copying {}", fmt::join(names, ", ")),
                         fmt::format("{} tables start from rows that are there", copies_.size())));
    failpoint("after_seed");
    WEIR_CHECK(record_slices(record, version));
    std::vector<Seed> copied;
    for (const Copy& one : copies_) {
      copied.push_back(one.seed);
      copied.back().version = version;
    }
    return copied;
  }

 private:
  struct Copy {
    Seed seed;
    lake::TableState from;
    std::vector<lake::CommittedStep> steps;
  };

  /// Those whose table is missing, and whose rows are there.
  Result<void> look(const std::vector<Seed>& seeds) {
    WEIR_TRY(duck::Connection reader, lakes_.connect());
    for (const Seed& seed : seeds) {
      WEIR_TRY(const lake::TableState to, state_of(lakes_, reader, seed.to));
      WEIR_TRY(lake::TableState from, state_of(lakes_, reader, seed.from));
      if (to.exists || !from.exists || from.is_view) continue;
      Copy copy{.seed = seed, .from = std::move(from), .steps = {}};
      if (is_fork(lake_)) {
        WEIR_TRY(copy.steps, steps_of(seed));
      }
      copies_.push_back(std::move(copy));
    }
    return {};
  }

  /// What the owner's ledger knows of the rows, as it was when they were written.
  Result<std::vector<lake::CommittedStep>> steps_of(const Seed& seed) {
    const LakeConfig& from = lakes_.lake(seed.from.place).config();
    const std::string owner = from.environment.empty() ? std::string(env::kProd) : from.environment;
    Asset known = seed.from;
    // A version that is pinned is in the ledger of the lake that has it.
    if (owner == env::kProd && !from.fork_of.empty()) known.place = from.fork_of;
    WEIR_TRY(const std::vector<state::SliceRecord> slices, store_.slices(owner, known.key()));
    std::vector<lake::CommittedStep> steps;
    for (const state::SliceRecord& slice : slices) {
      const bool is_in_copy = slice.status == "materialized" && (!from.version || *from.version >= slice.snapshot_id);
      if (!is_in_copy) continue;
      lake::CommittedStep step = step_of(slice);
      step.asset = seed.to.key();
      step.strategy = "seed";
      steps.push_back(std::move(step));
    }
    return steps;
  }

  std::vector<duck::Sql> statements_of(const Copy& copy) const {
    const Asset& to = copy.seed.to;
    const duck::TableName table = lake_.writable(to.schema, to.name);
    std::vector<std::string> names;
    for (const lake::ColumnState& column : copy.from.columns) names.push_back(column.name);
    const duck::Sql columns = duck::Sql::names(names);
    std::vector<duck::Sql> statements{
        duck::Sql("CREATE SCHEMA IF NOT EXISTS {}", duck::TableName{{}, lake_.writer(), to.schema})};
    if (is_fork(lake_)) statements.emplace_back("DROP VIEW IF EXISTS {}", table);
    for (duck::Sql& statement : publish::make_like(table, copy.from)) statements.push_back(std::move(statement));
    statements.emplace_back("INSERT INTO {} ({}) SELECT {} FROM {}", table, columns, columns,
                            lakes_.lake(copy.seed.from.place).readable(copy.seed.from.schema, copy.seed.from.name));
    if (copy.seed.model->is_history() && copy.seed.model->plane == Plane::Managed)
      statements.emplace_back(
          "CREATE OR REPLACE VIEW {} AS SELECT {} FROM {} WHERE {}", lake_.writable(to.schema, to.name + "_current"),
          columns, duck::TableName{{}, to.schema, to.name}, validity_of(*copy.seed.model, copy.from).is_live());
    return statements;
  }

  Result<void> record_slices(const lake::CommitRecord& record, std::int64_t version) {
    state::Store::Outcome outcome;
    for (const lake::CommittedStep& step : record.steps)
      outcome.slices.push_back(slice_of(record, step, version, state::now_text()));
    if (outcome.slices.empty()) return {};
    return store_.record(outcome);
  }

  lake::Lakes& lakes_;
  state::Store& store_;
  const lake::Lake& lake_;
  const std::string& run_;
  const std::string& environment_;
  std::vector<Copy> copies_;
};

std::map<std::string, std::vector<Seed>> by_lake(const lake::Lakes& lakes, const std::vector<Seed>& seeds) {
  std::map<std::string, std::vector<Seed>> grouped;
  for (const Seed& seed : seeds) grouped[lakes.lake(seed.to.place).name()].push_back(seed);
  return grouped;
}

}  // namespace

std::vector<Seed> seeds_of(const env::Placed& placed, const std::set<std::string>& built) {
  std::vector<Seed> seeds;
  for (const Model& model : placed.graph->models()) {
    if (!built.contains(model.path)) continue;
    const auto owned = placed.owned.find(model.path);
    const auto copy = placed.copies.find(model.path);
    if (owned != placed.owned.end() && owned->second.seed)
      seeds.push_back({&model, *owned->second.seed, *owned->second.data});
    else if (copy != placed.copies.end())
      seeds.push_back({&model, copy->second, *model.target});
  }
  return seeds;
}

Result<std::vector<Seed>> seed_tables(lake::Lakes& lakes, state::Store& store, const std::vector<Seed>& seeds,
                                      const std::string& run, const std::string& environment,
                                      const std::atomic<bool>& stop) {
  std::vector<Seed> copied;
  for (const auto& [name, group] : by_lake(lakes, seeds)) {
    WEIR_TRY(const auto done, Copying(lakes, store, lakes.lake(name), run, environment).copy(group, stop));
    copied.insert(copied.end(), done.begin(), done.end());
  }
  return copied;
}

Result<void> remove_unused(lake::Lakes& lakes, const std::vector<Seed>& seeds, const std::string& run,
                           const std::string& environment, const std::atomic<bool>& stop) {
  WEIR_TRY(duck::Connection reader, lakes.connect());
  for (const auto& [name, group] : by_lake(lakes, seeds)) {
    const lake::Lake& lake = lakes.lake(name);
    if (!is_fork(lake)) continue;
    WEIR_TRY(const auto lock, lake.lock(stop));
    std::vector<duck::Sql> statements;
    for (const Seed& seed : group) {
      // Another run may have built upon the copy meanwhile.
      WEIR_TRY(const lake::TableState now, state_of(lakes, reader, seed.to));
      if (!now.exists || now.version != seed.version) continue;
      statements.emplace_back("DROP TABLE {}", lake.writable(seed.to.schema, seed.to.name));
      if (seed.model->is_history())
        statements.emplace_back("DROP VIEW IF EXISTS {}", lake.writable(seed.to.schema, seed.to.name + "_current"));
    }
    if (statements.empty()) continue;
    lake::CommitRecord record;
    record.run = run;
    record.environment = environment;
    WEIR_TRY(const std::int64_t version, change_lake(lakes, lake, statements, std::move(record), "removing copies",
                                                     "copies that nothing was built upon"));
    (void)version;
  }
  return {};
}

}  // namespace weir::run
