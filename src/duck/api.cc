#include "duck/api.h"

#include <dlfcn.h>

#include "io/installation.h"

namespace weir::duck {
namespace {

struct Loaded {
  Api api;
  std::string error;
};

template <class Function>
void take(void* library, const char* name, Function*& function, std::string& error) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) error = std::string("libduckdb.so has no ") + name;
}

Loaded load() {
  Loaded loaded;
  // Global, so that extensions share its symbols, as they do where a program is linked against it.
  void* library = dlopen(io::duckdb_library().c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    loaded.error = reason == nullptr ? "libduckdb.so cannot be loaded" : reason;
    return loaded;
  }
  Api& api = loaded.api;
#define WEIR_TAKE(name) take(library, "duckdb_" #name, api.name, loaded.error);
  WEIR_DUCKDB_FUNCTIONS(WEIR_TAKE)
#undef WEIR_TAKE
  if (loaded.error.empty() && std::string(api.library_version()) != WEIR_DUCKDB_VERSION)
    loaded.error = std::string("libduckdb.so is ") + api.library_version() + ", not " WEIR_DUCKDB_VERSION;
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

tl::expected<void, std::string> load_api() {
  if (!loaded().error.empty()) return tl::unexpected(loaded().error);
  return {};
}

const Api& api() { return loaded().api; }

}  // namespace weir::duck
