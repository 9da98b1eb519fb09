// History by the times of the source (valid_from=): the result holds versions, of a key any number, in any order. What
// the history holds of the keys that the result tells something new about is laid out together with it as points in
// time, and their versions are made anew: so what was known first decides nothing.
//
// A report that changes nothing tracked makes no version. Its time is kept in reported_at all the same: a version that
// comes late may stand before it, and then it is what ends that one. Without it the order of arrival would decide.
#include <algorithm>

#include "project/window_rows.h"
#include "publish/versions.h"

namespace weir::publish {
namespace {

duck::Identifier numbered(char letter, std::size_t number) { return duck::Identifier(letter + std::to_string(number)); }

// Columns of the tables here: k0, … the key; a the time; v0, … the values by place in the shape; n0, … newer values
// that an open version takes; r the row number in the target; f, u, p its validity: from, until, reported.
class Timeline {
 public:
  explicit Timeline(Draft& draft) : draft_(draft), columns_(draft.shape.columns) {}

  Result<void> prepare() {
    const Model& model = draft_.request.model;
    WEIR_CHECK(draft_.need_row_numbers());
    WEIR_TRY(key_, key_columns(draft_, model.key));
    WEIR_TRY(const Key track, key_columns(draft_, model.track));
    WEIR_TRY(const Key time, key_columns(draft_, {model.valid_from}));
    time_ = time.front();
    for (std::size_t i = 0; i < columns_.size(); ++i) sort_in(i, track);
    WEIR_TRY(const std::vector<duck::Sql> view, current_view(draft_));
    WEIR_TRY(const Past past, look_back(draft_));
    WEIR_CHECK(judge_times());
    WEIR_CHECK(read_events());
    WEIR_CHECK(read_held());
    WEIR_CHECK(lay_out_points());
    WEIR_CHECK(make_versions());
    return write(past, view);
  }

 private:
  static bool is_among(const Key& key, const ShapedColumn& column) {
    return std::any_of(key.begin(), key.end(), [&](const auto& one) { return one.state.name == column.state.name; });
  }
  bool is_time(const ShapedColumn& column) const { return column.state.name == time_.state.name; }

  // Which columns make a version, and which an open one takes from a later report.
  void sort_in(std::size_t i, const Key& track) {
    const ShapedColumn& column = columns_[i];
    if (column.managed) return;
    values_.push_back(i);
    if (!column.in_stage || is_among(key_, column)) return;
    if (track.empty() ? !is_time(column) : is_among(track, column))
      tracked_.push_back(i);
    else if (draft_.request.model.refreshes_untracked)
      refreshed_.push_back(i);
  }
  bool is_added(std::size_t i) const { return draft_.target.exists && columns_[i].in_stage && !columns_[i].in_target; }

  // Microseconds of UTC, whatever the session's zone: a time without zone is taken for UTC.
  duck::Sql instant(const duck::Sql& value) const {
    if (time_.state.type == "TIMESTAMP WITH TIME ZONE") return duck::Sql("make_timestamp(epoch_us({}))", value);
    return duck::Sql("CAST({} AS TIMESTAMP)", value);
  }
  // The same time as a value of the source's column.
  duck::Sql as_source(const duck::Sql& instant) const {
    if (time_.state.type == "TIMESTAMP WITH TIME ZONE") return duck::Sql("make_timestamptz(epoch_us({}))", instant);
    return duck::Sql("CAST({} AS {})", instant, duck::Sql::verbatim(time_.state.type));
  }

  Result<void> judge_times() {
    const std::string& type = time_.state.type;
    if (!has_time(type))
      return fail(draft_.problem(Code::W6036, "valid_from= names " + time_.state.name + ", which is of type " + type,
                                 "its values must be DATE, TIMESTAMP or TIMESTAMPTZ: cast them in the query"));
    const duck::Sql value = value_from_stage(time_);
    const duck::Sql finite =
        type == "DATE" || type == "TIMESTAMP WITH TIME ZONE" ? value : duck::Sql("CAST({} AS TIMESTAMP)", value);
    WEIR_TRY(
        const duck::Rows rows,
        draft_.ask(duck::Sql("SELECT count(*) FILTER ({} IS NULL), count(*) FILTER (NOT isfinite({})) FROM {} AS s",
                             value, finite, draft_.request.stage.relation)));
    const auto refuse = [&](std::int64_t count, std::string_view what) {
      return fail(draft_.problem(Code::W6036,
                                 std::to_string(count) + (count == 1 ? " row has " : " rows have ") +
                                     std::string(what) + " in " + time_.state.name +
                                     ", which says from when on a version holds",
                                 "leave such rows out, or give them a time"));
    };
    if (rows.integer(0, 0) > 0) return refuse(rows.integer(0, 0), "NULL");
    if (rows.integer(0, 1) > 0) return refuse(rows.integer(0, 1), "an infinite time");
    return {};
  }

  duck::Sql keys(const char* alias = nullptr) const {
    std::vector<duck::Sql> names;
    for (std::size_t i = 0; i < key_.size(); ++i)
      names.push_back(alias == nullptr ? duck::Sql("{}", numbered('k', i))
                                       : duck::Sql("{}.{}", duck::Identifier(alias), numbered('k', i)));
    return duck::Sql::join(names, ", ");
  }
  duck::Sql same_key(const char* left, const char* right) const {
    std::vector<duck::Sql> terms;
    for (std::size_t i = 0; i < key_.size(); ++i)
      terms.push_back(duck::Sql("{}.{} IS NOT DISTINCT FROM {}.{}", duck::Identifier(left), numbered('k', i),
                                duck::Identifier(right), numbered('k', i)));
    return duck::Sql::join(terms, " AND ");
  }
  static duck::Sql any_of(const std::vector<duck::Sql>& terms) {
    return terms.empty() ? duck::Sql("false") : duck::Sql("({})", duck::Sql::join(terms, " OR "));
  }
  duck::Sql value_list(const ValueOf& value_of) const {
    std::vector<duck::Sql> items;
    for (const std::size_t i : values_) items.push_back(duck::Sql("{} AS {}", value_of(columns_[i]), numbered('v', i)));
    return duck::Sql::join(items, ", ");
  }

  // What the result reports: one row a key and time. Rows that are equal are one report.
  Result<void> read_events() {
    const Duplicates policy = draft_.request.model.duplicates;
    const duck::Sql at = instant(value_from_stage(time_));
    duck::Sql from = draft_.request.stage.relation;
    if (policy == Duplicates::First || policy == Duplicates::Last) {
      WEIR_TRY(const Key order, key_columns(draft_, draft_.request.model.order));
      std::vector<duck::Sql> parts{at};
      std::vector<duck::Sql> terms;
      for (const ShapedColumn& column : key_) parts.push_back(value_from_stage(column));
      for (const ShapedColumn& column : order)
        terms.push_back(policy == Duplicates::First ? duck::Sql("{} ASC NULLS LAST", value_from_stage(column))
                                                    : duck::Sql("{} DESC NULLS LAST", value_from_stage(column)));
      from = duck::Sql("(SELECT s.* FROM {} AS s QUALIFY rank() OVER (PARTITION BY {} ORDER BY {}) = 1)", from,
                       duck::Sql::join(parts, ", "), duck::Sql::join(terms, ", "));
    }
    WEIR_TRY(events_, draft_.keep("events",
                                  duck::Sql("SELECT DISTINCT {} AS a, {}, {} FROM {} AS s", at,
                                            key_list(key_, value_from_stage), value_list(value_from_stage), from),
                                  &reports_));
    return judge_one_each(duck::Sql("SELECT {}, a FROM {} GROUP BY {}, a HAVING count(*) > 1", keys(), events_, keys()),
                          " in the result");
  }

  // `relation` holds keys and times that are told twice.
  Result<void> judge_one_each(const duck::Sql& relation, const std::string& where) {
    WEIR_TRY(const std::int64_t count, draft_.count(duck::Sql("SELECT count(*) FROM ({})", relation)));
    if (count == 0) return {};
    constexpr int kSample = 5;
    std::string sample;
    if (draft_.request.samples) {
      std::vector<duck::Sql> parts;
      for (std::size_t i = 0; i < key_.size(); ++i)
        parts.push_back(is_private(key_[i]) ? duck::Sql("'•••'")
                                            : duck::Sql("coalesce(CAST({} AS VARCHAR), 'NULL')", numbered('k', i)));
      WEIR_TRY(const duck::Rows rows,
               draft_.ask(duck::Sql("SELECT {}, CAST(a AS VARCHAR) FROM ({}) ORDER BY 1, 2 LIMIT {}",
                                    duck::Sql::join(parts, " || ', ' || "), relation, kSample)));
      for (std::size_t i = 0; i < rows.size(); ++i)
        sample += (i == 0 ? ": (" : ", (") + rows.text(i, 0) + ") from " + rows.text(i, 1);
    }
    return fail(draft_.problem(
        Code::W6037,
        std::to_string(count) + (count == 1 ? " version has" : " versions have") + " two rows with other values" +
            where + sample,
        "correct the source, or give the correction a time of its own; duplicates=first or last with order= "
        "chooses among rows of one result"));
  }
  bool is_private(const ShapedColumn& column) const {
    const auto& hidden = draft_.request.private_columns;
    return std::any_of(hidden.begin(), hidden.end(),
                       [&](const std::string& name) { return build::same_name(name, column.state.name); });
  }

  // The versions that the history holds of the reported keys.
  Result<void> read_held() {
    if (!draft_.target.exists) return {};
    const ValidityColumns validity = draft_.validity();
    const auto named = [](std::string_view name) { return duck::Identifier(std::string(name)); };
    WEIR_TRY(held_,
             draft_.keep("held", duck::Sql("SELECT t.rowid AS r, t.{} AS f, t.{} AS u, t.{} AS p, {}, {} FROM "
                                           "{} AS t SEMI JOIN {} AS k ON ({})",
                                           named(validity.from), named(validity.to), named(validity.reported),
                                           key_list(key_, value_from_target), value_list(value_from_target),
                                           draft_.readable(), events_, key_match(key_, value_from_target, "k"))));
    WEIR_TRY(times_, draft_.keep("times", duck::Sql("SELECT r, f AS a, true AS h, {} FROM {} UNION ALL "
                                                    "SELECT r, unnest(p), false, {} FROM {}",
                                                    keys(), *held_, keys(), *held_)));
    return {};
  }

  // A point that is held: the version's values at its start, and at each later report of it. What the history did not
  // know when the version was written (an added column) it takes from a report of the same point.
  duck::Sql held_value(std::size_t i) const {
    const duck::Identifier name = numbered('v', i);
    if (is_added(i)) return duck::Sql("e.{}", name);
    if (is_time(columns_[i]))
      return duck::Sql("CASE WHEN x.h THEN h.{} ELSE {} END", name, as_source(duck::Sql("x.a")));
    return duck::Sql("h.{}", name);
  }

  // Everything that is known of the reported keys, one row a key and time.
  Result<void> lay_out_points() {
    std::vector<duck::Sql> held;
    std::vector<duck::Sql> fresh;
    std::vector<duck::Sql> news;
    std::vector<duck::Sql> contradictions;
    for (const std::size_t i : values_) {
      const duck::Identifier v = numbered('v', i);
      held.push_back(duck::Sql("{} AS {}", held_value(i), v));
      fresh.push_back(duck::Sql("e.{}", v));
      if (is_added(i)) news.push_back(duck::Sql("e.{} IS NOT NULL", v));
    }
    const duck::Sql is_newest("h.u IS NULL AND x.a = coalesce(h.p[-1], h.f)");
    for (const std::size_t i : refreshed_) {
      const duck::Identifier v = numbered('v', i);
      const duck::Identifier n = numbered('n', i);
      held.push_back(duck::Sql("CASE WHEN e.a IS NULL THEN h.{} ELSE e.{} END AS {}", v, v, n));
      fresh.push_back(duck::Sql("e.{} AS {}", v, n));
      if (!is_added(i)) news.push_back(duck::Sql("({} AND e.{} IS DISTINCT FROM h.{})", is_newest, v, v));
    }
    for (const std::size_t i : tracked_)
      if (!is_added(i))
        contradictions.push_back(duck::Sql("e.{} IS DISTINCT FROM h.{}", numbered('v', i), numbered('v', i)));
    const duck::Sql new_points(
        "SELECT CAST(NULL AS BIGINT) AS r, true AS h, true AS news, false AS contradicts, e.a, {}, "
        "{} FROM {} AS e",
        keys("e"), duck::Sql::join(fresh, ", "), events_);
    if (!held_) {
      WEIR_TRY(points_, draft_.keep("points", new_points));
      return {};
    }
    WEIR_TRY(
        points_,
        draft_.keep("points",
                    duck::Sql("SELECT x.r, x.h, e.a IS NOT NULL AND {} AS news, e.a IS NOT NULL AND {} AS "
                              "contradicts, x.a, {}, {} FROM {} AS x JOIN {} AS h ON (x.r = h.r) LEFT JOIN {} AS e "
                              "ON (x.a = e.a AND {}) UNION ALL {} ANTI JOIN {} AS x ON (x.a = e.a AND {})",
                              any_of(news), any_of(contradictions), keys("h"), duck::Sql::join(held, ", "), *times_,
                              *held_, events_, same_key("x", "e"), new_points, *times_, same_key("x", "e"))));
    return judge_one_each(duck::Sql("SELECT {}, a FROM {} WHERE contradicts", keys(), points_),
                          " in the result and in the history");
  }

  // Versions of the keys of which there is news: one begins where something tracked differs from the point before.
  Result<void> make_versions() {
    std::vector<duck::Sql> differs{duck::Sql("lag(p.a) OVER w IS NULL")};
    for (const std::size_t i : tracked_)
      differs.push_back(duck::Sql("p.{} IS DISTINCT FROM lag(p.{}) OVER w", numbered('v', i), numbered('v', i)));
    WEIR_TRY(touched_,
             draft_.keep("touched", duck::Sql("SELECT DISTINCT {} FROM {} WHERE news", keys(), points_), &news_));
    if (news_ == 0) return {};
    std::vector<duck::Sql> newest;
    std::vector<duck::Sql> values;
    for (const std::size_t i : refreshed_)
      newest.push_back(duck::Sql(", last_value({}) OVER rest AS {}", numbered('n', i), numbered('l', i)));
    for (const std::size_t i : values_) {
      const bool is_refreshed = std::find(refreshed_.begin(), refreshed_.end(), i) != refreshed_.end();
      values.push_back(is_refreshed ? duck::Sql("CASE WHEN lead(a) OVER w IS NULL THEN {} ELSE {} END AS {}",
                                                numbered('l', i), numbered('v', i), numbered('v', i))
                                    : duck::Sql("{}", numbered('v', i)));
    }
    const duck::Sql begun(
        "SELECT p.*, {} AS s FROM {} AS p SEMI JOIN {} AS t ON ({}) WINDOW w AS (PARTITION BY {} ORDER BY p.a)",
        any_of(differs), points_, touched_, same_key("p", "t"), keys("p"));
    const duck::Sql grouped(
        "SELECT *, count(*) FILTER (s) OVER (PARTITION BY {} ORDER BY a ROWS UNBOUNDED PRECEDING) AS g FROM ({})",
        keys(), begun);
    const duck::Sql heads(
        "SELECT *, list(a) OVER (PARTITION BY {}, g ORDER BY a ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS "
        "p{} "
        "FROM ({}) WINDOW rest AS (PARTITION BY {}, g ORDER BY a ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        keys(), duck::Sql::join(newest, ""), grouped, keys());
    WEIR_TRY(versions_, draft_.keep("versions",
                                    duck::Sql("SELECT r, h, a AS f, lead(a) OVER w AS u, CASE WHEN len(p) > 0 THEN p "
                                              "END AS p, {} FROM ({}) WHERE s WINDOW w AS (PARTITION BY {} ORDER BY a)",
                                              duck::Sql::join(values, ", "), heads, keys())));
    return {};
  }

  // The versions that are held just so, by row number.
  Result<duck::TableName> unchanged_versions() {
    std::vector<duck::Sql> terms{duck::Sql("c.r = h.r"), duck::Sql("c.h"), duck::Sql("c.u IS NOT DISTINCT FROM h.u"),
                                 duck::Sql("c.p IS NOT DISTINCT FROM h.p")};
    for (const std::size_t i : values_)
      if (is_added(i) || std::find(refreshed_.begin(), refreshed_.end(), i) != refreshed_.end())
        terms.push_back(duck::Sql("c.{} IS NOT DISTINCT FROM h.{}", numbered('v', i), numbered('v', i)));
    return draft_.keep("same", duck::Sql("SELECT c.r FROM {} AS c JOIN {} AS h ON ({})", versions_, *held_,
                                         duck::Sql::join(terms, " AND ")));
  }

  duck::Sql fresh_rows(const duck::Sql& from) const {
    const ValidityColumns validity = draft_.validity();
    std::vector<duck::Sql> items;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const ShapedColumn& column = columns_[i];
      duck::Sql value("{}", numbered('v', i));
      if (column.managed) {
        if (build::same_name(column.state.name, validity.from)) value = duck::Sql("f");
        if (build::same_name(column.state.name, validity.to)) value = duck::Sql("u");
        if (build::same_name(column.state.name, validity.current)) value = duck::Sql("u IS NULL");
        if (build::same_name(column.state.name, validity.reported)) value = duck::Sql("p");
      }
      items.push_back(duck::Sql("{} AS {}", value, duck::Identifier(column.state.name)));
    }
    return {"SELECT {} FROM {}", duck::Sql::join(items, ", "), from};
  }

  Result<void> write_first(const std::vector<duck::Sql>& view) {
    Effect& effect = draft_.effect;
    effect.statements = draft_.create();
    duck::Sql rows = draft_.stage_rows();  // none
    if (news_ > 0) {
      rows = fresh_rows(duck::Sql("{}", versions_));
      effect.statements.push_back(draft_.insert(rows));
      WEIR_TRY(effect.rows, draft_.count(duck::Sql("SELECT count(*) FROM {} WHERE u IS NULL", versions_)));
      WEIR_TRY(effect.counts.inserted, draft_.count(duck::Sql("SELECT count(*) FROM {}", versions_)));
    }
    effect.counts.inserted = effect.counts.inserted.value_or(0);
    effect.counts.closed = 0;
    effect.counts.unchanged = 0;
    effect.statements.insert(effect.statements.end(), view.begin(), view.end());
    return finish_versions(draft_, rows);
  }

  Result<void> write(const Past& past, const std::vector<duck::Sql>& view) {
    if (!draft_.target.exists) return write_first(view);
    Effect& effect = draft_.effect;
    WEIR_TRY(const std::int64_t known, draft_.count(duck::Sql("SELECT count(*) FROM {} WHERE r IS NULL", points_)));
    effect.counts = {.inserted = 0, .updated = {}, .deleted = {}, .closed = 0, .unchanged = reports_ - known};
    effect.rows = past.live_rows;
    if (news_ == 0) return change_versions(draft_, std::nullopt, std::nullopt, view);
    WEIR_TRY(const duck::TableName same, unchanged_versions());
    std::int64_t gone_rows = 0;
    std::int64_t fresh_count = 0;
    WEIR_TRY(const duck::TableName gone,
             draft_.keep("gone",
                         duck::Sql("SELECT h.r, h.u FROM {} AS h SEMI JOIN {} AS t ON ({}) ANTI JOIN {} AS q ON (h.r = "
                                   "q.r)",
                                   *held_, touched_, same_key("h", "t"), same),
                         &gone_rows));
    WEIR_TRY(const duck::TableName changed,
             draft_.keep("changed",
                         duck::Sql("SELECT c.* FROM {} AS c ANTI JOIN {} AS q ON (c.h AND c.r = q.r)", versions_, same),
                         &fresh_count));
    WEIR_TRY(const duck::TableName fresh, draft_.keep("fresh", fresh_rows(duck::Sql("{}", changed))));
    WEIR_CHECK(count_changes(gone, changed, past));
    return change_versions(draft_, gone_rows > 0 ? std::optional(gone) : std::nullopt,
                           fresh_count > 0 ? std::optional(fresh) : std::nullopt, view);
  }

  // Versions that begin, end, join the one before, or are written again with another end or other values.
  Result<void> count_changes(const duck::TableName& gone, const duck::TableName& changed, const Past& past) {
    WEIR_TRY(
        const duck::Rows rows,
        draft_.ask(duck::Sql(
            "SELECT count(*) FILTER (c.r IS NULL OR NOT c.h), count(*) FILTER (c.u IS NULL), count(*) FILTER (c.h AND "
            "g.r IS NOT NULL AND g.u IS NULL AND c.u IS NOT NULL), count(*) FILTER (c.h AND g.r IS NOT NULL) FROM {} "
            "AS c LEFT JOIN {} AS g ON (c.r = g.r)",
            changed, gone)));
    WEIR_TRY(const duck::Rows before,
             draft_.ask(duck::Sql("SELECT count(*), count(*) FILTER (u IS NULL) FROM {}", gone)));
    Effect& effect = draft_.effect;
    const std::int64_t rewritten = rows.integer(0, 3);
    const std::int64_t joined = before.integer(0, 0) - rewritten;
    effect.counts.inserted = rows.integer(0, 0);
    effect.counts.closed = rows.integer(0, 2);
    if (const std::int64_t updated = rewritten - rows.integer(0, 2); updated > 0) effect.counts.updated = updated;
    if (joined > 0) effect.counts.deleted = joined;
    effect.rows = past.live_rows - before.integer(0, 1) + rows.integer(0, 1);
    return {};
  }

  Draft& draft_;
  const std::vector<ShapedColumn>& columns_;
  Key key_;
  ShapedColumn time_;
  /// Places in the shape.
  std::vector<std::size_t> values_;
  std::vector<std::size_t> tracked_;
  std::vector<std::size_t> refreshed_;
  std::int64_t reports_ = 0;
  /// Keys of which the history learns something.
  std::int64_t news_ = 0;
  duck::TableName events_;
  std::optional<duck::TableName> held_;
  std::optional<duck::TableName> times_;
  duck::TableName points_;
  duck::TableName touched_;
  duck::TableName versions_;
};

}  // namespace

Result<void> prepare_history_by_time(Draft& draft) { return Timeline(draft).prepare(); }

}  // namespace weir::publish
