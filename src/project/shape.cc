#include "project/shape.h"

#include <algorithm>
#include <map>
#include <set>

#include "parse/functions.h"
#include "text/lexer.h"

namespace weir {
namespace {

using parse::Statement;
using parse::StatementKind;

constexpr std::size_t kQuotedCharacters = 40;
constexpr std::string_view kRule = "a model is setup statements followed by exactly one query";

// Settings of the whole instance that weir.yaml decides instead.
const std::map<std::string_view, std::string_view>& keys_of_settings() {
  static const std::map<std::string_view, std::string_view> keys = {{"memory_limit", "memory"},
                                                                    {"max_memory", "memory"},
                                                                    {"threads", "threads"},
                                                                    {"worker_threads", "threads"},
                                                                    {"external_threads", "threads"},
                                                                    {"temp_directory", "temp.folder"},
                                                                    {"max_temp_directory_size", "temp.limit"},
                                                                    {"allowed_paths", "allow_paths"},
                                                                    {"allowed_directories", "allow_paths"},
                                                                    {"enable_external_access", "allow_paths"},
                                                                    {"file_search_path", "allow_paths"},
                                                                    {"secret_directory", "secrets"},
                                                                    {"s3_access_key_id", "secrets"},
                                                                    {"s3_secret_access_key", "secrets"},
                                                                    {"s3_session_token", "secrets"},
                                                                    {"s3_region", "secrets"},
                                                                    {"s3_endpoint", "secrets"},
                                                                    {"s3_url_style", "secrets"},
                                                                    {"s3_use_ssl", "secrets"},
                                                                    {"http_proxy", "secrets"}};
  return keys;
}

const std::set<std::string_view>& shipped_extensions() {
  static const std::set<std::string_view> names = {
      "ducklake", "sqlite_scanner", "sqlite", "postgres_scanner", "postgres", "httpfs", "core_functions",
      "parquet",  "json",           "icu",    "autocomplete"};
  return names;
}

class ShapeJudge {
 public:
  explicit ShapeJudge(const Model& model) : model_(model), text_(model.source->text) {}

  Diagnostics settings() {
    for (const Statement& statement : model_.script.statements) judge_setup(statement);
    return std::move(found_);
  }

  Diagnostics run() {
    const auto& statements = model_.script.statements;
    if (statements.empty()) {
      report(Code::W0202, {}, "the file holds no statement: " + std::string(kRule), "write a SELECT below the header");
      return std::move(found_);
    }
    judge_order();
    for (const Statement& statement : statements) judge_setup(statement);
    return std::move(found_);
  }

 private:
  void report(Code code, Span span, std::string message, std::string hint, Severity severity = Severity::Error) {
    found_.push_back({code, severity, std::move(message), model_.source->path, span, std::move(hint)});
  }

  // What is not allowed is said first, each time; then count and position of the results.
  void judge_order() {
    const auto& statements = model_.script.statements;
    std::size_t results = 0;
    std::size_t last = 0;
    bool has_other = false;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (statements[i].kind == StatementKind::Result) {
        ++results;
        last = i;
      }
      has_other = has_other || statements[i].kind == StatementKind::Other;
    }
    for (std::size_t i = 0; i < statements.size(); ++i)
      if (statements[i].kind == StatementKind::Other) judge_other(statements[i], results > 0 && i > last);
    if (results == 0 && !has_other)
      return report(Code::W0203, statements.back().span, "no query found: " + std::string(kRule),
                    "end the file with a SELECT; a script that returns no rows needs `-- materialize manual <target>`");
    if (results > 1)
      return report(Code::W0204, second_result().span,
                    std::to_string(results) + " queries found: " + std::string(kRule),
                    "make the earlier ones CTEs of the last (WITH … AS), or CREATE TEMP VIEW … AS");
    if (results == 1 && last + 1 < statements.size() && !has_other)
      report(Code::W0205, statements[last + 1].span,
             "`" + quote_start(text_, statements[last + 1].span) + "` stands after the query: " + std::string(kRule),
             "move it above the query");
  }

  const Statement& second_result() const {
    std::size_t seen = 0;
    for (const Statement& statement : model_.script.statements)
      if (statement.kind == StatementKind::Result && ++seen == 2) return statement;
    return model_.script.statements.back();
  }

  void judge_other(const Statement& statement, bool after_query) {
    const std::string quoted = "`" + quote_start(text_, statement.span) + "`";
    std::string hint =
        "put it into a CTE, or declare the model `-- materialize manual <target>` if the script is to write by itself";
    if (statement.what.starts_with("CREATE"))
      hint = "create it TEMP, put it into a CTE, or declare the model `-- materialize manual <target>`";
    if (after_query)
      report(Code::W0205, statement.span, quoted + " stands after the query: " + std::string(kRule), hint);
    else
      report(Code::W0206, statement.span, quoted + " is not allowed here: " + std::string(kRule), hint);
  }

  void judge_setup(const Statement& statement) {
    if (statement.kind == StatementKind::Set) return judge_setting(statement);
    if (statement.kind == StatementKind::Install)
      report(Code::W0216, statement.span, "INSTALL does nothing: weir brings its extensions", "remove the line",
             Severity::Hint);
    if (statement.kind == StatementKind::Load && !shipped_extensions().contains(statement.object_name))
      report(Code::W0215, statement.span, "the extension `" + statement.object_name + "` does not come with weir",
             "weir ships ducklake, sqlite_scanner, postgres_scanner and httpfs");
  }

  void judge_setting(const Statement& statement) {
    const bool is_global = statement.what.ends_with(" GLOBAL");
    if (!is_global && parse::is_connection_setting(statement.setting)) return;
    const auto key = keys_of_settings().find(statement.setting);
    std::string hint = "remove it; weir keeps the instance's settings the same for all models";
    if (key != keys_of_settings().end()) hint = "set `" + std::string(key->second) + ":` in weir.yaml";
    report(Code::W0207, statement.span,
           "the setting `" + statement.setting + "` reaches beyond this model's connection", hint);
  }

  const Model& model_;
  const std::string& text_;
  Diagnostics found_;
};

}  // namespace

Diagnostics judge_shape(const Model& model) { return ShapeJudge(model).run(); }

Diagnostics judge_settings(const Model& model) { return ShapeJudge(model).settings(); }

Diagnostics judge_bytes(const Source& source) {
  const auto complain = [&source](Code code, std::size_t at, const std::string& message, const std::string& hint) {
    const auto begin = static_cast<std::uint32_t>(at);
    return Diagnostics{{code, Severity::Error, message, source.path, {begin, begin + 1}, hint}};
  };
  if (const auto at = text::first_invalid_utf8(source.text); at != std::string::npos)
    return complain(Code::W0208, at, "the file is not UTF-8: byte " + std::to_string(at) + " begins no character",
                    "save the file as UTF-8");
  if (const auto at = source.text.find('\0'); at != std::string::npos)
    return complain(Code::W0209, at, "byte " + std::to_string(at) + " of the file is NUL",
                    "remove it; DuckDB's parser would stop there");
  return {};
}

std::string quote_start(std::string_view text, Span span) {
  std::string start;
  std::size_t characters = 0;
  bool blank = false;
  for (std::size_t at = span.begin; at < span.end && at < text.size(); ++at) {
    const char c = text[at];
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      blank = !start.empty();
      continue;
    }
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins) characters += blank ? 2 : 1;
    if (begins && characters > kQuotedCharacters) return start + "…";
    if (blank) start += ' ';
    blank = false;
    start += c;
  }
  return start;
}

}  // namespace weir
