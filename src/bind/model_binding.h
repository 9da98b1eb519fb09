// One model on its way through the binder: what it reads, what the engine said, what became of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bind/bound.h"
#include "bind/model_text.h"
#include "bind/plan_answer.h"
#include "bind/stand_ins.h"

namespace weir::bind {

/// An asset or file that a model reads, with the columns known for it.
struct Input {
  /// Asset::key(), or "file:…".
  std::string key;
  /// Name of its stand-in, its own within the model.
  std::string table;
  /// Of the asset in lineage.
  std::string uri;
  SharedColumns columns;
};

struct ModelBinding {
  const Model* model = nullptr;
  std::size_t index = 0;
  std::vector<Input> inputs;
  Places places;
  /// Hash of all that decides the result.
  std::string key;
  BoundModel bound;
  Diagnostics found;
  /// The engine refused a statement (the last, or one of setup), and it is still to be explained.
  std::optional<Refusal> refusal;
  std::size_t refused_statement = 0;
  /// It was a macro that the statement makes, or one of a library that is made before it.
  bool is_macro_refused = false;
  /// Set for the query of a test: what was refused is that, behind all of the model's setup.
  const TestQuery* test = nullptr;
  /// What was found depends on captures or on something that may change by itself: not to be kept.
  bool is_fleeting = false;
};

/// Adds an input and chooses its stand-in: one a shape, however many assets have it, so that a project of many like
/// tables needs few (making one costs as much as binding a small query).
const Input& add_input(ModelBinding& binding, std::string key, std::string uri, SharedColumns columns);

/// Hash of names and types in order, remembered for columns that live as long as the process needs them.
std::string shape_of(const Columns& columns);

/// True if statements must run before the result query, so that it needs a connection of its own.
bool has_setup(const Model& model);

/// Sends the result queries of models without setup in few calls and takes in what comes back.
/// Errors: the connection failed as a whole.
duck::Outcome<void> bind_plain(duck::Connection& connection, const std::vector<ModelBinding*>& models);

/// Runs the setup of one model on a connection of its own, without data, and binds its result query there.
duck::Outcome<void> bind_with_setup(StandIns& stand_ins, ModelBinding& binding);

/// The connection on which bind_with_setup worked, made again for one that failed: setup up to, without,
/// `refused_statement`. For the query of a test with the macros that tests call.
duck::Outcome<duck::Connection> connection_for(StandIns& stand_ins, const ModelBinding& binding);

/// A script that changes the instance itself when its setup runs.
bool attaches(const Model& model);

}  // namespace weir::bind
