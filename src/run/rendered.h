// The statements of a step as they are run: references to where the data is for it, tokens and arguments filled in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parse/splice.h"
#include "run/step.h"

namespace weir::run {

struct Rendered {
  std::vector<parse::Spliced> setup;
  std::vector<parse::Spliced> test_setup;
  parse::Spliced query;
  /// Of a view: the query as the lake keeps it.
  std::string view_sql;
  std::optional<std::int64_t> largest_stage;
  /// Between which times the rows of inputs lie that this run computed by windows; nothing if there are none.
  std::optional<std::pair<std::string, std::string>> times;
};

/// The read transaction of a step. A step that reads no lake and runs one statement needs none: each costs as much as a
/// tenth of a small model.
using Reading = std::optional<duck::Transaction>;
Result<void> begin(Reading& reading, duck::Connection& connection);

/// Pins the lakes that the step reads and renders, see images.h; notes what is read. The transaction begins where there
/// is a lake to pin. Errors: W6031.
Result<Rendered> pin_and_render(Session& session, StepWork& work, duck::Connection& connection, Reading& reading);

/// Attaches the databases that the model reads, before its transaction begins.
Result<void> open_datatables(Session& session, StepWork& work);

/// Identities of the files that the model reads, before it reads them.
void note_files(const Session& session, StepWork& work);

}  // namespace weir::run
