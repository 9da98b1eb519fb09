// A model as its header and statements declare it, judged: what the rest of weir works with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "calendar/partition.h"
#include "parse/script.h"
#include "project/asset.h"

namespace weir {

/// One file of the project, read once. Spans of its diagnostics and models point into `text`.
struct Source {
  /// Relative to the project folder, with `/`.
  std::string path;
  std::string text;
  /// XXH3-64 of the bytes as hexadecimal text.
  std::string hash;
};

enum class Plane { Managed, Manual, Virtual, View, Ephemeral, Table, File };
enum class Strategy { Replace, Merge, Append, History, FullMerge, HashMerge, IncrementalByTime };
/// The column that `hash: true` keeps beside the query's.
inline constexpr std::string_view kHashColumn = "_hash";
enum class Duplicates { Keep, Fail, First, Last };
/// What a history does about keys that the result lacks: leave them open, close them, or close them and open a version
/// that is marked as deleted.
enum class Deletes { Leave, Close, Mark };
enum class SchemaChange { Warn, Ignore, Fail, Sync };
enum class AuditWhen { Before, After };

std::string_view name_of(Plane plane);
std::string_view name_of(Strategy strategy);
std::string_view name_of(Duplicates duplicates);
/// Empty for Leave.
std::string_view name_of(Deletes deletes);
std::string_view name_of(SchemaChange mode);

enum class TestKind {
  Unique,
  NotNull,
  AcceptedValues,
  Relationships,
  Range,
  Pattern,
  Expression,
  Freshness,
  RowCount,
  Custom,
  Sql
};
enum class TestSeverity { Error, Warn, Info };
enum class TestScope { Slice, Table };

struct Test {
  TestKind kind = TestKind::NotNull;
  /// `unique(id)`, `relationships(sku -> main.dim.sku)`, `custom(tests/sane)`, or the user's own name.
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::string> values;  // AcceptedValues
  std::optional<Asset> reference;   // Relationships
  std::string reference_column;
  std::optional<std::string> minimum;  // Range (SQL literal text), RowCount (number)
  std::optional<std::string> maximum;
  std::string text;  // Pattern: regular expression; Expression: predicate; Sql: query; Freshness: max age; Custom: path
  std::string where;  // predicate; empty: all rows
  TestSeverity severity = TestSeverity::Error;
  TestScope scope = TestScope::Slice;
  std::int64_t tolerated_rows = 0;        // max: n
  std::optional<double> tolerated_share;  // max: 1% is 0.01
  Span span;
};

/// `-- $cutoff (date) = 2024-01-01`
struct Argument {
  std::string name;
  std::string type;
  /// The value; of an `s3object` the path that it stands for.
  std::optional<std::string> default_value;
  /// The default as written, the same wherever the project lies.
  std::optional<std::string> written_default = {};
  Span span;
};

/// `on <asset> [debounce=]`, or a native kind such as `schedule`.
struct Trigger {
  std::optional<Asset> asset;
  std::string native_kind;
  std::string debounce;
  Span span;
};

struct Metric {
  bool is_measure = true;
  std::string name;
  std::string expression;
  std::string filter;
  std::string description;
  std::string unit;
  std::string format;
  /// The whole declaration without its keyword.
  Span span;
  /// Where `expression` and `filter` were written. Of other length than the text where YAML writes it another way.
  Span expression_span;
  Span filter_span;
};

/// `column out <- asset.col, …`
struct DeclaredLineage {
  std::string output;
  std::vector<std::pair<Asset, std::string>> sources;
  Span span;
};

struct ContractColumn {
  std::string name;
  std::optional<std::string> type;
  Span span;
};

/// A table of the lake (or another asset) that the model's SQL reads, by position.
struct Reference {
  Asset asset;
  /// Index into Model::script.statements.
  std::size_t statement = 0;
  /// The name in the source to be replaced.
  Span span;
  /// Alias to add behind the replacement so that unqualified and table-qualified columns keep binding; empty if the
  /// user gave one.
  std::string alias;
  std::optional<std::int64_t> version;
  bool has_at = false;
  /// The span holds the word TABLE of `TABLE x` too.
  bool is_table_form = false;
  /// Set if it stands in a macro of a library: the index into Model::macros, whose file the span points into.
  /// `statement` is then kNoStatement.
  std::optional<std::size_t> macro;
  static constexpr std::size_t kNoStatement = SIZE_MAX;
};

/// A column qualifier (`dl.orders.` or `dl.main.orders.`) to be cut down to the table's alias.
struct QualifierCut {
  Span span;
  std::string alias;
};

/// Places of the token {partition} that are to be replaced, with the text form each needs.
enum class TokenForm { Literal, Text };
struct TextToken {
  std::string name;  // "partition", "window_start", "window_end"
  TokenForm form = TokenForm::Literal;
  Span span;
};

/// `use <path>`
struct Use {
  std::string path;
  Span span;
};

/// A statement of a macro library that a model brings along: a macro that it calls, directly or through others, or
/// setup of a library that it uses.
struct MacroDefinition {
  /// In lower case; empty for setup.
  std::string name;
  /// Path of the library, as `use` names it.
  std::string library;
  /// The library's file; the places of `statement`, `cuts` and `storage_paths` point into it.
  std::shared_ptr<const Source> source;
  parse::Statement statement;
  /// It runs before this statement of the model's script.
  std::size_t before = 0;
  /// Only custom tests of the model call it: no part of what the model computes.
  bool is_for_tests = false;
  std::vector<QualifierCut> cuts;
  std::vector<TextToken> tokens;
  std::vector<std::pair<Span, std::string>> storage_paths;
  bool is_setup() const { return name.empty(); }
};

/// The query of a custom test, or of one written into the header (`sql:`), as one model declares it: its names lead
/// where the model's own would.
struct TestQuery {
  /// Index into Model::tests.
  std::size_t test = 0;
  /// "tests/sane"; of a query in the header the test's name.
  std::string path;
  /// The test's file. Of a query in the header its text alone, under the path of the model's file.
  std::shared_ptr<const Source> source;
  bool is_in_header = false;
  parse::Statement statement;
  /// Tables besides the model's own; their `statement` is Reference::kNoStatement.
  std::vector<Reference> references;
  /// Places where `_wm_target.<table>` stands.
  std::vector<Reference> targets;
  std::vector<QualifierCut> cuts;
  std::vector<TextToken> tokens;
  std::vector<std::pair<Span, std::string>> storage_paths;
  /// It calls macros or reads temporary objects of the model, so the model's setup runs first.
  bool needs_setup = false;
};

struct Model {
  /// "sales/orders_daily": the file's path below its root without extension.
  std::string path;
  std::shared_ptr<const Source> source;

  Plane plane = Plane::Virtual;
  Strategy strategy = Strategy::Replace;
  /// The asset it produces: the materialize target, or the relation of an owned model in the default lake. Nothing for
  /// ephemeral and file.
  std::optional<Asset> target;
  Span target_span;
  /// The name under which other models read it: the target of a managed or manual model, otherwise the relation in the
  /// default lake that the path or `name:` gives; also for planes that produce no asset of their own (ephemeral is
  /// inlined, table is read where it was delivered).
  Asset relation;

  std::vector<std::string> key;
  std::vector<std::string> track;
  std::vector<std::string> order;
  Deletes deletes = Deletes::Leave;
  /// History: the column of the result that holds the time from which a row is valid; empty: the run's time.
  std::string valid_from;
  /// History: changes of columns that are not tracked go into the open version; otherwise they are ignored.
  bool refreshes_untracked = false;
  /// History: names of its columns of validity (from, to, current); empty: the plane's own (project/validity.h).
  std::vector<std::string> validity;
  bool keep_hash = false;  // hash: true
  Duplicates duplicates = Duplicates::Keep;
  SchemaChange on_schema_change = SchemaChange::Warn;
  std::optional<AuditWhen> audit;  // nothing: the project's
  std::optional<calendar::Partitioning> partitioning;

  // Owned and terminal planes, windows.
  std::string time_column;
  std::string interval;
  std::string lookback;
  std::string backfill;
  std::string tz;      // of the windows' calendar; empty: UTC
  bool ledger = true;  // table plane: keep the delivery token in the target
  std::string file_path;
  std::string file_format;
  std::vector<std::string> environments;

  bool is_pipeline = false;
  bool is_macro_library = false;
  std::vector<Use> uses;
  /// Models that must run before, besides those that it reads.
  std::vector<std::string> depends_on;
  std::vector<Trigger> triggers;
  bool trigger_all = false;
  bool mute_all = false;
  std::vector<Asset> muted;
  std::string freshness;
  std::string debounce;
  int retry_count = 0;
  std::string retry_delay;
  std::vector<std::string> tags;
  std::string owner;
  std::string description;
  std::string schedule_cron;
  std::string schedule_every;
  std::string schedule_tz;

  std::vector<Test> tests;
  std::vector<Argument> arguments;
  std::vector<Metric> metrics;
  std::vector<DeclaredLineage> lineage;
  std::vector<ContractColumn> contract;
  bool contract_exact = false;

  /// Statements with spans into source->text. For managed and owned planes the last is the result query.
  parse::Script script;
  std::vector<Reference> references;
  std::vector<QualifierCut> cuts;
  using TokenForm = weir::TokenForm;
  using Token = TextToken;
  std::vector<Token> tokens;
  /// What it takes from macro libraries, in the order of running (project/setup.h gives the whole list).
  std::vector<MacroDefinition> macros;
  /// Of tests that are queries, in the order of `tests`; those that are no test query are missing.
  std::vector<TestQuery> test_queries;

  /// String literals that name files of a configured storage, with the path they stand for.
  std::vector<std::pair<Span, std::string>> storage_paths;

  /// Functions whose result may change without any input changing (`now()`, `random()`, network readers): never
  /// `fresh`.
  bool is_volatile = false;
  /// Constant file names and globs that the query reads, as written; nothing if some reader's argument is not constant.
  std::optional<std::vector<std::string>> files;

  bool is_history() const { return strategy == Strategy::History; }
  /// The result statement. Requires: a plane other than manual.
  const parse::Statement& result() const { return script.statements.back(); }
};

/// A custom test: a file that a data_test names, or that reads `_wm_target`.
struct CustomTest {
  std::string path;
  std::shared_ptr<const Source> source;
  parse::Script script;
};

/// A file of macros that models call (`-- macros`).
struct MacroLibrary {
  /// As `use` names it: the file's path below its root without extension.
  std::string path;
  std::shared_ptr<const Source> source;
  std::vector<Use> uses;
  parse::Script script;

  /// One macro: the whole statement, with its forms.
  struct Macro {
    std::string name;  // lower case
    std::size_t statement = 0;
    bool is_table = false;
    Span name_span;
    struct Form {
      Span parameters;  // with the parentheses
      Span body;
    };
    std::vector<Form> forms;
  };
  std::vector<Macro> macros;
  /// Indexes of its setup statements.
  std::vector<std::size_t> setup;
};

}  // namespace weir
