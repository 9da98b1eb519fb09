// Anything read or written, by URI: ducklake://<lake>/<schema>.<table>, datatable://<db>/<table>, s3:///<key>.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir {

enum class AssetKind { Lake, Datatable, Storage };

/// One asset. Names keep the user's case and compare without it.
struct Asset {
  AssetKind kind = AssetKind::Lake;
  /// Lake or database name as configured; empty for the default storage.
  std::string place;
  /// `main` where the URI names none.
  std::string schema;
  /// Table, or the key of a storage object.
  std::string name;

  /// The canonical URI, for example "ducklake://main/main.orders".
  std::string uri() const;
  /// uri() in lower case: the identity for comparison and for state.
  std::string key() const;
  friend bool operator==(const Asset& a, const Asset& b) { return a.key() == b.key(); }
};

/// Reads a URI. `ducklake` and `datatable` alone stand for the place `main` with no name. Nothing if it is no asset URI.
/// A lake path is `<lake>/<table>` or `<lake>/<schema>.<table>`; only the first dot separates.
std::optional<Asset> parse_asset(std::string_view uri);

}  // namespace weir
