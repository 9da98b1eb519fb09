// What was judged before and found without fault, by hash: an unchanged project asks DuckDB nothing.
#pragma once

#include <set>
#include <string>

namespace weir::metric {

/// A file of hashes behind a head that names the rules and the engine. A missing, damaged or older file knows nothing.
/// Without a path it remembers for itself alone.
class FitTexts {
 public:
  explicit FitTexts(std::string path = {});

  bool contains(const std::string& key);
  void add(const std::string& key) { is_changed_ = used_.insert(key).second || is_changed_; }
  /// Writes what contains() found and add() brought, if anything is new. A file that cannot be written costs time and
  /// nothing else.
  void save() const;

 private:
  std::string path_;
  std::set<std::string> known_;
  std::set<std::string> used_;
  bool is_changed_ = false;
};

}  // namespace weir::metric
