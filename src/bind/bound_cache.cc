#include "bind/bound_cache.h"

#include "io/bytes.h"
#include "io/files.h"

namespace weir::bind {
namespace {

// Counted up whenever what is kept, or how models are bound, changes.
constexpr std::string_view kFormat = "weir bound 1 duckdb 1.5.5\n";

/// Names that repeat within one model (assets, columns) are written once.
class Names {
 public:
  std::uint64_t of(const std::string& name) {
    const auto [at, is_new] = numbers_.emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return at->second;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> names_;
};

std::string encode(const KeptModel& kept) {
  Names names;
  io::ByteWriter body;
  body.number(kept.model.columns.size());
  for (const BoundColumn& column : kept.model.columns) {
    body.number(names.of(column.name));
    body.number(names.of(column.type));
    body.number(column.from.size());
    for (const ColumnOrigin& origin : column.from) {
      body.number(names.of(origin.from.asset));
      body.number(names.of(origin.from.column));
      body.number(static_cast<std::uint64_t>(origin.kind) * 2 + (origin.is_declared ? 1 : 0));
    }
  }
  body.number(kept.model.rows.size());
  for (const RowOrigin& origin : kept.model.rows) {
    body.number(names.of(origin.from.asset));
    body.number(names.of(origin.from.column));
    body.number(static_cast<std::uint64_t>(origin.role));
  }
  body.number(kept.diagnostics.size());
  for (const Diagnostic& one : kept.diagnostics) {
    body.text(name_of(one.code));
    body.number(static_cast<std::uint64_t>(one.severity));
    body.text(one.message);
    body.text(one.path);
    body.span(one.span);
    body.text(one.hint);
    body.number(one.fix ? 1 : 0);
    if (one.fix) {
      body.span(one.fix->span);
      body.text(one.fix->replacement);
    }
  }
  io::ByteWriter whole;
  whole.texts(names.all());
  whole.text(body.take());
  return whole.take();
}

std::optional<Code> code_named(std::string_view name) {
  for (const Code code : all_codes())
    if (name_of(code) == name) return code;
  return std::nullopt;
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : whole_(bytes), names_(whole_.texts()), text_(whole_.text()), in_(text_) {}

  std::optional<KeptModel> run() {
    KeptModel kept;
    kept.model.columns.resize(in_.count());
    for (BoundColumn& column : kept.model.columns) {
      column.name = name();
      column.type = name();
      column.from.resize(in_.count());
      for (ColumnOrigin& origin : column.from) {
        origin.from = {name(), name()};
        const auto bits = in_.number();
        origin.kind = static_cast<ValueKind>(std::min<std::uint64_t>(bits / 2, 3));
        origin.is_declared = bits % 2 != 0;
      }
    }
    kept.model.rows.resize(in_.count());
    for (RowOrigin& origin : kept.model.rows) {
      origin.from = {name(), name()};
      origin.role = static_cast<RowRole>(std::min<std::uint64_t>(in_.number(), 3));
    }
    const std::size_t diagnostics = in_.count();
    for (std::size_t i = 0; i < diagnostics && in_.good(); ++i) {
      const auto code = code_named(in_.text());
      if (!code) return std::nullopt;
      Diagnostic one{.code = *code};
      one.severity = static_cast<Severity>(std::min<std::uint64_t>(in_.number(), 2));
      one.message = in_.text();
      one.path = in_.text();
      one.span = in_.span();
      one.hint = in_.text();
      if (in_.number() != 0) one.fix = read_fix();
      kept.diagnostics.push_back(std::move(one));
    }
    if (!whole_.good() || !in_.good() || !in_.done() || !names_good_) return std::nullopt;
    return kept;
  }

 private:
  std::string name() {
    const auto at = in_.number();
    if (at < names_.size()) return names_[at];
    names_good_ = false;
    return {};
  }
  Fix read_fix() {
    Fix fix;
    fix.span = in_.span();
    fix.replacement = in_.text();
    return fix;
  }
  io::ByteReader whole_;
  std::vector<std::string> names_;
  std::string text_;
  io::ByteReader in_;
  bool names_good_ = true;
};

}  // namespace

BoundCache::BoundCache(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  auto bytes = io::read_file(file_);
  if (!bytes || !bytes->starts_with(kFormat)) return;
  bytes_ = std::move(*bytes);
  io::ByteReader in(std::string_view(bytes_).substr(kFormat.size()));
  const std::size_t count = in.count();
  entries_.reserve(count);
  for (std::size_t i = 0; i < count && in.good(); ++i) {
    const std::string_view key = in.view();
    const std::string_view value = in.view();
    if (in.good()) entries_.emplace(key, value);
  }
  if (!in.good()) entries_.clear();
}

std::optional<KeptModel> BoundCache::find(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  auto kept = Decoder(found->second).run();
  if (kept) touched_.insert(key);
  return kept;
}

void BoundCache::put(const std::string& key, const KeptModel& kept) {
  std::string& bytes = made_[key] = encode(kept);
  entries_[key] = bytes;
  touched_.insert(key);
}

std::optional<Columns> BoundCache::columns(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  io::ByteReader in(found->second);
  Columns columns(in.count());
  for (duck::Column& column : columns) column = {in.text(), in.text()};
  if (!in.good() || !in.done()) return std::nullopt;
  touched_.insert(key);
  return columns;
}

void BoundCache::put_columns(const std::string& key, const Columns& columns) {
  io::ByteWriter out;
  out.number(columns.size());
  for (const duck::Column& column : columns) {
    out.text(column.name);
    out.text(column.type);
  }
  std::string& bytes = made_[key] = out.take();
  entries_[key] = bytes;
  touched_.insert(key);
}

void BoundCache::save(bool is_whole) {
  if (file_.empty() || made_.empty()) return;
  if (!is_whole)
    for (const auto& [key, value] : entries_) touched_.insert(key);
  io::ByteWriter out;
  out.number(touched_.size());
  for (const std::string& key : touched_) {
    out.text(key);
    out.text(entries_.at(key));
  }
  // What cannot be kept is found out again.
  (void)io::write_file(file_, std::string(kFormat) + out.take());
}

}  // namespace weir::bind
