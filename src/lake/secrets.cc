#include "lake/secrets.h"

#include <fmt/format.h>

#include "lake/extensions.h"
#include "lake/lakes.h"

namespace weir::lake {
namespace {

using duck::Identifier;
using duck::Literal;
using duck::Sql;

/// `type` of the secret, or its name where it gives none ("s3", "postgres").
std::string type_of(const std::string& name, const std::map<std::string, std::string>& options) {
  const auto given = options.find("type");
  return given == options.end() ? name : given->second;
}

}  // namespace

Result<void> create_secrets(duck::Connection& connection, const Config& config, duck::Database& database,
                            const std::string& extension_folder) {
  for (const auto& [name, options] : config.secrets) {
    const std::string type = type_of(name, options);
    const bool postgres = type == "postgres";
    WEIR_CHECK(load_extensions(database, extension_folder, {postgres ? "postgres_scanner" : "httpfs"}));
    std::vector<Sql> parts{Sql("TYPE {}", Identifier(type))};
    for (const auto& [key, value] : options)
      if (key != "type") parts.push_back(Sql("{} {}", Identifier(key), Literal(value)));
    // DuckDB applies the PostgreSQL secret of this name to every connection string that leaves something out.
    const std::string known_as = postgres ? "__default_postgres" : reserved_name("_weir_s_", name);
    if (auto done = connection.execute(Sql("CREATE SECRET {} ({})", Identifier(known_as), Sql::join(parts, ", ")));
        !done)
      return fail(
          Diagnostic{.code = Code::W6001,
                     // DuckDB's message may quote the statement, and with it the value.
                     .message = fmt::format("the secret {} is not one that DuckDB takes as type {}", name, type),
                     .path = {},
                     .span = {},
                     .hint = "check its keys against DuckDB's documentation of that secret type"});
  }
  return {};
}

}  // namespace weir::lake
