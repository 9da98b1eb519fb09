// Loading a project: find the files, judge headers, parse what is not in the cache, then judge what the SQL may be and
// may reach.
#include "project/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "io/files.h"
#include "io/hash.h"
#include "parse/functions.h"
#include "project/cache.h"
#include "project/custom_test.h"
#include "project/gate.h"
#include "project/judge.h"
#include "project/judge_plane.h"
#include "project/macros.h"
#include "project/parse_texts.h"
#include "project/partition_use.h"
#include "project/references.h"
#include "project/shape.h"
#include "project/sql_file.h"
#include "text/lexer.h"
#include "text/render.h"

namespace weir {
namespace {

// One file on its way to become a model or a custom test.
struct File {
  std::shared_ptr<const Source> source;
  std::string model_path;
  bool is_in_tests = false;
  Judgement judgement;
  std::optional<parse::Script> script;
};

/// A name with the bytes that are no UTF-8 in hexadecimal.
std::string shown_name(std::string name) {
  for (auto at = text::first_invalid_utf8(name); at != std::string::npos; at = text::first_invalid_utf8(name))
    name.replace(at, 1, fmt::format("\\x{:02x}", static_cast<unsigned char>(name[at])));
  return name;
}

class Loader {
 public:
  /// `reads_disk` false: the open texts are all that there is.
  Loader(Project& project, ParserProvider& parser, const OpenTexts& open, ParseCache& cache, bool reads_disk = true)
      : project_(project), parser_(parser), open_(open), cache_(cache), reads_disk_(reads_disk) {}

  Result<void> run() {
    WEIR_CHECK(discover());
    WEIR_CHECK(parse_all());
    sort_out();
    find_duplicates();
    find_deliveries();
    read_libraries();
    resolve_tests();
    judge_models();
    text::sort_diagnostics(project_.diagnostics);
    std::sort(project_.models.begin(), project_.models.end(),
              [](const Model& a, const Model& b) { return a.path < b.path; });
    note_broken();
    return {};
  }

 private:
  void add(Diagnostics found) { std::move(found.begin(), found.end(), std::back_inserter(project_.diagnostics)); }

  Result<void> discover() {
    for (const std::string& root : project_.config.models) WEIR_CHECK(discover_in(root, false));
    for (const std::string& root : project_.config.tests) WEIR_CHECK(discover_in(root, true));
    return {};
  }

  Result<void> discover_in(const std::string& root, bool is_in_tests) {
    const std::string folder = (std::filesystem::path(project_.config.root) / root).lexically_normal().string();
    std::vector<std::string> names;
    if (reads_disk_) {
      WEIR_TRY(names, io::list_files(folder));
    }
    add_open(root, names);
    for (const std::string& name : names) {
      if (!is_sql_file(name)) continue;
      if (const auto at = text::first_invalid_utf8(name); at != std::string::npos) {
        add({{.code = Code::W0208,
              .message = "the name of the file " + shown_name(root + "/" + name) + " is not UTF-8",
              .hint = "rename the file"}});
        continue;
      }
      auto source = std::make_shared<Source>();
      source->path = (std::filesystem::path(root) / name).lexically_normal().string();
      // Roots may lie within each other.
      if (!seen_.insert(source->path).second) continue;
      const auto open = open_.find(source->path);
      if (open != open_.end()) {
        source->text = open->second;
      } else {
        WEIR_TRY(source->text, io::read_file(folder + "/" + name));
      }
      source->hash = io::xxh3_hex(source->text);
      project_.sources.push_back(source);
      if (Diagnostics found = judge_bytes(*source); !found.empty()) {
        add(std::move(found));
        if (!is_in_tests) give_up({.path = name.substr(0, name.size() - 4), .source = source});
        continue;
      }
      File file{.source = source,
                .model_path = name.substr(0, name.size() - 4),
                .is_in_tests = is_in_tests,
                .judgement = {},
                .script = {}};
      file.judgement = judge_file(source, file.model_path, project_.config);
      note_claims(file);
      files_.push_back(std::move(file));
    }
    return {};
  }

  /// Texts below `root` that no file on disk has yet, by the rules of list_files.
  void add_open(const std::string& root, std::vector<std::string>& names) const {
    const std::string below = (std::filesystem::path(root) / "").lexically_normal().string();
    for (const auto& [path, text] : open_) {
      if (below != "./" && !path.starts_with(below)) continue;
      const std::string name = below == "./" ? path : path.substr(below.size());
      const bool is_hidden =
          ("/" + name).find("/_") != std::string::npos || ("/" + name).find("/.") != std::string::npos;
      if (!is_hidden && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
  }

  // What the header says that the file produces, kept for the case that its SQL is wrong.
  void note_claims(const File& file) {
    const Model& model = file.judgement.model;
    if (file.is_in_tests || model.is_macro_library) return;
    const auto claim = [&](const Asset& asset) { claims_.emplace(asset.key(), model.path); };
    if (!model.relation.name.empty()) claim(model.relation);
    if (!model.target) return;
    claim(*model.target);
    if (!model.is_history()) return;
    Asset current = *model.target;
    current.name += "_current";
    claim(current);
  }

  /// A model whose file has errors: what the rest of it says cannot be trusted, so it is a name and a table.
  void give_up(Model model) {
    model.references.clear();
    model.depends_on.clear();
    model.triggers.clear();
    model.tests.clear();
    model.test_queries.clear();
    if (!model.target && !model.relation.name.empty()) model.target = model.relation;
    project_.broken_models.push_back(std::move(model));
  }

  void note_broken() {
    std::vector<Model>& broken = project_.broken_models;
    std::sort(broken.begin(), broken.end(), [](const Model& a, const Model& b) { return a.path < b.path; });
    std::set<std::string> good;
    for (const Model& model : project_.models) good.insert(model.path);
    for (const auto& [asset, path] : claims_)
      if (!good.contains(path)) project_.broken.emplace(asset, path);
    std::set<std::string> files;
    for (const Diagnostic& found : project_.diagnostics)
      if (found.severity == Severity::Error) files.insert(found.path);
    if (files.empty()) return;
    for (const Model& model : project_.models)
      if (std::string part = faulty_part(model, files); !part.empty())
        project_.held_up.emplace(model.path, std::move(part));
  }

  /// A test script or library that the model uses and that has errors; empty if none.
  std::string faulty_part(const Model& model, const std::set<std::string>& files) const {
    for (const MacroDefinition& macro : model.macros)
      if (files.contains(macro.source->path)) return macro.source->path;
    for (const Test& declared : model.tests) {
      if (declared.kind != TestKind::Custom) continue;
      if (const auto lost = unparsed_.find(declared.text); lost != unparsed_.end()) return lost->second;
      for (const CustomTest& test : project_.custom_tests)
        if (test.path == declared.text && files.contains(test.source->path)) return test.source->path;
    }
    return {};
  }

  Result<void> parse_all() {
    std::vector<std::pair<File*, std::string>> missing;
    for (File& file : files_) {
      std::string key = io::xxh3_hex(file.judgement.blanked_sql);
      if (file.script = cache_.find(key); file.script) continue;
      if (const Diagnostics* faults = cache_.find_faults(key); faults != nullptr)
        report_faults(file, *faults);
      else
        missing.emplace_back(&file, std::move(key));
    }
    const auto texts = unknown_test_texts();
    if (missing.empty() && texts.empty() && cache_.volatile_functions()) return {};
    const auto connection = parser_.connection();
    if (!connection)
      return fail(Diagnostic{.code = Code::W0201,
                             .message = "DuckDB's parser cannot be started: " + connection.error().message});
    const auto volatile_names = parse::volatile_functions(**connection);
    if (!volatile_names)
      return fail(Diagnostic{.code = Code::W0201,
                             .message = "DuckDB does not list its functions: " + volatile_names.error().message});
    cache_.set_volatile_functions(**volatile_names);
    WEIR_CHECK(parse_files(**connection, missing));
    return parse_test_texts(**connection, texts);
  }

  Result<void> parse_files(duck::Connection& connection, const std::vector<std::pair<File*, std::string>>& files) {
    std::vector<UnparsedText> texts;
    for (const auto& [file, key] : files) texts.push_back({file->judgement.blanked_sql, file->source->path});
    WEIR_TRY(auto scripts, parse_texts(parser_, connection, texts));
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto& [file, key] = files[i];
      if (!scripts[i]) {
        report_faults(*file, scripts[i].error());
        cache_.put_faults(key, std::move(scripts[i]).error());
        continue;
      }
      cache_.put(key, *scripts[i]);
      file->script = std::move(*scripts[i]);
    }
    return {};
  }

  Result<void> parse_test_texts(duck::Connection& connection,
                                const std::vector<std::pair<const File*, TestText>>& tests) {
    std::vector<UnparsedText> texts;
    for (const auto& [file, text] : tests) texts.push_back({text.sql, file->source->path});
    WEIR_TRY(auto scripts, parse_texts(parser_, connection, texts));
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const auto& [file, text] = tests[i];
      const std::string key = io::xxh3_hex(text.sql);
      if (scripts[i]) {
        cache_.put(key, *scripts[i]);
        continue;
      }
      report_test_text(*file, text, scripts[i].error());
      cache_.put_faults(key, std::move(scripts[i]).error());
    }
    return {};
  }

  void report_faults(const File& file, Diagnostics faults) {
    for (Diagnostic& fault : faults) fault.path = file.source->path;
    add(file.judgement.diagnostics);
    add(std::move(faults));
  }

  // SQL within tests is parsed and kept like the files themselves.
  std::vector<std::pair<const File*, TestText>> unknown_test_texts() {
    std::vector<std::pair<const File*, TestText>> unknown;
    for (const File& file : files_)
      for (TestText& text : test_texts(file.judgement.model)) {
        const std::string key = io::xxh3_hex(text.sql);
        if (cache_.knows(key)) continue;
        if (const Diagnostics* faults = cache_.find_faults(key); faults != nullptr)
          report_test_text(file, text, *faults);
        else
          unknown.emplace_back(&file, std::move(text));
      }
    return unknown;
  }

  // Places within a predicate mean nothing to a reader of the header: the test's line does.
  void report_test_text(const File& file, const TestText& text, Diagnostics found) {
    for (Diagnostic& one : found) {
      one.message = "test " + text.test->name + ": " + one.message;
      one.path = file.source->path;
      one.span = text.test->span;
    }
    add(std::move(found));
  }

  // A file that a data_test names, or that reads the target, is a custom test wherever it lies; other files of tests
  // roots are nobody's.
  void sort_out() {
    std::set<std::string> named;
    for (const File& file : files_)
      for (const Test& test : file.judgement.model.tests)
        if (test.kind == TestKind::Custom) named.insert(test.text);
    for (File& file : files_) {
      const std::string path = path_without_extension(file.source->path);
      const bool is_named =
          named.contains(path) || named.contains(file.model_path) || named.contains(file.source->path);
      if (!file.script) {
        for (const std::string& name : {path, file.model_path, file.source->path})
          unparsed_.emplace(name, file.source->path);
        const bool is_model = !file.is_in_tests && !is_named && !file.judgement.model.is_macro_library;
        if (is_model) give_up(std::move(file.judgement.model));
        continue;
      }
      if (is_named || reads_target(*file.script)) {
        project_.custom_tests.push_back({path, file.source, std::move(*file.script)});
        continue;
      }
      if (file.is_in_tests) continue;
      add(std::move(file.judgement.diagnostics));
      file.judgement.model.script = std::move(*file.script);
      Model& model = file.judgement.model;
      if (model.is_macro_library)
        project_.libraries.push_back(
            {model.path, model.source, std::move(model.uses), std::move(model.script), {}, {}});
      else
        project_.models.push_back(std::move(model));
    }
  }

  void read_libraries() {
    std::sort(project_.libraries.begin(), project_.libraries.end(),
              [](const MacroLibrary& a, const MacroLibrary& b) { return a.path < b.path; });
    for (MacroLibrary& library : project_.libraries) add(read_library(library));
    const MacroIndex index(project_.libraries);
    add(index.judge());
    for (const MacroLibrary& library : project_.libraries) add(hidden_functions(library));
    for (const MacroLibrary& library : project_.libraries) add(judge_library(library, project_.config, index.names()));
  }

  /// Macros with the names of DuckDB's own functions, which it is asked for once a text.
  Diagnostics hidden_functions(const MacroLibrary& library) {
    if (library.macros.empty()) return {};
    const std::string key = io::xxh3_hex("functions that it hides: " + library.source->text);
    Diagnostics found;
    if (const Diagnostics* known = cache_.find_faults(key); known != nullptr) {
      found = *known;
    } else {
      const auto connection = parser_.connection();
      if (!connection) return {};  // said where files are parsed
      found = judge_hidden_functions(library, **connection);
      cache_.put_faults(key, found);
    }
    for (Diagnostic& one : found) one.path = library.source->path;
    return found;
  }

  void find_duplicates() {
    std::map<std::string, const Model*> by_asset;
    std::map<std::string, const Model*> by_path;
    const auto claim = [&](const Model& model, const Asset& asset) {
      const auto [other, is_new] = by_asset.emplace(asset.key(), &model);
      produced_.insert(asset.key());
      if (is_new || other->second == &model) return;
      rivals_.insert(other->second->source->path);
      add({{Code::W2001, Severity::Error,
            model.source->path + " and " + other->second->source->path + " both produce " + asset.uri(),
            model.source->path, model.target_span, "give one of them another target"}});
    };
    for (const Model& model : project_.models) {
      if (const auto [other, is_new] = by_path.emplace(model.path, &model); !is_new) {
        rivals_.insert(other->second->source->path);
        add({{Code::W0010,
              Severity::Error,
              model.source->path + " and " + other->second->source->path + " are both the model `" + model.path + "`",
              model.source->path,
              {},
              "rename one of the files"}});
      }
      if (!model.target) continue;
      claim(model, *model.target);
      if (!model.is_history() || model.plane != Plane::Managed) continue;
      Asset current = *model.target;
      current.name += "_current";
      claim(model, current);
    }
  }

  // A model of plane `table` or `file` makes no relation of its own; its name leads to what it delivers.
  void find_deliveries() {
    for (const Model& model : project_.models) {
      if ((model.plane != Plane::Table && model.plane != Plane::File) || !model.target) continue;
      const std::string key = model.relation.key();
      if (!produced_.insert(key).second) continue;
      deliveries_.emplace(key, std::make_pair(model.plane, *model.target));
    }
  }

  void lead_to_delivery(Asset& asset, const std::string& path, Span span, Diagnostics& found) {
    const auto delivery = deliveries_.find(asset.key());
    if (delivery == deliveries_.end()) return;
    const auto& [plane, target] = delivery->second;
    if (plane == Plane::File)
      found.push_back({Code::W6513, Severity::Error,
                       target.uri() + " is a file: other models cannot read it as a table", path, span,
                       "read what it is written from, or the file with read_parquet, read_csv or read_json"});
    else
      asset = target;
  }

  /// References by the name of a model that delivers read the delivered table.
  void lead_to_deliveries(Model& model, Diagnostics& found) {
    for (Reference& reference : model.references) {
      const Source& source = reference.macro ? *model.macros[*reference.macro].source : *model.source;
      lead_to_delivery(reference.asset, source.path, reference.span, found);
    }
    for (Test& test : model.tests)
      if (test.reference) lead_to_delivery(*test.reference, model.source->path, test.span, found);
  }

  /// Requires: declared tests hold the paths of their scripts.
  static bool declares(const Model& model, const CustomTest& test) {
    return std::any_of(model.tests.begin(), model.tests.end(), [&test](const Test& declared) {
      return declared.kind == TestKind::Custom && declared.text == test.path;
    });
  }

  void take_from_libraries() {
    const MacroIndex index(project_.libraries);
    for (Model& model : project_.models) {
      std::vector<const parse::Script*> tests;
      std::vector<std::unique_ptr<parse::Script>> inline_tests;
      for (const CustomTest& test : project_.custom_tests)
        if (declares(model, test)) tests.push_back(&test.script);
      for (const TestText& text : test_texts(model))
        if (!text.is_predicate)
          if (auto script = cache_.find(io::xxh3_hex(text.sql)))
            tests.push_back(inline_tests.emplace_back(std::make_unique<parse::Script>(std::move(*script))).get());
      Diagnostics found = take_macros(model, index, tests);
      for (Diagnostic& one : found)
        if (one.code == Code::W0225 && project_.config.strict) one.severity = Severity::Error;
      add(std::move(found));
    }
  }

  void resolve_tests() {
    for (const CustomTest& test : project_.custom_tests) {
      std::vector<const Model*> users;
      for (Model& model : project_.models)
        for (Test& declared : model.tests) {
          const bool is_this = declared.kind == TestKind::Custom && names_custom_test(declared.text, test);
          if (!is_this) continue;
          declared.text = test.path;
          users.push_back(&model);
        }
      add(judge_custom_test(test, users));
    }
    take_from_libraries();
    for (const CustomTest& test : project_.custom_tests) {
      std::set<std::string> macros;
      for (const Model& model : project_.models)
        if (declares(model, test)) macros.merge(own_macros(model));
      for (const parse::Statement& statement : test.script.statements) {
        const GatedStatement gated{
            .statement = statement, .path = test.source->path, .who = "a test", .macros = macros};
        add(judge_reach(gated));
        add(judge_private_files(gated, project_.config));
      }
    }
    gather_test_queries();
    for (const Model& model : project_.models)
      for (const Test& declared : model.tests) {
        const bool is_known = declared.kind != TestKind::Custom || unparsed_.contains(declared.text) ||
                              std::any_of(project_.custom_tests.begin(), project_.custom_tests.end(),
                                          [&declared](const CustomTest& one) { return one.path == declared.text; });
        const std::string file = (declared.text.starts_with("tests/") ? "" : "tests/") + declared.text +
                                 (declared.text.ends_with(".sql") ? "" : ".sql");
        if (!is_known)
          add({{Code::W0218, Severity::Error, "there is no test script `" + declared.text + "`", model.source->path,
                declared.span,
                "write " + file + ": SELECT * FROM _wm_target." + (model.target ? model.target->name : "table") +
                    " WHERE …"}});
      }
  }

  /// Requires: declared tests hold the paths of their scripts.
  void gather_test_queries() {
    const auto is_query = [](const parse::Script& script) {
      return script.statements.size() == 1 && script.statements.front().kind == parse::StatementKind::Result;
    };
    for (Model& model : project_.models) {
      model.test_queries.clear();
      for (std::size_t i = 0; i < model.tests.size(); ++i) {
        const Test& declared = model.tests[i];
        if (declared.kind == TestKind::Custom) {
          for (const CustomTest& test : project_.custom_tests)
            if (test.path == declared.text && is_query(test.script))
              model.test_queries.push_back(test_query_of(model, i, test));
        } else if (declared.kind == TestKind::Sql) {
          auto script = cache_.find(io::xxh3_hex(declared.text));
          if (!script || !is_query(*script)) continue;
          CustomTest test{.path = declared.name, .source = {}, .script = std::move(*script)};
          test.source = std::make_shared<Source>(Source{.path = model.source->path, .text = declared.text, .hash = {}});
          model.test_queries.push_back(test_query_of(model, i, test));
        }
      }
    }
  }

  void judge_models() {
    std::set<std::string> ephemeral;
    for (const Model& model : project_.models)
      if (model.plane == Plane::Ephemeral) ephemeral.insert(model.relation.key());
    std::vector<Model> good;
    for (Model& model : project_.models) {
      Diagnostics found = resolve_references(model, project_.config, produced_, *cache_.volatile_functions());
      lead_to_deliveries(model, found);
      if (model.plane != Plane::Manual) {
        for (Diagnostics more : {judge_shape(model), judge_gate(model, project_.config), judge_plane(model, ephemeral)})
          std::move(more.begin(), more.end(), std::back_inserter(found));
      }
      for (Diagnostic& one : judge_partition_use(model)) found.push_back(std::move(one));
      for (const TestText& text : test_texts(model))
        if (const auto script = cache_.find(io::xxh3_hex(text.sql)))
          for (Diagnostic& one : judge_test_text(text, *script, model)) found.push_back(std::move(one));
      const bool is_bad = has_errors(found);
      add(std::move(found));
      const bool had_errors =
          std::any_of(project_.diagnostics.begin(), project_.diagnostics.end(), [&model](const Diagnostic& one) {
            return one.severity == Severity::Error && one.path == model.source->path;
          });
      if (!is_bad && !had_errors && !rivals_.contains(model.source->path))
        good.push_back(std::move(model));
      else
        give_up(std::move(model));
    }
    project_.models = std::move(good);
    add(judge_views(project_.models));
  }

  Project& project_;
  ParserProvider& parser_;
  const OpenTexts& open_;
  ParseCache& cache_;
  bool reads_disk_;
  std::vector<File> files_;
  std::set<std::string> seen_;
  /// Name under which a data_test may mean a file that does not parse -> the file.
  std::map<std::string, std::string> unparsed_;
  /// Files whose model or asset another file claims too: that one is blamed, and neither can be trusted.
  std::set<std::string> rivals_;
  ProducedAssets produced_;
  /// Key of the name that others know it by -> plane and target of a model that delivers.
  std::map<std::string, std::pair<Plane, Asset>> deliveries_;
  std::map<std::string, std::string> claims_;
};

}  // namespace

const Source* Project::source(std::string_view path) const {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [path](const auto& one) { return one->path == path; });
  return found == sources.end() ? nullptr : found->get();
}

Result<Project> load_project(const std::string& root, ParserProvider& parser) {
  std::error_code lost;
  ParseCache cache(std::filesystem::absolute(root, lost).lexically_normal().string() + "/.weir/cache/parsed");
  WEIR_TRY(Project project, load_project(root, parser, {}, cache));
  cache.save();
  return project;
}

Result<Project> load_project(const std::string& root, ParserProvider& parser, const OpenTexts& open,
                             ParseCache& cache) {
  Project project;
  const auto config = open.find("weir.yaml");
  WEIR_TRY(project.config,
           load_config(root, project.diagnostics, config == open.end() ? std::nullopt : std::optional(config->second)));
  WEIR_CHECK(Loader(project, parser, open, cache).run());
  return project;
}

Result<Project> load_texts(const Config& config, ParserProvider& parser, const OpenTexts& texts, ParseCache& cache) {
  Project project;
  project.config = config;
  WEIR_CHECK(Loader(project, parser, texts, cache, false).run());
  return project;
}

}  // namespace weir
