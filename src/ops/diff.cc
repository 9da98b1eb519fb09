#include "ops/diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "build/names.h"
#include "build/types.h"
#include "env/registry.h"
#include "io/installation.h"
#include "lake/past.h"
#include "ops/read_only.h"
#include "publish/row_difference.h"
#include "text/lexer.h"

namespace weir::ops {
namespace {

using duck::Identifier;
using duck::Literal;
using duck::Sql;

/// What is to be read on one side.
struct Place {
  Asset asset;
  std::optional<std::int64_t> version;
  /// What to do about an asset that is not there.
  std::string hint;
};

/// One side: where its rows are read, and the columns they have.
struct Opened {
  DiffReport::Side side;
  Sql rows;  // a relation in parentheses or a name
  std::vector<duck::Column> columns;
};

const duck::Column* find_column(const std::vector<duck::Column>& columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&name](const duck::Column& column) { return build::same_name(column.name, name); });
  return found == columns.end() ? nullptr : &*found;
}

Failed engine_failure(const duck::Failure& failure) {
  return fail(lake::explain(Code::W4001, "cannot compare", failure));
}

Result<lake::TableState> state_of(const lake::Lake& lake, duck::Connection& connection, const Asset& asset) {
  WEIR_TRY(const std::int64_t newest, lake.newest_version(connection));
  WEIR_TRY(const auto states, lake.observe(connection, {asset}, newest));
  return states.at(asset.key());
}

/// Compares on one connection, in one transaction, so that both sides are of one moment.
class Comparison {
 public:
  Comparison(const DiffRequest& request, const Config& config, lake::Lakes& lakes, duck::Connection& connection)
      : request_(request), config_(config), lakes_(lakes), connection_(connection) {}

  Result<DiffReport> run(const Place& left, const Place& right) {
    WEIR_CHECK(execute(Sql("USE {}.main", Identifier(lakes_.lake(config_.default_lake().name).reader()))));
    auto transaction = duck::Transaction::begin(connection_);
    if (!transaction) return engine_failure(transaction.error());
    WEIR_TRY(left_, open(left));
    WEIR_TRY(right_, open(right));
    WEIR_CHECK(pair_columns());
    WEIR_CHECK(find_key());
    WEIR_CHECK(apply_condition());
    WEIR_TRY(left_.side.rows, count(Sql("SELECT count(*) FROM {} AS l", left_.rows)));
    WEIR_TRY(right_.side.rows, count(Sql("SELECT count(*) FROM {} AS r", right_.rows)));
    WEIR_CHECK(take_difference());
    WEIR_CHECK(warn_of_repeated_keys());
    report_.left = std::move(left_.side);
    report_.right = std::move(right_.side);
    return std::move(report_);
  }

 private:
  Result<void> execute(const Sql& sql) {
    if (auto done = connection_.execute(sql); !done) return engine_failure(done.error());
    return {};
  }
  Result<duck::Rows> ask(const Sql& sql) {
    auto rows = connection_.query(sql);
    if (!rows) return engine_failure(rows.error());
    return std::move(*rows);
  }
  Result<std::int64_t> count(const Sql& sql) {
    WEIR_TRY(const duck::Rows rows, ask(sql));
    return rows.integer(0, 0);
  }

  Result<Opened> open(const Place& place) {
    const Asset& asset = place.asset;
    const lake::Lake& lake = lakes_.lake(asset.place);
    WEIR_TRY(const lake::TableState now, state_of(lake, connection_, asset));
    if (!now.exists && !place.version)
      return fail(Diagnostic{
          .code = Code::W2012, .message = fmt::format("{} does not exist", asset.uri()), .hint = place.hint});
    Opened source{.side = {.asset = asset.uri(), .version = place.version},
                  .rows = Sql("{}", lake.readable(asset.schema, asset.name))};
    if (place.version) {
      if (now.is_view)
        return fail(
            Diagnostic{.code = Code::W6634,
                       .message = fmt::format("{} is a view and has no version {}", asset.uri(), *place.version),
                       .hint = "compare the tables that it reads"});
      WEIR_CHECK(lake::require_version(connection_, lake, *place.version));
      WEIR_CHECK(lake::table_at(connection_, lake, asset, *place.version));
      source.rows += Sql(" AT (VERSION => {})", *place.version);
      source.rows = Sql("(SELECT * FROM {})", source.rows);
    }
    auto columns = connection_.describe(Sql("SELECT * FROM {}", source.rows));
    if (!columns) return engine_failure(columns.error());
    source.columns = std::move(*columns);
    return source;
  }

  /// Where the types differ, the one that holds the values of both; text if neither does.
  static std::string common_type(const std::string& left, const std::string& right) {
    if (left == right) return left;
    if (build::is_lossless_cast(build::parse_type(left), build::parse_type(right))) return right;
    if (build::is_lossless_cast(build::parse_type(right), build::parse_type(left))) return left;
    return "VARCHAR";
  }

  static Sql value_of(std::string_view side, const duck::Column& column, const std::string& type) {
    const Sql value("{}.{}", Identifier(std::string(side)), Identifier(column.name));
    return column.type == type ? value : Sql("CAST({} AS {})", value, Sql::verbatim(type));
  }

  Result<void> pair_columns() {
    using Kind = DiffReport::ColumnDelta::Kind;
    for (const duck::Column& column : left_.columns) {
      const duck::Column* other = find_column(right_.columns, column.name);
      if (other == nullptr) {
        report_.schema.push_back({Kind::OnlyLeft, column.name, column.type, {}});
        continue;
      }
      if (other->type != column.type) report_.schema.push_back({Kind::Retyped, column.name, column.type, other->type});
      const std::string type = common_type(column.type, other->type);
      report_.columns.push_back({column.name, type});
      columns_.push_back({.name = column.name,
                          .type = type,
                          .left = value_of("l", column, type),
                          .right = value_of("r", *other, type)});
    }
    for (const duck::Column& column : right_.columns)
      if (find_column(left_.columns, column.name) == nullptr)
        report_.schema.push_back({Kind::OnlyRight, column.name, {}, column.type});
    if (!columns_.empty()) return {};
    return fail(
        Diagnostic{.code = Code::W6630,
                   .message = fmt::format("{} and {} have no column in common", left_.side.asset, right_.side.asset)});
  }

  Result<void> find_key() {
    Diagnostics problems;
    for (const std::string& name : request_.key) {
      const auto found = std::find_if(columns_.begin(), columns_.end(), [&name](const publish::PairedColumn& column) {
        return build::same_name(column.name, name);
      });
      if (found != columns_.end()) {
        key_.push_back(static_cast<std::size_t>(found - columns_.begin()));
        report_.key.push_back(found->name);
        continue;
      }
      std::vector<std::string> names;
      for (const publish::PairedColumn& column : columns_) names.push_back(column.name);
      problems.push_back({.code = Code::W6631,
                          .message = fmt::format("the key column {} is not in both tables", name),
                          .hint = fmt::format("both have {}", fmt::join(names, ", "))});
    }
    if (!problems.empty()) return fail(std::move(problems));
    return {};
  }

  Result<void> apply_condition() {
    if (request_.where.empty()) return {};
    for (Opened* source : {&left_, &right_}) {
      WEIR_TRY(const Sql rows, rows_where(connection_, lakes_, source->rows, request_.where));
      source->rows = Sql("({})", rows);
    }
    return {};
  }

  Result<void> take_difference() {
    const Sql left("{} AS l", left_.rows);
    const Sql right("{} AS r", right_.rows);
    WEIR_CHECK(
        execute(Sql("CREATE TEMP TABLE _weir_buckets AS {}", publish::differing_buckets(columns_, left, right))));
    WEIR_CHECK(execute(Sql("CREATE TEMP TABLE _weir_delta AS {}",
                           publish::row_difference(columns_, left, right, Sql("_weir_buckets")))));
    return key_.empty() ? count_rows() : pair_rows();
  }

  /// The difference's rows of one side, each as often as it is there too often.
  Sql surplus(bool is_left) const {
    return Sql("(SELECT d.* FROM _weir_delta AS d, range(abs(d.n)) WHERE d.n {} 0)", is_left ? Sql(">") : Sql("<"));
  }

  Result<void> count_rows() {
    WEIR_TRY(const duck::Rows sums, ask(Sql("SELECT CAST(coalesce(sum(n) FILTER (n > 0), 0) AS BIGINT), "
                                            "CAST(coalesce(-sum(n) FILTER (n < 0), 0) AS BIGINT) FROM _weir_delta")));
    report_.only_left = sums.integer(0, 0);
    report_.only_right = sums.integer(0, 1);
    WEIR_TRY(report_.left_samples, sample(surplus(true)));
    WEIR_TRY(report_.right_samples, sample(surplus(false)));
    return {};
  }

  Sql numbers(const std::vector<std::size_t>& which, const Sql& alias) const {
    std::vector<Sql> names;
    for (const std::size_t i : which) names.push_back(Sql("{}.{}", alias, column(i)));
    return Sql::join(names, ", ");
  }
  static Identifier column(std::size_t i) { return Identifier(fmt::format("c{}", i)); }

  /// Surplus rows of one key are one changed row; several of one key pair in the order of their values.
  Result<void> pair_rows() {
    const auto numbered = [this](bool is_left) {
      return Sql("(SELECT s.*, row_number() OVER (PARTITION BY {} ORDER BY {}) AS o FROM {} AS s)",
                 numbers(key_, Sql("s")), publish::numbered_columns(columns_.size(), Sql("s")), surplus(is_left));
    };
    std::vector<Sql> terms{Sql("a.o = b.o")};
    for (const std::size_t i : key_) terms.push_back(Sql("a.{} IS NOT DISTINCT FROM b.{}", column(i), column(i)));
    std::vector<Sql> items;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      items.push_back(Sql("a.{} AS {}, b.{} AS {}, {} AS {}", column(i), Identifier(fmt::format("l{}", i)), column(i),
                          Identifier(fmt::format("r{}", i)), differs(i), Identifier(fmt::format("d{}", i))));
    WEIR_CHECK(
        execute(Sql("CREATE TEMP TABLE _weir_pairs AS SELECT a.o IS NOT NULL AS in_left, b.o IS NOT NULL AS "
                    "in_right, {} FROM {} AS a FULL JOIN {} AS b ON ({})",
                    Sql::join(items, ", "), numbered(true), numbered(false), Sql::join(terms, " AND "))));
    return count_pairs();
  }

  /// True where column i of a pair is not the same to a reader.
  Sql differs(std::size_t i) const {
    const std::vector<Sql> left = publish::forms_of(columns_[i], i, Sql("a"));
    const std::vector<Sql> right = publish::forms_of(columns_[i], i, Sql("b"));
    std::vector<Sql> terms;
    for (std::size_t form = 0; form < left.size(); ++form)
      terms.push_back(Sql("{} IS DISTINCT FROM {}", left[form], right[form]));
    return Sql("({})", Sql::join(terms, " OR "));
  }

  Result<void> count_pairs() {
    std::vector<Sql> sums{Sql("count(*) FILTER (in_left AND NOT in_right)"),
                          Sql("count(*) FILTER (in_right AND NOT in_left)"),
                          Sql("count(*) FILTER (in_left AND in_right)")};
    for (std::size_t i = 0; i < columns_.size(); ++i)
      sums.push_back(Sql("count(*) FILTER (in_left AND in_right AND {})", Identifier(fmt::format("d{}", i))));
    WEIR_TRY(const duck::Rows rows, ask(Sql("SELECT {} FROM _weir_pairs", Sql::join(sums, ", "))));
    report_.only_left = rows.integer(0, 0);
    report_.only_right = rows.integer(0, 1);
    report_.changed = rows.integer(0, 2);
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (const std::int64_t n = rows.integer(0, 3 + i); n > 0)
        report_.changed_columns.emplace_back(columns_[i].name, n);
    WEIR_TRY(report_.left_samples, sample(side_of_pairs('l', Sql("in_left AND NOT in_right"))));
    WEIR_TRY(report_.right_samples, sample(side_of_pairs('r', Sql("in_right AND NOT in_left"))));
    return sample_changes();
  }

  Sql side_of_pairs(char side, const Sql& condition) const {
    std::vector<Sql> items;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      items.push_back(Sql("{} AS {}", Identifier(fmt::format("{}{}", side, i)), column(i)));
    return Sql("(SELECT {} FROM _weir_pairs WHERE {})", Sql::join(items, ", "), condition);
  }

  bool is_private(std::size_t i) const {
    return std::any_of(config_.private_columns.begin(), config_.private_columns.end(),
                       [&](const std::string& name) { return build::same_name(name, columns_[i].name); });
  }

  /// A value as it is shown: text, or the mask of a private column.
  Sql shown(std::size_t i, char prefix) const {
    if (is_private(i)) return Sql("'•••'");
    return Sql("CAST({} AS VARCHAR)", Identifier(fmt::format("{}{}", prefix, i)));
  }

  /// The key first, then every other column: the same rows show the same samples.
  Sql order(char prefix) const {
    std::vector<Sql> names;
    for (const std::size_t i : key_) names.push_back(Sql("{}", Identifier(fmt::format("{}{}", prefix, i))));
    for (std::size_t i = 0; i < columns_.size(); ++i)
      names.push_back(Sql("{}", Identifier(fmt::format("{}{}", prefix, i))));
    return Sql::join(names, ", ");
  }

  Result<std::vector<DiffCells>> sample(const Sql& relation) {
    std::vector<Sql> items;
    for (std::size_t i = 0; i < columns_.size(); ++i) items.push_back(shown(i, 'c'));
    WEIR_TRY(const duck::Rows rows, ask(Sql("SELECT {} FROM {} ORDER BY {} LIMIT {}", Sql::join(items, ", "), relation,
                                            order('c'), request_.samples)));
    std::vector<DiffCells> cells;
    for (std::size_t row = 0; row < rows.size(); ++row) cells.push_back(cells_of(rows, row, 0));
    return cells;
  }

  DiffCells cells_of(const duck::Rows& rows, std::size_t row, std::size_t first) const {
    DiffCells cells;
    for (std::size_t i = 0; i < columns_.size(); ++i) cells.push_back(rows.maybe_text(row, first + i));
    return cells;
  }

  Result<void> sample_changes() {
    std::vector<Sql> items;
    for (const char side : {'l', 'r'})
      for (std::size_t i = 0; i < columns_.size(); ++i) items.push_back(shown(i, side));
    for (std::size_t i = 0; i < columns_.size(); ++i) items.push_back(Sql("{}", Identifier(fmt::format("d{}", i))));
    WEIR_TRY(const duck::Rows rows,
             ask(Sql("SELECT {} FROM _weir_pairs WHERE in_left AND in_right ORDER BY {}, {} LIMIT {}",
                     Sql::join(items, ", "), order('l'), order('r'), request_.samples)));
    const std::size_t width = columns_.size();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      DiffReport::Change change{cells_of(rows, row, 0), cells_of(rows, row, width), {}};
      for (std::size_t i = 0; i < width; ++i) change.differs.push_back(rows.boolean(row, 2 * width + i));
      report_.changes.push_back(std::move(change));
    }
    return {};
  }

  Result<void> warn_of_repeated_keys() {
    if (key_.empty()) return {};
    for (const auto& [source, alias] : {std::pair(&left_, "l"), std::pair(&right_, "r")}) {
      std::vector<Sql> values;
      for (const std::size_t i : key_) values.push_back(alias[0] == 'l' ? columns_[i].left : columns_[i].right);
      const Sql key = Sql::join(values, ", ");
      WEIR_TRY(const std::int64_t repeated,
               count(Sql("SELECT count(*) FROM (SELECT 1 FROM {} AS {} GROUP BY {} HAVING count(*) > 1)", source->rows,
                         Identifier(alias), key)));
      if (repeated == 0) continue;
      report_.warnings.push_back(
          {.code = Code::W6632,
           .severity = Severity::Warning,
           .message = fmt::format("{} {} of {} ({}) {} more than once", repeated, repeated == 1 ? "key" : "keys",
                                  source->side.asset, fmt::join(report_.key, ", "), repeated == 1 ? "stands" : "stand"),
           .hint = "rows of such a key are paired in the order of their values; name more columns in --key"});
    }
    return {};
  }

  const DiffRequest& request_;
  const Config& config_;
  lake::Lakes& lakes_;
  duck::Connection& connection_;
  Opened left_;
  Opened right_;
  std::vector<publish::PairedColumn> columns_;
  /// Positions among columns_.
  std::vector<std::size_t> key_;
  DiffReport report_;
};

/// Errors: W6630, and as parse_operand().
Result<Place> place_of(Workspace& workspace, const Config& config, const std::string& text) {
  WEIR_TRY(const DiffOperand operand, parse_operand(text));
  WEIR_TRY(const Asset named, workspace.asset_named(operand.asset));
  WEIR_TRY(Asset asset, workspace.located(named));
  if (asset.kind != AssetKind::Lake || asset.name.empty() || config.lake(asset.place) == nullptr)
    return fail(Diagnostic{.code = Code::W6630,
                           .message = fmt::format("{} is no table of a lake of this project", asset.uri()),
                           .hint = "name two models, tables or asset URIs, each with @VERSION if an earlier one is "
                                   "meant"});
  return Place{std::move(asset), operand.version, workspace.hint_for(operand.asset)};
}

}  // namespace

Result<DiffOperand> parse_operand(const std::string& text) {
  DiffOperand operand{.asset = text, .version = std::nullopt};
  const auto at = text.rfind('@');
  if (at != std::string::npos) {
    const char* begin = text.data() + at + 1;
    const char* end = text.data() + text.size();
    std::int64_t version = 0;
    const auto [stop, error] = std::from_chars(begin, end, version);
    operand.asset = text.substr(0, at);
    operand.version = version;
    if (error != std::errc() || stop != end || version < 0)
      return fail(Diagnostic{.code = Code::W6630,
                             .message = fmt::format("`{}` is no version of a lake", text.substr(at + 1)),
                             .hint = "a version is a whole number, such as orders@12; `weir history` lists them"});
  }
  if (!operand.asset.empty()) return operand;
  return fail(Diagnostic{
      .code = Code::W6630, .message = fmt::format("`{}` names no asset", text), .hint = "weir diff orders orders@12"});
}

Result<DiffReport> diff(Workspace& workspace, const DiffRequest& request) {
  WEIR_TRY(const Config* config, workspace.config());
  WEIR_TRY(lake::Lakes * lakes, workspace.lakes(false, false));
  WEIR_TRY(const Place left, place_of(workspace, *config, request.left));
  WEIR_TRY(const Place right, place_of(workspace, *config, request.right));
  WEIR_TRY(duck::Connection connection, lakes->connect());
  return Comparison(request, *config, *lakes, connection).run(left, right);
}

Result<bool> are_environments(Workspace& workspace, const std::string& left, const std::string& right) {
  WEIR_TRY(const env::Registry registry, workspace.registry());
  const bool is_left = registry.find(left) != nullptr;
  if (is_left && registry.find(right) != nullptr) return true;
  if (!is_left && registry.find(right) == nullptr) return false;
  // One of them is: the other one is meant as an environment too, unless there is such an asset.
  const std::string& other = is_left ? right : left;
  const bool is_asset_name = other.find_first_of("@/:.") != std::string::npos;
  WEIR_TRY(const Project* project, workspace.project());
  const bool is_asset =
      is_asset_name || std::any_of(project->models.begin(), project->models.end(), [&](const Model& m) {
        return m.path == other || (m.target && text::same_word(m.target->name, other));
      });
  if (is_asset) return false;
  WEIR_TRY(const auto chain, registry.chain(other));
  return !chain.empty();
}

namespace {

/// The lakes of two environments side by side.
Result<Config> joined(const Config& left, Config right) {
  for (const LakeConfig& lake : left.lakes) {
    const LakeConfig* same = right.lake(lake.name);
    if (same == nullptr)
      right.lakes.push_back(lake);
    else if (same->version != lake.version)
      return fail(
          Diagnostic{.code = Code::W6635,
                     .message = fmt::format("the two environments read lake {} at different versions", lake.name),
                     .hint = "compare single tables, each with @VERSION"});
  }
  return right;
}

/// Compares what two environments have of one model after the other.
class RowsOfModels {
 public:
  RowsOfModels(const DiffRequest& request, const Config& config, lake::Lakes& lakes)
      : request_(request), config_(config), lakes_(lakes) {}

  Result<void> compare(const Model& model, const Asset& left, const Asset& right) {
    if (left.key() == right.key()) {
      ++rows.same;
      return {};
    }
    EnvironmentRows::Model one{.path = model.path};
    WEIR_TRY(one.in_left, exists(left));
    WEIR_TRY(one.in_right, exists(right));
    if (one.in_left && one.in_right) {
      auto report = rows_of(model, left, right);
      if (!report) {
        for (Diagnostic& problem : report.error()) problem.message = model.path + ": " + problem.message;
        return fail(std::move(report).error());
      }
      std::move(report->warnings.begin(), report->warnings.end(), std::back_inserter(rows.warnings));
      report->warnings.clear();
      one.report = std::move(*report);
    }
    if (one.is_equal())
      ++rows.same;
    else
      rows.models.push_back(std::move(one));
    return {};
  }

  EnvironmentRows rows;

 private:
  Result<DiffReport> rows_of(const Model& model, const Asset& left, const Asset& right) {
    const auto with = [&](const std::vector<std::string>& key) -> Result<DiffReport> {
      DiffRequest request = request_;
      request.key = key;
      WEIR_TRY(duck::Connection connection, lakes_.connect());
      return Comparison(request, config_, lakes_, connection).run({left, {}, {}}, {right, {}, {}});
    };
    // A history holds a key once a version.
    if (!request_.key.empty() || model.key.empty() || model.is_history()) return with(request_.key);
    auto report = with(model.key);
    // One of the two may show an earlier definition, of another key.
    if (!report && report.error().front().code == Code::W6631) return with({});
    return report;
  }

  Result<bool> exists(const Asset& asset) {
    WEIR_TRY(duck::Connection connection, lakes_.connect());
    WEIR_TRY(const lake::TableState state, state_of(lakes_.lake(asset.place), connection, asset));
    return state.exists;
  }

  const DiffRequest& request_;
  const Config& config_;
  lake::Lakes& lakes_;
};

}  // namespace

Result<EnvironmentRows> diff_rows(const std::string& folder, const DiffRequest& request) {
  WEIR_TRY(Workspace left, Workspace::open(folder, request.left));
  WEIR_TRY(Workspace right, Workspace::open(left.root(), request.right));
  WEIR_TRY(const Config* left_config, left.config());
  WEIR_TRY(const Config* right_config, right.config());
  WEIR_TRY(const Config config, joined(*left_config, *right_config));
  WEIR_TRY(const Graph* graph, right.whole_graph());
  WEIR_TRY(const auto lakes,
           lake::Lakes::open(config, {.extension_folder = io::extension_folder(), .confined = false}));
  RowsOfModels models(request, config, *lakes);
  for (const Model& model : graph->models()) {
    if (!model.target || model.target->kind != AssetKind::Lake || model.plane == Plane::Manual) continue;
    WEIR_TRY(const Asset before, left.rows_of(*model.target));
    WEIR_TRY(const Asset after, right.rows_of(*model.target));
    WEIR_CHECK(models.compare(model, before, after));
  }
  return std::move(models.rows);
}

}  // namespace weir::ops
