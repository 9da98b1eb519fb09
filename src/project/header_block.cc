#include "project/header_block.h"

#include <algorithm>

#include "calendar/partition.h"
#include "project/block_node.h"
#include "project/header_lines.h"
#include "project/header_tests.h"

namespace weir {
namespace {

std::vector<BlockKeyEntry> make_keys() {
  using enum BlockForm;
  return {
      {"name", Text, {}, {}, false, "schema and table of the result"},
      {"materialise",
       Choice,
       {"materialize"},
       {"virtual", "view", "ephemeral", "table", "file", "managed", "manual"},
       true,
       "the plane: where the result lives"},
      {"strategy",
       Choice,
       {},
       {"full", "replace", "append", "merge", "full_merge", "hash_merge", "incremental_by_time", "incremental", "scd",
        "history"},
       true,
       "how the result is written"},
      {"target", Text, {}, {}, true, "table plane: <database>.<schema>.<table>; managed and manual: the asset"},
      {"key", Words, {}, {}, true, "columns by which rows are matched"},
      {"track", Words, {}, {}, true, "scd: columns whose change opens a version"},
      {"deletes", Choice, {}, {"close", "mark"}, true, "scd: close the version of a key that vanished, or mark it"},
      {"valid_from", Text, {}, {}, true, "scd: the column that says from when on a version holds"},
      {"untracked",
       Choice,
       {},
       {"ignore", "refresh"},
       true,
       "scd: whether the open version takes changes of columns that are not tracked"},
      {"validity", Words, {}, {}, true, "scd: names of the columns that a history adds"},
      {"duplicates",
       Choice,
       {},
       {"keep", "fail", "first", "last"},
       true,
       "what happens when one result holds a key twice"},
      {"order", Words, {}, {}, true, "which of two rows of one key is the first"},
      {"hash", Flag, {}, {}, true, "hash_merge: keep the column _hash"},
      {"on_schema_change",
       Choice,
       {},
       {"warn", "ignore", "fail", "sync"},
       true,
       "what happens when the query's columns changed"},
      {"audit", Choice, {}, {"before", "after"}, true, "whether tests run before or after publishing"},
      {"partitioned", Partitioned, {}, {}, true, "managed and manual: the kind of partition"},
      {"time_column", Text, {}, {}, true, "incremental_by_time: the column that places a row in a window"},
      {"interval", Text, {}, {}, true, "size of a window: 1d, 6h, 1w, 1mo"},
      {"lookback", Text, {}, {}, true, "how far back windows are computed again"},
      {"backfill", Text, {}, {}, true, "first build: auto, none or a date"},
      {"tz", Text, {}, {}, true, "zone of the windows' calendar"},
      {"path", Text, {}, {}, true, "file plane: where the file goes"},
      {"format", Choice, {}, {"parquet", "csv", "json"}, true, "file plane"},
      {"ledger", Flag, {}, {}, true, "table plane: keep the delivery token in the target"},
      {"environments", Words, {}, {}, false, "table and file plane: where the model really delivers"},
      {"tags", Words, {"tag"}, {}, false, "words to select the model by"},
      {"owner", Text, {}, {}, false, "who answers for the model"},
      {"description", Text, {}, {}, false, "what the model is"},
      {"columns", Columns, {}, {}, false, "columns that the result must have, with their types"},
      {"columns_exact", Flag, {}, {}, false, "no other columns than those under columns"},
      {"checks", Checks, {"tests"}, {}, false, "what the result must satisfy"},
      {"measures", Measures, {}, {}, false, "aggregations that readers of the table may use"},
      {"dimensions", Dimensions, {}, {}, false, "expressions that readers of the table may group by"},
      {"schedule", Schedule, {}, {}, false, "when the model runs: {cron: …, tz: …} or {every: …}"},
      {"freshness", Duration, {}, {}, false, "how old the result may become"},
      {"debounce", Duration, {}, {}, false, "waits until no more arrivals came for this long"},
      {"retry", Retry, {}, {}, false, "how often a failed run is tried again"},
      {"trigger", Choice, {}, {"any", "all"}, false, "whether one input or all of them must have arrived"},
      {"on", Triggers, {"triggers"}, {}, false, "assets and events that run the model"},
      {"mute", Assets, {}, {}, false, "assets whose writing does not run the model"},
      {"use", Words, {"uses"}, {}, false, "libraries of macros"},
      {"pipeline", Flag, {}, {}, false, "a member of its folder's pipeline"},
      {"depends_on", Words, {}, {}, false, "models that must run before, besides those that are read"},
      {"dialect", Choice, {}, {"duckdb"}, false, "the SQL dialect"},
      {"engine", Text, {}, {}, false, "not used: DuckDB computes every model"},
      {"export", Text, {}, {}, false, "not used any more"},
  };
}

/// Where the YAML begins within the comment: behind blanks if the first line holds text, so that `/* weir:` opens a
/// mapping at its margin.
std::size_t yaml_begin(std::string_view comment) {
  std::size_t at = 0;
  while (at < comment.size() && (comment[at] == ' ' || comment[at] == '\t')) ++at;
  return at < comment.size() && comment[at] != '\n' && comment[at] != '\r' ? at : 0;
}

bool begins_like_header(std::string_view comment) {
  while (!comment.empty() && (is_blank(comment.front()) || comment.front() == '{')) comment.remove_prefix(1);
  for (const std::string_view name : {"weir", "interlace"}) {
    if (!comment.starts_with(name)) continue;
    auto rest = comment.substr(name.size());
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
    if (rest.starts_with(':')) return true;
  }
  return false;
}

class BlockReader {
 public:
  BlockReader(BlockText block, const std::string& default_lake)
      : block_(std::move(block)), default_lake_(default_lake) {}

  BlockHeader header;

  void read(const YAML::Node& root, Span whole) {
    header.span = whole;
    for (const auto& top : block_.entries(root)) {
      if (top.key.text != "weir" && top.key.text != "interlace") {
        block_.unknown_key(top, "the header", {"weir", "interlace"});
      } else if (!top.value.IsMap()) {
        block_.wrong_type(top, "a mapping");
      } else {
        for (const auto& entry : block_.entries(top.value)) key(entry);
      }
    }
  }

 private:
  void key(const BlockEntry& entry) {
    const auto* known = block_key_named(entry.key.text);
    if (known == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& one : block_keys()) names.push_back(one.name);
      return block_.unknown_key(entry, "the header", names);
    }
    const std::string name(known->name);
    if (name == "export")
      return block_.findings().error(
          Code::W0136, entry.key.span, "`export` is no key of the header any more",
          "write `materialise: table` with `target:`, or `materialise: file` with `path:` and `format:`");
    if (!header.keys.emplace(name, entry.key.span).second)
      return block_.findings().warn(Code::W0134, entry.key.span,
                                    "`" + entry.key.text + "` and `" + name + "` are one key: the first one counts");
    value(*known, name, entry);
  }

  void value(const BlockKeyEntry& known, const std::string& name, const BlockEntry& entry) {
    switch (known.form) {
      case BlockForm::Text:
      case BlockForm::Duration:
      case BlockForm::Choice:
        return text(known, name, entry);
      case BlockForm::Words:
        if (auto words = block_.words(entry)) header.lists[name] = *std::move(words);
        return;
      case BlockForm::Flag:
        if (const auto flag = block_.flag(entry)) header.flags[name] = *flag;
        return;
      case BlockForm::Partitioned:
        return partitioned(entry);
      case BlockForm::Columns:
        return columns(entry);
      case BlockForm::Checks:
        header.tests = read_checks(block_, entry, default_lake_);
        return;
      case BlockForm::Measures:
        return metrics(entry, true);
      case BlockForm::Dimensions:
        return metrics(entry, false);
      case BlockForm::Schedule:
        return schedule(entry);
      case BlockForm::Retry:
        return retry(entry);
      case BlockForm::Triggers:
        return triggers(entry);
      case BlockForm::Assets:
        return mute(entry);
    }
  }

  void text(const BlockKeyEntry& known, const std::string& name, const BlockEntry& entry) {
    const auto word = block_.text(entry);
    if (!word) return;
    if (known.form == BlockForm::Choice &&
        std::find(known.values.begin(), known.values.end(), word->text) == known.values.end()) {
      Advice hint = did_you_mean(*word, known.values, entry.key.text + ": ");
      if (hint.empty()) hint = "it is " + one_of(known.values);
      block_.findings().error(Code::W0133, word->span, "`" + word->text + "` is no value of `" + entry.key.text + "`",
                              hint);
      return;
    }
    if (known.form == BlockForm::Duration && !calendar::parse_duration(word->text)) return bad_duration(entry, *word);
    header.texts[name] = *word;
  }

  void bad_duration(const BlockEntry& entry, const Word& word) {
    block_.findings().error(Code::W0133, word.span, "`" + word.text + "` is no duration for `" + entry.key.text + "`",
                            "write for example `90s`, `15m`, `1h` or `7d`");
  }

  void partitioned(const BlockEntry& entry) {
    std::map<std::string, Word, std::less<>> given;
    if (entry.value.IsMap()) {
      for (const auto& one : block_.entries(entry.value)) {
        static const std::vector<std::string_view> kKnown = {"kind", "tz", "format", "start", "end", "key"};
        if (std::find(kKnown.begin(), kKnown.end(), one.key.text) == kKnown.end())
          block_.unknown_key(one, "`partitioned`", kKnown);
        else if (const auto word = block_.text(one))
          given[one.key.text] = *word;
      }
    } else if (const auto word = block_.text(entry, "a kind or a mapping")) {
      given["kind"] = *word;
    } else {
      return;
    }
    const auto kind_word = given.find("kind");
    if (kind_word == given.end())
      return block_.findings().error(Code::W0133, entry.key.span, "`partitioned` has no `kind`",
                                     "kinds are " + one_of(keyword_named("partitioned")->heads));
    const auto kind = calendar::kind_named(kind_word->second.text);
    if (!kind)
      return block_.findings().error(Code::W0133, kind_word->second.span,
                                     "`" + kind_word->second.text + "` is no kind of partition",
                                     "kinds are " + one_of(keyword_named("partitioned")->heads));
    header.partitioning = partitioning_of(*kind, given, entry.key.span);
  }

  calendar::Partitioning partitioning_of(calendar::PartitionKind kind,
                                         const std::map<std::string, Word, std::less<>>& given, Span span) {
    calendar::Partitioning made;
    made.kind = kind;
    made.format = std::string(calendar::default_format(kind));
    made.span = span;
    const bool dynamic = kind == calendar::PartitionKind::Dynamic;
    if (dynamic && !given.contains("key"))
      block_.findings().error(Code::W0133, span, "a dynamic partition needs `key`");
    for (const auto& [name, word] : given) {
      if (name == "kind") continue;
      if ((name == "key") != dynamic) {
        block_.findings().warn(Code::W0110, word.span, "`" + name + "` has no effect on a partition of this kind");
      } else if (name == "key") {
        made.key_path = word.text;
      } else if (name == "tz") {
        made.tz = word.text;
      } else if (name == "start") {
        made.start = word.text;
      } else if (name == "end") {
        made.end = word.text;
      } else {
        made.format = word.text;
        made.has_own_format = true;
      }
    }
    return made;
  }

  void columns(const BlockEntry& entry) {
    if (entry.value.IsMap()) {
      for (const auto& one : block_.entries(entry.value)) column(one.key, one);
    } else if (entry.value.IsSequence()) {
      for (const auto& item : entry.value) {
        const Span span = block_.place(item, entry.key.span);
        if (item.IsScalar()) {
          header.contract.push_back({item.Scalar(), std::nullopt, span});
        } else if (item.IsMap()) {
          listed_column(block_.entries(item), span);
        } else {
          block_.findings().error(Code::W0132, span, "an entry of `columns` is a name, or a mapping of name to type");
        }
      }
    } else {
      block_.wrong_type(entry, "a mapping of names to types, or a list of names");
    }
  }

  void listed_column(const std::vector<BlockEntry>& entries, Span span) {
    const auto named =
        std::find_if(entries.begin(), entries.end(), [](const BlockEntry& e) { return e.key.text == "name"; });
    if (named == entries.end()) {
      for (const auto& one : entries) column(one.key, one);
      return;
    }
    const auto name = block_.text(*named);
    if (!name) return;
    ContractColumn made{name->text, std::nullopt, span};
    for (const auto& one : entries) {
      if (one.key.text == "name" || one.key.text == "description") continue;
      if (one.key.text != "type")
        block_.unknown_key(one, "a column", {"name", "type", "description"});
      else if (const auto type = block_.text(one, "a type"))
        made.type = type->text;
    }
    header.contract.push_back(std::move(made));
  }

  void column(const Word& name, const BlockEntry& entry) {
    ContractColumn made{name.text, std::nullopt, name.span};
    if (!entry.value.IsNull()) {
      const auto type = block_.text(entry, "a type");
      if (!type) return;
      made.type = type->text;
    }
    header.contract.push_back(std::move(made));
  }

  void metrics(const BlockEntry& entry, bool is_measure) {
    if (entry.value.IsMap()) {
      for (const auto& one : block_.entries(entry.value)) {
        if (one.value.IsMap())
          metric(one.key, block_.entries(one.value), is_measure);
        else if (const auto text = block_.text(one, "an expression or a mapping"))
          add_metric(one.key, *text, is_measure, {});
      }
    } else if (entry.value.IsSequence()) {
      for (const auto& item : entry.value) {
        const Span span = block_.place(item, entry.key.span);
        if (!item.IsMap()) {
          block_.findings().error(
              Code::W0132, span, "an entry of `" + entry.key.text + "` must be a mapping with `name` and `expression`");
          continue;
        }
        metric({"", span}, block_.entries(item), is_measure);
      }
    } else {
      block_.wrong_type(entry, "a mapping of names to expressions, or a list");
    }
  }

  void metric(Word name, const std::vector<BlockEntry>& entries, bool is_measure) {
    Metric made;
    Word expression{"", name.span};
    for (const auto& one : entries) {
      const auto& key = one.key.text;
      const bool is_filter = is_measure && (key == "where" || key == "filter");
      if (key != "name" && key != "expression" && key != "expr" && key != "description" && key != "unit" &&
          key != "format" && !is_filter) {
        block_.unknown_key(one, is_measure ? "a measure" : "a dimension",
                           {"name", "expression", "where", "description", "unit", "format"});
        continue;
      }
      const auto text = block_.text(one);
      if (!text) continue;
      if (key == "name")
        name = *text;
      else if (is_filter)
        made.filter = text->text, made.filter_span = text->span;
      else if (key == "description")
        made.description = text->text;
      else if (key == "unit")
        made.unit = text->text;
      else if (key == "format")
        made.format = text->text;
      else
        expression = *text;
    }
    add_metric(name, expression, is_measure, std::move(made));
  }

  void add_metric(const Word& name, const Word& expression, bool is_measure, Metric made) {
    const std::string what = is_measure ? "measure" : "dimension";
    if (name.text.empty()) return block_.findings().error(Code::W0135, name.span, "a " + what + " has no `name`");
    if (expression.text.empty())
      return block_.findings().error(Code::W0135, name.span,
                                     "the " + what + " `" + name.text + "` has no `expression`");
    made.is_measure = is_measure;
    made.name = name.text;
    made.expression = expression.text;
    made.span = expression.span;
    made.expression_span = expression.span;
    if (is_measure && made.filter.empty()) {
      const auto parts = split_measure(Piece(expression.text, {0, static_cast<std::uint32_t>(expression.text.size())}));
      if (!parts) return block_.findings().error(Code::W0135, expression.span, "`where` has no predicate");
      made.filter = std::string(parts->second.view());
      made.filter_span = expression.span;
      made.expression = std::string(parts->first.view());
    }
    header.metrics.push_back(std::move(made));
  }

  void schedule(const BlockEntry& entry) {
    if (!entry.value.IsMap()) return block_.wrong_type(entry, "a mapping with `cron` or `every`");
    for (const auto& one : block_.entries(entry.value)) {
      const auto& key = one.key.text;
      if (key != "cron" && key != "every" && key != "tz") {
        block_.unknown_key(one, "`schedule`", {"cron", "every", "tz"});
      } else if (const auto word = block_.text(one)) {
        (key == "cron" ? header.schedule_cron : key == "every" ? header.schedule_every : header.schedule_tz) = *word;
        if (key == "every" && !calendar::parse_duration(word->text)) bad_duration(one, *word);
      }
    }
    if (header.schedule_cron.text.empty() == header.schedule_every.text.empty())
      block_.findings().error(
          Code::W0169, entry.key.span, "`schedule` needs either `cron` or `every`",
          "write for example `schedule: {cron: \"0 6 * * 1-5\", tz: Europe/Paris}` or `{every: 15m}`");
  }

  void retry(const BlockEntry& entry) {
    std::vector<BlockEntry> parts;
    if (entry.value.IsMap())
      parts = block_.entries(entry.value);
    else
      parts = {{{"count", entry.key.span}, entry.value}};
    for (const auto& one : parts) {
      if (one.key.text != "count" && one.key.text != "delay") {
        block_.unknown_key(one, "`retry`", {"count", "delay"});
        continue;
      }
      const auto word = block_.text(one, "a number");
      if (!word) continue;
      if (one.key.text == "delay") {
        if (calendar::parse_duration(word->text))
          header.retry_delay = word->text;
        else
          bad_duration(one, *word);
      } else if (!YAML::convert<int>::decode(one.value, header.retry_count) || header.retry_count < 1) {
        header.retry_count = 0;
        block_.findings().error(Code::W0133, word->span, "`retry` needs a count of at least 1");
      }
    }
  }

  void triggers(const BlockEntry& entry) {
    std::vector<YAML::Node> items;
    if (!entry.value.IsSequence())
      items.push_back(entry.value);
    else
      for (const auto& item : entry.value) items.push_back(item);
    for (const auto& item : items) {
      const Span span = block_.place(item, entry.key.span);
      Trigger made{.asset = std::nullopt, .native_kind = "", .debounce = "", .span = span};
      std::string reference;
      if (item.IsScalar()) {
        reference = item.Scalar();
      } else if (item.IsMap()) {
        for (const auto& one : block_.entries(item)) {
          if (one.key.text != "asset" && one.key.text != "debounce") {
            block_.unknown_key(one, "a trigger", {"asset", "debounce"});
          } else if (const auto word = block_.text(one)) {
            if (one.key.text == "asset")
              reference = word->text;
            else if (calendar::parse_duration(word->text))
              made.debounce = word->text;
            else
              bad_duration(one, *word);
          }
        }
      }
      const auto& kinds = keyword_named("on")->heads;
      if (std::find(kinds.begin(), kinds.end(), reference) != kinds.end())
        made.native_kind = reference;
      else if (reference.find(':') != std::string::npos)
        made.asset = parse_asset(reference);
      if (made.native_kind.empty() && !made.asset)
        block_.findings().error(Code::W0133, span, "`" + reference + "` is no asset and no kind of event",
                                "kinds are " + one_of(kinds));
      else
        header.triggers.push_back(std::move(made));
    }
  }

  void mute(const BlockEntry& entry) {
    const auto words = block_.words(entry);
    if (!words) return;
    for (const auto& word : *words) {
      const auto asset = word.text.find(':') == std::string::npos ? std::nullopt : parse_asset(word.text);
      if (word.text == "all")
        header.mute_all = true;
      else if (asset)
        header.muted.push_back(*asset);
      else
        block_.findings().error(Code::W0133, word.span, "`" + word.text + "` is no asset", "write an asset, or `all`");
    }
  }

  BlockText block_;
  const std::string& default_lake_;
};

}  // namespace

const std::vector<BlockKeyEntry>& block_keys() {
  static const std::vector<BlockKeyEntry> keys = make_keys();
  return keys;
}

const BlockKeyEntry* block_key_named(std::string_view name) {
  for (const auto& entry : block_keys())
    if (entry.name == name || std::find(entry.synonyms.begin(), entry.synonyms.end(), name) != entry.synonyms.end())
      return &entry;
  return nullptr;
}

const Word* BlockHeader::text(std::string_view name) const {
  const auto found = texts.find(name);
  return found == texts.end() ? nullptr : &found->second;
}

const std::vector<Word>* BlockHeader::list(std::string_view name) const {
  const auto found = lists.find(name);
  return found == lists.end() ? nullptr : &found->second;
}

std::optional<Span> BlockHeader::key(std::string_view name) const {
  const auto found = keys.find(name);
  return found == keys.end() ? std::nullopt : std::optional(found->second);
}

bool is_block_header(std::string_view comment) {
  if (comment.find("weir") == std::string_view::npos && comment.find("interlace") == std::string_view::npos)
    return false;
  try {
    const auto root = YAML::Load(std::string(comment.substr(yaml_begin(comment))));
    return root.IsMap() && (root["weir"].IsDefined() || root["interlace"].IsDefined());
  } catch (const YAML::Exception&) {
    return begins_like_header(comment);
  }
}

BlockHeader read_block_header(std::string_view text, const HeaderRegion::Block& block, const std::string& default_lake,
                              Findings& findings) {
  const auto comment = text.substr(block.text.begin, block.text.size());
  const auto begin = yaml_begin(comment);
  BlockText nodes(text, block.text.begin + static_cast<std::uint32_t>(begin), findings);
  try {
    const auto root = YAML::Load(std::string(comment.substr(begin)));
    BlockReader reader(nodes, default_lake);
    reader.read(root, block.whole);
    return std::move(reader.header);
  } catch (const YAML::Exception& problem) {
    Span span = problem.mark.is_null() ? block.whole : nodes.place(problem.mark);
    if (span.empty()) span = block.whole;
    findings.error(Code::W0130, span, "the block header is no YAML: " + problem.msg);
    BlockHeader none;
    none.span = block.whole;
    return none;
  }
}

}  // namespace weir
