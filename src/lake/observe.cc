// The state of tables, read from the lake's metadata in a handful of queries however many tables are asked for.
// DuckDB's own listing functions load every table of the catalog for the same answer (182 ms at 200 tables); these
// queries take a few milliseconds.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "lake/changes.h"
#include "lake/column_type.h"
#include "lake/filters.h"
#include "lake/lakes.h"
#include "text/lexer.h"

namespace weir::lake {
namespace {

using duck::Identifier;
using duck::Rows;
using duck::Sql;

/// DuckLake's own rule for a name that becomes a folder as it stands.
bool is_plain(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  });
}

std::string under(const std::string& base, const std::string& path, bool relative) {
  return relative ? base + path : path;
}

/// Gathers the states of one call. Each step reads one metadata table and fills what it knows.
class Observer {
 public:
  Observer(duck::Connection& connection, const Lake& lake, std::int64_t at)
      : connection_(connection), lake_(lake), at_(at) {}

  Result<std::map<std::string, TableState>> observe(const std::vector<Asset>& assets) {
    for (const Asset& asset : assets) {
      states_[asset.key()];
      wanted_.emplace(std::pair(text::lower(asset.schema), text::lower(asset.name)), asset.key());
    }
    if (!lake_.exists()) {
      for (const Asset& asset : assets) place(asset);
      return std::move(states_);
    }
    WEIR_CHECK(read_schemas());
    for (const Asset& asset : assets) place(asset);
    WEIR_CHECK(read_tables());
    WEIR_CHECK(read_views());
    if (!by_id_.empty()) WEIR_CHECK(read_parts());
    return std::move(states_);
  }

 private:
  Result<Rows> rows(const Sql& sql) {
    auto found = connection_.query(sql);
    if (!found) return fail(explain(Code::W6003, "the lake " + lake_.name() + " cannot be read", found.error()));
    return std::move(*found);
  }

  Sql live(const char* alias) const { return live_at(alias, at_); }

  /// A filter on the wanted tables; no filter when a scan of everything is the cheaper way.
  Sql among(const char* column) const {
    if (by_id_.size() > 100) return Sql("true");
    std::vector<Sql> ids;
    for (const auto& [id, state] : by_id_) ids.push_back(Sql("{}", id));
    return Sql("{} IN ({})", Identifier(column), Sql::join(ids, ", "));
  }

  TableState* state_of(const Rows& found, std::size_t row, std::size_t column = 0) {
    const auto state = by_id_.find(found.integer(row, column));
    return state == by_id_.end() ? nullptr : state->second;
  }

  Result<void> read_schemas() {
    WEIR_TRY(const auto found, rows(Sql("SELECT schema_id, schema_name, path, path_is_relative FROM {} s WHERE {}",
                                        lake_.metadata("ducklake_schema"), live("s"))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      schemas_[found.integer(i, 0)] = text::lower(found.text(i, 1));
      schema_folders_[text::lower(found.text(i, 1))] =
          under(lake_.data_folder(), found.text(i, 2), found.boolean(i, 3));
    }
    return {};
  }

  /// Where the table will have its files if it is made now.
  void place(const Asset& asset) {
    TableState& state = states_[asset.key()];
    const auto schema = schema_folders_.find(text::lower(asset.schema));
    const bool known = schema != schema_folders_.end();
    state.has_plain_folder = is_plain(asset.name) && (known || is_plain(asset.schema));
    if (state.has_plain_folder)
      state.folder = (known ? schema->second : lake_.data_folder() + asset.schema + "/") + asset.name + "/";
  }

  /// The state that a row of id, schema and name is about, if it was asked for.
  TableState* wanted(const Rows& found, std::size_t row) {
    const auto schema = schemas_.find(found.integer(row, 1));
    if (schema == schemas_.end()) return nullptr;
    const auto key = wanted_.find(std::pair(schema->second, text::lower(found.text(row, 2))));
    return key == wanted_.end() ? nullptr : &states_[key->second];
  }

  TableState* adopt(const Rows& found, std::size_t row) {
    TableState* state = wanted(found, row);
    if (state == nullptr) return nullptr;
    state->exists = true;
    state->table_id = found.integer(row, 0);
    state->version = found.integer(row, 3);
    by_id_[state->table_id] = state;
    oldest_ = std::min(oldest_, state->version);
    return state;
  }

  Result<void> read_tables() {
    WEIR_TRY(
        const auto found,
        rows(Sql("SELECT table_id, schema_id, table_name, begin_snapshot, path, path_is_relative FROM {} t WHERE {}",
                 lake_.metadata("ducklake_table"), live("t"))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      TableState* state = adopt(found, i);
      if (state == nullptr) continue;
      const std::string base = schema_folders_[schemas_[found.integer(i, 1)]];
      state->folder = under(base, found.text(i, 4), found.boolean(i, 5));
      state->has_plain_folder = is_plain(found.text(i, 2));
    }
    return {};
  }

  Result<void> read_views() {
    WEIR_TRY(const auto found, rows(Sql("SELECT view_id, schema_id, view_name, begin_snapshot, {} FROM {} v WHERE {}",
                                        is_deferral("v"), lake_.metadata("ducklake_view"), live("v"))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found.boolean(i, 4)) {
        if (TableState* state = wanted(found, i)) state->is_deferral = true;
      } else if (TableState* state = adopt(found, i)) {
        state->is_view = true;
      }
    }
    return {};
  }

  Result<void> read_parts() {
    WEIR_CHECK(read_columns());
    WEIR_CHECK(read_comments());
    WEIR_CHECK(read_partitions());
    WEIR_CHECK(read_sorting());
    WEIR_CHECK(read_counts());
    WEIR_CHECK(read_versions());
    return {};
  }

  Result<void> read_columns() {
    WEIR_TRY(const auto found, rows(Sql("SELECT table_id, column_id, parent_column, column_name, column_type, "
                                        "nulls_allowed::BOOLEAN, default_value, default_value_type "
                                        "FROM {} c WHERE {} AND {} ORDER BY table_id, column_order, column_id",
                                        lake_.metadata("ducklake_column"), live("c"), among("table_id"))));
    for (std::size_t begin = 0; begin < found.size();) {
      std::size_t end = begin;
      while (end < found.size() && found.integer(end, 0) == found.integer(begin, 0)) ++end;
      if (TableState* state = state_of(found, begin)) add_columns(*state, found, begin, end);
      begin = end;
    }
    return {};
  }

  void add_columns(TableState& state, const Rows& found, std::size_t begin, std::size_t end) {
    std::vector<ColumnRecord> records;
    for (std::size_t i = begin; i < end; ++i) {
      ColumnRecord record{found.integer(i, 1), std::nullopt, found.text(i, 3), found.text(i, 4)};
      if (!found.is_null(i, 2)) record.parent = found.integer(i, 2);
      records.push_back(std::move(record));
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (records[i].parent) continue;
      ColumnState column{records[i].name, spell_type(records, i), found.boolean(begin + i, 5),
                         default_of(found, begin + i), std::nullopt};
      columns_[{state.table_id, records[i].id}] = state.columns.size();
      state.columns.push_back(std::move(column));
    }
  }

  /// A default is stored as the bare value of a literal, or as an expression.
  static std::optional<std::string> default_of(const Rows& found, std::size_t row) {
    if (found.is_null(row, 6)) return std::nullopt;
    const std::string value = found.text(row, 6);
    if (found.text(row, 7) == "expression") return value;
    return value == "NULL" ? std::nullopt : std::optional(duck::quote_text(value));
  }

  ColumnState* column_of(TableState& state, std::int64_t column_id) {
    const auto position = columns_.find({state.table_id, column_id});
    return position == columns_.end() ? nullptr : &state.columns[position->second];
  }

  Result<void> read_comments() {
    WEIR_TRY(
        const auto found,
        rows(
            Sql("SELECT object_id, NULL::BIGINT, \"value\" FROM {} t WHERE \"key\" = 'comment' AND {} AND {} UNION ALL "
                "SELECT table_id, column_id, \"value\" FROM {} c WHERE \"key\" = 'comment' AND {} AND {}",
                lake_.metadata("ducklake_tag"), live("t"), among("object_id"), lake_.metadata("ducklake_column_tag"),
                live("c"), among("table_id"))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      TableState* state = state_of(found, i);
      if (state == nullptr) continue;
      if (found.is_null(i, 1)) {
        state->comment = found.maybe_text(i, 2);
      } else if (ColumnState* column = column_of(*state, found.integer(i, 1))) {
        column->comment = found.maybe_text(i, 2);
      }
    }
    return {};
  }

  Result<void> read_partitions() {
    WEIR_TRY(const auto found, rows(Sql("SELECT i.table_id, c.column_id, c.transform FROM {} i JOIN {} c ON "
                                        "c.partition_id = i.partition_id AND c.table_id = i.table_id "
                                        "WHERE {} ORDER BY i.table_id, c.partition_key_index",
                                        lake_.metadata("ducklake_partition_info"),
                                        lake_.metadata("ducklake_partition_column"), live("i"))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      TableState* state = state_of(found, i);
      if (state == nullptr) continue;
      const ColumnState* column = column_of(*state, found.integer(i, 1));
      if (column != nullptr) state->partition_columns.push_back(column->name);
      if (column != nullptr && found.text(i, 2) == "identity")
        state->partitioned_by.push_back(column->name);
      else
        state->has_other_partitioning = true;
    }
    return {};
  }

  Result<void> read_sorting() {
    WEIR_TRY(const auto found,
             rows(Sql("SELECT i.table_id, e.expression, e.sort_direction, e.null_order FROM {} i JOIN {} e ON "
                      "e.sort_id = i.sort_id AND e.table_id = i.table_id "
                      "WHERE {} ORDER BY i.table_id, e.sort_key_index",
                      lake_.metadata("ducklake_sort_info"), lake_.metadata("ducklake_sort_expression"), live("i"))));
    for (std::size_t i = 0; i < found.size(); ++i) {
      TableState* state = state_of(found, i);
      if (state == nullptr) continue;
      // The usual order is left unsaid, as in the statement that set it.
      std::string expression = found.text(i, 1);
      if (found.text(i, 2) != "ASC") expression += " " + found.text(i, 2);
      if (found.text(i, 3) == "NULLS_FIRST") expression += " NULLS FIRST";
      state->sorted_by.push_back(std::move(expression));
    }
    return {};
  }

  // Files written by one version hold whole rows of that version, so their records count exactly. Merged files, merged
  // delete files and rows kept in the catalog do not: those tables are counted by reading them at the version. The
  // delete file of a data file whose last row went is left open, so it counts only with its data file.
  Result<void> read_counts() {
    WEIR_TRY(const auto found,
             rows(Sql("SELECT table_id, sum(n)::BIGINT, bool_or(mixed) FROM ("
                      "SELECT table_id, record_count AS n, coalesce(partial_max > {}, false) AS mixed FROM {} f WHERE "
                      "{} AND {} UNION ALL "
                      "SELECT table_id, -delete_count, coalesce(partial_max > {}, false) FROM {} d WHERE {} AND {} "
                      "AND data_file_id IN (SELECT data_file_id FROM {} f WHERE {}) UNION ALL "
                      "SELECT table_id, 0, true FROM {} WHERE {} UNION ALL "
                      // Deletes that plain DuckDB keeps in the catalog of a lake that it made.
                      "SELECT table_id, 0, true FROM {} t WHERE {} AND EXISTS (SELECT 1 FROM {} c WHERE "
                      "contains(c.changes_made, 'inlined_delete:') AND contains(',' || c.changes_made || ',', "
                      "',inlined_delete:' || CAST(t.table_id AS VARCHAR) || ','))) GROUP BY table_id",
                      at_, lake_.metadata("ducklake_data_file"), live("f"), among("table_id"), at_,
                      lake_.metadata("ducklake_delete_file"), live("d"), among("table_id"),
                      lake_.metadata("ducklake_data_file"), live("f"), lake_.metadata("ducklake_inlined_data_tables"),
                      among("table_id"), lake_.metadata("ducklake_table"), among("table_id"),
                      lake_.metadata("ducklake_snapshot_changes"))));
    std::vector<TableState*> mixed;
    for (std::size_t i = 0; i < found.size(); ++i) {
      TableState* state = state_of(found, i);
      if (state == nullptr) continue;
      state->rows = found.integer(i, 1);
      if (found.boolean(i, 2)) mixed.push_back(state);
    }
    for (TableState* state : mixed) WEIR_CHECK(count_rows(*state));
    return {};
  }

  Result<void> count_rows(TableState& state) {
    WEIR_TRY(const auto name, rows(Sql("SELECT s.schema_name, t.table_name FROM {} t JOIN {} s USING (schema_id) WHERE "
                                       "t.table_id = {} AND {} AND {}",
                                       lake_.metadata("ducklake_table"), lake_.metadata("ducklake_schema"),
                                       state.table_id, live("t"), live("s"))));
    if (name.size() == 0) return {};
    WEIR_TRY(const auto count, rows(Sql("SELECT count(*) FROM {} AT (VERSION => {})",
                                        lake_.readable(name.text(0, 0), name.text(0, 1)), at_)));
    state.rows = count.integer(0, 0);
    return {};
  }

  Result<void> read_versions() {
    WEIR_TRY(const auto found,
             rows(Sql("SELECT snapshot_id, changes_made FROM {} WHERE snapshot_id > {} AND snapshot_id <= {}",
                      lake_.metadata("ducklake_snapshot_changes"), oldest_, at_)));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::int64_t version = found.integer(i, 0);
      const std::string changes = found.text(i, 1);
      for (const Change& change : parse_changes(changes)) {
        if (!change.id || !change.alters_content()) continue;
        if (const auto state = by_id_.find(*change.id); state != by_id_.end())
          state->second->version = std::max(state->second->version, version);
      }
    }
    return {};
  }

  duck::Connection& connection_;
  const Lake& lake_;
  const std::int64_t at_;
  std::map<std::string, TableState> states_;
  std::map<std::pair<std::string, std::string>, std::string> wanted_;  // (schema, name) -> key
  std::unordered_map<std::int64_t, std::string> schemas_;
  std::map<std::string, std::string> schema_folders_;
  std::unordered_map<std::int64_t, TableState*> by_id_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> columns_;  // (table, column id) -> position
  std::int64_t oldest_ = INT64_MAX;
};

}  // namespace

const ColumnState* TableState::column(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const ColumnState& column) { return text::same_word(column.name, name); });
  return found == columns.end() ? nullptr : &*found;
}

bool TableState::is_partitioned() const {
  return std::any_of(partitioned_by.begin(), partitioned_by.end(),
                     [](const std::string& name) { return name == kPartitionColumn; });
}

Result<std::map<std::string, TableState>> Lake::observe(duck::Connection& connection, const std::vector<Asset>& assets,
                                                        std::int64_t at) const {
  return Observer(connection, *this, at).observe(assets);
}

}  // namespace weir::lake
