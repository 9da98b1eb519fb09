#include "base/failpoint.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace weir {
namespace {

struct Armed {
  std::string action;
  int passes_left = 1;
  bool always = false;
};

std::map<std::string, Armed, std::less<>> parse(const char* text) {
  std::map<std::string, Armed, std::less<>> armed;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view name = one.substr(0, equals);
    Armed entry{std::string(one.substr(equals + 1)), 1, false};
    if (const auto at = name.find('@'); at != std::string_view::npos) {
      entry.always = name.substr(at + 1) == "*";
      entry.passes_left = std::atoi(std::string(name.substr(at + 1)).c_str());
      name = name.substr(0, at);
    }
    armed.emplace(name, std::move(entry));
  }
  return armed;
}

}  // namespace

bool failpoint(std::string_view name) {
  static auto armed = parse(std::getenv("WEIR_FAILPOINT"));
  if (armed.empty()) return false;
  static std::mutex mutex;
  std::string action;
  {
    const std::lock_guard lock(mutex);
    const auto found = armed.find(name);
    if (found == armed.end()) return false;
    if (!found->second.always && --found->second.passes_left != 0) return false;
    action = found->second.action;
  }
  if (action == "exit") std::raise(SIGKILL);
  if (action == "stop") std::raise(SIGSTOP);
  if (action.starts_with("sleep:"))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(action.c_str() + 6)));
  return action == "error";
}

}  // namespace weir
