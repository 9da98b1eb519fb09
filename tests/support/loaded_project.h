// A project from texts, loaded as weir loads it: for tests of loading and of what comes after it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "graph/graph.h"
#include "io/files.h"
#include "project/project.h"

namespace weir {

/// DuckDB's parser, opened when it is first asked for. Threads: one at a time.
class TestParser : public ParserProvider {
 public:
  duck::Outcome<duck::Connection*> connection() override {
    ++asked;
    if (!database_) database_ = *duck::Database::open({.threads = 1});
    if (!connection_) connection_ = std::make_unique<duck::Connection>(*database_->connect());
    return connection_.get();
  }
  std::optional<duck::Connection> another() override {
    ++others;
    return std::move(*database_->connect());
  }
  int asked = 0;
  int others = 0;

 private:
  std::shared_ptr<duck::Database> database_;
  std::unique_ptr<duck::Connection> connection_;
};

/// Owns a folder with the files. Threads: one at a time.
class LoadedProject {
 public:
  static constexpr const char* kConfig =
      "lakes: {main: {catalog: lake/main.sqlite, data: lake/main}, w: {catalog: lake/w.sqlite, data: lake/w}}\n"
      "databases: {crm: \"sqlite:crm.sqlite\"}\n";

  explicit LoadedProject(const std::string& config = kConfig) {
    std::string name = (std::filesystem::temp_directory_path() / "weir_loaded_XXXXXX").string();
    root_ = mkdtemp(name.data());
    put("weir.yaml", config);
  }
  ~LoadedProject() { std::filesystem::remove_all(root_); }
  LoadedProject(const LoadedProject&) = delete;
  LoadedProject& operator=(const LoadedProject&) = delete;

  void put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(io::write_file(root_ + "/" + path, text).has_value());
  }
  /// A model by its path without extension.
  void model(const std::string& path, const std::string& text) { put("models/" + path + ".sql", text); }

  Project load() {
    auto project = load_project(root_, parser_);
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

  std::string root_;
  TestParser parser_;
};

}  // namespace weir
