// Threads that join DuckDB's work only where it is large. DuckDB's own pool takes tasks of every statement, and the
// connection that waits for one of them spins until it is done: of 1,000 small models that was two fifths of all
// processor time. So an instance has no pool; a statement runs on its caller's thread, and these threads join it once
// it has lasted a while, until it ends.
#pragma once

#include <duckdb.h>
#include <time.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace weir::duck {

/// Threads: safe. Must end before the database is closed.
class ExtraThreads {
 public:
  /// `database` stays the caller's.
  ExtraThreads(duckdb_database database, int count);
  ~ExtraThreads();
  ExtraThreads(const ExtraThreads&) = delete;
  ExtraThreads& operator=(const ExtraThreads&) = delete;

  /// A statement that runs as long as the value lives.
  class Statement {
   public:
    explicit Statement(ExtraThreads* threads);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

   private:
    ExtraThreads* threads_;
  };

 private:
  /// By its caller's processor time: on a busy machine a small statement lasts long, too.
  struct Running {
    const Statement* statement;
    clockid_t clock;
    std::chrono::nanoseconds begin;
  };
  void join_long_statements();
  /// The two below require mutex_ to be held.
  bool any_long() const;
  void send_home();

  duckdb_database database_;
  std::mutex mutex_;
  std::condition_variable began_;
  std::vector<Running> running_;
  std::vector<duckdb_task_state> at_work_;  // one for each thread that has joined
  bool ends_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace weir::duck
