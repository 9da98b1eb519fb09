#include "io/hash.h"

#include <fmt/format.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include <array>

namespace weir::io {

std::string xxh3_hex(std::string_view bytes) { return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size())); }

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace weir::io
