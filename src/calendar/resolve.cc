// See resolve.h.
#include "calendar/resolve.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace weir::calendar {
namespace {

Diagnostic no_value(std::string message, std::string hint) {
  return {.code = Code::W0159, .message = std::move(message), .path = {}, .span = {}, .hint = std::move(hint)};
}

Result<std::vector<std::string>> keys_of(std::string_view path) {
  std::string_view rest = path;
  if (rest.starts_with('$')) rest.remove_prefix(1);
  if (rest.starts_with('.')) rest.remove_prefix(1);
  std::vector<std::string> keys;
  bool good = rest.find_first_of("[]*") == std::string_view::npos;
  for (std::size_t at = 0; good;) {
    const auto dot = rest.find('.', at);
    keys.emplace_back(rest.substr(at, dot == std::string_view::npos ? dot : dot - at));
    good = !keys.back().empty();
    if (dot == std::string_view::npos) break;
    at = dot + 1;
  }
  if (good) return keys;
  return fail({.code = Code::W0158,
               .message = fmt::format("unsupported path '{}'", path),
               .path = {},
               .span = {},
               .hint = "a key path is names with dots between them, for example $.customer.region"});
}

std::string skip_reason(const Partitioning& partitioning, const Slot& slot) {
  if (!is_outside(partitioning, slot)) return {};
  if (partitioning.start && slot.local_begin < *partitioning.start)
    return fmt::format("{} is before start={}", slot.identity, *partitioning.start);
  return fmt::format("{} is after end={}", slot.identity, *partitioning.end);
}

std::string skip_reason(const Partitioning& partitioning, Instant instant) {
  const std::string today = local_date_of(partitioning, instant);
  if (partitioning.start && today < *partitioning.start)
    return fmt::format("{} is before start={}", today, *partitioning.start);
  if (partitioning.end && today > *partitioning.end) return fmt::format("{} is after end={}", today, *partitioning.end);
  return {};
}

Result<PartitionChoice> choose_dynamic(const Partitioning& partitioning, const PartitionRequest& request) {
  PartitionChoice choice;
  choice.skipped = skip_reason(partitioning, request.at.value_or(request.now));
  if (!choice.skipped.empty()) return choice;
  if (request.value) {
    if (request.value->empty())
      return fail(no_value("the partition value is empty", "an empty value stands for the whole table"));
    choice.value = *request.value;
    return choice;
  }
  if (!request.payload)
    return fail(no_value("a dynamic partition needs a value",
                         fmt::format("give it with --partition, or a payload that holds {}", partitioning.key_path)));
  WEIR_TRY(choice.value, value_in_payload(partitioning.key_path, *request.payload));
  return choice;
}

}  // namespace

Result<std::string> value_in_payload(std::string_view path, std::string_view payload) {
  WEIR_TRY(const auto keys, keys_of(path));
  const auto document = nlohmann::json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return fail(no_value("the payload is not JSON", {}));
  const auto* here = &document;
  for (const auto& key : keys) {
    const auto found = here->is_object() ? here->find(key) : here->end();
    if (found == here->end())
      return fail(no_value(fmt::format("the payload has no '{}', which {} asks for", key, path), {}));
    here = &*found;
  }
  std::string value;
  if (here->is_string()) {
    value = here->get<std::string>();
  } else if (here->is_number() || here->is_boolean()) {
    value = here->dump();
  } else {
    return fail(no_value(
        fmt::format("the payload's {} is {}, not a text, number or truth value", path, here->type_name()), {}));
  }
  if (value.empty())
    return fail(no_value(fmt::format("the payload's {} is empty", path), "an empty value stands for the whole table"));
  return value;
}

Result<PartitionChoice> choose_partition(const Partitioning& partitioning, const PartitionRequest& request) {
  if (partitioning.kind == PartitionKind::Dynamic) return choose_dynamic(partitioning, request);
  PartitionChoice choice;
  const Instant instant = request.at.value_or(request.now);
  const std::string identity = request.value ? *request.value : identity_of(partitioning, instant);
  if (!request.value) choice.skipped = skip_reason(partitioning, instant);
  if (!choice.skipped.empty()) return choice;
  WEIR_TRY(auto slot, slot_named(partitioning, identity));
  choice.skipped = skip_reason(partitioning, slot);
  if (!choice.skipped.empty()) return choice;
  choice.value = identity;
  choice.slot = std::move(slot);
  return choice;
}

}  // namespace weir::calendar
