// Column types as text, taken apart: which a lake can hold, what weir stores instead, and which changes lose nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::build {

/// A logical type. LIST and ARRAY have one child, MAP two, STRUCT and UNION one a field; other types none.
struct Type {
  /// "INTEGER", "DECIMAL", "LIST", "ARRAY", "MAP", "STRUCT", …
  std::string name;
  /// DECIMAL: precision and scale; ARRAY: size.
  std::vector<int> parameters;
  /// With the field's name in a STRUCT or UNION, empty elsewhere.
  struct Child;
  std::vector<Child> children;
  friend bool operator==(const Type&, const Type&) = default;
};

struct Type::Child {
  std::string field;
  Type type;
  friend bool operator==(const Child&, const Child&) = default;
};

/// Reads DuckDB's spelling. Text it cannot take apart becomes a type of that name without children.
Type parse_type(std::string_view text);
/// Writes it as duck::Column spells types.
std::string to_text(const Type& type);

/// Why a lake cannot hold a type, and the type that a cast should name; for the first offending part.
struct Refusal {
  std::string type;
  std::string reason;
  /// The whole column's type with the offending part replaced; empty if no cast helps.
  std::string cast_to;
};
std::optional<Refusal> refuse(const Type& type);

/// The type with every HUGEINT and UHUGEINT inside it replaced by DECIMAL(38,0), which a lake holds exactly.
Type without_huge(const Type& type);

/// True if `name` occurs anywhere in the type.
bool contains(const Type& type, std::string_view name);

/// True if a cast keeps every value apart and exact, so that it needs no proof at run time.
bool is_lossless_cast(const Type& from, const Type& to);

/// True if a plain CAST keeps every value exactly or raises an error (whole numbers to whole numbers and decimals).
bool is_exact_or_raises(const Type& from, const Type& to);

/// True if the type's minimum and maximum have one spelling however they were found.
bool has_bounds(const Type& type);

}  // namespace weir::build
