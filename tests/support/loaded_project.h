// A project from texts, loaded as weir loads it: for tests of what comes after parsing.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "graph/graph.h"
#include "io/files.h"
#include "project/project.h"

namespace weir {

/// Owns a folder with the files and DuckDB's parser. Threads: one at a time.
class LoadedProject : public ParserProvider {
 public:
  LoadedProject() {
    std::string name = (std::filesystem::temp_directory_path() / "weir_loaded_XXXXXX").string();
    root_ = mkdtemp(name.data());
    put("weir.yaml",
        "lakes: {main: {catalog: lake/main.sqlite, data: lake/main}, w: {catalog: lake/w.sqlite, data: lake/w}}\n"
        "databases: {crm: \"sqlite:crm.sqlite\"}\n");
  }
  ~LoadedProject() override { std::filesystem::remove_all(root_); }
  LoadedProject(const LoadedProject&) = delete;
  LoadedProject& operator=(const LoadedProject&) = delete;

  void put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(io::write_file(root_ + "/" + path, text).has_value());
  }
  /// A model by its path without extension.
  void model(const std::string& path, const std::string& text) { put("models/" + path + ".sql", text); }

  Project load() {
    auto project = load_project(root_, *this);
    if (project.has_value()) return std::move(*project);
    ADD_FAILURE() << project.error().front().message;
    return {};
  }
  Result<Graph> link() { return Graph::link(load().models); }
  Graph graph() {
    auto graph = link();
    if (!graph.has_value()) ADD_FAILURE() << graph.error().front().message;
    return std::move(*graph);
  }

  duck::Outcome<duck::Connection*> connection() override {
    if (!database_) database_ = *duck::Database::open({});
    if (!connection_) connection_ = std::make_unique<duck::Connection>(*database_->connect());
    return connection_.get();
  }

 private:
  std::string root_;
  std::shared_ptr<duck::Database> database_;
  std::unique_ptr<duck::Connection> connection_;
};

}  // namespace weir
