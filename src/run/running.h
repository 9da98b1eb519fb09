// The connections that work right now, so that they can be asked how far they are, and interrupted.
#pragma once

#include <chrono>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "duck/database.h"
#include "run/report.h"

namespace weir::run {

/// Threads: safe.
class Running {
 public:
  /// Takes the connection off the list when it goes out of scope.
  class Watch {
   public:
    Watch(Running& list, std::string label, std::string doing, duck::Connection& connection);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Running& list_;
    void* entry_;
  };

  /// `with_shares`: connections are to tell how far their statements are.
  explicit Running(bool with_shares) : with_shares_(with_shares) {}

  void interrupt_all();
  std::vector<Listener::Running> snapshot();

 private:
  struct Entry {
    std::string label;
    std::string doing;
    duck::Connection* connection;
    std::chrono::steady_clock::time_point since;
  };
  const bool with_shares_;
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace weir::run
