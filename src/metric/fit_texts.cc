#include "metric/fit_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "duck/database.h"
#include "io/files.h"

namespace weir::metric {
namespace {

// Counted up whenever what is accepted changes.
constexpr std::string_view kFormat = "weir metrics 1";

std::string head() { return fmt::format("{} {}\n", kFormat, duck::Database::version()); }

}  // namespace

FitTexts::FitTexts(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  const auto bytes = io::read_file(path_);
  const std::string first = head();
  if (!bytes || !bytes->starts_with(first)) return;
  for (std::size_t at = first.size(); at < bytes->size();) {
    const std::size_t end = std::min(bytes->find('\n', at), bytes->size());
    known_.insert(bytes->substr(at, end - at));
    at = end + 1;
  }
}

bool FitTexts::contains(const std::string& key) {
  if (!known_.contains(key)) return used_.contains(key);
  used_.insert(key);
  return true;
}

void FitTexts::save() const {
  if (!is_changed_ || path_.empty()) return;
  std::string bytes = head();
  for (const std::string& key : used_) bytes += key + '\n';
  (void)io::write_file(path_, bytes);
}

}  // namespace weir::metric
