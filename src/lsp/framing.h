// Messages on a byte stream as the protocol frames them: `Content-Length: n`, a blank line, n bytes. What arrives may
// be cut anywhere and may be wrong: the reader always finds the next good message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::lsp {

/// One message, or what is wrong with the bytes where one should be.
struct Frame {
  enum class Kind {
    Body,
    BadHeader,  // a blank line without a usable Content-Length before it
    TooLarge,   // its body was skipped
  };
  Kind kind = Kind::Body;
  std::string body;
};

/// Cuts bytes into messages. Threads: one at a time.
class Framing {
 public:
  /// The largest body that is taken. An editor sends a whole file as one message; no model has this size.
  static constexpr std::uint64_t kLargest = std::uint64_t{64} << 20U;

  explicit Framing(std::uint64_t largest = kLargest) : largest_(largest) {}

  void feed(std::string_view bytes);
  /// The next whole message; nothing until more bytes come.
  std::optional<Frame> next();

 private:
  void header_line(std::string_view line);
  std::optional<Frame> end_of_header();

  std::uint64_t largest_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool in_body_ = false;
  bool saw_header_ = false;
  std::optional<std::uint64_t> length_;
  std::uint64_t skip_ = 0;
};

/// The bytes that carry `body`.
std::string framed(std::string_view body);

}  // namespace weir::lsp
