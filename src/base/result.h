// Errors are values: a Result holds either a value or at least one Diagnostic.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "base/diagnostic.h"

namespace weir {

using Failed = tl::unexpected<Diagnostics>;

/// std::expected's names, must be looked at. The error payload is never empty.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Diagnostics> {
 public:
  using tl::expected<T, Diagnostics>::expected;
};

/// Makes the failing side of any Result from one diagnostic.
inline Failed fail(Diagnostic diagnostic) {
  Diagnostics all;
  all.push_back(std::move(diagnostic));
  return Failed(std::move(all));
}
/// Passes on the diagnostics of another Result. Requires: not empty.
inline Failed fail(Diagnostics diagnostics) { return Failed(std::move(diagnostics)); }

}  // namespace weir

/// Unwraps a Result into `lhs`, or returns its diagnostics from the calling function.
#define WEIR_CONCAT_INNER(a, b) a##b
#define WEIR_CONCAT(a, b) WEIR_CONCAT_INNER(a, b)
#define WEIR_TRY(lhs, expression)                                          \
  auto WEIR_CONCAT(tried_, __LINE__) = (expression);                       \
  if (!WEIR_CONCAT(tried_, __LINE__).has_value())                          \
    return ::weir::fail(std::move(WEIR_CONCAT(tried_, __LINE__)).error()); \
  lhs = std::move(*WEIR_CONCAT(tried_, __LINE__))
/// The same for a Result<void>.
#define WEIR_CHECK(expression) \
  if (auto tried = (expression); !tried.has_value()) return ::weir::fail(std::move(tried).error())
