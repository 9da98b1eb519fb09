#include "duck/arrow.h"

#include <nanoarrow/nanoarrow_ipc.h>

#include <memory>

#include "duck/api.h"
#include "duck/failure.h"
#include "duck/type_text.h"

namespace weir::duck {
namespace {

/// A type as Arrow can hold it. `changes`: set if it is another than the column's.
std::string held_type(duckdb_logical_type type, bool& changes);

std::string held_child(duckdb_logical_type child, bool& changes) {
  std::string text = held_type(child, changes);
  api().destroy_logical_type(&child);
  return text;
}

std::string named(char* name, duckdb_logical_type child, bool& changes) {
  std::string text = quote_identifier(name) + " " + held_child(child, changes);
  api().free(name);
  return text;
}

std::string held_type(duckdb_logical_type type, bool& changes) {
  std::string members;
  switch (api().get_type_id(type)) {
    case DUCKDB_TYPE_LIST:
      return held_child(api().list_type_child_type(type), changes) + "[]";
    case DUCKDB_TYPE_ARRAY:
      return held_child(api().array_type_child_type(type), changes) + "[" +
             std::to_string(api().array_type_array_size(type)) + "]";
    case DUCKDB_TYPE_MAP:
      members = held_child(api().map_type_key_type(type), changes);
      return "MAP(" + members + ", " + held_child(api().map_type_value_type(type), changes) + ")";
    case DUCKDB_TYPE_STRUCT:
      for (idx_t i = 0; i < api().struct_type_child_count(type); ++i)
        members += (i == 0 ? "" : ", ") +
                   named(api().struct_type_child_name(type, i), api().struct_type_child_type(type, i), changes);
      return "STRUCT(" + members + ")";
    case DUCKDB_TYPE_UNION:
      for (idx_t i = 0; i < api().union_type_member_count(type); ++i)
        members += (i == 0 ? "" : ", ") +
                   named(api().union_type_member_name(type, i), api().union_type_member_type(type, i), changes);
      return "UNION(" + members + ")";
    // Whole numbers of 128 bits: a decimal without a scale. One of 39 digits fails in the cast, and says so.
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
      changes = true;
      return "DECIMAL(38,0)";
    // Arrow has no such type, or one that the writer cannot write; each reads as JSON has it.
    case DUCKDB_TYPE_ENUM:
    case DUCKDB_TYPE_UUID:
    case DUCKDB_TYPE_BIT:
    case DUCKDB_TYPE_TIME_TZ:
    case DUCKDB_TYPE_BIGNUM:
    case DUCKDB_TYPE_GEOMETRY:
    case DUCKDB_TYPE_VARIANT:
      changes = true;
      return "VARCHAR";
    default:
      return type_text(type);
  }
}

/// Frees what DuckDB, and what nanoarrow, gave out.
template <class Handle, void (*const Api::*Free)(Handle*)>
struct Held {
  Handle handle = nullptr;
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (handle != nullptr) (api().*Free)(&handle);
  }
};

template <class Arrow>
struct Released {
  Arrow value{};
  Released() = default;
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() { release(); }
  void release() {
    if (value.release != nullptr) value.release(&value);
  }
};

/// One statement whose columns are known, not run yet.
class Prepared {
 public:
  Prepared() = default;
  Prepared(Prepared&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Prepared& operator=(Prepared&&) = delete;
  ~Prepared() {
    if (statement_ != nullptr) api().destroy_prepare(&statement_);
  }
  static Outcome<Prepared> make(duckdb_connection connection, const Sql& query) {
    Prepared prepared;
    if (api().prepare(connection, query.text().c_str(), &prepared.statement_) == DuckDBError)
      return tl::unexpected(failure_from(api().prepare_error(prepared.statement_), FailureType::Other));
    return prepared;
  }
  duckdb_prepared_statement statement() const { return statement_; }
  idx_t size() const { return api().prepared_statement_column_count(statement_); }
  std::string name(idx_t column) const {
    const char* name = api().prepared_statement_column_name(statement_, column);
    std::string text = name;
    api().free(const_cast<char*>(name));
    return text;
  }
  duckdb_logical_type type(idx_t column) const {
    return api().prepared_statement_column_logical_type(statement_, column);
  }

 private:
  duckdb_prepared_statement statement_ = nullptr;
};

/// The same rows in types that Arrow has; nothing if they are.
std::optional<Sql> in_held_types(const Prepared& prepared, const Sql& query) {
  bool any_changes = false;
  std::vector<Sql> places;
  std::vector<Sql> columns;
  for (idx_t i = 0; i < prepared.size(); ++i) {
    bool changes = false;
    const std::string type = held_child(prepared.type(i), changes);
    // By place: two columns may have one name.
    const Identifier place("c" + std::to_string(i));
    const Identifier name(prepared.name(i));
    places.emplace_back("{}", place);
    columns.push_back(changes ? Sql("CAST({} AS {}) AS {}", place, Sql::verbatim(type), name)
                              : Sql("{} AS {}", place, name));
    any_changes = any_changes || changes;
  }
  if (!any_changes) return std::nullopt;
  return Sql("SELECT {} FROM ({}) AS rows({})", Sql::join(columns, ", "), query, Sql::join(places, ", "));
}

Outcome<void> checked(duckdb_error_data error) {
  Outcome<void> outcome;
  if (error != nullptr && api().error_data_has_error(error))
    outcome =
        tl::unexpected(failure_from(api().error_data_message(error), type_of(api().error_data_error_type(error))));
  if (error != nullptr) api().destroy_error_data(&error);
  return outcome;
}

Outcome<void> schema_of(duckdb_arrow_options options, const Prepared& prepared, ArrowSchema& schema) {
  std::vector<std::string> names;
  std::vector<const char*> texts;
  std::vector<duckdb_logical_type> types;
  for (idx_t i = 0; i < prepared.size(); ++i) {
    names.push_back(prepared.name(i));
    types.push_back(prepared.type(i));
  }
  for (const std::string& name : names) texts.push_back(name.c_str());
  auto done = checked(api().to_arrow_schema(options, types.data(), texts.data(), types.size(), &schema));
  for (duckdb_logical_type& type : types) api().destroy_logical_type(&type);
  return done;
}

/// nanoarrow's writer over a sink.
class Writer {
 public:
  Writer(ArrowForm form, const ByteSink& sink) : form_(form), sink_(sink) {
    ArrowArrayViewInitFromType(&view_, NANOARROW_TYPE_UNINITIALIZED);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    ArrowArrayViewReset(&view_);
    if (writer_.private_data != nullptr) ArrowIpcWriterReset(&writer_);
  }

  Outcome<void> begin(const ArrowSchema& schema) {
    ArrowIpcOutputStream stream{.write = &give, .release = &leave, .private_data = this};
    ArrowErrorCode code = ArrowIpcWriterInit(&writer_, &stream);
    if (code == NANOARROW_OK && form_ == ArrowForm::File) code = ArrowIpcWriterStartFile(&writer_, &error_);
    if (code == NANOARROW_OK) code = ArrowIpcWriterWriteSchema(&writer_, &schema, &error_);
    if (code == NANOARROW_OK) code = ArrowArrayViewInitFromSchema(&view_, &schema, &error_);
    return told(code);
  }
  Outcome<void> add(const ArrowArray& rows) {
    ArrowErrorCode code = ArrowArrayViewSetArray(&view_, &rows, &error_);
    if (code == NANOARROW_OK) code = ArrowIpcWriterWriteArrayView(&writer_, &view_, &error_);
    return told(code);
  }
  Outcome<void> end() {
    ArrowErrorCode code = ArrowIpcWriterWriteArrayView(&writer_, nullptr, &error_);
    if (code == NANOARROW_OK && form_ == ArrowForm::File) code = ArrowIpcWriterFinalizeFile(&writer_, &error_);
    return told(code);
  }

 private:
  static ArrowErrorCode give(ArrowIpcOutputStream* stream, const void* bytes, int64_t size, int64_t* written,
                             ArrowError* error) {
    const auto* self = static_cast<const Writer*>(stream->private_data);
    *written = size;
    if (self->sink_(std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size))))
      return NANOARROW_OK;
    ArrowErrorSet(error, "the rows cannot be written");
    return EIO;
  }
  static void leave(ArrowIpcOutputStream* stream) { stream->release = nullptr; }

  Outcome<void> told(ArrowErrorCode code) const {
    if (code == NANOARROW_OK) return {};
    return tl::unexpected(Failure{code == EIO ? FailureType::Io : FailureType::NotImplemented,
                                  code == ENOMEM ? "there is not enough memory" : error_.message, std::nullopt});
  }

  ArrowForm form_;
  const ByteSink& sink_;
  ArrowIpcWriter writer_{};
  ArrowArrayView view_{};
  ArrowError error_{};
};

/// Hands over the chunks of a result as they come.
Outcome<void> write_chunks(duckdb_arrow_options options, duckdb_result& result, Writer& writer) {
  while (true) {
    Held<duckdb_data_chunk, &Api::destroy_data_chunk> chunk;
    chunk.handle = api().fetch_chunk(result);
    if (chunk.handle == nullptr) break;
    if (api().data_chunk_get_size(chunk.handle) == 0) continue;
    Released<ArrowArray> rows;
    if (auto done = checked(api().data_chunk_to_arrow(options, chunk.handle, &rows.value)); !done) return done;
    if (auto done = writer.add(rows.value); !done) return done;
  }
  if (const char* error = api().result_error(&result); error != nullptr && *error != '\0')
    return tl::unexpected(failure_from(error, type_of(api().result_error_type(&result))));
  return {};
}

}  // namespace

Outcome<void> write_arrow(duckdb_connection connection, const Sql& query, ArrowForm form, const ByteSink& sink) {
  auto prepared = Prepared::make(connection, query);
  if (!prepared) return tl::unexpected(prepared.error());
  const std::optional<Sql> other = in_held_types(*prepared, query);
  auto again = other ? Prepared::make(connection, *other) : std::move(prepared);
  if (!again) return tl::unexpected(again.error());

  Held<duckdb_arrow_options, &Api::destroy_arrow_options> options;
  api().connection_get_arrow_options(connection, &options.handle);
  Released<ArrowSchema> schema;
  if (auto done = schema_of(options.handle, *again, schema.value); !done) return done;

  Held<duckdb_pending_result, &Api::destroy_pending> pending;
  if (api().pending_prepared_streaming(again->statement(), &pending.handle) == DuckDBError)
    return tl::unexpected(failure_from(api().pending_error(pending.handle), FailureType::Other));
  struct Result {
    duckdb_result value{};
    ~Result() { api().destroy_result(&value); }
  } result;
  if (api().execute_pending(pending.handle, &result.value) == DuckDBError)
    return tl::unexpected(
        failure_from(api().result_error(&result.value), type_of(api().result_error_type(&result.value))));

  Writer writer(form, sink);
  if (auto done = writer.begin(schema.value); !done) return done;
  if (auto done = write_chunks(options.handle, result.value, writer); !done) return done;
  return writer.end();
}

}  // namespace weir::duck
