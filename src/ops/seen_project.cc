#include "ops/seen_project.h"

#include <algorithm>

#include "bind/known_assets.h"
#include "io/bytes.h"
#include "io/cache_file.h"
#include "io/hash.h"

namespace weir::ops {
namespace {

// Counted up whenever what is kept, or what checking says, changes.
constexpr std::string_view kFormat = "weir clean 2\n";

std::string encode(const SeenModel& model) {
  io::ByteWriter out;
  out.text(model.header);
  out.text(model.tables);
  out.texts(model.reads);
  out.texts(model.tests);
  out.number(model.columns.size());
  for (const duck::Column& column : model.columns) {
    out.text(column.name);
    out.text(column.type);
  }
  return out.take();
}

SeenModel decode(std::vector<std::string> names, std::string_view bytes) {
  io::ByteReader in(bytes);
  SeenModel model;
  model.header = in.text();
  model.tables = in.text();
  model.reads = in.texts();
  model.names = std::move(names);
  model.tests = in.texts();
  model.columns.resize(in.count());
  for (duck::Column& column : model.columns) {
    column.name = in.text();
    column.type = in.text();
  }
  return model;
}

void write(io::ByteWriter& out, const SeenFile& file) {
  out.text(file.path);
  out.number(file.state.size);
  out.number(static_cast<std::uint64_t>(file.state.modified_ns));
  out.number(file.state.inode);
  out.text(file.hash);
}

SeenFile read_file(io::ByteReader& in) {
  SeenFile file;
  file.path = in.text();
  file.state.size = in.number();
  file.state.modified_ns = static_cast<std::int64_t>(in.number());
  file.state.inode = in.number();
  file.hash = in.text();
  return file;
}

/// The text without its statements.
std::string header_of(const Model& model) {
  const std::string& text = model.source->text;
  std::string rest;
  std::size_t at = 0;
  for (const parse::Statement& statement : model.script.statements) {
    rest.append(text, at, statement.span.begin - at);
    at = statement.span.end;
  }
  rest.append(text, at);
  return io::xxh3_hex(rest);
}

std::string tables_of(const Model& model) {
  std::set<std::vector<std::string>> names;
  for (const parse::Statement& statement : model.script.statements)
    for (const parse::TableReference& table : statement.tables) names.insert(table.parts);
  io::ByteWriter out;
  for (const std::vector<std::string>& name : names) out.texts(name);
  return io::xxh3_hex(out.take());
}

}  // namespace

std::optional<SeenProject> SeenProject::read(const std::string& file) {
  const auto body = io::read_cache(file, kFormat);
  if (!body) return std::nullopt;
  io::ByteReader in(*body);
  SeenProject seen;
  seen.surroundings = in.text();
  seen.models = in.number();
  seen.sources = in.texts();
  seen.columns = in.text();
  seen.libraries = in.texts();
  seen.files.reserve(in.count());
  const std::size_t count = seen.files.capacity();
  for (std::size_t i = 0; i < count && in.good(); ++i) seen.files.push_back(read_file(in));
  seen.bytes_ = in.text();
  if (!in.good() || !in.done()) return std::nullopt;
  return seen;
}

void SeenProject::write(const std::string& file) const {
  io::ByteWriter out;
  out.text(surroundings);
  out.number(models);
  out.texts(sources);
  out.text(columns);
  out.texts(libraries);
  out.number(files.size());
  for (const SeenFile& one : files) ops::write(out, one);
  out.text(bytes_);
  io::write_cache(file, kFormat, out.take());
}

void SeenProject::add(const std::string& file, const SeenModel& model) {
  io::ByteWriter out;
  out.text(file);
  out.texts(model.names);
  out.text(encode(model));
  bytes_ += out.take();
}

std::optional<SeenModel> SeenProject::model_of(std::string_view file) const {
  io::ByteReader in(bytes_);
  while (in.good() && !in.done()) {
    const std::string_view path = in.view();
    std::vector<std::string> names = in.texts();
    const std::string_view bytes = in.view();
    if (in.good() && path == file) return decode(std::move(names), bytes);
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, SeenModel>> SeenProject::makers_of(const std::set<std::string>& names) const {
  std::vector<std::pair<std::string, SeenModel>> makers;
  io::ByteReader in(bytes_);
  while (in.good() && !in.done()) {
    const std::string_view path = in.view();
    std::vector<std::string> own = in.texts();
    const std::string_view bytes = in.view();
    const bool is_maker =
        std::any_of(own.begin(), own.end(), [&names](const std::string& name) { return names.contains(name); });
    if (in.good() && is_maker) makers.emplace_back(path, decode(std::move(own), bytes));
  }
  return makers;
}

SeenModel seen_model(const Model& model, const Project& project, const std::vector<bind::BoundColumn>& columns) {
  SeenModel seen{.header = header_of(model), .tables = tables_of(model), .reads = {}, .names = {}, .tests = {}};
  std::set<std::string> reads;
  for (const Asset& asset : inputs_of(model)) reads.insert(asset.key());
  for (const DeclaredLineage& line : model.lineage)
    for (const auto& [asset, column] : line.sources) reads.insert(asset.key());
  seen.reads.assign(reads.begin(), reads.end());
  for (const Asset& asset : bind::readable_assets(model)) seen.names.push_back(asset.key());
  for (const Test& declared : model.tests) {
    if (declared.kind != TestKind::Custom) continue;
    for (const CustomTest& test : project.custom_tests)
      if (test.path == declared.text) seen.tests.push_back(test.source->path);
  }
  seen.columns = *bind::table_of(model, columns);
  return seen;
}

}  // namespace weir::ops
