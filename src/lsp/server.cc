#include "lsp/server.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <set>

#include "lsp/analysis.h"
#include "lsp/connection.h"
#include "lsp/features.h"
#include "lsp/json.h"
#include "project/config.h"

namespace weir::lsp {
namespace {

using Clock = std::chrono::steady_clock;

/// When a request may be answered.
enum class Needs {
  Text,     // at once: it looks at the document alone
  Project,  // once the project was understood, however long ago
  Now,      // when the project was understood as it is now: places must be exact
};

struct Method {
  std::string_view name;
  Needs needs;
  Answer (*answer)(const Session&, const Json&);
};

/// Every request about documents.
constexpr Method kMethods[] = {
    {"textDocument/codeAction", Needs::Now, code_actions},
    {"textDocument/completion", Needs::Project, completion},
    {"textDocument/definition", Needs::Now, definition},
    {"textDocument/documentSymbol", Needs::Text, document_symbols},
    {"textDocument/hover", Needs::Now, hover},
    {"textDocument/prepareRename", Needs::Now, prepare_rename},
    {"textDocument/references", Needs::Now, references},
    {"textDocument/rename", Needs::Now, rename},
    {"textDocument/semanticTokens/full", Needs::Text, semantic_tokens},
    {"workspace/willRenameFiles", Needs::Now, will_rename_files},
};

Json capabilities(Encoding encoding) {
  const Json files = {{"filters", Json::array({{{"scheme", "file"}, {"pattern", {{"glob", "**/*.{sql,py,ts}"}}}}})}};
  return {
      {"positionEncoding", encoding == Encoding::Utf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
      {"completionProvider", {{"triggerCharacters", {".", "/", "=", ",", " ", "{", "$", ":", "\""}}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentSymbolProvider", true},
      {"renameProvider", {{"prepareProvider", true}}},
      {"codeActionProvider", {{"codeActionKinds", {"quickfix", "source.fixAll"}}}},
      {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}}},
      {"workspace",
       {{"fileOperations", {{"didCreate", files}, {"willRename", files}, {"didRename", files}, {"didDelete", files}}}}},
  };
}

class Server {
 public:
  explicit Server(const ServerOptions& options)
      : options_(options), connection_(options.input, options.output), analysis_([this] { connection_.wake(); }) {}

  int run() {
    while (!is_done_ && !connection_.is_over()) {
      connection_.wait(milliseconds_left());
      while (!is_done_) {
        const auto frame = connection_.frames().next();
        if (!frame) break;
        take(*frame);
      }
      if (auto snapshot = analysis_.take()) adopt(std::move(snapshot));
      if (due_ && Clock::now() >= *due_) ask();
    }
    return was_shut_down_ ? 0 : 1;
  }

 private:
  struct Deferred {
    Json id;
    const Method* method;
    Json params;
    /// For Needs::Now: the revision whose places the request means.
    std::uint64_t revision;
  };

  int milliseconds_left() const {
    if (!due_) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*due_ - Clock::now()).count();
    return left < 0 ? 0 : static_cast<int>(left) + 1;
  }

  // Messages.

  void take(const Frame& frame) {
    if (frame.kind == Frame::Kind::BadHeader)
      return connection_.refuse(nullptr, {kParseError, "a message needs a header Content-Length: <bytes>"});
    if (frame.kind == Frame::Kind::TooLarge)
      return connection_.refuse(nullptr, {kInvalidRequest, "a message may have 64 MiB at most: it was left out"});
    const Json message = Json::parse(frame.body, nullptr, false);
    if (message.is_discarded()) return connection_.refuse(nullptr, {kParseError, "the message is not JSON"});
    const bool is_answer =
        message.is_object() && !message.contains("method") && (message.contains("result") || message.contains("error"));
    if (is_answer) return;
    const Json id = message.is_object() && message.contains("id") ? message["id"] : Json();
    const bool has_id = id.is_number_integer() || id.is_string();
    if (!message.is_object() || !message.contains("method") || !message["method"].is_string() ||
        (!has_id && !id.is_null()))
      return connection_.refuse(has_id ? id : Json(), {kInvalidRequest, "the message is no JSON-RPC request"});
    const auto method = message["method"].get<std::string>();
    const Json params = message.contains("params") ? message["params"] : Json::object();
    try {
      if (has_id)
        request(id, method, params);
      else
        notification(method, params);
    } catch (const Json::exception& wrong) {
      const std::string what = method + ": the parameters have another shape: " + wrong.what();
      if (has_id)
        connection_.refuse(id, {kInvalidParams, what});
      else
        log(what);
    } catch (const std::exception& wrong) {
      fault(id, method, wrong);
    }
  }

  /// An answer that could not be made; the server goes on.
  void fault(const Json& id, std::string_view method, const std::exception& wrong) {
    const std::string what = std::string(method) + ": " + wrong.what();
    if (id.is_null())
      log(what);
    else
      connection_.refuse(id, {kInternalError, what});
  }

  void log(const std::string& what) { connection_.notify("window/logMessage", {{"type", 2}, {"message", what}}); }

  void request(const Json& id, const std::string& method, const Json& params) {
    if (was_shut_down_) return connection_.refuse(id, {kInvalidRequest, "the server is shut down"});
    if (method == "initialize") {
      if (is_initialized_) return connection_.refuse(id, {kInvalidRequest, "the server is initialized already"});
      return connection_.answer(id, initialize(params));
    }
    if (!is_initialized_) return connection_.refuse(id, {kNotInitialized, "the first request must be initialize"});
    if (method == "shutdown") {
      was_shut_down_ = true;
      return connection_.answer(id, nullptr);
    }
    for (const Method& known : kMethods) {
      if (known.name != method) continue;
      if (!may_answer(known, revision_)) {
        deferred_.push_back({id, &known, params, revision_});
        if (known.needs == Needs::Now) hurry();
        return;
      }
      return answer(id, known, params);
    }
    connection_.refuse(id, {kMethodNotFound, "there is no method " + method});
  }

  void answer(const Json& id, const Method& method, const Json& params) {
    auto found = method.answer(session_, params);
    if (found.has_value())
      connection_.answer(id, std::move(*found));
    else
      connection_.refuse(id, found.error());
  }

  void notification(const std::string& method, const Json& params) {
    if (method == "exit") {
      is_done_ = true;
      return;
    }
    if (!is_initialized_ || was_shut_down_) return;
    if (method == "textDocument/didOpen") return did_open(params.at("textDocument"));
    if (method == "textDocument/didChange") return did_change(params);
    if (method == "textDocument/didClose") return did_close(params.at("textDocument").at("uri").get<std::string>());
    if (method == "initialized") return watch_files();
    if (method == "$/cancelRequest") return cancel(params.at("id"));
    const bool changes_disk = method == "textDocument/didSave" || method == "workspace/didChangeWatchedFiles" ||
                              method == "workspace/didCreateFiles" || method == "workspace/didRenameFiles" ||
                              method == "workspace/didDeleteFiles";
    if (changes_disk) edited();
  }

  // Life.

  Json initialize(const Json& params) {
    is_initialized_ = true;
    const Json client = params.value("capabilities", Json::object());
    const Json general = client.value("general", Json::object());
    if (general.contains("positionEncodings") && general["positionEncodings"].is_array())
      for (const Json& offered : general["positionEncodings"])
        if (offered == "utf-8") session_.encoding = Encoding::Utf8;
    const Json workspace = client.value("workspace", Json::object());
    const Json edits = workspace.value("workspaceEdit", Json::object());
    if (edits.contains("resourceOperations") && edits["resourceOperations"].is_array())
      for (const Json& operation : edits["resourceOperations"])
        if (operation == "rename" && edits.value("documentChanges", false)) session_.renames_files = true;
    const Json watching = workspace.value("didChangeWatchedFiles", Json::object());
    can_watch_ = watching.value("dynamicRegistration", false);
    if (params.contains("workspaceFolders") && params["workspaceFolders"].is_array())
      for (const Json& folder : params["workspaceFolders"]) find_root(folder.at("uri").get<std::string>());
    if (params.contains("rootUri") && params["rootUri"].is_string()) find_root(params["rootUri"].get<std::string>());
    if (!options_.folder.empty()) find_root(uri_of_path(std::filesystem::absolute(options_.folder).string()));
    return {{"capabilities", capabilities(session_.encoding)},
            {"serverInfo", {{"name", "weir"}, {"version", options_.version}}}};
  }

  /// The project at or above a folder or file that the editor named; the first one found is served.
  void find_root(const std::string& uri) {
    if (!session_.root.empty()) return;
    const auto path = path_of_uri(uri);
    if (!path) return;
    auto root = find_project(*path);
    if (!root.has_value()) return;
    session_.root = std::move(*root);
    // Names of files in SQL are relative to the project.
    if (::chdir(session_.root.c_str()) != 0) log("cannot enter " + session_.root);
    edited();
  }

  void watch_files() {
    if (!can_watch_) return;
    const Json watchers = Json::array({{{"globPattern", "**/*.{sql,yaml,py,ts}"}}, {{"globPattern", "**/.env"}}});
    connection_.request("client/registerCapability",
                        {{"registrations", Json::array({{{"id", "weir/files"},
                                                         {"method", "workspace/didChangeWatchedFiles"},
                                                         {"registerOptions", {{"watchers", watchers}}}}})}});
  }

  // Documents.

  void did_open(const Json& opened) {
    Document document{.uri = opened.at("uri").get<std::string>(),
                      .path = {},
                      .version = opened.at("version").get<std::int64_t>(),
                      .text = opened.at("text").get<std::string>()};
    document.path = path_of_uri(document.uri).value_or("");
    if (!document.path.empty()) {
      const auto slash = document.path.rfind('/');
      find_root(uri_of_path(document.path.substr(0, slash)));
    }
    published_.erase(document.uri);
    session_.documents.open(std::move(document));
    edited();
  }

  void did_change(const Json& params) {
    const Json& named = params.at("textDocument");
    std::vector<Change> changes;
    for (const Json& one : params.at("contentChanges")) {
      Change change{.range = std::nullopt, .text = one.at("text").get<std::string>()};
      if (one.contains("range")) change.range = range_of(one["range"]);
      changes.push_back(std::move(change));
    }
    const auto uri = named.at("uri").get<std::string>();
    if (!session_.documents.change(uri, named.at("version").get<std::int64_t>(), changes, session_.encoding))
      return log("didChange of a document that is not open: " + uri);
    edited();
  }

  void did_close(const std::string& uri) {
    if (!session_.documents.close(uri)) return;
    publish(uri, Json::array(), std::nullopt);
    published_.erase(uri);
    edited();
  }

  // Understanding.

  void edited() {
    ++revision_;
    due_ = Clock::now() + std::chrono::milliseconds(options_.quiet_ms);
    // The places in these requests belong to a text that is no more.
    std::erase_if(deferred_, [this](const Deferred& one) {
      if (one.method->needs != Needs::Now) return false;
      connection_.refuse(one.id, {kContentModified, "the document was edited meanwhile"});
      return true;
    });
    if (session_.snapshot == nullptr) hurry();
  }

  /// Somebody waits for the answer.
  void hurry() {
    if (due_) due_ = Clock::now();
  }

  void ask() {
    due_.reset();
    if (session_.root.empty()) return answer_deferred();
    Question question{.revision = revision_, .root = session_.root, .open = {}};
    for (const auto& [uri, document] : session_.documents.all())
      if (std::string path = session_.path_of(document); !path.empty()) question.open[path] = document.text;
    analysis_.ask(std::move(question));
  }

  void adopt(std::shared_ptr<const Snapshot> snapshot) {
    session_.snapshot = std::move(snapshot);
    if (!session_.snapshot->problem.empty()) log("the project cannot be looked at: " + session_.snapshot->problem);
    if (session_.snapshot->revision == revision_) publish_all();
    answer_deferred();
  }

  bool may_answer(const Method& method, std::uint64_t revision) const {
    if (method.needs == Needs::Text || session_.root.empty()) return true;
    if (session_.snapshot == nullptr) return false;
    return method.needs == Needs::Project || session_.snapshot->revision >= revision;
  }

  void answer_deferred() {
    std::vector<Deferred> still;
    for (Deferred& one : std::exchange(deferred_, {})) {
      if (!may_answer(*one.method, one.revision)) {
        still.push_back(std::move(one));
        continue;
      }
      try {
        answer(one.id, *one.method, one.params);
      } catch (const Json::exception& wrong) {
        connection_.refuse(one.id, {kInvalidParams, std::string(one.method->name) + ": " + wrong.what()});
      } catch (const std::exception& wrong) {
        fault(one.id, one.method->name, wrong);
      }
    }
    deferred_ = std::move(still);
  }

  void cancel(const Json& id) {
    std::erase_if(deferred_, [&](const Deferred& one) {
      if (one.id != id) return false;
      connection_.refuse(one.id, {kRequestCancelled, "cancelled"});
      return true;
    });
  }

  // Diagnostics.

  void publish_all() {
    const Snapshot& now = *session_.snapshot;
    std::map<std::string, Json> by_uri;
    for (const auto& [uri, document] : session_.documents.all()) by_uri.emplace(uri, Json::array());
    for (const auto& [uri, list] : published_) by_uri.emplace(uri, Json::array());
    std::map<std::string, Positions> positions;
    for (const Diagnostic& found : now.diagnostics) {
      const std::string path = found.path.empty() ? "weir.yaml" : found.path;
      const Source* source = now.project.source(path);
      const std::string_view text = source != nullptr ? std::string_view(source->text) : now.configuration;
      const auto place = positions.try_emplace(path, text, session_.encoding).first;
      const auto list = by_uri.try_emplace(session_.uri_of(path), Json::array()).first;
      list->second.push_back(json_of(found, place->second));
    }
    for (auto& [uri, list] : by_uri) {
      const Document* open = session_.documents.find(uri);
      publish(uri, std::move(list), open != nullptr ? std::optional(open->version) : std::nullopt);
    }
  }

  /// Sends the list of a file if it is not what was sent last.
  void publish(const std::string& uri, Json list, std::optional<std::int64_t> version) {
    const std::string sent = list.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto before = published_.find(uri);
    const bool is_same = before != published_.end() && before->second == sent;
    if (is_same) return;
    published_[uri] = sent;
    Json params = {{"uri", uri}, {"diagnostics", std::move(list)}};
    if (version) params["version"] = *version;
    connection_.notify("textDocument/publishDiagnostics", std::move(params));
  }

  const ServerOptions options_;
  Connection connection_;
  Session session_;
  bool is_initialized_ = false;
  bool was_shut_down_ = false;
  bool is_done_ = false;
  bool can_watch_ = false;
  /// Counts everything that may change what there is to say.
  std::uint64_t revision_ = 0;
  std::optional<Clock::time_point> due_;
  std::vector<Deferred> deferred_;
  /// What was sent last, by file.
  std::map<std::string, std::string> published_;
  // Last: its thread ends before what it calls.
  Analysis analysis_;
};

}  // namespace

int serve(const ServerOptions& options) {
  // An editor that is gone shows as an error of write.
  (void)std::signal(SIGPIPE, SIG_IGN);
  return Server(options).run();
}

}  // namespace weir::lsp
