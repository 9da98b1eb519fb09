// What weir says about bad input or failed work: a stable code, a severity, words, and a place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"

namespace weir {

/// Stable identities of everything weir can complain about. Never renumbered, never reused.
enum class Code {
#define WEIR_CODE(id, title, explanation) id,
#include "base/codes.def"
#undef WEIR_CODE
};

/// Returns the code as users see it, for example "W0107".
std::string_view name_of(Code code);
/// Returns a few words that title the code, and a paragraph that explains cause and cure (`weir explain`).
std::string_view title_of(Code code);
std::string_view explanation_of(Code code);
/// Every code, in the order of the table.
const std::vector<Code>& all_codes();

enum class Severity { Error, Warning, Hint };

/// Returns "error", "warning" or "hint".
std::string_view name_of(Severity severity);

/// One replacement that does what a hint says: an editor applies it.
struct Fix {
  /// Bytes of the diagnostic's file; empty to insert at `begin`.
  Span span;
  std::string replacement;
  friend bool operator==(const Fix&, const Fix&) = default;
};

struct Diagnostic {
  Code code;
  Severity severity = Severity::Error;
  /// What is wrong, in the user's words; one sentence, no trailing full stop.
  std::string message;
  /// Path of the file it is about, relative to the project where it lies inside; empty if it is about none.
  std::string path = {};
  /// Bytes of that file; empty when the whole file is meant.
  Span span = {};
  /// What to type or do about it; may be empty.
  std::string hint = {};
  /// What the hint says as an edit, wherever it is one: every nearest name is.
  std::optional<Fix> fix = {};
};

using Diagnostics = std::vector<Diagnostic>;

/// True if any of them is an error.
bool has_errors(const Diagnostics& diagnostics);

}  // namespace weir
