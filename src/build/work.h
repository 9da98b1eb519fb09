// One computation under way: what its passes share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/gate.h"
#include "build/layout.h"
#include "build/stage.h"

namespace weir::build {

struct Work {
  duck::Connection& connection;
  const StageRequest& request;
  /// The user's query, or a scan of the table that it was computed into.
  duck::Sql query;
  std::optional<duck::TableName> raw;
  /// ` WHERE …` behind the query as `result`: the rows of the slice's windows.
  duck::Sql where;
  /// Of windows: the column of the result that places rows in them.
  std::optional<duck::Column> time = {};
  std::string lost_prefix;
  /// No result has more rows; nothing where that is not known before it is computed.
  std::optional<std::int64_t> most_rows = {};
  /// Macros of the setup, by the places that a failure may name.
  MacroPlaces macros;

  /// Explains a failure of a statement that holds `sql` behind `before` bytes of ours; nothing: its position means
  /// nothing to the user.
  Failed failed(const duck::Failure& failure, const parse::Spliced& sql, std::optional<std::size_t> before) const;
  Diagnostic about(Code code, std::string message, std::string hint = {}) const;
  Diagnostic warning(Code code, std::string message) const;
  /// W4202 for `count` values of a column, the first column of `sample` showing some.
  Diagnostic lost_values(const Cell& cell, std::int64_t count, const duck::Rows& sample) const;
  /// ": a, b, c", or nothing where samples are switched off.
  std::string sample_text(const duck::Rows& sample) const;
  std::string one_value(const std::string& column, const std::string& value) const;
  bool may_show(const std::string& column) const;
  /// True if no message may hold a value whose column is not known.
  bool hides_values() const { return !request.samples || !request.private_columns.empty(); }
};

/// Runs the setup, each query in it behind the gate.
Result<void> run_setup(Work& work);

/// A statement of the model, for the gate.
Suspect suspect_of(const Model& model, const parse::Statement& statement);

/// Bytes of the longest statement of the model.
std::size_t longest_of(const StageRequest& request);

/// The columns of `stage` as a sample of rows may show them: values of private ones are veiled.
duck::Sql sample_columns(const Layout& layout, const StageRequest& request);

/// Warns of result columns that the user did not name.
Result<void> note_unnamed(Work& work, const std::vector<duck::Column>& result, Diagnostics& notes);

}  // namespace weir::build
