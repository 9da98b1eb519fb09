#include "duck/extra_threads.h"

#include <algorithm>

#include "duck/api.h"

namespace weir::duck {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// A statement of a small model takes about one millisecond.
constexpr auto kLong = 3ms;

}  // namespace

ExtraThreads::ExtraThreads(duckdb_database database, int count) : database_(database) {
  for (int i = 0; i < count; ++i) threads_.emplace_back([this] { join_long_statements(); });
}

ExtraThreads::~ExtraThreads() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    send_home();
  }
  began_.notify_all();
}

bool ExtraThreads::any_long(Time now) const {
  return std::any_of(running_.begin(), running_.end(), [now](Time begin) { return now - begin >= kLong; });
}

void ExtraThreads::send_home() {
  for (duckdb_task_state state : at_work_) api().finish_execution(state);
}

void ExtraThreads::join_long_statements() {
  std::unique_lock lock(mutex_);
  while (true) {
    began_.wait(lock, [this] { return ends_ || !running_.empty(); });
    if (ends_) return;
    if (!any_long(steady_clock::now())) {
      began_.wait_until(lock, *std::min_element(running_.begin(), running_.end()) + kLong);
      continue;
    }
    duckdb_task_state state = api().create_task_state(database_);
    at_work_.push_back(state);
    lock.unlock();
    api().execute_tasks_state(state);
    lock.lock();
    std::erase(at_work_, state);
    api().destroy_task_state(state);
  }
}

ExtraThreads::Statement::Statement(ExtraThreads* threads) : threads_(threads) {
  if (threads_ == nullptr) return;
  begin_ = steady_clock::now();
  const std::lock_guard lock(threads_->mutex_);
  threads_->running_.push_back(begin_);
  if (threads_->running_.size() == 1) threads_->began_.notify_all();
}

ExtraThreads::Statement::~Statement() {
  if (threads_ == nullptr) return;
  const std::lock_guard lock(threads_->mutex_);
  threads_->running_.erase(std::find(threads_->running_.begin(), threads_->running_.end(), begin_));
  if (!threads_->at_work_.empty() && !threads_->any_long(steady_clock::now())) threads_->send_home();
}

}  // namespace weir::duck
