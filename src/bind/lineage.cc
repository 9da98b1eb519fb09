#include "bind/lineage.h"

namespace weir::bind {

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::Copy:
      return "copy";
    case ValueKind::Expression:
      return "expression";
    case ValueKind::Aggregate:
      return "aggregate";
    case ValueKind::Window:
      return "window";
  }
  return "";
}

std::string_view name_of(RowRole role) {
  switch (role) {
    case RowRole::Where:
      return "where";
    case RowRole::Join:
      return "join";
    case RowRole::Group:
      return "group";
    case RowRole::Order:
      return "order";
  }
  return "";
}

}  // namespace weir::bind
