#include "run/open_run.h"

#include <chrono>
#include <thread>

#include "run/recovery.h"

namespace weir::run {

using namespace std::chrono_literals;

OpenRun::~OpenRun() {
  if (row_.status == "running") (void)close(stop_.load() ? "cancelled" : "failed", {});
}

Result<void> OpenRun::close(std::string status, std::string result_json, std::vector<std::string> verified) {
  row_.status = std::move(status);
  row_.finished = state::now_text();
  row_.result_json = std::move(result_json);
  row_.verified = std::move(verified);
  auto written = store_.put_run(row_);
  auto released = store_.release(row_.run);
  return written ? released : written;
}

Result<ClaimedSlices> claim_slices(const Project& project, lake::Lakes& lakes, state::Store& store,
                                   const ClaimRequest& request, Listener& listener, const std::atomic<bool>& stop) {
  ClaimedSlices result;
  std::string said;
  while (true) {
    WEIR_TRY(const std::vector<std::string> dead, dead_runs(project, store));
    if (!dead.empty()) WEIR_CHECK(recover(project, lakes, store, listener, stop));
    auto claimed = store.claim(request.wanted, dead);
    if (claimed) {
      result.leases = std::move(*claimed);
      return result;
    }
    if (request.no_wait || claimed.error().front().code != Code::W6101) return fail(std::move(claimed).error());
    result.waited = true;
    if (said != claimed.error().front().message) {
      said = claimed.error().front().message;
      listener.message(said + "; waiting for it (--no-wait fails instead)");
    }
    for (int i = 0; i < 10 && !stop.load(); ++i) std::this_thread::sleep_for(20ms);
    if (stop.load())
      return fail(Diagnostic{.code = Code::W7010, .message = "interrupted while waiting for another run"});
  }
}

}  // namespace weir::run
