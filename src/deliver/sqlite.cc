// SQLite: one schema, types that are never altered, one writer at a time.
#include <fmt/format.h>

#include "deliver/target.h"

namespace weir::deliver {
namespace {

class SqliteTarget final : public Target {
 public:
  using Target::Target;

  build::Holder holder() const override { return build::Holder::Sqlite; }

  // A transaction takes the right to write with its first write; had it read before, it would fail instead of waiting.
  // A table made and dropped is a write that changes nothing.
  Result<void> hold(duck::Connection& writer, const lake::TableState& /*state*/, Strategy /*strategy*/) override {
    const duck::TableName name = outlet_.table("main", "weir_hold");
    auto held = writer.execute(duck::Sql("CREATE TABLE {} (held BIGINT)", name));
    if (held) held = writer.execute(duck::Sql("DROP TABLE {}", name));
    if (held) return {};
    return fail(refused(Code::W6503,
                        fmt::format("database {} ({}) cannot be locked for writing", asset_.place, outlet_.shown),
                        held.error(), "run it again when the other writer is done"));
  }

 protected:
  // It has the schema main and cannot make others; the name of another one is refused where the project is read.
  Result<void> make_schema(duck::Connection& /*writer*/) override { return {}; }
};

}  // namespace

std::unique_ptr<Target> sqlite_target(const lake::Outlet& outlet, const Model& model, bool shows_values) {
  return std::make_unique<SqliteTarget>(outlet, model, shows_values);
}

}  // namespace weir::deliver
