#include "project/model.h"

namespace weir {

std::string_view name_of(Plane plane) {
  switch (plane) {
    case Plane::Managed:
      return "managed";
    case Plane::Manual:
      return "manual";
    case Plane::Virtual:
      return "virtual";
    case Plane::View:
      return "view";
    case Plane::Ephemeral:
      return "ephemeral";
    case Plane::Table:
      return "table";
    case Plane::File:
      return "file";
  }
  return "";
}

std::string_view name_of(Strategy strategy) {
  switch (strategy) {
    case Strategy::Replace:
      return "replace";
    case Strategy::Merge:
      return "merge";
    case Strategy::Append:
      return "append";
    case Strategy::History:
      return "history";
    case Strategy::FullMerge:
      return "full_merge";
    case Strategy::HashMerge:
      return "hash_merge";
    case Strategy::IncrementalByTime:
      return "incremental_by_time";
  }
  return "";
}

std::string_view name_of(Duplicates duplicates) {
  switch (duplicates) {
    case Duplicates::Keep:
      return "keep";
    case Duplicates::Fail:
      return "fail";
    case Duplicates::First:
      return "first";
    case Duplicates::Last:
      return "last";
  }
  return "";
}

std::string_view name_of(Deletes deletes) {
  switch (deletes) {
    case Deletes::Leave:
      return "";
    case Deletes::Close:
      return "close";
    case Deletes::Mark:
      return "mark";
  }
  return "";
}

std::string_view name_of(SchemaChange mode) {
  switch (mode) {
    case SchemaChange::Warn:
      return "warn";
    case SchemaChange::Ignore:
      return "ignore";
    case SchemaChange::Fail:
      return "fail";
    case SchemaChange::Sync:
      return "sync";
  }
  return "";
}

}  // namespace weir
