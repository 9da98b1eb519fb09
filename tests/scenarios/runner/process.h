// A child process whose output is read while it runs, so that a step can wait for a text, send a signal, or run two at
// once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::scenario {

class Process {
 public:
  /// Starts `arguments[0]` in `folder` with `environment` added to the runner's own.
  static std::unique_ptr<Process> start(const std::vector<std::string>& arguments, const std::string& folder,
                                        const std::map<std::string, std::string>& environment);
  /// Kills what still runs.
  ~Process();

  /// Waits for the end and returns the exit code, 128 + n for a signal. After `limit` the process is killed and -1
  /// returned.
  int wait(std::chrono::seconds limit);
  void signal(int number) const;
  pid_t pid() const { return pid_; }
  /// True once the output so far contains `text`; gives up after `limit`.
  bool wait_for(const std::string& text, std::chrono::seconds limit);

  std::string out() const;
  std::string err() const;

 private:
  Process() = default;
  void read(int out, int err);

  pid_t pid_ = -1;
  bool ended_ = false;
  std::thread reader_;
  mutable std::mutex mutex_;
  std::string out_;
  std::string err_;
};

}  // namespace weir::scenario
