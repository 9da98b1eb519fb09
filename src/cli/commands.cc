// The table of commands.
#include "cli/commands.h"

namespace weir::cli {

const std::vector<Option>& common_options() {
  static const std::vector<Option> options = {
      {"--json", Kind::Flag, "Print one JSON object instead of text"},
      {"--env", Kind::Text, "Environment (prod, the only one so far)"},
      {"-C,--directory", Kind::Text, "Look for the project in this folder and above", "folder"},
      {"-q,--quiet", Kind::Flag, "Only results and errors"},
      {"-v,--verbose", Kind::Flag, "Say more"},
      {"--color", Kind::Text, "auto, always or never", "auto|always|never"},
  };
  return options;
}

const std::vector<Command>& commands() {
  static const std::vector<Option> selection = {
      {"selector", Kind::List, "Models: names, path globs, tag:x, folder:x, +x, x+, 2+x; a comma intersects", "model"},
      {"-s,--select", Kind::List, "The same, as an option; may be repeated", "model"},
      {"--exclude", Kind::List, "Leave these models out", "model"},
  };
  static const std::vector<Option> kMetrics = {
      {"table", Kind::Text, "A URI, <lake>/<schema>.<table>, a table or a model", "model"},
      {"--measures", Kind::List, "Names joined by commas; model:name where several models declare one"},
      {"--dimensions", Kind::List, "The same; what to group by"},
      {"--where", Kind::Text, "Only rows for which this holds"},
      {"--limit", Kind::Number, "At most this many rows"},
  };
  const auto with = [](std::vector<Option> first, const std::vector<Option>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  };
  static const std::vector<Command> all = {
      {"init",
       "Make a new project, or a data test in one",
       "  weir init shop\n  weir init --data-test tests/no_free_orders sales/orders\n",
       {{"folder", Kind::Text, "Where to make the project (default: here)", "folder"},
        {"--data-test", Kind::Text, "Make a custom data test of this name instead"},
        {"model", Kind::Text, "The model that the data test is for", "model"}},
       init_command},
      {"check",
       "Check the whole project without touching data",
       "  weir check\n  weir check --offline\n  weir check --json\n",
       {{"--offline", Kind::Flag, "Look at no lake: sources have the columns that were captured last"}},
       check_command},
      {"run", "Build the selected models: compute, audit, publish",
       "  weir run\n  weir run sales/orders_daily --partition 2026-07-05\n  weir run +mart_revenue --exclude "
       "tag:heavy\n"
       "  weir run --from staging/orders --to mart_revenue --dry-run\n",
       with(selection, {{"--from", Kind::Text, "Start at this model; what lies above it is not run", "model"},
                        {"--to", Kind::List, "End at these models or assets", "model"},
                        {"-p,--partition", Kind::Text, "Partition to write, for every partitioned model of the run"},
                        {"--at", Kind::Text, "Instant that stands for now when the partition is chosen"},
                        {"--arg", Kind::List, "name=value or model:name=value"},
                        {"-f,--force", Kind::Flag, "Build even what has not changed"},
                        {"--full-refresh", Kind::Flag, "Build the tables anew, dropping what they hold"},
                        {"-y,--yes", Kind::Flag, "Answer yes to questions"},
                        {"--atomic", Kind::Flag, "Publish the whole run as one commit per lake, or nothing"},
                        {"--no-wait", Kind::Flag, "Fail when another run holds a slice, instead of waiting"},
                        {"-j,--jobs", Kind::Number, "Steps to compute at the same time"},
                        {"-n,--dry-run", Kind::Flag, "Print the numbered order with reasons; touch nothing"},
                        {"--events", Kind::Flag, "Print events as NDJSON while running"}}),
       run_command},
      {"status",
       "Show what the slices of assets hold",
       "  weir status\n  weir status sales/orders_daily\n",
       {{"asset", Kind::Text, "A model, a table or an asset URI", "model"},
        {"--from", Kind::Text, "First partition to show"},
        {"--to", Kind::Text, "Last partition to show"}},
       status_command},
      {"ls", "List models", "  weir ls\n  weir ls tag:daily --json\n", selection, ls_command},
      {"show",
       "Show a model: header, plan, and the SQL that would run",
       "  weir show orders_daily\n  weir show orders_daily --sql --partition 2026-07-05\n",
       {{"model", Kind::Text, "The model", "model"},
        {"--sql", Kind::Flag, "Only the exact SQL"},
        {"-p,--partition", Kind::Text, "Partition to render for"},
        {"--arg", Kind::List, "name=value"}},
       show_command},
      {"query",
       "Run one read-only statement on the lakes",
       "  weir query \"FROM orders LIMIT 5\"\n  weir query --format csv \"SELECT * FROM sales.orders AT (VERSION => "
       "42)\"\n",
       {{"sql", Kind::Text, "One SELECT; - reads it from standard input"},
        {"--limit", Kind::Number, "At most this many rows (default 1000 for box, none otherwise)"},
        {"--format", Kind::Text, "box, csv, json or parquet", "box|csv|json|parquet"},
        {"-o,--output", Kind::Text, "Write to this file; its name gives the format, unless --format does", "file"}},
       query_command},
      {"deploy",
       "Record the project in an environment: models, edges, metrics, macros, schedules",
       "  weir deploy\n  weir deploy --dry-run\n  weir deploy --json\n",
       {{"-n,--dry-run", Kind::Flag, "Print what would change; write nothing"}},
       deploy_command},
      {"metrics ls",
       "List the measures and dimensions that deployed models declare",
       "  weir metrics ls\n  weir metrics ls --table sales/orders\n  weir metrics ls --prefix marts --json\n",
       {{"--table", Kind::Text, "Of this table: a URI, <lake>/<schema>.<table>, a table or a model", "model"},
        {"--prefix", Kind::Text, "Of models below this folder"},
        {"--limit", Kind::Number, "At most this many (default 200, at most 1000)"},
        {"--cursor", Kind::Text, "Go on where the page before ended (its next_cursor)"}},
       metrics_ls_command},
      {"metrics sql", "Compose a query from declared measures and dimensions",
       "  weir metrics sql orders --measures revenue,order_count --dimensions region\n  weir metrics sql orders "
       "--measures revenue --where \"region = 'EU'\" --into reports/eu\n",
       with(kMetrics, {{"--into", Kind::Text, "Append the query to the file of this model", "model"}}),
       metrics_sql_command},
      {"metrics query", "Run a query composed from declared measures and dimensions",
       "  weir metrics query orders --measures revenue --dimensions region\n  weir metrics query orders --measures "
       "revenue --dimensions month --format csv\n",
       with(kMetrics, {{"--format", Kind::Text, "box, csv, json or parquet", "box|csv|json|parquet"},
                       {"-o,--output", Kind::Text,
                        "Write to this file; its name gives the format, unless --format does", "file"}}),
       metrics_query_command},
      {"history",
       "List the versions of an asset",
       "  weir history orders\n  weir history --json\n",
       {{"asset", Kind::Text, "A model, a table or an asset URI; nothing: the whole default lake", "model"},
        {"--limit", Kind::Number, "At most this many versions (default 20)"}},
       history_command},
      {"schema",
       "Show the columns of an asset as captured after its runs, or how two versions differ",
       "  weir schema orders\n  weir schema orders --version 2\n  weir schema diff orders 1 2\n",
       {{"asset", Kind::List, "A model, a table or an asset URI; `diff`, one of these and two versions", "model"},
        {"--version", Kind::Text, "Number of the captured version (default: the newest)"}},
       schema_command},
      {"test", "Run data tests again on published tables, or unit tests",
       "  weir test\n  weir test sales/orders_daily --partition 2026-07-05\n  weir test --unit\n",
       with(selection, {{"-p,--partition", Kind::Text, "Partition to test, for partitioned models"},
                        {"--unit", Kind::Flag, "Run the unit tests instead: models on given rows, without a lake"}}),
       test_command},
      {"state rebuild",
       "Make the ledger anew from the lakes' commit records",
       "  weir state rebuild\n",
       {},
       state_rebuild_command},
      {"doctor", "Check the installation, the lakes and the state", "  weir doctor\n", {}, doctor_command},
      {"lsp",
       "Serve an editor: the language server protocol over standard input and output",
       "  weir lsp\n",
       {},
       lsp_command},
      {"explain",
       "Explain a diagnostic code",
       "  weir explain W2003\n  weir explain\n",
       {{"code", Kind::Text, "The code"}},
       explain_command},
      {"version", "Show versions of weir and DuckDB", "  weir version --json\n", {}, version_command},
      {"completion",
       "Print a shell completion script",
       "  weir completion bash > ~/.local/share/bash-completion/completions/weir\n",
       {{"shell", Kind::Text, "bash, zsh or fish", "bash|zsh|fish"}},
       completion_command},
  };
  return all;
}

}  // namespace weir::cli
