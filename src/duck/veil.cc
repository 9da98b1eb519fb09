#include "duck/veil.h"

#include <string_view>

namespace weir::duck {

Failure without_values(Failure failure) {
  const auto say = [&failure](std::string_view what) {
    failure.message = std::string(what) + " (the engine's words may hold values, which `samples` or `private` hides)";
  };
  switch (failure.type) {
    case FailureType::Conversion:
      say("a value cannot be converted");
      break;
    case FailureType::OutOfRange:
      say("a value is out of range");
      break;
    case FailureType::Constraint:
      say("a value violates a constraint");
      break;
    case FailureType::InvalidInput:
      say("a function refused a value, or a file is not what it is read as");
      break;
    default:
      break;
  }
  return failure;
}

}  // namespace weir::duck
