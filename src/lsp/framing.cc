#include "lsp/framing.h"

#include <algorithm>
#include <charconv>

#include "text/lexer.h"

namespace weir::lsp {
namespace {

constexpr std::string_view kLength = "content-length:";
// No header line that means anything is longer; a stream without line ends must not fill the memory.
constexpr std::size_t kLongestLine = 4096;

}  // namespace

void Framing::feed(std::string_view bytes) {
  if (skip_ > 0) {
    const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
    skip_ -= skipped;
    bytes.remove_prefix(skipped);
  }
  if (at_ > 0) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  buffer_ += bytes;
}

std::optional<Frame> Framing::next() {
  while (true) {
    if (in_body_) {
      if (buffer_.size() - at_ < *length_) return std::nullopt;
      Frame frame{.kind = Frame::Kind::Body, .body = buffer_.substr(at_, static_cast<std::size_t>(*length_))};
      at_ += static_cast<std::size_t>(*length_);
      in_body_ = false;
      length_.reset();
      return frame;
    }
    const std::size_t end = buffer_.find('\n', at_);
    if (end == std::string::npos) {
      if (buffer_.size() - at_ <= kLongestLine) return std::nullopt;
      saw_header_ = true;
      at_ = buffer_.size();
      return std::nullopt;
    }
    std::string_view line = std::string_view(buffer_).substr(at_, end - at_);
    at_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty())
      header_line(line);
    else if (auto frame = end_of_header())
      return frame;
  }
}

/// What stands before the name on its line is left over from something broken.
void Framing::header_line(std::string_view line) {
  saw_header_ = true;
  const std::size_t at = text::lower(line).rfind(kLength);
  if (at == std::string::npos) return;
  std::string_view number = line.substr(at + kLength.size());
  while (number.starts_with(' ') || number.starts_with('\t')) number.remove_prefix(1);
  while (number.ends_with(' ') || number.ends_with('\t')) number.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  length_.reset();
  if (error == std::errc() && end == number.data() + number.size()) length_ = value;
}

std::optional<Frame> Framing::end_of_header() {
  if (!saw_header_) return std::nullopt;  // blank lines between messages
  saw_header_ = false;
  if (!length_) return Frame{.kind = Frame::Kind::BadHeader, .body = {}};
  if (*length_ <= largest_) {
    in_body_ = true;
    return std::nullopt;
  }
  const std::uint64_t here = std::min<std::uint64_t>(*length_, buffer_.size() - at_);
  at_ += static_cast<std::size_t>(here);
  skip_ = *length_ - here;
  length_.reset();
  return Frame{.kind = Frame::Kind::TooLarge, .body = {}};
}

std::string framed(std::string_view body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace weir::lsp
