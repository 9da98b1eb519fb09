// Short ways to read DuckDB's plan JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bind/plan_relation.h"

namespace weir::bind::plan {

/// DuckDB's "no index".
constexpr std::uint64_t kNoIndex = static_cast<std::uint64_t>(-1);

/// The member of an object; nothing if there is none or it is null.
std::optional<Element> member(Element of, std::string_view key);
/// The elements of an array member; empty if there is none.
std::vector<Element> members(Element of, std::string_view key);
std::string_view text(Element of, std::string_view key);
std::uint64_t number(Element of, std::string_view key, std::uint64_t otherwise = 0);
std::vector<std::uint64_t> numbers(Element of, std::string_view key);

/// The spelling of a logical type, as duck::Column has it.
std::string spelling(Element type);

}  // namespace weir::bind::plan
