#include "publish/restore.h"

#include <fmt/format.h>

#include <algorithm>

#include "build/names.h"
#include "build/types.h"
#include "publish/draft.h"
#include "publish/row_difference.h"

namespace weir::publish {
namespace {

using duck::Identifier;
using duck::Sql;

class Restorer {
 public:
  Restorer(duck::Connection& clean, const RestoreRequest& request) : clean_(clean), request_(request) {}

  Result<Restoration> run() {
    WEIR_CHECK(pair_columns());
    WEIR_TRY(const duck::TableName buckets, keep("buckets", differing_buckets(columns_, past(), now())));
    WEIR_TRY(delta_, keep("delta", row_difference(columns_, past(), now(), Sql("{}", buckets))));
    WEIR_CHECK(count());
    WEIR_CHECK(write());
    WEIR_CHECK(show());
    effect().target_version = request_.target.version;
    return std::move(result_);
  }

 private:
  Effect& effect() { return result_.effect; }
  const Asset& asset() const { return *request_.model.target; }

  Sql past() const {
    return Sql("{} AS l AT (VERSION => {})", request_.lake.readable(asset().schema, asset().name), request_.version);
  }
  Sql now() const { return Sql("{} AS r", request_.lake.readable(asset().schema, asset().name)); }

  Diagnostic problem(Code code, std::string message, std::string hint) const {
    return {.code = code, .message = std::move(message), .path = {}, .span = {}, .hint = std::move(hint)};
  }

  Result<duck::Rows> ask(const Sql& sql) {
    auto rows = clean_.query(sql);
    if (!rows) return fail(lake::explain(Code::W6020, "working out what changes in " + asset().uri(), rows.error()));
    return std::move(*rows);
  }

  Result<duck::TableName> keep(std::string_view what, const Sql& select) {
    const duck::TableName name{std::string(lake::kStageDatabase), "main", fmt::format("{}_{}", request_.prefix, what)};
    WEIR_CHECK(ask(Sql("CREATE OR REPLACE TABLE {} AS {}", name, select)));
    effect().scratch_tables.push_back(name);
    return name;
  }

  Result<void> pair_columns() {
    for (const lake::ColumnState& column : request_.target.columns) {
      const lake::ColumnState* before = build::find_column(request_.past.state.columns, column.name);
      const Sql now("r.{}", Identifier(column.name));
      if (before != nullptr) {
        WEIR_TRY(const Sql value, earlier_value(column, *before));
        columns_.push_back({.name = column.name, .type = column.type, .left = value, .right = now});
        continue;
      }
      WEIR_CHECK(judge_added(column));
      result_.added_since.push_back(column.name);
      columns_.push_back({.name = column.name,
                          .type = column.type,
                          .left = Sql("CAST(NULL AS {})", Sql::verbatim(column.type)),
                          .right = now});
    }
    for (const lake::ColumnState& before : request_.past.state.columns)
      if (build::find_column(request_.target.columns, before.name) == nullptr)
        result_.gone_since.push_back(before.name);
    return {};
  }

  Result<void> judge_added(const lake::ColumnState& column) {
    if (build::same_name(column.name, lake::kPartitionColumn))
      return fail(problem(
          Code::W6612, fmt::format("{} is partitioned now and was not in version {}", asset().uri(), request_.version),
          fmt::format("read them with AT (VERSION => {})", request_.version)));
    if (column.nullable) return {};
    return fail(problem(
        Code::W6017,
        fmt::format("the column {} was added after version {} and must not be NULL", column.name, request_.version),
        "drop its NOT NULL with ALTER TABLE first"));
  }

  /// The value of a column of then in the type of now.
  Result<Sql> earlier_value(const lake::ColumnState& column, const lake::ColumnState& before) {
    const Sql value("l.{}", Identifier(before.name));
    if (!column.nullable && before.nullable) {
      WEIR_TRY(const duck::Rows nulls, ask(Sql("SELECT count(*) FROM {} WHERE {} IS NULL", past(), value)));
      if (nulls.integer(0, 0) > 0)
        return fail(problem(Code::W6017,
                            fmt::format("the column {} must not be NULL now and is in {} rows of version {}",
                                        column.name, nulls.integer(0, 0), request_.version),
                            "drop its NOT NULL with ALTER TABLE first"));
    }
    if (column.type == before.type) return value;
    result_.is_retyped = true;
    const Sql type = Sql::verbatim(column.type);
    if (build::is_lossless_cast(build::parse_type(before.type), build::parse_type(column.type)))
      return Sql("CAST({} AS {})", value, type);
    const Sql cast("TRY_CAST({} AS {})", value, type);
    WEIR_TRY(const duck::Rows lost, ask(Sql("SELECT count(*) FROM {} WHERE TRY_CAST({} AS {}) IS DISTINCT FROM {}",
                                            past(), cast, Sql::verbatim(before.type), value)));
    if (lost.integer(0, 0) > 0)
      return fail(problem(Code::W6607,
                          fmt::format("{} values of the column {} in version {} ({}) do not survive as {}",
                                      lost.integer(0, 0), column.name, request_.version, before.type, column.type),
                          fmt::format("ALTER TABLE … ALTER {} SET DATA TYPE {}, or restore a later version",
                                      duck::quote_identifier(column.name), before.type)));
    return cast;
  }

  /// Positions of the columns by which a row of then and one of now are the same row, changed.
  std::vector<std::size_t> key() const {
    std::vector<std::string> names = request_.model.key;
    if (request_.model.is_history()) names.emplace_back(validity_columns(request_.model).from);
    std::vector<std::size_t> positions;
    for (const std::string& name : names)
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (build::same_name(columns_[i].name, name)) positions.push_back(i);
    return positions.size() == names.size() ? positions : std::vector<std::size_t>{};
  }

  Result<void> count() {
    WEIR_TRY(const duck::Rows sums,
             ask(Sql("SELECT CAST(coalesce(sum(n) FILTER (n > 0), 0) AS BIGINT), CAST(coalesce(-sum(n) FILTER (n < "
                     "0), 0) AS BIGINT) FROM {}",
                     delta_)));
    std::int64_t added = sums.integer(0, 0);
    std::int64_t removed = sums.integer(0, 1);
    effect().changes = added + removed > 0;
    std::vector<Sql> names;
    for (const std::size_t i : key()) names.push_back(Sql("{}", Identifier(fmt::format("c{}", i))));
    if (!names.empty()) {
      WEIR_TRY(const duck::Rows pairs,
               ask(Sql("SELECT CAST(coalesce(sum(least(a, b)), 0) AS BIGINT) FROM (SELECT coalesce(sum(n) FILTER (n > "
                       "0), 0) AS a, coalesce(-sum(n) FILTER (n < 0), 0) AS b FROM {} GROUP BY {})",
                       delta_, Sql::join(names, ", "))));
      effect().counts.updated = pairs.integer(0, 0);
      added -= pairs.integer(0, 0);
      removed -= pairs.integer(0, 0);
    }
    effect().counts.inserted = added;
    effect().counts.deleted = removed;
    WEIR_TRY(const duck::Rows rows, ask(Sql("SELECT count(*) FROM {}", past())));
    effect().rows = rows.integer(0, 0);
    return {};
  }

  duck::TableName writable() const { return request_.lake.writable(asset().schema, asset().name); }

  Sql names() const {
    std::vector<std::string> all;
    for (const PairedColumn& column : columns_) all.push_back(column.name);
    return Sql::names(all);
  }

  /// Rows that come, in the order of their partitions, so that each makes few files.
  Sql insert(const Sql& select) const {
    Sql statement("INSERT INTO {} ({}) {}", writable(), names(), select);
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (build::same_name(columns_[i].name, lake::kPartitionColumn))
        statement += Sql(" ORDER BY {}", Identifier(fmt::format("c{}", i)));
    return statement;
  }

  Result<void> write() {
    // A column of that name hides the lake's row numbers: then all rows go and come.
    if (build::find_column(request_.target.columns, "rowid") != nullptr) {
      effect().statements = {Sql("DELETE FROM {}", writable()),
                             insert(Sql("SELECT {} FROM {}", past_columns(), past()))};
      return {};
    }
    WEIR_TRY(const duck::TableName gone, keep("gone", rows_that_go()));
    effect().statements = {Sql("DELETE FROM {} WHERE rowid IN (SELECT r FROM {})", writable(), gone),
                           insert(Sql("SELECT {} FROM {} AS d, range(d.n) WHERE d.n > 0",
                                      numbered_columns(columns_.size(), Sql("d")), delta_))};
    return {};
  }

  Sql past_columns() const {
    std::vector<Sql> items;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      items.push_back(Sql("{} AS {}", columns_[i].left, Identifier(fmt::format("c{}", i))));
    return Sql::join(items, ", ");
  }

  /// Row numbers of as many rows of each kind as there are too many.
  Sql rows_that_go() const {
    std::vector<Sql> items{Sql("r.rowid AS r")};
    std::vector<Sql> terms;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      items.push_back(Sql("{} AS {}", columns_[i].right, Identifier(fmt::format("c{}", i))));
      const std::vector<Sql> of_table = forms_of(columns_[i], i, Sql("t"));
      const std::vector<Sql> of_delta = forms_of(columns_[i], i, Sql("d"));
      for (std::size_t form = 0; form < of_table.size(); ++form)
        terms.push_back(Sql("{} IS NOT DISTINCT FROM {}", of_table[form], of_delta[form]));
    }
    return Sql(
        "SELECT r FROM (SELECT t.r, d.n, row_number() OVER (PARTITION BY d.k ORDER BY t.r) AS o FROM (SELECT {} "
        "FROM {}) AS t JOIN (SELECT *, rowid AS k FROM {} WHERE n < 0) AS d ON ({})) WHERE o <= -n",
        Sql::join(items, ", "), now(), delta_, Sql::join(terms, " AND "));
  }

  Result<void> show() {
    std::vector<Sql> items;
    for (const PairedColumn& column : columns_) items.push_back(Sql("{} AS {}", column.left, Identifier(column.name)));
    const auto view = [&](const char* what, const Sql& select) -> Result<Sql> {
      const duck::TableName name{std::string(lake::kStageDatabase), "main",
                                 fmt::format("{}_{}", request_.prefix, what)};
      WEIR_CHECK(ask(Sql("CREATE OR REPLACE VIEW {} AS {}", name, select)));
      effect().scratch_views.push_back(name);
      return Sql("{}", name);
    };
    effect().columns = request_.target.columns;
    WEIR_TRY(effect().table_image, view("table", Sql("SELECT {} FROM {}", Sql::join(items, ", "), past())));
    effect().slice_image = effect().table_image;
    if (!request_.model.is_history()) return {};
    const ValidityColumns validity = validity_columns(request_.model).of_table([&](std::string_view name) {
      return request_.target.column(name) != nullptr;
    });
    WEIR_TRY(effect().slice_image,
             view("slice", Sql("SELECT * FROM {} WHERE {}", effect().table_image, validity.is_live())));
    return {};
  }

  duck::Connection& clean_;
  const RestoreRequest& request_;
  std::vector<PairedColumn> columns_;
  duck::TableName delta_;
  Restoration result_;
};

}  // namespace

Result<Restoration> prepare_restore(duck::Connection& clean, const RestoreRequest& request) {
  return Restorer(clean, request).run();
}

}  // namespace weir::publish
