#include "project/judge.h"

#include <algorithm>
#include <array>
#include <set>

#include "project/header.h"
#include "project/header_block.h"
#include "project/header_lines.h"
#include "project/header_near.h"
#include "project/judge_rules.h"
#include "text/lexer.h"

namespace weir {
namespace {

// What `strict: true` turns into errors: lines and entries that are not understood. Nothing else.
constexpr auto kStrict = std::to_array<Code>({
    Code::W0100, Code::W0101, Code::W0102, Code::W0103, Code::W0104, Code::W0105, Code::W0106,
    Code::W0107, Code::W0108, Code::W0111, Code::W0112, Code::W0113, Code::W0114, Code::W0115,
    Code::W0116, Code::W0120, Code::W0123, Code::W0125, Code::W0126, Code::W0131, Code::W0137,
});

void promote(Diagnostics& diagnostics) {
  for (auto& found : diagnostics)
    if (found.severity == Severity::Warning && std::find(kStrict.begin(), kStrict.end(), found.code) != kStrict.end())
      found.severity = Severity::Error;
}

/// Values of a `key:` of the block header: a list, or one text with commas.
std::vector<Word> names_of(const std::vector<Word>& words) {
  if (words.size() != 1 || words[0].text.find(',') == std::string::npos) return words;
  std::vector<Word> split;
  std::string_view rest = words[0].text;
  while (true) {
    const auto comma = rest.find(',');
    const auto name = Piece(rest, {0, static_cast<std::uint32_t>(std::min(comma, rest.size()))}).trimmed().view();
    if (!name.empty()) split.push_back({std::string(name), words[0].span});
    if (comma == std::string_view::npos) return split;
    rest.remove_prefix(comma + 1);
  }
}

std::optional<Strategy> strategy_named(std::string_view name) {
  if (name == "full" || name == "replace") return Strategy::Replace;
  if (name == "append") return Strategy::Append;
  if (name == "merge") return Strategy::Merge;
  if (name == "full_merge") return Strategy::FullMerge;
  if (name == "hash_merge") return Strategy::HashMerge;
  if (name == "incremental" || name == "incremental_by_time") return Strategy::IncrementalByTime;
  if (name == "scd" || name == "history") return Strategy::History;
  return std::nullopt;
}

std::optional<Plane> plane_named(std::string_view name) {
  for (const auto plane :
       {Plane::Managed, Plane::Manual, Plane::Virtual, Plane::View, Plane::Ephemeral, Plane::Table, Plane::File})
    if (name_of(plane) == name) return plane;
  return std::nullopt;
}

class Judge {
 public:
  Judge(std::shared_ptr<const Source> source, const std::string& model_path, const Config& config)
      : source_(std::move(source)), config_(config), findings_(source_->path, judgement_.diagnostics) {
    judgement_.model.path = model_path;
    judgement_.model.source = source_;
  }

  Judgement run() {
    const auto region = find_header(source_->text);
    lines_ = read_header_lines(source_->text, region, findings_);
    if (region.block) block_ = read_block_header(source_->text, *region.block, default_lake(), findings_);
    if (!region.block) judge_near_block(source_->text, findings_);
    judge_lines_below(source_->text, region, findings_);
    judgement_.blanked_sql = blank_header(source_->text, region);
    judgement_.has_header = lines_.is_present || region.block.has_value();
    check_notations();
    name_relation();
    if (lines_.materialize)
      decide_by_line();
    else
      decide_by_block();
    partitioning();
    add_up();
    apply_rules(judgement_.model, given_, config_, findings_);
    metrics();
    if (config_.strict) promote(judgement_.diagnostics);
    return std::move(judgement_);
  }

 private:
  Model& model() { return judgement_.model; }
  std::string default_lake() const { return config_.lakes.empty() ? "main" : config_.default_lake().name; }

  /// Plane, target, strategy and partitioning may come from one notation only.
  void check_notations() {
    if (!lines_.materialize && !lines_.partitioned) return;
    for (const auto& entry : block_keys()) {
      const auto place = block_.key(entry.name);
      if (!entry.decides || !place) continue;
      const std::string line = lines_.materialize ? "materialize" : "partitioned";
      findings_.error(Code::W0140, *place,
                      "`" + std::string(entry.name) + "` stands in the block header, but the line `" + line +
                          "` decides already how the result is written",
                      "keep one of them: plane, target, strategy and partitioning come from one notation");
      notations_clash_ = true;
      return;
    }
  }

  /// Folder is schema, file is table; deeper folders join with two underscores.
  void name_relation() {
    Asset relation{AssetKind::Lake, default_lake(), "main", model().path};
    const auto slash = model().path.rfind('/');
    if (slash != std::string::npos) {
      relation.name = model().path.substr(slash + 1);
      relation.schema.clear();
      for (const char c : model().path.substr(0, slash)) {
        if (c == '/')
          relation.schema += "__";
        else
          relation.schema += c;
      }
    }
    if (const auto* name = block_.text("name")) {
      const auto dot = name->text.rfind('.');
      relation.schema = dot == std::string::npos ? "main" : name->text.substr(0, dot);
      relation.name = dot == std::string::npos ? name->text : name->text.substr(dot + 1);
      if (relation.name.empty() || relation.schema.empty())
        findings_.error(Code::W0167, name->span, "`" + name->text + "` is no name of a table",
                        "write `name: <schema>.<table>` or `name: <table>`");
      given_.places["name"] = *block_.key("name");
    }
    given_.relation = std::move(relation);
  }

  void decide_by_line() {
    const auto& line = *lines_.materialize;
    model().plane = line.is_manual ? Plane::Manual : Plane::Managed;
    model().target = line.target;
    model().target_span = line.target_span;
    given_.decided = true;
    given_.header = line.span;
    given_.places["target"] = line.target_span;
    for (const auto& option : line.options) {
      given_.places[option.name.text] = option.span();
      set_line_option(option);
    }
    if (line.is_manual) return;
    if (line.is_history)
      model().strategy = Strategy::History;
    else if (line.is_append)
      model().strategy = Strategy::Append;
    else if (!given_.key.empty())
      model().strategy = Strategy::Merge;
  }

  void set_line_option(const Option& option) {
    const auto& name = option.name.text;
    if (name == "key")
      given_.key = names_of_option(option, false);
    else if (name == "track")
      given_.track = names_of_option(option, true);
    else if (name == "order")
      given_.order = names_of_option(option, false);
    else if (name == "valid_from")
      given_.valid_from = names_of_option(option, false);
    else if (name == "validity")
      given_.validity = names_of_option(option, false);
    else
      set_choice(name, option.value.text);
  }

  /// A comma list of names. Single quotes hold a whole list; so do double quotes around all of `track`, while
  /// elsewhere they make one name of it.
  std::vector<Word> names_of_option(const Option& option, bool quotes_hold_list) {
    const Piece value(source_->text, option.value.span);
    const auto text = value.view();
    const bool whole = text.starts_with('"') && text.size() > 2 && text.find('"', 1) == text.size() - 1;
    if (text.starts_with('\'') || (whole && quotes_hold_list)) return names_of({value.unquoted()});
    return split_names(value, findings_);
  }

  /// Options that both notations write alike.
  void set_choice(std::string_view name, std::string_view value) {
    if (name == "deletes")
      model().deletes = value == "mark" ? Deletes::Mark : Deletes::Close;
    else if (name == "untracked")
      model().refreshes_untracked = value == "refresh";
    else if (name == "on_schema_change")
      model().on_schema_change = value == "ignore" ? SchemaChange::Ignore
                                 : value == "fail" ? SchemaChange::Fail
                                 : value == "sync" ? SchemaChange::Sync
                                                   : SchemaChange::Warn;
    else if (name == "audit")
      model().audit = value == "after" ? AuditWhen::After : AuditWhen::Before;
    else if (name == "duplicates")
      given_.duplicates = value == "keep"    ? Duplicates::Keep
                          : value == "fail"  ? Duplicates::Fail
                          : value == "first" ? Duplicates::First
                                             : Duplicates::Last;
  }

  void decide_by_block() {
    given_.header = block_.span;
    for (const auto& [key, place] : block_.keys) given_.places[key] = place;
    if (const auto* plane = block_.text("materialise")) {
      model().plane = plane_named(plane->text).value_or(Plane::Virtual);
      given_.decided = true;
    }
    if (const auto* strategy = block_.text("strategy")) {
      model().strategy = strategy_named(strategy->text).value_or(Strategy::Replace);
      given_.strategy_word = strategy->text;
      given_.decided = true;
    }
    for (const std::string_view name : {"deletes", "untracked", "on_schema_change", "audit", "duplicates"})
      if (const auto* value = block_.text(name)) set_choice(name, value->text);
    if (const auto* words = block_.list("key")) given_.key = names_of(*words);
    if (const auto* words = block_.list("track")) given_.track = names_of(*words);
    if (const auto* words = block_.list("order")) given_.order = names_of(*words);
    if (const auto* words = block_.list("validity")) given_.validity = names_of(*words);
    if (const auto* word = block_.text("valid_from")) given_.valid_from = {*word};
    const auto flag = [&](std::string_view name, bool otherwise) {
      const auto found = block_.flags.find(name);
      return found == block_.flags.end() ? otherwise : found->second;
    };
    model().keep_hash = flag("hash", false);
    model().ledger = flag("ledger", true);
    const auto text = [&](std::string_view name) {
      return block_.text(name) ? block_.text(name)->text : std::string();
    };
    model().time_column = text("time_column");
    model().interval = text("interval");
    model().lookback = text("lookback");
    model().backfill = text("backfill");
    model().tz = text("tz");
    model().file_path = text("path");
    model().file_format = text("format");
    if (const auto* target = block_.text("target")) given_.target = *target;
  }

  void partitioning() {
    if (lines_.partitioned && !notations_clash_) {
      model().partitioning = lines_.partitioned->partitioning;
      given_.places["partitioned"] = lines_.partitioned->span;
      given_.partition_options = lines_.partitioned->options;
    } else if (!lines_.partitioned && block_.partitioning && !notations_clash_) {
      model().partitioning = block_.partitioning;
    }
  }

  void add_up() {
    auto& made = model();
    made.is_pipeline =
        lines_.pipeline.has_value() || (block_.flags.contains("pipeline") && block_.flags.at("pipeline"));
    made.is_macro_library = lines_.macros.has_value();
    if (lines_.macros) given_.places["macros"] = *lines_.macros;
    for (const auto& use : lines_.uses) add_use(use);
    if (const auto* uses = block_.list("use"))
      for (const auto& use : *uses) add_use(use);
    made.triggers = lines_.triggers;
    made.triggers.insert(made.triggers.end(), block_.triggers.begin(), block_.triggers.end());
    made.mute_all = lines_.mute_all || block_.mute_all;
    made.muted = lines_.muted;
    made.muted.insert(made.muted.end(), block_.muted.begin(), block_.muted.end());
    single(made.freshness, lines_.freshness, "freshness");
    single(made.debounce, lines_.debounce, "debounce");
    std::string trigger;
    single(trigger, lines_.trigger, "trigger");
    made.trigger_all = trigger == "all";
    made.retry_count = lines_.retry ? lines_.retry->count : block_.retry_count;
    made.retry_delay = lines_.retry ? lines_.retry->delay : block_.retry_delay;
    if (lines_.retry && block_.key("retry")) twice("retry");
    if (lines_.tag) made.tags.push_back(lines_.tag->text);
    append(made.tags, "tags");
    append(made.depends_on, "depends_on");
    append(made.environments, "environments");
    if (const auto* owner = block_.text("owner")) made.owner = owner->text;
    if (const auto* description = block_.text("description")) made.description = description->text;
    made.schedule_cron = block_.schedule_cron.text;
    made.schedule_every = block_.schedule_every.text;
    made.schedule_tz = block_.schedule_tz.text;
    given_.schedule_cron = block_.schedule_cron;
    given_.schedule_tz = block_.schedule_tz;
    made.tests = lines_.tests;
    made.tests.insert(made.tests.end(), block_.tests.begin(), block_.tests.end());
    made.lineage = lines_.lineage;
    made.arguments = lines_.arguments;
    for (Argument& argument : made.arguments)
      if (argument.default_value && text::same_word(argument.type, "s3object"))
        argument.default_value = storage_path(config_, *argument.default_value).value_or(*argument.default_value);
    made.contract = block_.contract;
    made.contract_exact = block_.flags.contains("columns_exact") && block_.flags.at("columns_exact");
    if (const auto engine = block_.key("engine"))
      findings_.warn(Code::W0110, *engine, "`engine` has no effect: DuckDB computes every model");
  }

  void add_use(const Word& word) {
    auto& uses = model().uses;
    if (std::none_of(uses.begin(), uses.end(), [&word](const Use& one) { return one.path == word.text; }))
      uses.push_back({word.text, word.span});
  }

  void append(std::vector<std::string>& words, std::string_view key) {
    const auto* more = block_.list(key);
    if (more == nullptr) return;
    for (const auto& word : *more)
      if (std::find(words.begin(), words.end(), word.text) == words.end()) words.push_back(word.text);
  }

  /// One value that either notation may give; the line's counts.
  void single(std::string& value, const std::optional<Word>& line, std::string_view key) {
    const auto* block = block_.text(key);
    if (line && block != nullptr) twice(key);
    if (line)
      value = line->text;
    else if (block != nullptr)
      value = block->text;
  }

  void twice(std::string_view key) {
    findings_.warn(Code::W0118, *block_.key(key),
                   "`" + std::string(key) + "` is given in a line and in the block header: the line counts");
  }

  /// Metrics hang on a table of a lake. Those of lines need a header that says which.
  void metrics() {
    auto all = lines_.metrics;
    for (const auto& metric : block_.metrics) {
      const auto same = [&](const Metric& known) {
        return known.is_measure == metric.is_measure && known.name == metric.name;
      };
      if (std::any_of(all.begin(), all.end(), same))
        findings_.warn(Code::W0122, metric.span,
                       std::string(metric.is_measure ? "the measure" : "the dimension") + " `" + metric.name +
                           "` is declared above already: the first one counts");
      else
        all.push_back(metric);
    }
    const bool has_table = model().target && model().target->kind == AssetKind::Lake && !model().target->name.empty();
    const bool by_lines = !lines_.metrics.empty() && !given_.decided;
    if (all.empty()) return;
    if (has_table && !by_lines) {
      model().metrics = std::move(all);
      return;
    }
    findings_.note(
        Code::W0163, all.front().span,
        "measures and dimensions contribute nothing here: the file writes no table of a lake that they could describe",
        "add `-- materialize ducklake://<lake>/<table>`");
  }

  std::shared_ptr<const Source> source_;
  const Config& config_;
  Judgement judgement_;
  Findings findings_;
  LineHeader lines_;
  BlockHeader block_;
  Given given_;
  bool notations_clash_ = false;
};

}  // namespace

Judgement judge_file(std::shared_ptr<const Source> source, const std::string& model_path, const Config& config) {
  return Judge(std::move(source), model_path, config).run();
}

}  // namespace weir
