// Where one scenario happens: a folder with the project, and on PostgreSQL two databases of its own. Both vanish
// afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "scenario.h"

namespace weir::scenario {

class Place {
 public:
  struct Options {
    std::string catalog;        // "sqlite" or "postgres"
    std::string postgres_file;  // holds a connection string of a superuser
    bool keep = false;
  };
  static std::unique_ptr<Place> make(const Scenario& scenario, const Options& options, std::string& problem);
  ~Place();

  const std::string& folder() const { return folder_; }
  /// What ATTACH takes behind `ducklake:` for the lake of this name.
  std::string attach_target(const std::string& lake) const;
  bool lake_exists(const std::string& lake) const;

 private:
  Place() = default;
  bool create_databases(std::string& problem);
  bool write_files(const Scenario& scenario, std::string& problem) const;
  std::string url(const std::string& database) const;

  Options options_;
  std::string folder_;
  std::string server_;  // the superuser's connection string
  std::string database_;
};

/// Writes a file below `folder`, making its folders.
bool write_file(const std::string& folder, const std::string& path, const std::string& text, bool append);

}  // namespace weir::scenario
