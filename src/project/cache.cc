#include "project/cache.h"

#include <algorithm>
#include <cstring>

#include "duck/database.h"
#include "io/bytes.h"
#include "io/cache_file.h"

namespace weir {
namespace {

using Reader = io::ByteReader;
using Writer = io::ByteWriter;

// Declared first, since lists of any of these are written by one template.
void write(Writer& out, const parse::Statement& statement);
void read(Reader& in, parse::Statement& statement);
void write(Writer& out, const Diagnostic& fault);
void read(Reader& in, Diagnostic& fault);

// Counted up whenever what is kept, or how SQL is read, changes.
constexpr std::string_view kFormat = "weir parsed 4\n";

void write(Writer& out, const parse::TableReference& table) {
  out.span(table.span);
  out.texts(table.parts);
  out.number((table.has_alias ? 1U : 0U) | (table.has_at ? 2U : 0U) | (table.opaque ? 4U : 0U) |
             (table.version ? 8U : 0U) | (table.is_table_form ? 16U : 0U));
  if (table.version) out.number(static_cast<std::uint64_t>(*table.version));
}

void read(Reader& in, parse::TableReference& table) {
  table.span = in.span();
  table.parts = in.texts();
  const auto flags = in.number();
  table.has_alias = (flags & 1U) != 0;
  table.has_at = (flags & 2U) != 0;
  table.opaque = (flags & 4U) != 0;
  table.is_table_form = (flags & 16U) != 0;
  if ((flags & 8U) != 0) table.version = static_cast<std::int64_t>(in.number());
}

void write(Writer& out, const parse::QualifiedColumn& column) {
  out.span(column.span);
  out.texts(column.parts);
}

void read(Reader& in, parse::QualifiedColumn& column) {
  column.span = in.span();
  column.parts = in.texts();
}

void write(Writer& out, const parse::FunctionCall& call) {
  out.text(call.name);
  out.text(call.schema);
  out.text(call.catalog);
  out.span(call.span);
  out.number((call.is_table_function ? 1U : 0U) | (call.files ? 2U : 0U));
  if (call.files) out.texts(*call.files);
}

void read(Reader& in, parse::FunctionCall& call) {
  call.name = in.text();
  call.schema = in.text();
  call.catalog = in.text();
  call.span = in.span();
  const auto flags = in.number();
  call.is_table_function = (flags & 1U) != 0;
  if ((flags & 2U) != 0) call.files = in.texts();
}

template <class Item>
void write_all(Writer& out, const std::vector<Item>& items) {
  out.number(items.size());
  for (const Item& item : items) write(out, item);
}

template <class Item>
void read_all(Reader& in, std::vector<Item>& items) {
  items.resize(in.count());
  for (Item& item : items) read(in, item);
}

void write(Writer& out, const parse::Statement& statement) {
  out.number(static_cast<std::uint64_t>(statement.kind));
  out.span(statement.span);
  out.span(statement.query);
  for (const auto* text : {&statement.what, &statement.canonical, &statement.attach_uri, &statement.alias,
                           &statement.object_name, &statement.setting})
    out.text(*text);
  out.number(statement.read_only ? 1 : 0);
  write_all(out, statement.tables);
  write_all(out, statement.columns);
  write_all(out, statement.functions);
  out.number(statement.parameters.size());
  for (const auto& [name, span] : statement.parameters) {
    out.text(name);
    out.span(span);
  }
}

void read(Reader& in, parse::Statement& statement) {
  statement.kind = static_cast<parse::StatementKind>(in.number());
  statement.span = in.span();
  statement.query = in.span();
  for (auto* text : {&statement.what, &statement.canonical, &statement.attach_uri, &statement.alias,
                     &statement.object_name, &statement.setting})
    *text = in.text();
  statement.read_only = in.number() != 0;
  read_all(in, statement.tables);
  read_all(in, statement.columns);
  read_all(in, statement.functions);
  statement.parameters.resize(in.count());
  for (auto& [name, span] : statement.parameters) {
    name = in.text();
    span = in.span();
  }
}

void write(Writer& out, const Diagnostic& fault) {
  out.text(name_of(fault.code));
  out.number(static_cast<std::uint64_t>(fault.severity));
  out.text(fault.message);
  out.span(fault.span);
  out.text(fault.hint);
  out.number(fault.fix ? 1 : 0);
  if (!fault.fix) return;
  out.span(fault.fix->span);
  out.text(fault.fix->replacement);
}

void read(Reader& in, Diagnostic& fault) {
  const std::string name = in.text();
  const auto& codes = all_codes();
  const auto code = std::find_if(codes.begin(), codes.end(), [&name](Code one) { return name_of(one) == name; });
  if (code != codes.end()) fault.code = *code;
  fault.severity = static_cast<Severity>(in.number());
  fault.message = in.text();
  fault.span = in.span();
  fault.hint = in.text();
  if (in.number() == 0) return;
  const Span span = in.span();
  fault.fix = Fix{span, in.text()};
}

std::string header() { return std::string(kFormat) + duck::Database::version() + "\n"; }

}  // namespace

std::string encode_script(const parse::Script& script) {
  Writer out;
  write_all(out, script.statements);
  return out.take();
}

std::optional<parse::Script> decode_script(std::string_view bytes) {
  Reader in(bytes);
  parse::Script script;
  read_all(in, script.statements);
  if (!in.good() || !in.done()) return std::nullopt;
  return script;
}

ParseCache::ParseCache(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  auto body = io::read_cache(path_, header());
  if (!body) return;
  bytes_ = std::move(*body);
  Reader in(bytes_);
  std::vector<std::string> names = in.texts();
  const std::size_t count = in.count();
  scripts_.reserve(count);
  for (std::size_t left = count; left > 0 && in.good(); --left) {
    const std::string_view key = in.view();
    const std::string_view script = in.view();
    if (in.good()) scripts_.emplace(key, script);
  }
  for (std::size_t left = in.count(); left > 0 && in.good(); --left) {
    std::string key = in.text();
    read_all(in, faults_[key]);
  }
  if (!in.good()) faults_.clear();
  if (!names.empty()) volatile_functions_ = std::set<std::string>(names.begin(), names.end());
}

std::optional<parse::Script> ParseCache::find(const std::string& key) const {
  const auto found = scripts_.find(key);
  if (found == scripts_.end()) return std::nullopt;
  auto script = decode_script(found->second);
  if (script) touched_.insert(key);
  return script;
}

bool ParseCache::knows(const std::string& key) const {
  const bool is_known = scripts_.contains(key);
  if (is_known) touched_.insert(key);
  return is_known;
}

void ParseCache::put(const std::string& key, const parse::Script& script) {
  std::string& bytes = made_[key] = encode_script(script);
  scripts_[key] = bytes;
  touched_.insert(key);
  is_changed_ = true;
}

const Diagnostics* ParseCache::find_faults(const std::string& key) const {
  const auto found = faults_.find(key);
  if (found == faults_.end()) return nullptr;
  touched_.insert(key);
  return &found->second;
}

void ParseCache::put_faults(const std::string& key, Diagnostics faults) {
  faults_[key] = std::move(faults);
  touched_.insert(key);
  is_changed_ = true;
}

void ParseCache::set_volatile_functions(std::set<std::string> names) {
  volatile_functions_ = std::move(names);
  is_changed_ = true;
}

void ParseCache::keep_touched() {
  const auto is_untouched = [this](const auto& one) { return !touched_.contains(one.first); };
  std::erase_if(scripts_, is_untouched);
  std::erase_if(made_, is_untouched);
  std::erase_if(faults_, is_untouched);
  touched_.clear();
}

void ParseCache::save() const {
  if (!is_changed_) return;
  Writer out;
  out.texts(volatile_functions_ ? std::vector<std::string>(volatile_functions_->begin(), volatile_functions_->end())
                                : std::vector<std::string>());
  std::vector<const std::string*> parsed;
  std::vector<const std::string*> faulty;
  for (const std::string& key : touched_) (scripts_.contains(key) ? parsed : faulty).push_back(&key);
  out.number(parsed.size());
  for (const std::string* key : parsed) {
    out.text(*key);
    out.text(scripts_.at(*key));
  }
  out.number(faulty.size());
  for (const std::string* key : faulty) {
    out.text(*key);
    write_all(out, faults_.at(*key));
  }
  io::write_cache(path_, header(), out.take());
}

}  // namespace weir
