#include "run/running.h"

namespace weir::run {

Running::Watch::Watch(Running& list, std::string label, std::string doing, duck::Connection& connection) : list_(list) {
  if (list_.with_shares_) connection.tell_progress();
  const std::lock_guard lock(list_.mutex_);
  list_.entries_.push_back({std::move(label), std::move(doing), &connection, std::chrono::steady_clock::now()});
  entry_ = &list_.entries_.back();
}

Running::Watch::~Watch() {
  const std::lock_guard lock(list_.mutex_);
  list_.entries_.remove_if([this](const Entry& entry) { return &entry == entry_; });
}

void Running::interrupt_all() {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) entry.connection->interrupt();
}

std::vector<Listener::Running> Running::snapshot() {
  const std::lock_guard lock(mutex_);
  std::vector<Listener::Running> running;
  for (const Entry& entry : entries_) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - entry.since;
    running.push_back({entry.label, entry.doing, entry.connection->progress(), seconds.count()});
  }
  return running;
}

}  // namespace weir::run
