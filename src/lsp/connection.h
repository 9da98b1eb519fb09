// The two ends of the byte stream to the editor.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lsp/framing.h"
#include "lsp/session.h"

namespace weir::lsp {

/// Threads: one at a time; wake() by any.
class Connection {
 public:
  Connection(int input, int output);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Waits for bytes, for wake(), or until so many milliseconds are over (-1: for ever). What came is in frames().
  void wait(int milliseconds);
  void wake();
  Framing& frames() { return frames_; }
  /// The editor closed its end, or cannot be written to.
  bool is_over() const { return is_over_; }

  void notify(const char* method, nlohmann::json params);
  void answer(const nlohmann::json& id, nlohmann::json result);
  void refuse(const nlohmann::json& id, const Refusal& refusal);
  /// A request of ours whose answer does not matter.
  void request(const char* method, nlohmann::json params);

 private:
  void send(const nlohmann::json& message);

  int input_;
  int output_;
  int wake_read_ = -1;
  int wake_write_ = -1;
  int requests_ = 0;
  bool is_over_ = false;
  Framing frames_;
};

}  // namespace weir::lsp
