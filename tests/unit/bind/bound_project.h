// A project in a temporary folder, loaded, linked and bound, for tests of binding.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bind/binder.h"
#include "support/loaded_project.h"
#include "text/line_index.h"

namespace weir::bind {

class BoundProject : public testing::Test, protected LoadedProject {
 protected:
  void SetUp() override {
    put("weir.yaml", "lakes: {main: {catalog: lake/main.sqlite, data: lake/main}}\n" + more_config_);
    binder_ = std::make_unique<Binder>(BinderOptions{.cache_file = cache_file()});
  }
  std::string cache_file() const { return root_ + "/.weir/cache/bound"; }
  /// A managed model `name` with this query.
  void model(const std::string& name, const std::string& sql, const std::string& header = {}) {
    put("models/" + name + ".sql", "-- materialize ducklake://main/" + name + header + "\n" + sql);
  }
  /// A table of the lake that no model makes.
  void source(const std::string& name, Columns columns) {
    surroundings_.sources["ducklake://main/main." + name] = {std::move(columns), std::nullopt, ""};
  }
  void captured(const std::string& name, Columns columns, std::int64_t version = 1) {
    captured_["ducklake://main/main." + name] = {std::move(columns), version, "2026-11-30T10:00:00Z"};
  }

  const Bound& bind() {
    project_ = load();
    auto graph = Graph::link(project_.models);
    EXPECT_TRUE(graph.has_value()) << graph.error().front().message;
    graph_ = std::make_unique<Graph>(std::move(*graph));
    surroundings_.captured = [this] {
      ++captures_asked_;
      return captured_;
    };
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(root_);
    auto bound = binder_->bind(project_, *graph_, surroundings_);
    std::filesystem::current_path(before);
    EXPECT_TRUE(bound.has_value()) << bound.error().front().message;
    bound_ = std::move(*bound);
    return bound_;
  }

  const BoundModel& bound(const std::string& path) const {
    static const BoundModel nothing;
    for (std::size_t i = 0; i < graph_->models().size(); ++i)
      if (graph_->models()[i].path == path) return bound_.models.at(i);
    for (const Diagnostic& one : project_.diagnostics) ADD_FAILURE() << name_of(one.code) << " " << one.message;
    return nothing;
  }

  /// "W2101 2:8 message | hint" of each, sorted as they are shown.
  std::vector<std::string> said() const {
    std::vector<std::string> lines;
    for (const Diagnostic& one : bound_.diagnostics) {
      const Source* source = project_.source(one.path);
      const auto at = text::LineIndex(source != nullptr ? source->text : "").position(one.span.begin);
      std::string line = std::string(name_of(one.code)) + " " + one.path + ":" + std::to_string(at.line) + ":" +
                         std::to_string(at.column) + " " + one.message;
      if (!one.hint.empty()) line += " | " + one.hint;
      lines.push_back(std::move(line));
    }
    return lines;
  }

  /// "name TYPE, name TYPE"
  std::string columns(const std::string& path) const {
    std::string all;
    for (const BoundColumn& column : bound(path).columns)
      all += (all.empty() ? "" : ", ") + column.name + " " + column.type;
    return all;
  }

  std::string more_config_;
  Surroundings surroundings_;
  KnownSchemas captured_;
  int captures_asked_ = 0;
  std::unique_ptr<Binder> binder_;
  Project project_;
  std::unique_ptr<Graph> graph_;
  Bound bound_;
};

using Lines = std::vector<std::string>;

}  // namespace weir::bind
