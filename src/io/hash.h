// Hashes of bytes, as lower-case hexadecimal text.
#pragma once

#include <string>
#include <string_view>

namespace weir::io {

/// XXH3, 64 bits: 16 digits. For telling contents apart, not for security.
std::string xxh3_hex(std::string_view bytes);
/// SHA-256: 64 digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace weir::io
