#include "build/files.h"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "build/content.h"
#include "build/names.h"
#include "build/types.h"
#include "project/window_rows.h"

namespace weir::build {
namespace {

constexpr std::string_view kFileSize = "512MB";

// Memory tables hold what Parquet or add_data_files do not: TIMETZ is refused, intervals must be proven before they are
// written.
bool can_be_in_a_file(const Cell& cell) {
  static const std::vector<std::string_view> memory_only = {"TIME WITH TIME ZONE", "INTERVAL", "VARIANT", "GEOMETRY"};
  const Type type = parse_type(cell.type);
  return std::none_of(memory_only.begin(), memory_only.end(),
                      [&](std::string_view name) { return contains(type, name); }) &&
         (!cell.needs_proof || cell.is_exact_or_raises);
}

bool strategy_takes_files(const Model& model) {
  const bool in_lake = model.plane == Plane::Managed || model.plane == Plane::Virtual;
  return in_lake && !model.keep_hash &&
         (model.strategy == Strategy::Replace || model.strategy == Strategy::Append || replaces_part(model));
}

bool folder_takes_files(const StageRequest& request) {
  const lake::TableState& target = request.target;
  if (!target.has_plain_folder || target.folder.empty() || target.folder.front() != '/') return false;
  // DuckDB reads these as patterns in the path of a file to scan.
  if (target.folder.find_first_of("*?[") != std::string::npos) return false;
  if (target.has_other_partitioning || !target.sorted_by.empty()) return false;
  if (!request.model.partitioning) return target.partitioned_by.empty();
  // Read back from a folder's name these are no value, in any case (measured); a lake's own INSERT keeps them as text.
  if (same_name(request.partition, "null")) return false;
  return !target.exists || (target.partitioned_by.size() == 1 && target.partitioned_by[0] == lake::kPartitionColumn);
}

std::int64_t estimate_in(const nlohmann::json& node) {
  if (const auto facts = node.find("extra_info"); facts != node.end() && facts->is_object())
    if (const auto rows = facts->find("Estimated Cardinality"); rows != facts->end() && rows->is_string())
      return std::atoll(rows->get_ref<const std::string&>().c_str());
  if (const auto children = node.find("children"); children != node.end() && children->is_array() && !children->empty())
    return estimate_in((*children)[0]);
  return 0;
}

Result<std::int64_t> expected_rows(Work& work) {
  if (work.request.earlier_rows) return *work.request.earlier_rows;
  if (work.most_rows && *work.most_rows < kRowsWorthFiles) return *work.most_rows;
  const duck::Sql head("EXPLAIN (FORMAT json) SELECT * FROM (");
  auto rows = work.connection.query({"{}{}\n) AS result{}", head, work.query, work.where});
  if (!rows) return work.failed(rows.error(), work.request.query, head.text().size());
  const auto plan = nlohmann::json::parse(rows->text(0, rows->columns().size() - 1), nullptr, false);
  if (!plan.is_array() || plan.empty()) return 0;
  return estimate_in(plan[0]);
}

duck::Sql list_of(const std::vector<std::string>& files) {
  std::vector<duck::Sql> parts;
  for (const auto& file : files) parts.emplace_back("{}", duck::Literal(file));
  return {"[{}]", duck::Sql::join(parts, ", ")};
}

// Parquet knows fewer types than DuckDB (no seconds in timestamps): the casts give the stage's own back.
duck::Sql scan_of(const Stage& stage, const std::vector<std::string>& files) {
  std::vector<duck::Sql> parts;
  for (const auto& column : stage.columns)
    parts.emplace_back("CAST({} AS {}) AS {}", duck::Identifier(column.name), duck::Sql::verbatim(column.type),
                       duck::Identifier(column.name));
  if (!stage.partition.empty()) parts.emplace_back("{}", duck::Identifier(std::string(lake::kPartitionColumn)));
  return {"SELECT {} FROM system.main.read_parquet({}, hive_partitioning = false)", duck::Sql::join(parts, ", "),
          list_of(files)};
}

// Retries of one step in one process get names of their own: a name once given may belong to the lake already.
std::string file_prefix(const StageRequest& request) {
  static std::atomic<int> attempts = 0;
  return fmt::format("weir-{}-{}-{}-", request.run, request.step, attempts++);
}

std::string folder_of_slice(const StageRequest& request) {
  // Without the last slash: COPY adds one, and the lake would keep both in the recorded path.
  std::string folder = request.target.folder.substr(0, request.target.folder.find_last_not_of('/') + 1);
  if (request.partition.empty()) return folder;
  return fmt::format("{}/{}={}", folder, lake::kPartitionColumn, hive_encoded(request.partition));
}

void remove_prefixed(const std::string& folder, const std::string& prefix) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;  // recovery removes what stays
    if (entry->path().filename().string().starts_with(prefix)) std::filesystem::remove(entry->path(), ignored);
  }
}

// NULL counts and bounds from the files' own footers, for columns whose footers are complete; the names of the others.
Result<std::vector<lake::ColumnState>> read_footers(Work& work, Stage& stage) {
  std::vector<duck::Sql> parts;
  for (const auto& column : stage.columns) {
    const duck::Sql here("FILTER (path_in_schema = {})", duck::Literal(column.name));
    const auto type = duck::Sql::verbatim(has_bounds(parse_type(column.type)) ? column.type : "VARCHAR");
    parts.emplace_back(
        "system.main.count_star() {}, system.main.count(stats_null_count) {}, CAST(system.main.sum(stats_null_count) "
        "{} AS BIGINT), "
        "CAST(system.main.count(stats_min_value) {} AS BIGINT), CAST(system.main.count_star() FILTER (path_in_schema = "
        "{} AND stats_null_count < num_values) AS BIGINT), "
        "CAST(system.main.min(TRY_CAST(stats_min_value AS {})) {} AS VARCHAR), "
        "CAST(system.main.max(TRY_CAST(stats_max_value AS {})) {} AS VARCHAR)",
        here, here, here, here, duck::Literal(column.name), type, here, type, here);
  }
  auto rows = work.connection.query(
      duck::Sql("SELECT {} FROM system.main.parquet_metadata({})", duck::Sql::join(parts, ", "), list_of(stage.files)));
  if (!rows) return work.failed(rows.error(), work.request.query, std::nullopt);
  std::vector<lake::ColumnState> open;
  for (std::size_t i = 0; i < stage.columns.size(); ++i) {
    const std::size_t at = 7 * i;
    const bool bounded = has_bounds(parse_type(stage.columns[i].type));
    const std::int64_t groups = rows->integer(0, at);
    if (groups == 0 || rows->integer(0, at + 1) != groups ||
        (bounded && rows->integer(0, at + 3) != rows->integer(0, at + 4))) {
      open.push_back(stage.columns[i]);
      continue;
    }
    Content::ColumnSums sums{rows->integer(0, at + 2), {}, {}};
    if (bounded) {
      sums.minimum = rows->maybe_text(0, at + 5);
      sums.maximum = rows->maybe_text(0, at + 6);
    }
    stage.content.columns[stage.columns[i].name] = sums;
  }
  return open;
}

Result<void> count_files(Work& work, Stage& stage) {
  WEIR_TRY(const std::vector<lake::ColumnState> open, read_footers(work, stage));
  if (open.empty()) return {};
  auto rest = sum_up(work.connection, stage.relation, open, Sums::Bounds);
  if (!rest) return work.failed(rest.error(), work.request.query, std::nullopt);
  for (auto& [name, sums] : rest->columns) stage.content.columns[name] = sums;
  return {};
}

// No rows: a lake takes no empty file, so the stage is an empty table.
Result<void> keep_in_memory(Work& work, Stage& stage) {
  auto done =
      work.connection.execute(duck::Sql("CREATE OR REPLACE TABLE {} AS {}", stage.table, scan_of(stage, stage.files)));
  if (!done) return work.failed(done.error(), work.request.query, std::nullopt);
  remove_files(stage.files);
  stage.files.clear();
  stage.bytes = 0;
  auto content = sum_up(work.connection, stage.relation, stage.columns, Sums::Hashes);
  if (!content) return work.failed(content.error(), work.request.query, std::nullopt);
  stage.content = std::move(*content);
  return {};
}

}  // namespace

Result<bool> publishes_by_files(Work& work, const Layout& layout) {
  const StageRequest& request = work.request;
  if (!strategy_takes_files(request.model) || !folder_takes_files(request)) return false;
  if (!std::all_of(layout.cells.begin(), layout.cells.end(), can_be_in_a_file)) return false;
  WEIR_TRY(const std::int64_t rows, expected_rows(work));
  return rows >= kRowsWorthFiles;
}

namespace {

/// A disk that fills up in the middle is worse than one that is known to be too small: a large stage asks first.
/// Compressed columns take about four bytes a value; a failed write removes its files, so an estimate that is too low
/// costs time only.
Result<void> check_room(const Work& work, const Layout& layout, const std::string& folder) {
  constexpr std::uintmax_t kBytesPerValue = 4;
  constexpr std::uintmax_t kReserve = 16'000'000;
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error) return {};
  const auto rows = static_cast<std::uintmax_t>(std::max(work.request.earlier_rows.value_or(0), kRowsWorthFiles));
  const std::uintmax_t needed = rows * layout.cells.size() * kBytesPerValue + kReserve;
  if (space.available >= needed) return {};
  return fail(work.about(Code::W9012,
                         fmt::format("{} has {} MB left, and about {} MB are needed", folder,
                                     space.available / 1'000'000, needed / 1'000'000),
                         "make room, or move `data:` of the lake to a larger disk"));
}

}  // namespace

Result<void> fill_files(Work& work, const Layout& layout, Stage& stage) {
  const StageRequest& request = work.request;
  const std::string folder = folder_of_slice(request);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(work.about(Code::W9010, fmt::format("cannot make the folder {}: {}", folder, error.message()),
                           "check who may write to the lake's data path"));
  WEIR_CHECK(check_room(work, layout, folder));
  const std::string prefix = file_prefix(request);
  const duck::Sql head("COPY (SELECT {} FROM (", select_list(layout, request, ""));
  const duck::Sql tail(
      "\n) AS result{}) TO {} (FORMAT parquet, FILE_SIZE_BYTES {}, FILENAME_PATTERN {}, OVERWRITE_OR_IGNORE, "
      "RETURN_STATS)",
      work.where, duck::Literal(folder), duck::Literal(kFileSize), duck::Literal(prefix + "{i}"));
  auto written = work.connection.query({"{}{}{}", head, work.query, tail});
  if (!written) {
    remove_prefixed(folder, prefix);
    Diagnostics found = work.failed(written.error(), request.query, head.text().size()).value();
    const bool is_cast =
        written.error().type == duck::FailureType::Conversion || written.error().type == duck::FailureType::OutOfRange;
    // The engine does not say whose cast it was: the user's own, or the one to the table's type.
    for (const Cell& cell : layout.cells)
      if (is_cast && cell.needs_proof)
        found.back().hint = fmt::format("column {} is brought from {} to the table's type {}: a value may not fit",
                                        cell.name, cell.raw_type, cell.type);
    return fail(std::move(found));
  }
  std::vector<std::string> empty_files;
  for (std::size_t row = 0; row < written->size(); ++row) {
    const std::int64_t count = written->integer(row, 1);
    (count > 0 ? stage.files : empty_files).push_back(written->text(row, 0));
    stage.content.rows += count;
    stage.bytes += written->integer(row, 2);
  }
  if (stage.files.empty()) {
    stage.files = std::move(empty_files);
    return keep_in_memory(work, stage);
  }
  remove_files(empty_files);
  // A name of its own: a view cannot replace the table that an earlier attempt of the step may have left.
  stage.table.table += "-files";
  stage.relation = duck::Sql("{}", stage.table);
  auto done =
      work.connection.execute(duck::Sql("CREATE OR REPLACE VIEW {} AS {}", stage.table, scan_of(stage, stage.files)));
  if (!done) return work.failed(done.error(), request.query, std::nullopt);
  return count_files(work, stage);
}

void remove_files(const std::vector<std::string>& files) {
  for (const auto& file : files) {
    std::error_code ignored;  // recovery removes what stays
    std::filesystem::remove(file, ignored);
  }
}

}  // namespace weir::build
