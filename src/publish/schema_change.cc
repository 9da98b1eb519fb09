// Bringing the target and the query to one list of columns: what is added, kept, dropped or widened under each mode of
// on_schema_change, and the ALTER statements that do it. Writes are by name, so order and case never move data.
#include <algorithm>
#include <cctype>
#include <tuple>

#include "project/window_rows.h"
#include "publish/draft.h"

namespace weir::publish {

namespace {

const lake::ColumnState* find(const std::vector<lake::ColumnState>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const auto& column) { return build::same_name(column.name, name); });
  return found == columns.end() ? nullptr : &*found;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

ShapedColumn managed_column(std::string_view name, std::string_view type) {
  ShapedColumn column;
  column.state.name = name;
  column.state.type = type;
  column.managed = true;
  return column;
}

// The table's columns are the query's: a first build, a rebuild, or a whole-table replace, which follows the query in
// every mode.
void follow_query(Draft& draft) {
  for (const lake::ColumnState& staged : draft.request.stage.columns) {
    ShapedColumn column;
    column.state = staged;
    column.state.nullable = true;
    column.state.default_sql.reset();
    column.in_stage = staged;
    if (const lake::ColumnState* before = draft.request.target.column(staged.name)) {
      column.state.nullable = before->nullable;
      column.state.comment = before->comment;
      column.state.default_sql = before->default_sql;
      if (draft.target.exists) column.in_target = *before;
    }
    draft.shape.columns.push_back(std::move(column));
  }
  if (draft.is_partitioned()) draft.shape.columns.push_back(managed_column(lake::kPartitionColumn, "VARCHAR"));
  if (draft.request.model.keep_hash) draft.shape.columns.push_back(managed_column(kHashColumn, "VARCHAR"));
  if (!draft.request.model.is_history()) return;
  for (const auto& [name, type] : draft.validity().columns()) draft.shape.columns.push_back(managed_column(name, type));
}

// One column that both have. Types differ only where the stage could not be brought to the target's: a lossless
// widening, or a table that somebody altered since.
Result<void> meet(Draft& draft, ShapedColumn& column) {
  const std::string& now = column.in_target->type;
  const std::string& staged = column.in_stage->type;
  if (column.in_target->name != column.in_stage->name) draft.shape.renamed_case = true;
  if (now == staged) return {};
  draft.shape.retyped.push_back(column.state.name);
  if (build::is_lossless_widening(now, staged)) {
    column.state.type = staged;
    draft.shape.alters.push_back(duck::Sql("ALTER TABLE {} ALTER COLUMN {} SET DATA TYPE {}", draft.writable(),
                                           duck::Identifier(column.state.name), duck::Sql::verbatim(staged)));
    return {};
  }
  if (build::is_lossless_widening(staged, now)) return {};
  return fail(draft.problem(Code::W6019,
                            "column " + column.state.name + " of " + draft.request.model.target->uri() + " became " +
                                now + " while its new rows were computed as " + staged,
                            "run the model again"));
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

// True if the expression holds the name as a word of its own.
bool mentions(const std::string& expression, const std::string& name) {
  const std::string text = build::folded(expression);
  const std::string word = build::folded(name);
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) && (end == text.size() || !is_word_character(text[end])))
      return true;
  }
  return false;
}

// A lake drops no column that its partitioning or order names.
Result<void> judge_drop(const Draft& draft, const std::string& column) {
  const lake::TableState& target = draft.target;
  const bool is_partitioning = std::any_of(target.partition_columns.begin(), target.partition_columns.end(),
                                           [&](const auto& name) { return build::same_name(name, column); });
  const bool is_order = std::any_of(target.sorted_by.begin(), target.sorted_by.end(),
                                    [&](const auto& expression) { return mentions(expression, column); });
  if (!is_partitioning && !is_order) return {};
  const std::string uri = draft.request.model.target->uri();
  return fail(draft.problem(Code::W6027,
                            uri + (is_partitioning ? " is partitioned by " : " is sorted by ") + column +
                                ", which the query no longer returns and on_schema_change=sync would drop",
                            is_partitioning ? "ALTER TABLE … RESET PARTITIONED BY first, or return the column"
                                            : "ALTER TABLE … RESET SORTED BY first, or return the column"));
}

Result<void> keep_target(Draft& draft) {
  const bool drops = draft.request.model.on_schema_change == SchemaChange::Sync && !draft.request.model.is_history() &&
                     !draft.request.attached;
  std::vector<duck::Sql> dropping;
  for (const lake::ColumnState& now : draft.target.columns) {
    ShapedColumn column;
    column.state = now;
    column.in_target = now;
    column.managed = (draft.is_partitioned() && build::same_name(now.name, lake::kPartitionColumn)) ||
                     (draft.request.model.keep_hash && build::same_name(now.name, kHashColumn)) ||
                     (draft.request.model.is_history() && draft.validity().contains(now.name));
    const lake::ColumnState* staged = column.managed ? nullptr : find(draft.request.stage.columns, now.name);
    if (staged != nullptr) {
      column.in_stage = *staged;
      WEIR_CHECK(meet(draft, column));
    } else if (!column.managed) {
      draft.shape.removed.push_back(now.name);
      if (drops) {
        WEIR_CHECK(judge_drop(draft, now.name));
        dropping.push_back(duck::Sql("ALTER TABLE {} DROP COLUMN {}", draft.writable(), duck::Identifier(now.name)));
        continue;
      }
    }
    draft.shape.columns.push_back(std::move(column));
  }
  for (const lake::ColumnState& staged : draft.request.stage.columns) {
    if (find(draft.target.columns, staged.name) != nullptr) continue;
    ShapedColumn column;
    column.state = staged;
    column.state.nullable = true;
    column.state.default_sql.reset();
    column.in_stage = staged;
    draft.shape.added.push_back(staged.name);
    draft.shape.alters.push_back(duck::Sql("ALTER TABLE {} ADD COLUMN {} {}", draft.writable(),
                                           duck::Identifier(staged.name), duck::Sql::verbatim(staged.type)));
    draft.shape.columns.push_back(std::move(column));
  }
  // Added first: a table cannot lose its last column.
  draft.shape.alters.insert(draft.shape.alters.end(), dropping.begin(), dropping.end());
  return {};
}

// What leads out of a frozen history: sync takes columns in and never drops one.
std::string way_out_of_frozen(const Shape& shape) {
  std::string hint;
  if (!shape.removed.empty())
    hint =
        "return " + listed(shape.removed) + " again, or add on_schema_change=sync: new versions then have NULL there";
  else
    hint = "add on_schema_change=sync to take them in: closed versions then have NULL in what was added";
  return hint + "; --full-refresh rebuilds the history and loses its past";
}

Result<void> judge_mode(const Draft& draft) {
  const Shape& shape = draft.shape;
  if (shape.added.empty() && shape.removed.empty() && shape.alters.empty()) return {};
  std::string drift;
  if (!shape.added.empty()) drift += "; added: " + listed(shape.added);
  if (!shape.removed.empty()) drift += "; removed: " + listed(shape.removed);
  if (!shape.retyped.empty()) drift += "; retyped: " + listed(shape.retyped);
  const Model& model = draft.request.model;
  if (model.is_history() && model.on_schema_change != SchemaChange::Sync)
    return fail(draft.problem(
        Code::W6013, "the columns of the history " + model.target->uri() + " are fixed, and the query's differ" + drift,
        way_out_of_frozen(shape)));
  if (model.on_schema_change == SchemaChange::Fail)
    return fail(draft.problem(Code::W4201, "the query's columns differ from those of " + model.target->uri() + drift,
                              "change the query, or on_schema_change"));
  return {};
}

// Files are taken without looking at NOT NULL, and a commit is no place to find out: it is judged here.
Result<void> judge_nulls(const Draft& draft) {
  if (draft.request.stage.content.rows == 0) return {};
  for (const ShapedColumn& column : draft.shape.columns) {
    if (column.managed || column.state.nullable) continue;
    // A delivery leaves columns out that the query does not return: the database fills in its default.
    if (draft.request.attached && !column.in_stage && column.state.default_sql) continue;
    bool has_nulls = !column.in_stage;
    if (column.in_stage) {
      const auto sums = draft.request.stage.content.columns.find(column.in_stage->name);
      has_nulls = sums != draft.request.stage.content.columns.end() && sums->second.nulls > 0;
    }
    if (has_nulls)
      return fail(draft.problem(Code::W6017,
                                "column " + column.state.name + " of " + draft.request.model.target->uri() +
                                    " is NOT NULL, and the query gives NULL",
                                "fill it in the query, or ALTER TABLE … ALTER COLUMN … DROP NOT NULL"));
  }
  return {};
}

Result<void> judge_kind(Draft& draft) {
  const std::string uri = draft.request.model.target->uri();
  if (draft.request.target.exists && draft.request.target.is_view)
    return fail(draft.problem(Code::W6015, uri + " is a view; weir writes tables only",
                              "drop the view, or name another table"));
  if (!draft.target.exists) return {};
  if (draft.is_partitioned() && !draft.target.is_partitioned())
    return fail(draft.problem(Code::W6016, uri + " is not partitioned by weir, and the model says `partitioned`",
                              "rebuild it with --full-refresh, or take `partitioned` out"));
  if (!draft.is_partitioned() && draft.target.is_partitioned())
    return fail(draft.problem(Code::W6016, uri + " is partitioned, and the model no longer says so",
                              "rebuild it with --full-refresh, or put `partitioned` back"));
  if (draft.request.model.is_history()) return {};
  WEIR_TRY(const bool is_history, draft.is_kept_as_history());
  if (is_history)
    return fail(draft.problem(Code::W6028,
                              uri + " is a history, and the model says " +
                                  std::string(name_of(draft.request.model.strategy)) + ": its past would be lost",
                              "put `history` back, name another table, or rebuild it with --full-refresh, which "
                              "drops its past"));
  return {};
}

// The columns that the history keeps must be those by which it was kept.
Result<void> judge_kept(const Draft& draft) {
  const std::string uri = draft.request.model.target->uri();
  const ValidityColumns validity = draft.validity();
  for (const auto& [name, type] : validity.columns())
    if (name != validity.deleted && draft.target.column(name) == nullptr)
      return fail(draft.problem(
          Code::W6018,
          uri + (name == validity.reported ? " was kept by the times of its runs, and the model says valid_from="
                                           : " is no history: it has no column " + std::string(name)),
          name == validity.reported ? "take valid_from= out, or rebuild it with --full-refresh, which drops its past"
                                    : "rebuild it with --full-refresh, or name another table"));
  // A table of another database may have any columns of its own.
  if (draft.request.attached) return {};
  const auto is_left = [&](std::string_view name, std::string_view type) {
    const lake::ColumnState* held = draft.target.column(name);
    return !validity.contains(name) && held != nullptr && held->type == type &&
           find(draft.request.stage.columns, name) == nullptr;
  };
  for (const auto& [name, type, option] : {std::tuple{kReportedColumn, kReportedType, "valid_from="},
                                           std::tuple{kDeletedColumn, std::string_view("BOOLEAN"), "deletes=mark"}})
    if (is_left(name, type))
      return fail(draft.problem(
          Code::W6018,
          uri + " was kept with " + option + ", and the model no longer says so (its column " + std::string(name) + ")",
          std::string("put ") + option + " back, or rebuild it with --full-refresh, which drops its past"));
  return {};
}

Result<void> judge_history(const Draft& draft) {
  const auto& columns = draft.request.stage.columns;
  const auto own = std::find_if(columns.begin(), columns.end(),
                                [&](const auto& column) { return draft.validity().contains(column.name); });
  if (own != columns.end())
    return fail(draft.problem(Code::W6012, "the query returns " + own->name + ", a column that a history keeps itself",
                              "leave it out or rename it"));
  if (!draft.target.exists) return {};
  return judge_kept(draft);
}

// A mark is a column that rows may lack; what the others say of a version cannot be made up.
void add_marks(Draft& draft) {
  const std::string name(draft.validity().deleted);
  if (name.empty() || draft.target.column(name) != nullptr) return;
  ShapedColumn column = managed_column(name, "BOOLEAN");
  draft.shape.alters.push_back(duck::Sql("ALTER TABLE {} ADD COLUMN {} {}", draft.writable(), duck::Identifier(name),
                                         duck::Sql::verbatim(column.state.type)));
  draft.shape.columns.push_back(std::move(column));
}

}  // namespace

Result<void> Draft::take_shape() {
  WEIR_CHECK(judge_kind(*this));
  if (request.model.is_history()) WEIR_CHECK(judge_history(*this));
  const bool is_replaced = request.model.strategy == Strategy::Replace && !is_partitioned() && !request.attached;
  const bool follows = !target.exists || is_replaced;
  if (follows) {
    follow_query(*this);
  } else {
    WEIR_CHECK(keep_target(*this));
    WEIR_CHECK(judge_mode(*this));
    if (request.model.is_history()) add_marks(*this);
  }
  WEIR_CHECK(take_windows());
  return judge_nulls(*this);
}

bool Draft::has_time_as_text() const {
  const lake::ColumnState* const time = time_column();
  return request.attached && time != nullptr && time->type == "VARCHAR" &&
         (request.model.tz.empty() || request.model.tz == "UTC");
}

Result<duck::Sql> Draft::in_windows_named(const std::string& windows) const {
  const lake::ColumnState& time = *time_column();
  const duck::Sql column("t.{}", duck::Identifier(time.name));
  const bool is_text = has_time_as_text();
  return in_windows(request.model, windows, is_text ? duck::Sql("TRY_CAST({} AS TIMESTAMP)", column) : column,
                    is_text ? std::string("TIMESTAMP") : time.type);
}

Result<duck::Sql> Draft::number_of_piece() const {
  const lake::ColumnState& time = *time_column();
  return piece_number(request.model, request.stage.cuts, duck::Sql("t.{}", duck::Identifier(time.name)), time.type);
}

Result<void> Draft::take_windows() {
  if (!is_windowed(request.model) || !replaces_part(request.model) || !target.exists) return {};
  const lake::ColumnState* const time = time_column();
  const bool is_text = has_time_as_text();
  if (time == nullptr || (!has_time(time->type) && !is_text))
    return fail(problem(Code::W0162,
                        request.model.target->uri() + " has no column " + request.model.time_column +
                            " that places its rows in windows",
                        request.attached ? "name another table, or one that is not there yet"
                                         : "rebuild it with --full-refresh, which computes all of it anew"));
  const duck::Sql column("t.{}", duck::Identifier(time->name));
  const auto lies_in = [this](const std::string& windows) { return in_windows_named(windows); };
  WEIR_TRY(in_windows_, lies_in(request.stage.windows));
  calendar::Windows ever;
  ever.add({calendar::kEver, calendar::kForEver});
  const auto own = calendar::Windows::parse(request.stage.windows);
  const auto outside = own ? ever.without(*own).parts() : ever.parts();
  // Each is a scan of its own.
  constexpr std::size_t kFew = 4;
  if (is_text || outside.size() > kFew) {
    outside_windows_ = {duck::Sql("({}) IS NOT TRUE", *in_windows_)};
    return {};
  }
  for (const calendar::Window& part : outside) {
    calendar::Windows one;
    one.add(part);
    WEIR_TRY(duck::Sql condition, lies_in(one.name()));
    outside_windows_.push_back(std::move(condition));
  }
  outside_windows_.push_back(duck::Sql("{} IS NULL", column));
  return {};
}

}  // namespace weir::publish
