#include "bind/described_files.h"

#include "bind/plan_answer.h"
#include "io/file_identity.h"
#include "io/hash.h"

namespace weir::bind {
namespace {

/// Nothing if some name has none.
std::optional<std::string> identity_of(const FileCall& call, const std::string& root) {
  if (call.files.empty()) return std::nullopt;
  std::string all;
  for (const std::string& file : call.files) {
    const auto one = io::file_identity(root, file);
    if (!one) return std::nullopt;
    all += *one + '\n';
  }
  return all;
}

}  // namespace

DescribedFile describe_file(const FileCall& call, const std::string& root, BoundCache& cache,
                            const std::function<duck::Connection*()>& connection) {
  DescribedFile described;
  if (call.is_remote) {
    described.because = call.asset.substr(5) + " lies elsewhere, and checking reads no remote files";
    return described;
  }
  if (call.files.empty()) {
    described.because = "which file is read is known only when it runs";
    return described;
  }
  const auto identity = identity_of(call, root);
  std::string key;
  if (identity) {
    key = "file " + io::xxh3_hex(call.sql + '\n' + *identity);
    described.identity = key;
    if (auto known = cache.columns(key)) {
      described.columns = std::make_shared<Columns>(std::move(*known));
      return described;
    }
  }
  duck::Connection* engine = connection();
  if (engine == nullptr) {
    described.because = "DuckDB cannot be started";
    return described;
  }
  auto columns = engine->describe(duck::Sql("SELECT * FROM {}", duck::Sql::verbatim(call.sql)));
  if (!columns) {
    described.is_missing = columns.error().type == duck::FailureType::Io;
    described.because = first_line(columns.error().message);
    return described;
  }
  if (!key.empty()) cache.put_columns(key, *columns);
  described.columns = std::make_shared<Columns>(std::move(*columns));
  return described;
}

}  // namespace weir::bind
