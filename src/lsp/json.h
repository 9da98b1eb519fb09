// Between the protocol's objects and values of this folder.
#pragma once

#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "lsp/documents.h"
#include "lsp/positions.h"

namespace weir::lsp {

using Json = nlohmann::json;

inline Json json_of(Place place) { return {{"line", place.line}, {"character", place.character}}; }
inline Json json_of(const Range& range) { return {{"start", json_of(range.start)}, {"end", json_of(range.end)}}; }
/// Both throw nlohmann's exceptions for another shape: the server answers "invalid params".
inline Place place_of(const Json& json) {
  return {json.at("line").get<std::uint32_t>(), json.at("character").get<std::uint32_t>()};
}
inline Range range_of(const Json& json) { return {place_of(json.at("start")), place_of(json.at("end"))}; }

/// A diagnostic as editors show it: the hint stands below the message.
Json json_of(const Diagnostic& found, const Positions& positions);
Json text_edit(const Range& range, const std::string& text);
Json location(const std::string& uri, const Range& range);
/// Markdown for hover and documentation.
Json markdown(const std::string& text);

}  // namespace weir::lsp
