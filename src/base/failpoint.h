// Named places where a test can kill, stop or fail the process, so that every edge of the protocol can be crashed on
// purpose. WEIR_FAILPOINT="name=exit[,name=stop][,name=error][,name=sleep:MS]": exit is SIGKILL to itself, stop is
// SIGSTOP, error makes the caller behave as if the step before it had failed, sleep waits. A name may carry a count:
// "name@3=exit" acts on the third pass, "name@*=stop" on each.
#pragma once

#include <string_view>

namespace weir {

/// Acts if `name` is armed. Returns true if the caller shall fail here. Costs one branch when nothing is armed.
/// Threads: safe.
bool failpoint(std::string_view name);

}  // namespace weir
