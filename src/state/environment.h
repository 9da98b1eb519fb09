// Environments as the state store keeps them: which physical tables weir owns, and what each environment shows of them,
// generation by generation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::state {

/// An environment that was created; prod is none.
struct EnvironmentRecord {
  std::string environment;
  std::string parent;
  std::string settings_json;
  std::string created;
};

/// What an environment shows of one owned model.
struct ShownModel {
  std::string model;        // path
  std::string fingerprint;  // of the definition that it shows, and of whose rows that reads
  std::string data;         // URI of the physical table or view; empty for an ephemeral model
  std::string view;         // URI of the environment's view
  std::string definition;   // fingerprint of the definition alone; in prod the same
  friend bool operator==(const ShownModel&, const ShownModel&) = default;
};

/// What the definition of a model was made of when an environment came to show it, so that it can be compared, rolled
/// back to and promoted whatever the files say by then.
struct DefinitionRecord {
  std::string model;        // path
  std::string fingerprint;  // of the definition, as ShownModel::definition
  std::string local;        // of the definition without its inputs
  std::string file;
  std::string plane;
  std::string strategy;
  std::string asset;                             // key(); empty if it produces none
  std::string source;                            // the file's text
  std::map<std::string, std::string> libraries;  // macro libraries that it calls, text by file
};

/// One generation of an environment: all that it shows, by path of the model.
struct PromotionRecord {
  std::string environment;
  std::int64_t generation = 0;
  std::string time;
  std::string run;
  std::string token;  // of the commit that moved the views
  std::string command;
  std::optional<std::int64_t> lake_version;
  std::vector<ShownModel> models;
};

/// A physical table or view of weir's own.
struct OwnedRecord {
  std::string asset;  // key()
  std::string uri;
  std::string model;
  std::string fingerprint;
  /// The environment that built it and may write it.
  std::string environment;
  std::string plane;  // virtual | view
  std::string run;
  std::string created;
  /// Since when no environment shows it; empty while one does.
  std::string unreferenced;
};

}  // namespace weir::state
