// Connection strings of PostgreSQL: those that ask for them take either of libpq's two spellings, those that add to
// them or read their own options out of them need one.
#pragma once

#include <string>

namespace weir::io {

/// `key='value'` pairs for a URL or for such pairs. `server_options` (`-c name=value`) come in front of those that the
/// address itself gives, which then win. What libpq cannot read is passed on, for the server's side to refuse.
std::string as_pairs(const std::string& address, const std::string& server_options = {});

}  // namespace weir::io
