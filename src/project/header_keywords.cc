#include "project/header_keywords.h"

namespace weir {
namespace {

const std::vector<OptionEntry>& test_options() {
  static const std::vector<OptionEntry> options = {
      {"where", OptionForm::Text, {"<predicate>"}, "only rows for which the predicate holds are tested"},
      {"severity",
       OptionForm::Choice,
       {"error", "warn", "info"},
       "what a violation does: stop the publication, warn, or be noted"},
      {"max", OptionForm::Text, {"<n>", "<n>%"}, "violations that are tolerated, as a number or a share of the rows"},
      {"scope",
       OptionForm::Choice,
       {"slice", "table"},
       "what is tested: what this run writes, or the whole table as it will be"},
      {"name", OptionForm::Text, {"<name>"}, "the name of the test in results"},
      {"min", OptionForm::Text, {"<n>"}, "smallest value of a range or number of rows"},
      {"max_age", OptionForm::Text, {"<duration>"}, "how old the newest value may be"},
      {"pattern", OptionForm::Text, {"<regular expression>"}, "what values must match"},
      {"predicate", OptionForm::Text, {"<predicate>"}, "what every row must satisfy"},
  };
  return options;
}

std::vector<KeywordEntry> make_keywords() {
  return {
      {"pipeline", Repeats::Flag, "pipeline", "makes the file a member of its folder's pipeline", {}, {}},
      {"macros", Repeats::Flag, "macros", "makes the file a library of macros", {}, {}},
      {"use", Repeats::Adds, "use <path/of/library>", "makes the macros of a library available", {}, {}},
      {"on",
       Repeats::Adds,
       "on <asset> [debounce=<duration>] | on <kind>",
       "runs the model when an asset was written or an event arrives",
       {"schedule", "webhook", "email", "kafka", "mqtt", "nats", "postgres", "sqs", "gcp", "amqp", "data_upload"},
       {{"debounce", OptionForm::Text, {"<duration>"}, "waits until no more arrivals came for this long"}}},
      {"mute",
       Repeats::Adds,
       "mute all | mute <asset>",
       "does not run the model when an asset that it reads was written",
       {"all"},
       {}},
      {"partitioned",
       Repeats::FirstWins,
       "partitioned <kind> [options]",
       "computes and writes the table by partition",
       {"hourly", "daily", "weekly", "monthly", "quarterly", "yearly", "dynamic"},
       {{"tz", OptionForm::Text, {"<zone>"}, "zone of the calendar, UTC by default"},
        {"format", OptionForm::Text, {"<strftime>"}, "how a partition is named"},
        {"start", OptionForm::Text, {"<YYYY-MM-DD>"}, "first day that has a partition"},
        {"end", OptionForm::Text, {"<YYYY-MM-DD>"}, "last day that has a partition"},
        {"key", OptionForm::Text, {"<$.path>"}, "where a dynamic partition's value lies in the payload"}}},
      {"freshness", Repeats::FirstWins, "freshness <duration>", "how old the result may become", {}, {}},
      {"trigger",
       Repeats::LastWins,
       "trigger any | trigger all",
       "whether one input or all of them must have arrived",
       {"any", "all"},
       {}},
      {"debounce",
       Repeats::FirstWins,
       "debounce <duration>",
       "waits until no more arrivals came for this long",
       {},
       {}},
      {"tag", Repeats::FirstWins, "tag <word>", "a word of at most 50 bytes to select the model by", {}, {}},
      {"retry",
       Repeats::FirstWins,
       "retry <count> [<delay>]",
       "how often a failed run that a cascade started is tried again",
       {},
       {}},
      {"materialize",
       Repeats::FirstWins,
       "materialize [manual|scd2] <asset> [options]",
       "the table that the query's result is written to",
       {"manual", "scd2"},
       {{"append", OptionForm::Flag, {}, "adds the rows, replaces none"},
        {"key", OptionForm::Names, {"<columns>"}, "columns by which rows are matched: merge"},
        {"history", OptionForm::Flag, {}, "keeps every version of a row, by key"},
        {"track", OptionForm::Names, {"<columns>"}, "columns whose change opens a version; all but the key by default"},
        {"deletes",
         OptionForm::Choice,
         {"close", "mark"},
         "what happens to keys that vanish: their version is closed, or one that says so follows it"},
        {"valid_from", OptionForm::Names, {"<column>"}, "the column that says from when on a version holds"},
        {"untracked",
         OptionForm::Choice,
         {"ignore", "refresh"},
         "what happens when only columns changed that are not tracked: nothing, or the open version takes their "
         "values"},
        {"validity", OptionForm::Names, {"<from>,<to>,<current>"}, "names of the columns that a history adds"},
        {"on_schema_change",
         OptionForm::Choice,
         {"warn", "ignore", "fail", "sync"},
         "what happens when the query's columns changed"},
        {"duplicates",
         OptionForm::Choice,
         {"keep", "fail", "first", "last"},
         "what happens when one result holds a key twice"},
        {"order", OptionForm::Names, {"<columns>"}, "which of two rows is the first"},
        {"audit", OptionForm::Choice, {"before", "after"}, "whether tests run before or after publishing"}}},
      {"data_test",
       Repeats::Adds,
       "data_test <test> …",
       "what the result must satisfy",
       {"unique", "not_null", "accepted_values", "relationships", "range", "pattern", "expression", "freshness",
        "row_count"},
       test_options()},
      {"column",
       Repeats::Adds,
       "column <output> <- <asset>.<column>, …",
       "where a column of the result comes from",
       {},
       {}},
      {"measure",
       Repeats::Adds,
       "measure <name> = <aggregate> [where <predicate>]",
       "an aggregation that readers of the table may use",
       {},
       {}},
      {"dimension",
       Repeats::Adds,
       "dimension <name> = <expression>",
       "an expression that readers of the table may group by",
       {},
       {}},
  };
}

}  // namespace

const OptionEntry* KeywordEntry::option(std::string_view wanted) const {
  for (const auto& entry : options)
    if (entry.name == wanted) return &entry;
  return nullptr;
}

std::vector<std::string_view> KeywordEntry::option_names() const {
  std::vector<std::string_view> names;
  for (const auto& entry : options) names.push_back(entry.name);
  return names;
}

const std::vector<KeywordEntry>& header_keywords() {
  static const std::vector<KeywordEntry> keywords = make_keywords();
  return keywords;
}

const KeywordEntry* keyword_named(std::string_view name) {
  for (const auto& keyword : header_keywords())
    if (keyword.name == name) return &keyword;
  return nullptr;
}

}  // namespace weir
