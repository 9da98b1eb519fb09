#include "duck/extra_threads.h"

#include <pthread.h>

#include <algorithm>

#include "duck/api.h"

namespace weir::duck {
namespace {

using namespace std::chrono_literals;

/// A statement of a small model takes about one millisecond.
constexpr auto kLong = 3ms;

std::chrono::nanoseconds spent(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

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

bool ExtraThreads::any_long() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Running& one) { return spent(one.clock) - one.begin >= kLong; });
}

void ExtraThreads::send_home() {
  for (duckdb_task_state state : at_work_) api().finish_execution(state);
}

void ExtraThreads::join_long_statements() {
  std::unique_lock lock(mutex_);
  while (true) {
    began_.wait(lock, [this] { return ends_ || !running_.empty(); });
    if (ends_) return;
    if (!any_long()) {
      began_.wait_for(lock, kLong, [this] { return ends_; });
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
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  pthread_getcpuclockid(pthread_self(), &clock);
  const std::lock_guard lock(threads_->mutex_);
  threads_->running_.push_back({this, clock, spent(clock)});
  if (threads_->running_.size() == 1) threads_->began_.notify_all();
}

ExtraThreads::Statement::~Statement() {
  if (threads_ == nullptr) return;
  const std::lock_guard lock(threads_->mutex_);
  std::erase_if(threads_->running_, [this](const Running& one) { return one.statement == this; });
  if (!threads_->at_work_.empty() && !threads_->any_long()) threads_->send_home();
}

}  // namespace weir::duck
