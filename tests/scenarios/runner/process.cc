#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

extern char** environ;

namespace weir::scenario {
namespace {

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : added)
    if (!value.empty()) all.push_back(name + "=" + value);
  // Looking for leaks at the end of each of thousands of processes is a third of their time, a long memory of what was
  // freed and where a sixth; unit tests look for leaks.
  std::erase_if(all, [](const std::string& one) { return one.starts_with("ASAN_OPTIONS="); });
  all.emplace_back(
      "ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1:quarantine_size_mb=4:thread_local_quarantine_size_kb=64");
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (auto& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

std::unique_ptr<Process> Process::start(const std::vector<std::string>& arguments, const std::string& folder,
                                        const std::map<std::string, std::string>& environment) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) return nullptr;
  auto texts = arguments;
  auto variables = merged_environment(environment);
  const auto argv = pointers(texts);
  const auto envp = pointers(variables);
  std::unique_ptr<Process> process(new Process());
  process->pid_ = fork();
  if (process->pid_ == 0) {
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    if (chdir(folder.c_str()) != 0) _exit(126);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  process->reader_ = std::thread([raw = process.get(), out = out[0], err = err[0]] { raw->read(out, err); });
  return process;
}

void Process::read(int out, int err) {
  std::array<pollfd, 2> ends = {pollfd{err, POLLIN, 0}, pollfd{out, POLLIN, 0}};
  std::array<char, 8192> buffer{};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends.data(), ends.size(), -1) < 0) continue;
    for (auto& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      const auto count = ::read(end.fd, buffer.data(), buffer.size());
      if (count <= 0) {
        close(end.fd);
        end.fd = -1;
        continue;
      }
      const std::lock_guard lock(mutex_);
      (&end == &ends[1] ? out_ : err_).append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
}

int Process::wait(std::chrono::seconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  int status = 0;
  bool late = false;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (!late && std::chrono::steady_clock::now() > until) {
      late = true;
      kill(-pid_, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ended_ = true;
  reader_.join();
  if (late) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Process::~Process() {
  if (ended_ || pid_ <= 0) return;
  kill(-pid_, SIGCONT);
  kill(-pid_, SIGKILL);
  wait(std::chrono::seconds(10));
}

void Process::signal(int number) const { kill(pid_, number); }

bool Process::wait_for(const std::string& text, std::chrono::seconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < until) {
    if (out().find(text) != std::string::npos || err().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

std::string Process::out() const {
  const std::lock_guard lock(mutex_);
  return out_;
}

std::string Process::err() const {
  const std::lock_guard lock(mutex_);
  return err_;
}

}  // namespace weir::scenario
