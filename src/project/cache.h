// Parsed scripts by the hash of their text, in one file that is read at once: an unchanged project asks DuckDB nothing.
// They stay bytes until they are asked for: decoding all of them into a second copy took a third of the memory of a
// project of 10,000 models.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/diagnostic.h"
#include "parse/script.h"

namespace weir {

class ParseCache {
 public:
  /// Reads `path`. A missing, damaged or older file is an empty cache.
  explicit ParseCache(std::string path);

  /// Decoded when asked for; nothing for a text that is not known.
  std::optional<parse::Script> find(const std::string& key) const;
  bool knows(const std::string& key) const;
  void put(const std::string& key, const parse::Script& script);
  /// What is wrong with a text that does not parse, without its path.
  const Diagnostics* find_faults(const std::string& key) const;
  void put_faults(const std::string& key, Diagnostics faults);
  const std::optional<std::set<std::string>>& volatile_functions() const { return volatile_functions_; }
  void set_volatile_functions(std::set<std::string> names);
  /// Forgets what neither find() nor put() touched since it was read or since the last call: a long-lived cache stays
  /// as small as its project.
  void keep_touched();
  /// Writes what find() and put() touched since it was read, if anything is new. A cache that cannot be written is no
  /// error: it only costs time.
  void save() const;

 private:
  std::string path_;
  std::string bytes_;
  /// Views into bytes_, or into made_.
  std::unordered_map<std::string, std::string_view> scripts_;
  std::map<std::string, std::string> made_;
  std::map<std::string, Diagnostics> faults_;
  std::optional<std::set<std::string>> volatile_functions_;
  mutable std::set<std::string> touched_;
  bool is_changed_ = false;
};

/// Bytes of a script and back; nothing from damaged bytes.
std::string encode_script(const parse::Script& script);
std::optional<parse::Script> decode_script(std::string_view bytes);

}  // namespace weir
