#include "build/files.h"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "build/content.h"
#include "build/names.h"
#include "build/split.h"
#include "build/types.h"
#include "project/window_rows.h"

namespace weir::build {
namespace {

constexpr std::string_view kFileSize = "512MB";

/// Rows from which a file of its own pays: each costs its commit 3 ms, a row that is deleted apart 0.3 µs.
constexpr std::int64_t kRowsWorthPiece = 20'000;

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
  if (is_windowed(request.model) && target.partitioned_by.size() == 1) {
    const lake::ColumnState* const time = target.column(request.model.time_column);
    return time != nullptr && time->type == "DATE" && same_name(target.partitioned_by[0], time->name);
  }
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

}  // namespace

// Parquet knows fewer types than DuckDB (no seconds in timestamps): the casts give the stage's own back.
duck::Sql rows_of_files(const Stage& stage, const std::vector<std::string>& files) {
  std::vector<duck::Sql> parts;
  for (const auto& column : stage.columns)
    parts.emplace_back("CAST({} AS {}) AS {}", duck::Identifier(column.name), duck::Sql::verbatim(column.type),
                       duck::Identifier(column.name));
  if (!stage.partition.empty()) parts.emplace_back("{}", duck::Identifier(std::string(lake::kPartitionColumn)));
  return {"SELECT {} FROM system.main.read_parquet({}, hive_partitioning = false)", duck::Sql::join(parts, ", "),
          list_of(files)};
}

namespace {

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
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
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

// Rows that are no file's worth: none at all, since a lake takes no empty file, or few, whatever was estimated.
Result<void> keep_in_memory(Work& work, const Layout& layout, Stage& stage) {
  const duck::Sql rows = stage.files.empty() ? duck::Sql("SELECT {} FROM ({}\n) AS result LIMIT 0",
                                                         select_list(layout, work.request, ""), work.query)
                                             : rows_of_files(stage, stage.files);
  auto done = work.connection.execute(duck::Sql("CREATE OR REPLACE TABLE {} AS {}", stage.table, rows));
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

namespace {

/// One COPY under way: where its files go, and by what names they are known.
struct Target {
  std::string folder;
  std::string prefix;
};

/// The files of a COPY that ended, those without rows removed; rows of each.
std::map<std::string, std::int64_t> take_files(const duck::Rows& written, Stage& stage) {
  std::map<std::string, std::int64_t> rows;
  std::vector<std::string> empty_files;
  for (std::size_t row = 0; row < written.size(); ++row) {
    const std::int64_t count = written.integer(row, 1);
    (count > 0 ? stage.files : empty_files).push_back(written.text(row, 0));
    rows[written.text(row, 0)] = count;
    stage.content.rows += count;
    stage.bytes += written.integer(row, 2);
  }
  remove_files(empty_files);
  return rows;
}

/// Options of COPY that decide which rows share a file.
duck::Sql layout_of_files(const std::optional<Split>& split) {
  if (!split) return duck::Sql("FILE_SIZE_BYTES {}", duck::Literal(kFileSize));
  if (split->folders_of.empty()) return duck::Sql("PARTITION_BY ({})", duck::Identifier(std::string(kPieceColumn)));
  return duck::Sql("PARTITION_BY ({}), WRITE_PARTITION_COLUMNS true", duck::Identifier(split->folders_of));
}

duck::Sql options_of_copy(const Target& target, const std::optional<Split>& split) {
  // Files are known by their names alone, whatever folder they lie in.
  const std::string_view number = split ? "{uuid}" : "{i}";
  return duck::Sql("{} (FORMAT parquet, {}, FILENAME_PATTERN {}, OVERWRITE_OR_IGNORE, RETURN_STATS)",
                   duck::Literal(target.folder), layout_of_files(split),
                   duck::Literal(target.prefix + std::string(number)));
}

Result<std::map<std::string, std::int64_t>> write_files(Work& work, const Layout& layout,
                                                        const std::optional<Split>& split, const Target& target,
                                                        Stage& stage) {
  const StageRequest& request = work.request;
  duck::Sql columns = select_list(layout, request, "");
  if (split && split->folders_of.empty())
    columns += duck::Sql(", {} AS {}", split->number, duck::Identifier(std::string(kPieceColumn)));
  const duck::Sql head("COPY (SELECT {} FROM (", columns);
  const duck::Sql tail("\n) AS result{}) TO {}", work.where, options_of_copy(target, split));
  auto written = work.connection.query({"{}{}{}", head, work.query, tail});
  if (written) return take_files(*written, stage);
  remove_prefixed(target.folder, target.prefix);
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

/// Many small files become one.
Result<void> join_files(Work& work, const Target& target, Stage& stage) {
  const std::vector<std::string> small = std::exchange(stage.files, {});
  stage.content.rows = 0;
  stage.bytes = 0;
  auto written = work.connection.query(
      duck::Sql("COPY ({}) TO {}", rows_of_files(stage, small), options_of_copy(target, std::nullopt)));
  remove_files(small);
  if (!written) {
    remove_prefixed(target.folder, target.prefix);
    return work.failed(written.error(), work.request.query, std::nullopt);
  }
  take_files(*written, stage);
  return {};
}

/// What each piece of the stage has; none where the names of its files do not tell.
void take_pieces(const Work& work, const Split& split, const std::map<std::string, std::int64_t>& rows, Stage& stage) {
  stage.folders_of = split.folders_of;
  if (split.cuts.empty()) return;
  std::vector<Piece> pieces = empty_pieces(work, split);
  for (const std::string& file : stage.files) {
    const auto number = piece_of_file(file, pieces, split);
    if (!number) return;
    pieces[*number].files.push_back(file);
    pieces[*number].rows += rows.at(file);
  }
  stage.pieces = std::move(pieces);
  stage.cuts = split.cuts;
}

}  // namespace

Result<void> fill_files(Work& work, const Layout& layout, Stage& stage) {
  const StageRequest& request = work.request;
  WEIR_TRY(const std::optional<Split> split, split_of(work, layout));
  const Target target{folder_of_slice(request), file_prefix(request)};
  std::error_code error;
  std::filesystem::create_directories(target.folder, error);
  if (error)
    return fail(work.about(Code::W9010, fmt::format("cannot make the folder {}: {}", target.folder, error.message()),
                           "check who may write to the lake's data path"));
  WEIR_CHECK(check_room(work, layout, target.folder));
  WEIR_TRY(const auto rows, write_files(work, layout, split, target, stage));
  const bool are_small =
      split && !split->is_bound && stage.content.rows < kRowsWorthPiece * static_cast<std::int64_t>(stage.files.size());
  if (stage.files.empty() || (are_small && stage.content.rows < kRowsWorthFiles))
    return keep_in_memory(work, layout, stage);
  if (are_small) {
    WEIR_CHECK(join_files(work, {target.folder, file_prefix(request)}, stage));
  } else if (split) {
    take_pieces(work, *split, rows, stage);
  }
  // A name of its own: a view cannot replace the table that an earlier attempt of the step may have left.
  stage.table.table += "-files";
  stage.relation = duck::Sql("{}", stage.table);
  auto done = work.connection.execute(
      duck::Sql("CREATE OR REPLACE VIEW {} AS {}", stage.table, rows_of_files(stage, stage.files)));
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
