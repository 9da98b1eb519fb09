// What weir keeps in its caches, as bytes: compact, read at once, and safe to read when damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace weir::io {

/// Appends values to a text of bytes: numbers of variable length, texts with their length before them.
class ByteWriter {
 public:
  void number(std::uint64_t value) {
    do {
      bytes_ += static_cast<char>((value & 0x7FU) | (value > 0x7F ? 0x80U : 0U));
      value >>= 7U;
    } while (value != 0);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void span(Span value) {
    number(value.begin);
    number(value.end - value.begin);
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads them back. Damaged bytes give empty values and good() == false, never more memory than the bytes could fill.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  bool good() const { return good_; }
  bool done() const { return at_ == bytes_.size(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) break;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    good_ = false;
    return 0;
  }
  // A count can be no greater than the bytes that are left: damaged bytes must not make weir reserve the moon.
  std::size_t count() {
    const auto value = number();
    if (value > bytes_.size() - at_) good_ = false;
    return good_ ? static_cast<std::size_t>(value) : 0;
  }
  std::string text() { return std::string(view()); }
  /// A text without copying it; lives as long as the bytes.
  std::string_view view() {
    const std::size_t size = count();
    const std::string_view value = bytes_.substr(at_, size);
    at_ += size;
    return value;
  }
  Span span() {
    const auto begin = static_cast<std::uint32_t>(number());
    return {begin, begin + static_cast<std::uint32_t>(number())};
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values(count());
    for (std::string& value : values) value = text();
    return values;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

}  // namespace weir::io
