#include "project/asset.h"

#include "text/lexer.h"
namespace weir {
namespace {

std::string_view scheme_of(AssetKind kind) { return kind == AssetKind::Lake ? "ducklake" : "datatable"; }

/// `<place>[/[<schema>.]<table>]`; a place is needed, a table is not.
std::optional<Asset> table_asset(AssetKind kind, std::string_view rest) {
  const auto slash = rest.find('/');
  Asset found{kind, std::string(rest.substr(0, slash)), "main", {}};
  if (found.place.empty()) return std::nullopt;
  if (slash == std::string_view::npos) return found;
  const auto table = rest.substr(slash + 1);
  const auto dot = table.find('.');
  // A dot at either end separates nothing: it is part of an odd name.
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == table.size()) {
    found.name = table;
  } else {
    found.schema = table.substr(0, dot);
    found.name = table.substr(dot + 1);
  }
  return found;
}

/// `s3:///key` is in the default storage, as is a lone `s3://key`; `s3://place/key` names its storage or bucket.
std::optional<Asset> storage_asset(std::string_view rest) {
  const bool is_default = rest.starts_with('/');
  while (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  const auto slash = is_default ? std::string_view::npos : rest.find('/');
  if (slash == std::string_view::npos) return Asset{AssetKind::Storage, {}, {}, std::string(rest)};
  auto key = rest.substr(slash + 1);
  while (key.starts_with('/')) key.remove_prefix(1);
  if (key.empty()) return std::nullopt;
  return Asset{AssetKind::Storage, std::string(rest.substr(0, slash)), {}, std::string(key)};
}

}  // namespace

std::string Asset::uri() const {
  switch (kind) {
    case AssetKind::Storage:
      return place.empty() ? "s3:///" + name : "s3://" + place + '/' + name;
    case AssetKind::Other:
      return place + "://" + name;
    case AssetKind::Lake:
    case AssetKind::Datatable:
      break;
  }
  std::string uri = std::string(scheme_of(kind)) + "://" + place;
  if (!name.empty()) uri += '/' + schema + '.' + name;
  return uri;
}

std::string Asset::key() const { return text::lower(uri()); }

std::optional<Asset> parse_asset(std::string_view uri) {
  if (uri == "ducklake") return Asset{AssetKind::Lake, "main", "main", {}};
  if (uri == "datatable") return Asset{AssetKind::Datatable, "main", "main", {}};
  if (uri.starts_with("$res:")) {
    const auto name = uri.substr(5);
    if (name.empty()) return std::nullopt;
    return Asset{AssetKind::Other, "res", {}, std::string(name)};
  }
  const auto colon = uri.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  const auto scheme = uri.substr(0, colon);
  const auto rest = uri.substr(colon + 3);
  if (scheme == "ducklake") return table_asset(AssetKind::Lake, rest);
  if (scheme == "datatable") return table_asset(AssetKind::Datatable, rest);
  if (scheme == "s3") return storage_asset(rest);
  if ((scheme == "res" || scheme == "volume" || scheme == "dbt" || scheme == "file") && !rest.empty())
    return Asset{AssetKind::Other, std::string(scheme), {}, std::string(rest)};
  return std::nullopt;
}

}  // namespace weir
