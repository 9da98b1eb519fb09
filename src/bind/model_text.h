// A model's statements as binding sends them: references lead to stand-ins, readers of files too, nothing of the lake
// is left. Positions lead back to the user's file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parse/splice.h"
#include "project/model.h"
#include "project/setup.h"

namespace weir::bind {

/// A call in a FROM clause that reads files: `read_csv('orders.csv', header = true)`, or a file name as a table.
struct FileCall {
  /// The whole call, parentheses included.
  Span span;
  /// As it would be sent, arguments filled in and the partition as `*`.
  std::string sql;
  /// What the file's columns may be qualified by where the user gave no alias; empty if they did.
  std::string alias;
  /// Names and globs, where constant.
  std::vector<std::string> files;
  bool is_remote = false;
  /// "file:orders.csv": the asset in lineage.
  std::string asset;
};

/// Of one statement that has a query.
std::vector<FileCall> file_calls(const Model& model, std::size_t statement);

/// What stands where.
struct Places {
  /// Name of the stand-in by Asset::key(); the key itself where nothing is said.
  std::map<std::string, std::string> tables;
  /// By the call's place: the name of its stand-in. A call that is missing stays as it is.
  std::map<std::uint32_t, std::pair<FileCall, std::string>> files;
  /// Text put in place of something wrong, so that the rest can be looked at too; by the file of a library or test, ""
  /// for the model's own.
  std::map<std::string, std::vector<parse::Replacement>> patches;
  /// For a text that is run: the partition, instead of any, and values of arguments by name.
  std::optional<std::string> partition;
  std::map<std::string, std::string> arguments;
};

/// Statement `index` with everything in place.
parse::Spliced text_for_binding(const Model& model, std::size_t index, const Places& places);

/// What a model takes from macro libraries to run before statement `index`.
std::vector<SetupStatement> macros_for_binding(const Model& model, std::size_t index, const Places& places,
                                               SetupFor purpose = SetupFor::Result);

/// The query of a test; `kTarget` in `places.tables` is what it tests.
parse::Spliced test_for_binding(const Model& model, const TestQuery& query, const Places& places);
inline constexpr const char* kTarget = "_wm_target";

/// Where the query of a CREATE TEMP … AS begins in the spliced text; 0 for a result.
std::uint32_t query_offset(const parse::Spliced& sql, const parse::Statement& statement);

/// A partition as good as any other, for a text that is never run.
std::string sample_partition(const Model& model);

}  // namespace weir::bind
