// Where the value of one bound expression comes from.
#pragma once

#include <span>

#include "base/result.h"
#include "bind/plan_relation.h"

namespace weir::bind::plan {

/// What an expression gives: its origin, and, if it is nothing but a reference, the column it refers to.
struct Value {
  Origin origin;
  const Column* column = nullptr;
  std::optional<Element> type;
};

/// Follows `expression` to `columns`, the operator's input. Kinds are at least `floor`; a bare reference keeps its own.
/// The member `left_out` of the expression itself is not followed.
/// Errors: W2190 an expression that is not known, or a reference that leads nowhere.
Result<Value> evaluate(Element expression, std::span<const Column> columns, const Origins& origins, ValueKind floor,
                       std::string_view left_out = {});

/// Adds what `expression` refers to in the role to `rows`. References that are constants of the enclosing subquery are
/// left out if `but_outer` and the expression is nothing else.
Result<void> decide(Element expression, std::span<const Column> columns, const Origins& origins, RowRole role,
                    bool but_outer, Numbers& rows);

/// "The lineage of this query is not complete: …".
Diagnostic incomplete(std::string what);

}  // namespace weir::bind::plan
