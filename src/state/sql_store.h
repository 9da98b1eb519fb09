// The one implementation of Store. Internal to this folder.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "state/session.h"
#include "state/store.h"

namespace weir::state {

class SqlStore final : public Store {
 public:
  explicit SqlStore(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  Result<void> put_run(const RunRecord& run) override;
  Result<std::optional<RunRecord>> run(const std::string& id) override;
  Result<std::vector<RunRecord>> runs(std::size_t limit) override;
  Result<std::vector<RunRecord>> open_runs() override;
  Result<void> record(const Outcome& outcome) override;
  Result<std::vector<StepRecord>> steps(const std::string& run) override;
  Result<std::map<std::string, Success>> successes(const std::string& environment, const std::string& until) override;
  Result<std::vector<SliceRecord>> slices(const std::string& environment,
                                          const std::optional<std::string>& asset) override;
  Result<std::vector<SchemaRecord>> schemas(const std::string& environment, const std::string& asset) override;
  Result<std::vector<SchemaRecord>> latest_schemas(const std::string& environment) override;
  Result<std::vector<TestRecord>> tests(const std::string& asset, std::size_t limit) override;
  Result<std::vector<DispatchRecord>> open_cascade(const CascadeRun& run,
                                                   const std::vector<DispatchRecord>& wanted) override;
  Result<void> decide_cascade(const std::string& run, const Decide& decide) override;
  Result<std::vector<CascadeRun>> undecided_cascades(const std::string& environment) override;
  Result<std::vector<DispatchRecord>> dispatches(const DispatchQuery& query) override;
  Result<DeploymentChanges> deploy(const Deployment& deployment) override;
  Result<DeploymentChanges> compare(const Deployment& deployment) override;
  Result<std::vector<DeployedModel>> deployed(const std::string& environment) override;
  Result<std::vector<std::pair<std::string, std::string>>> deployed_digests(
      const std::string& environment, const std::vector<std::string>& models) override;
  Result<std::vector<std::string>> taken_out(const std::string& environment) override;
  Result<std::vector<std::pair<std::string, EdgeRecord>>> edges(const std::string& environment) override;
  Result<std::vector<DeploymentRecord>> deployments(const std::string& environment, std::size_t limit) override;
  Result<std::vector<DeployedLibrary>> libraries(const std::string& environment) override;
  Result<std::map<std::string, std::string>> deployed_texts(const std::string& environment) override;
  Result<MetricPage> metrics(const MetricQuery& query) override;
  Result<std::vector<EnvironmentRecord>> environments() override;
  Result<void> create_environment(const EnvironmentRecord& environment) override;
  Result<void> drop_environment(const std::string& environment, const std::vector<std::string>& lakes) override;
  Result<std::vector<PromotionRecord>> promotions(const std::string& environment, std::size_t limit) override;
  Result<std::optional<PromotionRecord>> promotion(const std::string& environment, std::int64_t generation) override;
  Result<std::vector<PromotionRecord>> newest_promotions() override;
  Result<void> promote(const PromotionRecord& promotion) override;
  Result<void> remember(const std::vector<DefinitionRecord>& definitions) override;
  Result<std::vector<DefinitionRecord>> definitions(
      const std::vector<std::pair<std::string, std::string>>& wanted) override;
  Result<void> forget_environment(const std::string& environment) override;
  Result<std::vector<OwnedRecord>> owned() override;
  Result<void> forget_owned(const std::vector<std::string>& assets) override;
  Result<std::int64_t> reconciled_version(const std::string& lake) override;
  Result<void> set_reconciled_version(const std::string& lake, std::int64_t version) override;
  Result<std::vector<NeededVersion>> needed_versions(const std::string& lake) override;
  Result<std::vector<Lease>> claim(const std::vector<Lease>& wanted,
                                   const std::vector<std::string>& dead_runs) override;
  Result<void> check(const std::vector<Lease>& held) override;
  Result<void> heartbeat(const std::string& run) override;
  Result<void> release(const std::string& run) override;
  Result<std::vector<Lease>> leases() override;
  Result<std::string> lease_time() override;
  Result<void> clear_ledger() override;
  std::string describe() const override;
  Result<int> schema_version() override;

 private:
  Result<std::vector<Row>> rows(const std::string& sql, const Row& values, std::size_t columns);
  Result<std::vector<RunRecord>> runs_where(const std::string& tail, const Row& values);
  void write_steps(const std::vector<StepRecord>& steps);
  void write_slices(const std::vector<SliceRecord>& slices);
  void write_schemas(const std::vector<SchemaRecord>& schemas);
  void write_tests(const std::vector<TestRecord>& tests);
  void write_owned(const std::vector<OwnedRecord>& owned);
  void note_references(const std::string& time);
  DeploymentChanges differences(const Deployment& deployment);
  void write_deployed(const Deployment& deployment, const DeploymentChanges& changes);
  void write_libraries(const Deployment& deployment, const std::vector<std::string>& changed);
  std::vector<Lease> leases_of(const std::vector<Lease>& slices);

  std::mutex mutex_;
  std::unique_ptr<Session> session_;
};

}  // namespace weir::state
