#include "deliver/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/failpoint.h"
#include "io/files.h"
#include "io/hash.h"
#include "lake/lakes.h"
#include "project/gate.h"

namespace weir::deliver {
namespace {

namespace fs = std::filesystem;

Diagnostic problem(const Model& model, Code code, std::string message, std::string hint = {}) {
  Diagnostic found{.code = code, .message = std::move(message)};
  found.path = model.source == nullptr ? model.path : model.source->path;
  found.span = model.target_span;
  found.hint = std::move(hint);
  return found;
}

Failed not_written(const Model& model, const std::string& path, std::string_view reason) {
  return fail(problem(model, Code::W6511, fmt::format("{} cannot be written: {}", path, reason)));
}

duck::Sql options_of(const std::string& format) {
  if (format == "csv") return {"FORMAT csv, HEADER true"};
  if (format == "json") return {"FORMAT json"};  // one object a line
  return {"FORMAT parquet"};
}

Result<void> copy_to(duck::Connection& connection, const FileRequest& request, const std::string& place,
                     const std::string& path) {
  std::vector<std::string> names;
  for (const lake::ColumnState& column : request.stage.columns) names.push_back(column.name);
  const auto done = connection.execute(duck::Sql("COPY (SELECT {} FROM {}) TO {} ({})", duck::Sql::names(names),
                                                 request.stage.relation, duck::Literal(place),
                                                 options_of(request.model.file_format)));
  if (done) return {};
  Diagnostic found = lake::explain(Code::W6511, path + " cannot be written", done.error());
  return fail(problem(request.model, Code::W6511, std::move(found.message), std::move(found.hint)));
}

/// To the disk, so that the rename never shows less than was written.
bool flush(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = ::fsync(file) == 0;
  ::close(file);
  return done;
}

struct Removed {
  fs::path file;
  ~Removed() {
    std::error_code ignored;  // what stays is in nobody's way
    fs::remove(file, ignored);
  }
};

void remove_unfinished(const fs::path& file) {
  const std::string prefix = "." + file.filename().string() + ".weir-";
  std::error_code error;
  for (fs::directory_iterator entry(file.parent_path(), error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;  // what stays is in nobody's way
    if (entry->path().filename().string().starts_with(prefix)) fs::remove(entry->path(), ignored);
  }
}

Result<Delivered> put_here(duck::Connection& connection, const FileRequest& request, const fs::path& file) {
  const Model& model = request.model;
  if (auto made = io::make_folder(file.parent_path().string()); !made)
    return not_written(model, file.string(), made.error().front().message);
  // A link on the way, or a partition's value, may lead elsewhere than the header says.
  if (const auto reason = refuses_writing(request.config, file.string()))
    return fail(problem(model, Code::W6510, fmt::format("the file {} cannot be written: {}", file.string(), *reason),
                        "write inside the project, or add the folder to `allow_paths:` in weir.yaml"));
  std::error_code error;
  if (fs::is_directory(file, error)) return not_written(model, file.string(), "there is a folder of that name");
  remove_unfinished(file);
  const fs::path unfinished = file.parent_path() / fmt::format(".{}.weir-{}", file.filename().string(), request.run);
  auto done = copy_to(connection, request, unfinished.string(), file.string());
  if (done && !flush(unfinished.string(), O_RDONLY)) done = not_written(model, file.string(), std::strerror(errno));
  if (done) done = request.check_fence();
  failpoint("before_rename");
  if (done && ::rename(unfinished.c_str(), file.c_str()) != 0)
    done = not_written(model, file.string(), std::strerror(errno));
  if (!done) {
    fs::remove(unfinished, error);
    return fail(std::move(done).error());
  }
  (void)flush(file.parent_path().string(), O_RDONLY | O_DIRECTORY);
  failpoint("after_rename");
  const auto bytes = fs::file_size(file, error);
  return Delivered{file.string(), error ? 0 : static_cast<std::int64_t>(bytes)};
}

/// Into an object storage. A COPY there that fails in the middle, or is interrupted, leaves what it wrote so far in
/// place of the object that was there: the engine completes an upload whenever it closes a file (measured on 1.5.5). So
/// the file is finished here first, and goes up as one value, between the parts of which nothing can fail but the
/// storage.
Result<Delivered> put_there(duck::Connection& connection, const FileRequest& request, const std::string& place) {
  const Model& model = request.model;
  if (auto made = io::make_folder(request.config.temp_folder); !made)
    return not_written(model, request.config.temp_folder, made.error().front().message);
  const fs::path finished = fs::path(request.config.temp_folder) /
                            fmt::format("weir-{}-{}", request.run, io::xxh3_hex(model.path + '\n' + place));
  const Removed removed{finished};
  WEIR_CHECK(copy_to(connection, request, finished.string(), place));
  std::error_code error;
  const auto bytes = fs::file_size(finished, error);
  if (error) return not_written(model, finished.string(), error.message());
  WEIR_CHECK(request.check_fence());
  failpoint("before_upload");
  const auto done = connection.execute(duck::Sql("COPY (SELECT content FROM read_blob({})) TO {} (FORMAT blob)",
                                                 duck::Literal(finished.string()), duck::Literal(place)));
  if (!done) return not_written(model, place, lake::explain(Code::W6511, "uploading it", done.error()).message);
  return Delivered{place, static_cast<std::int64_t>(bytes)};
}

}  // namespace

Result<Delivered> put_file(duck::Connection& connection, const FileRequest& request) {
  const std::string filled = filled_path(request.model.file_path, request.values);
  const std::string path = storage_path(request.config, filled).value_or(filled);
  if (path.find("://") != std::string::npos) return put_there(connection, request, path);
  return put_here(connection, request, (fs::path(request.config.root) / path).lexically_normal());
}

}  // namespace weir::deliver
