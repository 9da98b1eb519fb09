#include "bind/breach.h"

#include <fmt/format.h>

#include <algorithm>

#include "project/piece.h"
#include "text/suggest.h"

namespace weir::bind {
namespace {

constexpr std::size_t kNamesInHint = 8;

}  // namespace

std::string columns_as_known(KnownAssets& known, const Asset& asset, const Columns& columns) {
  const auto list = [](const Columns& of) {
    std::string names;
    for (const duck::Column& column : of) names += (names.empty() ? "" : ", ") + column.name;
    return names;
  };
  if (const KnownSchema* last = known.captured(asset); last != nullptr && last->version)
    return fmt::format("version {}, captured {}, has {}", *last->version, last->captured, list(last->columns));
  const std::string names = list(columns);
  const Model* producer = known.graph().producer(asset);
  if (producer != nullptr) return fmt::format("{} returns {}", producer->source->path, names);
  return fmt::format("the lake has {}", names);
}

void report_breach(ModelBinding& binding, KnownAssets& known, const Asset& asset, Diagnostic breach) {
  const Model* producer = known.graph().producer(asset);
  if (producer != nullptr && producer->on_schema_change == SchemaChange::Ignore) {
    const std::string message = fmt::format(
        "{} may change its columns at any time (on_schema_change=ignore), so what is missing is not warned about",
        asset.uri());
    const bool is_said = std::any_of(binding.found.begin(), binding.found.end(), [&](const Diagnostic& one) {
      return one.code == Code::W2114 && one.message == message;
    });
    if (is_said || breach.code == Code::W2115) return;
    binding.found.push_back({Code::W2114, Severity::Hint, message, breach.path, breach.span, {}});
    return;
  }
  breach.severity = known.project().config.contracts_are_errors ? Severity::Error : Severity::Warning;
  binding.found.push_back(std::move(breach));
}

void suggest(Diagnostic& diagnostic, std::string_view name, const std::vector<std::string>& known, Span span) {
  if (const auto near = text::nearest(name, known)) {
    diagnostic.hint = fmt::format("did you mean `{}`?", *near);
    const bool is_plain = std::all_of(near->begin(), near->end(), is_name_char);
    diagnostic.fix = Fix{span, is_plain ? *near : duck::quote_identifier(*near)};
    return;
  }
  if (known.empty()) return;
  for (std::size_t i = 0; i < known.size() && i < kNamesInHint; ++i)
    diagnostic.hint += (i == 0 ? "there are " : ", ") + known[i];
  if (known.size() > kNamesInHint) diagnostic.hint += ", …";
}

std::vector<std::string> names_of(const Columns& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const duck::Column& column : columns) names.push_back(column.name);
  return names;
}

}  // namespace weir::bind
