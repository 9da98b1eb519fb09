#include "lake/postgres.h"

#include <libpq-fe.h>

namespace weir::lake {
namespace {

std::string reason_of(const PGconn* connection) {
  std::string reason = connection == nullptr ? "out of memory" : PQerrorMessage(connection);
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == ' ')) reason.pop_back();
  return reason;
}

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};

}  // namespace

void PostgresSession::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

tl::expected<PostgresSession, std::string> PostgresSession::open(const std::string& target, const std::string& schema) {
  PostgresSession session;
  session.connection_.reset(PQconnectdb(target.c_str()));
  if (PQstatus(session.connection_.get()) != CONNECTION_OK) return tl::unexpected(reason_of(session.connection_.get()));
  if (schema.empty()) return session;
  const auto set = session.ask(("SET search_path = " + session.quoted(schema)).c_str());
  if (!set) return tl::unexpected(set.error());
  return session;
}

std::string PostgresSession::quoted(const std::string& name) {
  const std::unique_ptr<char, void (*)(void*)> text(PQescapeIdentifier(connection_.get(), name.c_str(), name.size()),
                                                    PQfreemem);
  return text == nullptr ? std::string() : std::string(text.get());
}

tl::expected<std::optional<std::string>, std::string> PostgresSession::ask(const char* fixed_sql) {
  const std::unique_ptr<PGresult, Clear> result(PQexec(connection_.get(), fixed_sql));
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return tl::unexpected(reason_of(connection_.get()));
  if (PQntuples(result.get()) == 0 || PQgetisnull(result.get(), 0, 0) != 0) return std::optional<std::string>();
  return std::optional<std::string>(PQgetvalue(result.get(), 0, 0));
}

tl::expected<std::vector<std::vector<std::optional<std::string>>>, std::string> PostgresSession::rows(
    const char* fixed_sql) {
  const std::unique_ptr<PGresult, Clear> result(PQexec(connection_.get(), fixed_sql));
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return tl::unexpected(reason_of(connection_.get()));
  std::vector<std::vector<std::optional<std::string>>> rows(static_cast<std::size_t>(PQntuples(result.get())));
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      const int at = static_cast<int>(row);
      rows[row].push_back(PQgetisnull(result.get(), at, column) != 0
                              ? std::nullopt
                              : std::optional<std::string>(PQgetvalue(result.get(), at, column)));
    }
  return rows;
}

bool PostgresSession::is_alive() { return PQstatus(connection_.get()) == CONNECTION_OK && ask("SELECT 1").has_value(); }

}  // namespace weir::lake
