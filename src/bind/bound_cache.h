// Bound models by the hash of everything that decides the result, in one file that is read at once.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "bind/bound.h"

namespace weir::bind {

/// A model's result without what depends on the state of lakes and captures.
struct KeptModel {
  BoundModel model;
  /// Of the model's own file.
  Diagnostics diagnostics;
};

/// Threads: one at a time.
class BoundCache {
 public:
  /// Reads `file`; a missing, damaged or older one is an empty cache. Empty: memory only.
  explicit BoundCache(std::string file);

  /// Decoded when asked for; without lineage if that is not wanted.
  std::optional<KeptModel> find(const std::string& key, bool with_lineage);
  void put(const std::string& key, const KeptModel& kept);
  /// Columns of files by their call and identity.
  std::optional<Columns> columns(const std::string& key);
  void put_columns(const std::string& key, const Columns& columns);
  /// Forgets what nothing asked for since the last call: a long-lived cache stays as small as its project.
  void keep_touched();
  /// Writes everything, if something is new or was forgotten.
  void save();

 private:
  std::string file_;
  std::string bytes_;
  /// Views into bytes_, or into made_.
  std::unordered_map<std::string, std::string_view> entries_;
  std::map<std::string, std::string> made_;
  std::set<std::string> touched_;
  bool is_changed_ = false;
};

}  // namespace weir::bind
