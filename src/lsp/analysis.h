// Understands the project on a thread of its own, so that no keystroke waits for it. Only the newest question counts: a
// waiting one is replaced, and what a running one finds is marked with the revision that it saw.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lsp/snapshot.h"

namespace weir::lsp {

struct Question {
  std::uint64_t revision = 0;
  std::string root;
  OpenTexts open;
};

/// Threads: ask() and take() by one thread; `ready` is called by the worker.
class Analysis {
 public:
  explicit Analysis(std::function<void()> ready);
  /// Waits for the running question's next step.
  ~Analysis();
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  void ask(Question question);
  /// The newest finished snapshot that was not taken yet; null if there is none.
  std::shared_ptr<const Snapshot> take();

 private:
  void work();

  std::function<void()> ready_;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::optional<Question> waiting_;
  std::shared_ptr<const Snapshot> finished_;
  bool stop_ = false;
  std::atomic<bool> cancelled_ = false;
  std::thread thread_;
};

}  // namespace weir::lsp
