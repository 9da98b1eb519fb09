#include "duck/failure.h"

#include <nlohmann/json.hpp>

#include "duck/file_guard.h"

namespace weir::duck {

FailureType type_of(duckdb_error_type type) {
  switch (type) {
    case DUCKDB_ERROR_PARSER:
    case DUCKDB_ERROR_SYNTAX:
      return FailureType::Parser;
    case DUCKDB_ERROR_BINDER:
    case DUCKDB_ERROR_PARAMETER_NOT_RESOLVED:
    case DUCKDB_ERROR_PARAMETER_NOT_ALLOWED:
      return FailureType::Binder;
    case DUCKDB_ERROR_CATALOG:
      return FailureType::Catalog;
    case DUCKDB_ERROR_CONVERSION:
    case DUCKDB_ERROR_MISMATCH_TYPE:
      return FailureType::Conversion;
    case DUCKDB_ERROR_OUT_OF_RANGE:
      return FailureType::OutOfRange;
    case DUCKDB_ERROR_CONSTRAINT:
      return FailureType::Constraint;
    case DUCKDB_ERROR_OUT_OF_MEMORY:
      return FailureType::OutOfMemory;
    case DUCKDB_ERROR_INTERRUPT:
      return FailureType::Interrupt;
    case DUCKDB_ERROR_IO:
    case DUCKDB_ERROR_HTTP:
      return FailureType::Io;
    case DUCKDB_ERROR_PERMISSION:
      return FailureType::Permission;
    case DUCKDB_ERROR_TRANSACTION:
      return FailureType::Transaction;
    case DUCKDB_ERROR_INVALID_INPUT:
      return FailureType::InvalidInput;
    case DUCKDB_ERROR_NOT_IMPLEMENTED:
      return FailureType::NotImplemented;
    case DUCKDB_ERROR_INTERNAL:
      return FailureType::Internal;
    case DUCKDB_ERROR_FATAL:
      return FailureType::Fatal;
    default:
      return FailureType::Other;
  }
}

namespace {

FailureType type_named(const std::string& name) {
  if (name == "Parser" || name == "Syntax") return FailureType::Parser;
  if (name == "Binder") return FailureType::Binder;
  if (name == "Catalog") return FailureType::Catalog;
  if (name == "Conversion" || name == "Mismatch Type") return FailureType::Conversion;
  if (name == "Out of Range") return FailureType::OutOfRange;
  if (name == "Constraint") return FailureType::Constraint;
  if (name == "Out of Memory") return FailureType::OutOfMemory;
  if (name == "INTERRUPT") return FailureType::Interrupt;
  if (name == "IO" || name == "HTTP") return FailureType::Io;
  if (name == "Permission") return FailureType::Permission;
  if (name == "TransactionContext") return FailureType::Transaction;
  if (name == "Invalid Input") return FailureType::InvalidInput;
  if (name == "Not implemented") return FailureType::NotImplemented;
  if (name == "INTERNAL") return FailureType::Internal;
  if (name == "FATAL") return FailureType::Fatal;
  return FailureType::Other;
}

}  // namespace

// Connections have errors_as_json on, so a message is a JSON object, sometimes behind a prefix such as "Binder Error:
// ".
Failure failure_from(const char* raw, FailureType type) {
  Failure failure;
  failure.type = type;
  failure.message = raw == nullptr ? "unknown error" : raw;
  const std::string objection = take_objection();
  const auto brace = failure.message.find('{');
  if (brace == std::string::npos || brace > 40) return failure;
  const auto parsed = nlohmann::json::parse(failure.message.begin() + static_cast<std::ptrdiff_t>(brace),
                                            failure.message.end(), nullptr, false);
  if (!parsed.is_object()) return failure;
  if (const auto kind = parsed.find("exception_type");
      kind != parsed.end() && kind->is_string() && type == FailureType::Other)
    failure.type = type_named(kind->get<std::string>());
  if (const auto position = parsed.find("position"); position != parsed.end()) {
    if (position->is_string()) failure.position = static_cast<std::uint32_t>(std::stoul(position->get<std::string>()));
    if (position->is_number_unsigned()) failure.position = position->get<std::uint32_t>();
  }
  if (const auto message = parsed.find("exception_message"); message != parsed.end() && message->is_string())
    failure.message = message->get<std::string>();
  if (!objection.empty()) {
    failure.type = FailureType::Refused;
    failure.message = objection;
  }
  return failure;
}

}  // namespace weir::duck
