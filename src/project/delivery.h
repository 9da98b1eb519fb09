// What headers of the planes `table` and `file` may name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// PostgreSQL cuts longer names without an error. Units: bytes.
inline constexpr std::size_t kLongestPostgresName = 63;

/// The names that stand in braces in the path of a file.
std::vector<std::string> placeholders_of(std::string_view path);
/// `date`, `datetime`, `env` and `partition`.
bool is_placeholder(std::string_view name);
/// True if the path names the time, so that each run may write another file.
bool names_time(std::string_view path);

struct PathValues {
  std::string date;
  std::string datetime;
  std::string environment;
  std::string partition;
};
std::string filled_path(std::string_view path, const PathValues& values);

/// True if a file that is written to `path`, whatever its placeholders stand for, is among those that the name or glob
/// `read` stands for. Both are relative to `root`, or absolute.
bool is_among(std::string_view path, std::string_view read, std::string_view root);

}  // namespace weir
