#include "project/judge_rules.h"

#include <algorithm>
#include <set>

#include "calendar/partition.h"
#include "calendar/schedule.h"
#include "calendar/windows.h"
#include "project/delivery.h"
#include "project/gate.h"
#include "project/validity.h"
#include "text/lexer.h"
#include "text/suggest.h"

namespace weir {
namespace {

bool is_owned(Plane plane) { return plane == Plane::Virtual || plane == Plane::View || plane == Plane::Ephemeral; }

/// `1d`, `6h`, `1w`, `1mo`: a number above zero and a unit.
bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  calendar::Partitioning probe;
  probe.format = std::string(calendar::default_format(probe.kind));
  probe.start = std::string(text);
  return calendar::validate(probe).has_value();
}

class Rules {
 public:
  Rules(Model& model, const Given& given, const Config& config, Findings& findings)
      : model_(model), given_(given), config_(config), findings_(findings) {}

  void run() {
    target();
    strategy_on_plane();
    keys();
    history();
    windows();
    partitions();
    tests();
    schedule();
    without_effect();
    if (model_.is_macro_library && given_.decided)
      findings_.error(Code::W0171, given_.place("macros"), "a library of macros has no result to materialize",
                      "move the macros to a file of their own");
    model_.interval =
        model_.strategy == Strategy::IncrementalByTime && model_.interval.empty() ? "1d" : model_.interval;
    if ((model_.plane == Plane::Table || model_.plane == Plane::File) && model_.environments.empty())
      model_.environments = {"prod"};
  }

 private:
  bool has(std::string_view name) const { return given_.places.contains(name); }
  std::string shown_strategy() const {
    return "`" + (given_.strategy_word.empty() ? std::string(name_of(model_.strategy)) : given_.strategy_word) + "`";
  }
  std::string shown_plane() const { return "plane `" + std::string(name_of(model_.plane)) + "`"; }

  // Targets.

  void target() {
    model_.relation = given_.relation;
    switch (model_.plane) {
      case Plane::Virtual:
      case Plane::View:
        model_.target = given_.relation;
        return;
      case Plane::Ephemeral:
        return;
      case Plane::File:
        return file_target();
      case Plane::Table:
        return table_target();
      case Plane::Managed:
      case Plane::Manual:
        return asset_target();
    }
  }

  void asset_target() {
    if (!model_.target) {
      const auto asset = parse_asset(given_.target.text);
      const std::string plane(name_of(model_.plane));
      if (!asset) {
        const bool none = given_.target.text.empty();
        return findings_.error(Code::W0160, none ? given_.header : given_.target.span,
                               none ? shown_plane() + " needs `target`" : "`" + given_.target.text + "` is no asset",
                               "write for example `target: ducklake://main/orders`");
      }
      model_.target = asset;
      model_.target_span = given_.target.span;
    }
    const auto& asset = *model_.target;
    model_.relation = asset;
    const bool managed = model_.plane == Plane::Managed;
    if (managed && asset.kind != AssetKind::Lake) {
      const bool storage = asset.kind == AssetKind::Storage;
      return findings_.error(Code::W0141, model_.target_span,
                             "weir materializes tables of a lake only, not `" + asset.uri() + "`",
                             storage ? "a block header with `materialise: file`, `path:` and `format:` writes a file"
                                     : "a block header with `materialise: table` and `target: "
                                       "<database>.<schema>.<table>` delivers into a database");
    }
    if (managed && asset.name.empty())
      return findings_.error(Code::W0142, model_.target_span, "the target names a lake but no table",
                             "write `ducklake://" + asset.place + "/<table>`");
    if (managed && asset.name.find('.') != std::string::npos && !asset.name.starts_with('.') &&
        !asset.name.ends_with('.'))
      findings_.warn(
          Code::W0167, model_.target_span,
          "this is the table `" + asset.name + "` in the schema `" + asset.schema + "`: only the first dot separates",
          "a target has at most two parts, `ducklake://" + asset.place + "/<schema>.<table>`");
    known_place(asset);
  }

  void known_place(const Asset& asset) {
    std::vector<std::string> known;
    if (asset.kind == AssetKind::Lake) {
      for (const auto& lake : config_.lakes) {
        if (text::lower(lake.name) == text::lower(asset.place)) return;
        known.push_back(lake.name);
      }
    } else if (asset.kind == AssetKind::Datatable) {
      for (const auto& [name, location] : config_.databases) {
        if (text::lower(name) == text::lower(asset.place)) return;
        known.push_back(name);
      }
    } else {
      return;
    }
    const std::string what = asset.kind == AssetKind::Lake ? "lake" : "database";
    const std::vector<std::string_view> names(known.begin(), known.end());
    Advice hint = did_you_mean({asset.place, place_in_target(asset.place)}, names);
    if (hint.empty())
      hint = known.empty() ? "add it to `" + what + "s:` in weir.yaml" : "weir.yaml has " + one_of(names);
    findings_.error(Code::W0165, model_.target_span, "weir.yaml has no " + what + " named `" + asset.place + "`", hint);
  }

  /// Where the name of a lake or database stands in the target: behind `://`. The whole target if it is written
  /// otherwise.
  Span place_in_target(const std::string& place) const {
    const Span whole = model_.target_span;
    const std::string_view written = std::string_view(model_.source->text).substr(whole.begin, whole.size());
    const auto at = written.find("://");
    if (at == std::string_view::npos || written.substr(at + 3, place.size()) != place) return whole;
    const auto begin = static_cast<std::uint32_t>(whole.begin + at + 3);
    return {begin, begin + static_cast<std::uint32_t>(place.size())};
  }

  void table_target() {
    const auto& target = given_.target;
    if (target.text.empty())
      return findings_.error(
          Code::W0160, given_.place("materialise"), "plane `table` needs `target`",
          "write `target: <database>.<schema>.<table>`; a table of the lake that weir owns is `materialise: virtual`");
    std::vector<std::string> parts;
    std::string_view rest = target.text;
    for (auto dot = rest.find('.');; dot = rest.find('.')) {
      parts.emplace_back(rest.substr(0, dot));
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    const bool complete =
        std::none_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
    if (parts.size() < 2 || parts.size() > 3 || !complete || target.text.find("://") != std::string::npos)
      return findings_.error(Code::W0166, target.span, "`" + target.text + "` is no table of a database",
                             "write `<database>.<schema>.<table>` or `<database>.<table>`");
    model_.target = Asset{AssetKind::Datatable, parts.front(), parts.size() == 3 ? parts[1] : "main", parts.back()};
    model_.target_span = target.span;
    known_place(*model_.target);
    const auto location = std::find_if(config_.databases.begin(), config_.databases.end(), [&](const auto& one) {
      return text::lower(one.first) == text::lower(model_.target->place);
    });
    if (location == config_.databases.end()) return;
    model_.target->place = location->first;
    if (location->second.kind == DatabaseLocation::Kind::Sqlite && text::lower(model_.target->schema) != "main")
      findings_.error(Code::W0166, target.span, "a SQLite database has no schema but `main`",
                      "write `" + location->first + "." + model_.target->name + "`");
    if (location->second.kind == DatabaseLocation::Kind::Postgres)
      for (const std::string* name : {&model_.target->schema, &model_.target->name})
        if (name->size() > kLongestPostgresName)
          findings_.error(Code::W6506, target.span,
                          "`" + *name + "` has " + std::to_string(name->size()) + " bytes; PostgreSQL keeps " +
                              std::to_string(kLongestPostgresName) + " of a name",
                          "give it a shorter name");
  }

  void file_target() {
    if (model_.file_path.empty())
      findings_.error(Code::W0160, given_.place("materialise"), "plane `file` needs `path`",
                      "write for example `path: exports/orders.parquet`");
    if (model_.file_format.empty() && !has("format"))
      findings_.error(Code::W0160, given_.place("materialise"), "plane `file` needs `format`",
                      "formats are `parquet`, `csv` and `json`");
    if (model_.file_path.empty()) return;
    const Span place = given_.place("path");
    for (const std::string& name : placeholders_of(model_.file_path))
      if (!is_placeholder(name))
        findings_.error(Code::W6512, place, "a path has no placeholder `{" + name + "}`",
                        "it may hold {date}, {datetime}, {env} and {partition}");
    const bool by_partition = model_.file_path.find("{partition}") != std::string::npos;
    if (by_partition && !model_.partitioning)
      findings_.error(Code::W6512, place, "`{partition}` stands in the path of a model that is not partitioned",
                      "add `partitioned: daily`, or take the placeholder away");
    const std::string path = storage_path(config_, model_.file_path).value_or(model_.file_path);
    if (const auto reason = refuses_writing(config_, path))
      findings_.error(Code::W6510, place, "the file `" + model_.file_path + "` cannot be written: " + *reason,
                      "write inside the project, or add the folder to `allow_paths:` in weir.yaml");
    model_.target = Asset{AssetKind::Other, "file", {}, model_.file_path};
    model_.target_span = place;
  }

  // Strategies.

  void strategy_on_plane() {
    using enum Strategy;
    const auto strategy = model_.strategy;
    std::set<Strategy> allowed;
    switch (model_.plane) {
      case Plane::Managed:
        allowed = {Replace, Merge, Append, History};
        break;
      case Plane::Virtual:
        allowed = {Replace, Merge, FullMerge, HashMerge, Append, IncrementalByTime, History};
        break;
      case Plane::Table:
        allowed = {Replace, Append, Merge, FullMerge, IncrementalByTime, History};
        break;
      case Plane::File:
        allowed = {Replace};
        break;
      default:
        return;
    }
    if (allowed.contains(strategy)) return;
    std::vector<std::string_view> names;
    for (const auto one : allowed) names.push_back(name_of(one));
    findings_.error(Code::W0161, given_.place("strategy"),
                    shown_plane() + " cannot be written by strategy " + shown_strategy(), "it takes " + one_of(names));
  }

  bool is_keyed() const {
    using enum Strategy;
    const auto s = model_.strategy;
    return s == Merge || s == FullMerge || s == HashMerge || s == History || s == IncrementalByTime;
  }
  bool has_strategy() const {
    return model_.plane != Plane::View && model_.plane != Plane::Ephemeral && model_.plane != Plane::Manual;
  }

  std::vector<std::string> texts(const std::vector<Word>& words, std::string_view what) {
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const auto& word : words) {
      if (!seen.insert(text::lower(word.text)).second)
        findings_.error(Code::W0148, word.span,
                        "`" + std::string(what) + "` names the column `" + word.text + "` twice");
      else
        names.push_back(word.text);
    }
    return names;
  }

  void keys() {
    if (!has_strategy()) return;
    if (is_keyed()) model_.key = texts(given_.key, "key");
    if (model_.is_history()) model_.track = texts(given_.track, "track");
    const bool optional_key = model_.strategy == Strategy::IncrementalByTime;
    if (is_keyed() && model_.key.empty() && !optional_key)
      findings_.error(Code::W0143,
                      has("strategy")  ? given_.place("strategy")
                      : has("history") ? given_.place("history")
                                       : given_.header,
                      "strategy " + shown_strategy() + " needs a key: the columns that say which row is which",
                      has("strategy") ? "add `key: <column>`" : "add `key=<column>`");
    const bool keeps = model_.strategy == Strategy::Merge || optional_key;
    model_.duplicates = given_.duplicates.value_or(keeps ? Duplicates::Keep : Duplicates::Fail);
    if (!is_keyed()) model_.duplicates = Duplicates::Keep;
    const bool ordered = model_.duplicates == Duplicates::First || model_.duplicates == Duplicates::Last;
    if (ordered) model_.order = texts(given_.order, "order");
    if (ordered && model_.order.empty())
      findings_.error(
          Code::W0149, given_.place("duplicates"),
          "`duplicates` is `" + std::string(name_of(model_.duplicates)) + "`, but nothing says which row comes first",
          given_.strategy_word.empty() ? "add `order=<column>`" : "add `order: <column>`");
  }

  // What a history takes its times from, and how its columns are called.

  void history() {
    if (!model_.is_history() || !has_strategy()) return;
    valid_from();
    validity();
    if (model_.plane != Plane::Table) return;
    const auto refuse = [&](std::string_view option, bool is_used) {
      if (is_used)
        findings_.error(Code::W0176, given_.place(option),
                        "`" + std::string(option) + "` is not there for plane `table`",
                        "keep the history on plane `virtual`, and deliver a query of it");
    };
    refuse("valid_from", !model_.valid_from.empty());
    refuse("deletes", model_.deletes == Deletes::Mark);
  }

  void valid_from() {
    const std::vector<std::string> names = texts(given_.valid_from, "valid_from");
    if (names.empty()) return;
    const Span place = given_.valid_from.front().span;
    if (names.size() > 1)
      return findings_.error(Code::W0148, given_.place("valid_from"), "`valid_from` names several columns",
                             "one column holds the time from which a version is valid");
    model_.valid_from = names.front();
    if (is_named(model_.key, model_.valid_from))
      findings_.error(Code::W0176, place,
                      "`" + model_.valid_from + "` is part of the key: each time would be a row of its own",
                      "take it out of `key`: the versions of a key are told apart by it");
    if (model_.deletes != Deletes::Leave)
      findings_.error(Code::W0176, given_.place("deletes"),
                      "`deletes` does not go with `valid_from`: a result that holds versions says nothing of keys that "
                      "it lacks",
                      "take one of them away; a deleted row can be a version of its own, with a column that says so");
  }

  static bool is_named(const std::vector<std::string>& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& one) { return text::same_word(one, name); });
  }

  void validity() {
    if (has("validity")) {
      model_.validity = texts(given_.validity, "validity");
      const bool is_managed = model_.plane == Plane::Managed;
      if (model_.validity.size() != (is_managed ? 3U : 2U)) {
        findings_.error(Code::W0177, given_.place("validity"),
                        is_managed ? "`validity` needs three names" : "`validity` needs two names",
                        is_managed ? "write `validity=<from>,<to>,<current>`" : "write `validity: [<from>, <to>]`");
        model_.validity.clear();
      }
    }
    const ValidityColumns columns = validity_columns(model_);
    std::set<std::string> kept = {"_wm_partition", "rowid"};
    for (const auto& [name, type] : columns.columns())
      if (!kept.insert(text::lower(std::string(name))).second)
        findings_.error(Code::W0177, given_.place("validity"),
                        "`" + std::string(name) + "` is the name of another column that the table has",
                        "choose another");
    const auto judge = [&](const std::vector<Word>& words, std::string_view option) {
      for (const Word& word : words)
        if (columns.contains(word.text))
          findings_.error(
              Code::W0177, word.span,
              "`" + std::string(option) + "` names `" + word.text + "`, a column that the history keeps itself",
              "call the query's column otherwise with AS, or the history's with `validity`");
    };
    judge(given_.key, "key");
    judge(given_.track, "track");
    judge(given_.order, "order");
    judge(given_.valid_from, "valid_from");
  }

  void windows() {
    if (model_.strategy != Strategy::IncrementalByTime || !has_strategy()) return;
    if (model_.time_column.empty())
      findings_.error(
          Code::W0162, given_.place("strategy"),
          "strategy " + shown_strategy() + " needs `time_column`: the column that places a row in a window");
    for (const auto& [name, value] : {std::pair{"interval", &model_.interval}, {"lookback", &model_.lookback}})
      if (!value->empty() && !calendar::parse_length(*value))
        findings_.error(Code::W0162, given_.place(name), "`" + *value + "` is no length of time for `" + name + "`",
                        "write for example `1d`, `6h`, `1w` or `1mo`");
    const auto& backfill = model_.backfill;
    if (!backfill.empty() && backfill != "auto" && backfill != "none" && !is_date(backfill))
      findings_.error(Code::W0162, given_.place("backfill"), "`" + backfill + "` is no value of `backfill`",
                      "it is `auto`, `none` or a date such as `2024-01-01`");
    if (!model_.tz.empty()) zone(model_.tz, given_.place("tz"));
  }

  void zone(const std::string& tz, Span place) {
    calendar::Partitioning probe;
    probe.format = std::string(calendar::default_format(probe.kind));
    probe.tz = tz;
    probe.span = place;
    take(calendar::validate(probe), place, tz);
  }

  /// `zone` is the name that may be wrong: an edit of it is kept where `place` holds nothing else.
  void take(const Result<void>& result, Span place, const std::string& zone) {
    if (result.has_value()) return;
    for (auto problem : result.error()) {
      problem.path = findings_.path();
      problem.span = place;
      if (Piece(model_.source->text, place).unquoted().text != zone) problem.fix.reset();
      if (problem.fix) problem.fix->span = place;
      findings_.all().push_back(std::move(problem));
    }
  }

  // Partitions.

  void partitions() {
    if (!model_.partitioning) return;
    const Span place = given_.place("partitioned");
    if (model_.plane == Plane::File && model_.file_path.find("{partition}") == std::string::npos)
      return findings_.error(Code::W6512, place, "every partition would replace the file of the one before",
                             "let `path` hold {partition}");
    if (model_.plane != Plane::Managed && model_.plane != Plane::Manual && model_.plane != Plane::File) {
      findings_.error(Code::W0145, place,
                      "`partitioned` needs a table to write by partition, but " +
                          (given_.decided ? shown_plane() + " has none" : "nothing is materialized"),
                      given_.decided
                          ? "write windows with `strategy: incremental_by_time`, or materialize a table of the lake"
                          : "add `-- materialize ducklake://<lake>/<table>`");
      return;
    }
    if (model_.plane == Plane::Managed && model_.is_history())
      findings_.error(Code::W0144, place, "a history is kept for a whole table: it cannot be `partitioned`",
                      "take `history` or `partitioned` away");
    const auto valid = calendar::validate(*model_.partitioning);
    if (valid.has_value()) return;
    for (auto problem : valid.error()) {
      const auto at = partition_place(problem.code, place);
      take(fail(std::move(problem)), at, model_.partitioning->tz);
    }
  }

  Span partition_place(Code code, Span otherwise) const {
    const auto of = [&](std::string_view name) {
      const auto* option = find_option(given_.partition_options, name);
      return option != nullptr ? option->value.span : otherwise;
    };
    if (code == Code::W0150) return of("tz");
    if (code == Code::W0151) return of("format");
    // A date that is none: the first of the two that alone is refused.
    for (const std::string_view name : {"start", "end"}) {
      const auto* option = find_option(given_.partition_options, name);
      if (option != nullptr && !is_date(option->value.text)) return option->value.span;
    }
    return otherwise;
  }

  // Tests.

  void tests() {
    std::set<std::string> names;
    for (const auto& test : model_.tests)
      if (!names.insert(test.name).second)
        findings_.error(Code::W0147, test.span, "two tests are named `" + test.name + "`",
                        "give one of them a name: `name=<name>` in a line, `name: <name>` under `checks`");
    if (model_.tests.empty()) return;
    const Span first = model_.tests.front().span;
    if (model_.plane == Plane::Manual) {
      findings_.error(Code::W0146, first, "a manual target cannot be tested: weir does not know what the script wrote",
                      "materialize it without `manual`, or query for breaches in the script itself");
    } else if (model_.plane == Plane::File) {
      findings_.error(Code::W0146, first, "a file cannot be tested", "test a model that the file is written from");
    } else if (model_.plane == Plane::Ephemeral) {
      findings_.warn(Code::W0110, first, "tests have no effect on plane `ephemeral`: it has no rows of its own",
                     "test the models that read it");
    }
  }

  void schedule() {
    const auto& cron = given_.schedule_cron;
    if (!cron.text.empty()) {
      if (const auto read = calendar::Cron::parse(cron.text); !read) {
        const Word shown = Piece(model_.source->text, cron.span).unquoted();
        for (Diagnostic problem : read.error()) {
          problem.path = findings_.path();
          // A text that YAML folds or escapes is shown whole.
          problem.span = shown.text == cron.text
                             ? Span{shown.span.begin + problem.span.begin, shown.span.begin + problem.span.end}
                             : cron.span;
          findings_.all().push_back(std::move(problem));
        }
      }
    } else if (!given_.schedule_tz.text.empty()) {
      findings_.warn(Code::W0110, given_.schedule_tz.span, "`tz` has no effect with `every`, which counts real time");
    }
    if (!given_.schedule_tz.text.empty()) zone(given_.schedule_tz.text, given_.schedule_tz.span);
  }

  // What is given and has no effect.

  void unused(std::string_view name, const std::string& why, Severity severity = Severity::Warning) {
    if (has(name))
      findings_.add(Code::W0110, severity, given_.place(name), "`" + std::string(name) + "` has no effect " + why);
  }

  void without_effect() {
    const auto plane = model_.plane;
    if (plane == Plane::Manual) {
      for (const auto* name : {"append", "key", "history", "track", "deletes", "valid_from", "untracked", "validity",
                               "duplicates", "order", "on_schema_change", "audit", "strategy", "hash"})
        unused(name, "on `manual`: the script writes what it likes");
    } else if (plane == Plane::View || plane == Plane::Ephemeral) {
      for (const auto* name :
           {"strategy", "key", "track", "deletes", "valid_from", "untracked", "validity", "duplicates", "order", "hash",
            "on_schema_change", "time_column", "interval", "lookback", "backfill", "tz"})
        unused(name, "on " + shown_plane() + ": nothing is written");
      if (plane == Plane::Ephemeral) unused("audit", "on " + shown_plane());
    } else {
      strategy_options();
    }
    if (plane != Plane::Table) unused("ledger", "on " + shown_plane());
    if (plane != Plane::File)
      for (const auto* name : {"path", "format"}) unused(name, "on " + shown_plane());
    if (plane != Plane::Table && plane != Plane::File)
      unused("environments", "on " + shown_plane() + ": only deliveries are gated");
    if (is_owned(plane) || plane == Plane::File) unused("target", "on " + shown_plane());
    if (plane == Plane::Managed || plane == Plane::Manual) unused("name", "here: the target is the name");
  }

  void strategy_options() {
    const auto strategy = model_.strategy;
    if (strategy == Strategy::History) unused("append", "on a history");
    if (!is_keyed()) {
      const std::string why = strategy == Strategy::Append
                                  ? "with `append`: rows are added, not matched"
                                  : "with strategy " + shown_strategy() + ": rows are not matched";
      // A list that could not be read was said already.
      if (!given_.key.empty()) unused("key", why);
      unused("duplicates", why);
    }
    if (strategy != Strategy::History)
      for (const auto* name : {"track", "deletes", "valid_from", "untracked", "validity"})
        unused(name, "without `history`");
    else if (model_.refreshes_untracked && model_.track.empty() && model_.valid_from.empty())
      unused("untracked", "without `track`: every column is tracked");
    if (model_.duplicates != Duplicates::First && model_.duplicates != Duplicates::Last)
      unused("order", "unless `duplicates` is `first` or `last`");
    if (strategy != Strategy::HashMerge) unused("hash", "without strategy `hash_merge`");
    if (strategy != Strategy::IncrementalByTime)
      for (const auto* name : {"time_column", "interval", "lookback", "backfill", "tz"})
        unused(name, "without strategy `incremental_by_time`");
    const bool guards = model_.on_schema_change == SchemaChange::Fail || model_.on_schema_change == SchemaChange::Sync;
    if (guards && strategy == Strategy::Replace && !model_.partitioning)
      unused("on_schema_change", "here beyond being reported: a whole table that is replaced follows the query",
             Severity::Hint);
  }

  Model& model_;
  const Given& given_;
  const Config& config_;
  Findings& findings_;
};

}  // namespace

Span Given::place(std::string_view name) const {
  const auto found = places.find(name);
  return found == places.end() ? header : found->second;
}

void apply_rules(Model& model, const Given& given, const Config& config, Findings& findings) {
  Rules(model, given, config, findings).run();
}

}  // namespace weir
