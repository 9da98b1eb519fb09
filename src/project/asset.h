// Anything read or written, by URI: ducklake://<lake>/<schema>.<table>, datatable://<db>/<table>, s3:///<key>.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir {

/// Other is a thing that weir only names in its graph: res://, volume://, dbt://, and file://, which `file` models
/// write.
enum class AssetKind { Lake, Datatable, Storage, Other };

/// One asset. Names keep the user's case and compare without it.
struct Asset {
  AssetKind kind = AssetKind::Lake;
  /// Lake or database name as configured; storage or bucket, empty for the default storage; the scheme of Other.
  std::string place;
  /// `main` where the URI names none; empty for what is no table.
  std::string schema;
  /// Table, or the key of a storage object; empty if the URI names a lake or database alone.
  std::string name;

  /// The canonical URI, for example "ducklake://main/main.orders".
  std::string uri() const;
  /// uri() in lower case: the identity for comparison and for state.
  std::string key() const;
  friend bool operator==(const Asset& a, const Asset& b) { return a.key() == b.key(); }
};

/// Reads a URI. `ducklake` and `datatable` alone stand for the place `main` with no name. Nothing if it is no asset
/// URI. A lake path is `<lake>/<table>` or `<lake>/<schema>.<table>`; only the first dot separates.
std::optional<Asset> parse_asset(std::string_view uri);

}  // namespace weir
