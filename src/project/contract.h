// The contract on a model's output: `columns:` of the block header against the columns that its query has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "duck/database.h"
#include "project/model.h"

namespace weir {

/// The types of a model's contract in DuckDB's own spelling, one an entry of model.contract; nothing where the contract
/// names no type. `INT` and `INTEGER` come out alike.
/// Errors: W2404 a type that DuckDB does not know, at its line; W4001 DuckDB cannot answer.
Result<std::vector<std::optional<std::string>>> contract_types(duck::Connection& connection, const Model& model);

/// Compares the columns of a model's query with its contract; `types` as contract_types gives them. Names compare
/// without case.
/// Errors: W2401 a column is missing (with the nearest name), W2402 a column has another type, W2403 a column too many
/// under `columns_exact: true`. Each at its line of the contract, the last at the first one.
Diagnostics judge_contract(const Model& model, const std::vector<std::optional<std::string>>& types,
                           const std::vector<duck::Column>& columns);

/// The model's table as its header declares it: the columns of a contract that names every type (`types` as
/// contract_types gives them), then those that weir adds to a table of this plane and strategy. Nothing without such a
/// contract.
std::optional<std::vector<duck::Column>> declared_table(const Model& model,
                                                        const std::vector<std::optional<std::string>>& types);

/// Adds the columns that weir keeps in the model's table, unless they are among `columns`.
void add_kept_columns(const Model& model, std::vector<duck::Column>& columns);

/// contract_types and judge_contract in one; nothing for a model without contract.
Result<void> check_contract(duck::Connection& connection, const Model& model, const std::vector<duck::Column>& columns);

}  // namespace weir
