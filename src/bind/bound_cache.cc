#include "bind/bound_cache.h"

#include "io/bytes.h"
#include "io/cache_file.h"

namespace weir::bind {
namespace {

// Counted up whenever what is kept, or how models are bound, changes.
constexpr std::string_view kFormat = "weir bound 5 duckdb 1.5.5\n";

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

void write_diagnostics(io::ByteWriter& out, const Diagnostics& diagnostics) {
  out.number(diagnostics.size());
  for (const Diagnostic& one : diagnostics) {
    out.text(name_of(one.code));
    out.number(static_cast<std::uint64_t>(one.severity));
    out.text(one.message);
    out.text(one.path);
    out.span(one.span);
    out.text(one.hint);
    out.number(one.fix ? 1 : 0);
    if (one.fix) {
      out.span(one.fix->span);
      out.text(one.fix->replacement);
    }
  }
}

// Lineage stands apart from names and types, which is all that most readers want.
std::string encode(const KeptModel& kept) {
  io::ByteWriter whole;
  whole.number(kept.model.is_traced ? 1 : 0);
  whole.number(kept.model.columns.size());
  for (const BoundColumn& column : kept.model.columns) {
    whole.text(column.name);
    whole.text(column.type);
  }
  write_diagnostics(whole, kept.diagnostics);
  Names names;
  io::ByteWriter lineage;
  for (const BoundColumn& column : kept.model.columns) {
    lineage.number(column.from.size());
    for (const ColumnOrigin& origin : column.from) {
      lineage.number(names.of(origin.from.asset));
      lineage.number(names.of(origin.from.column));
      lineage.number(static_cast<std::uint64_t>(origin.kind) * 2 + (origin.is_declared ? 1 : 0));
    }
  }
  lineage.number(kept.model.rows.size());
  for (const RowOrigin& origin : kept.model.rows) {
    lineage.number(names.of(origin.from.asset));
    lineage.number(names.of(origin.from.column));
    lineage.number(static_cast<std::uint64_t>(origin.role));
  }
  whole.texts(names.all());
  whole.text(lineage.take());
  return whole.take();
}

std::optional<Code> code_named(std::string_view name) {
  for (const Code code : all_codes())
    if (name_of(code) == name) return code;
  return std::nullopt;
}

std::optional<Diagnostics> read_diagnostics(io::ByteReader& in) {
  Diagnostics diagnostics;
  const std::size_t count = in.count();
  for (std::size_t i = 0; i < count && in.good(); ++i) {
    const auto code = code_named(in.view());
    if (!code) return std::nullopt;
    Diagnostic one{.code = *code};
    one.severity = static_cast<Severity>(std::min<std::uint64_t>(in.number(), 2));
    one.message = in.text();
    one.path = in.text();
    one.span = in.span();
    one.hint = in.text();
    if (in.number() != 0) {
      Fix fix;
      fix.span = in.span();
      fix.replacement = in.text();
      one.fix = std::move(fix);
    }
    diagnostics.push_back(std::move(one));
  }
  return diagnostics;
}

/// False from damaged bytes.
bool read_lineage(io::ByteReader& whole, BoundModel& model) {
  std::vector<std::string_view> names(whole.count());
  for (std::string_view& name : names) name = whole.view();
  io::ByteReader in(whole.view());
  bool good = true;
  const auto name = [&]() -> std::string {
    const auto at = in.number();
    if (at < names.size()) return std::string(names[at]);
    good = false;
    return {};
  };
  for (BoundColumn& column : model.columns) {
    column.from.resize(in.count());
    for (ColumnOrigin& origin : column.from) {
      origin.from.asset = name();
      origin.from.column = name();
      const auto bits = in.number();
      origin.kind = static_cast<ValueKind>(std::min<std::uint64_t>(bits / 2, 3));
      origin.is_declared = bits % 2 != 0;
    }
  }
  model.rows.resize(in.count());
  for (RowOrigin& origin : model.rows) {
    origin.from.asset = name();
    origin.from.column = name();
    origin.role = static_cast<RowRole>(std::min<std::uint64_t>(in.number(), 3));
  }
  return good && in.good() && in.done() && whole.good() && whole.done();
}

std::optional<KeptModel> decode(std::string_view bytes, bool with_lineage) {
  KeptModel kept;
  io::ByteReader in(bytes);
  kept.model.is_traced = in.number() != 0;
  kept.model.columns.resize(in.count());
  for (BoundColumn& column : kept.model.columns) {
    column.name = in.text();
    column.type = in.text();
  }
  auto diagnostics = read_diagnostics(in);
  if (!diagnostics || !in.good()) return std::nullopt;
  kept.diagnostics = std::move(*diagnostics);
  if (with_lineage && !read_lineage(in, kept.model)) return std::nullopt;
  return kept;
}

}  // namespace

BoundCache::BoundCache(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  auto body = io::read_cache(file_, kFormat);
  if (!body) return;
  bytes_ = std::move(*body);
  io::ByteReader in(bytes_);
  const std::size_t count = in.count();
  entries_.reserve(count);
  for (std::size_t i = 0; i < count && in.good(); ++i) {
    const std::string_view key = in.view();
    const std::string_view value = in.view();
    if (in.good()) entries_.emplace(key, value);
  }
  if (!in.good()) entries_.clear();
}

std::optional<KeptModel> BoundCache::find(const std::string& key, bool with_lineage) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  auto kept = decode(found->second, with_lineage);
  if (kept) touched_.insert(key);
  return kept;
}

void BoundCache::put(const std::string& key, const KeptModel& kept) {
  is_changed_ = true;
  std::string& bytes = made_[key] = encode(kept);
  entries_[key] = bytes;
  touched_.insert(key);
}

std::optional<Columns> BoundCache::columns(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  io::ByteReader in(found->second);
  Columns columns(in.count());
  for (duck::Column& column : columns) {
    column.name = in.text();
    column.type = in.text();
  }
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
  is_changed_ = true;
  std::string& bytes = made_[key] = out.take();
  entries_[key] = bytes;
  touched_.insert(key);
}

void BoundCache::keep_touched() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (touched_.contains(entry->first)) {
      ++entry;
      continue;
    }
    made_.erase(entry->first);
    entry = entries_.erase(entry);
    is_changed_ = true;
  }
  touched_.clear();
}

void BoundCache::save() {
  if (file_.empty() || !is_changed_) return;
  io::ByteWriter out;
  out.number(entries_.size());
  for (const auto& [key, value] : entries_) {
    out.text(key);
    out.text(value);
  }
  io::write_cache(file_, kFormat, out.take());
  is_changed_ = false;
}

}  // namespace weir::bind
