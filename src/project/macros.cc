// Libraries: what their statements are, and what is wrong with them by themselves.
#include "project/macros.h"

#include <fmt/format.h>

#include <algorithm>

#include "project/gate.h"
#include "project/shape.h"
#include "text/lexer.h"
#include "text/line_index.h"
#include "text/suggest.h"

namespace weir {
namespace {

using parse::Statement;
using parse::StatementKind;
using text::Token;
using text::TokenKind;

bool is_setup(StatementKind kind) {
  switch (kind) {
    case StatementKind::Attach:
    case StatementKind::Install:
    case StatementKind::Load:
    case StatementKind::Set:
    case StatementKind::Use:
    case StatementKind::CreateTempTable:
    case StatementKind::CreateTempView:
      return true;
    default:
      return false;
  }
}

bool is_plain(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

bool attaches_lake(const Statement& statement) {
  return statement.kind == StatementKind::Attach &&
         (statement.attach_uri.starts_with("ducklake") || statement.attach_uri.starts_with("datatable"));
}

// Walks over one CREATE MACRO.
class HeadReader {
 public:
  HeadReader(std::string_view text, Span statement) : text_(text) {
    tokens_ = text::lex_code(text.substr(statement.begin, statement.size()));
    for (Token& token : tokens_) token.span = {token.span.begin + statement.begin, token.span.end + statement.begin};
  }

  std::optional<MacroHead> run() {
    if (!take("CREATE")) return std::nullopt;
    if (take("OR")) take("REPLACE");
    if (!take("LOCAL")) take("GLOBAL");
    if (!take("TEMP")) take("TEMPORARY");
    if (!take("MACRO") && !take("FUNCTION")) return std::nullopt;
    MacroHead head;
    head.words = {tokens_.front().span.begin, tokens_[at_ - 1].span.end};
    if (take("IF")) {
      take("NOT");
      take("EXISTS");
      head.is_conditional = true;
    }
    if (done() || !tokens_[at_].is_name()) return std::nullopt;
    head.name = tokens_[at_].span;
    head.is_plain_name = is_plain(text::name_of_token(word())) && (at_ + 1 >= tokens_.size() || word(at_ + 1) != ".");
    while (!done() && word() != "(") ++at_;
    while (!done()) read_form(head);
    return head;
  }

 private:
  bool done() const { return at_ >= tokens_.size(); }
  std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? text_.substr(tokens_[i].span.begin, tokens_[i].span.size()) : std::string_view();
  }
  std::string_view word() const { return word(at_); }
  bool take(std::string_view wanted) {
    if (done() || tokens_[at_].kind == TokenKind::QuotedName || !text::same_word(word(), wanted)) return false;
    ++at_;
    return true;
  }
  std::size_t behind_parentheses(std::size_t from) const {
    int depth = 0;
    for (std::size_t i = from; i < tokens_.size(); ++i) {
      if (word(i) == "(") ++depth;
      if (word(i) == ")" && --depth == 0) return i + 1;
    }
    return tokens_.size();
  }

  void read_form(MacroHead& head) {
    MacroLibrary::Macro::Form form;
    const std::size_t first = at_;
    at_ = behind_parentheses(at_);
    form.parameters = {tokens_[first].span.begin, tokens_[at_ - 1].span.end};
    take("AS");
    head.is_table = take("TABLE") || head.is_table;
    const std::size_t body = at_;
    for (int depth = 0; !done(); ++at_) {
      if (word() == "(") ++depth;
      if (word() == ")") --depth;
      if (depth != 0 || word() != "," || word(at_ + 1) != "(") continue;
      if (text::same_word(word(behind_parentheses(at_ + 1)), "AS")) break;
    }
    if (at_ > body) form.body = {tokens_[body].span.begin, tokens_[at_ - 1].span.end};
    head.forms.push_back(form);
    if (!done()) ++at_;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

class LibraryReader {
 public:
  explicit LibraryReader(MacroLibrary& library) : library_(library), text_(library.source->text) {}

  Diagnostics run() {
    for (std::size_t i = 0; i < library_.script.statements.size(); ++i) visit(i);
    return std::move(found_);
  }

 private:
  void report(Code code, Span span, std::string message, std::string hint) {
    found_.push_back({code, Severity::Error, std::move(message), library_.source->path, span, std::move(hint)});
  }

  void visit(std::size_t index) {
    const Statement& statement = library_.script.statements[index];
    for (const auto& [name, span] : statement.parameters)
      report(Code::W0210, span, "a library takes no arguments",
             "give the macro a parameter, and its value in the call");
    if (const auto head = read_macro_head(text_, statement.span)) return add(index, *head);
    if (attaches_lake(statement))
      return report(Code::W0222, statement.span, "a library attaches no lake",
                    "let the models attach it; a macro reads through the aliases of the model that calls it");
    if (is_setup(statement.kind))
      library_.setup.push_back(index);
    else
      report(Code::W0220, statement.span,
             fmt::format("`{}` is no macro: a library holds CREATE MACRO statements and setup",
                         quote_start(text_, statement.span)),
             "move it to a model, or take `-- macros` away");
  }

  void add(std::size_t index, const MacroHead& head) {
    const std::string spelled(text_.substr(head.name.begin, head.name.size()));
    const std::string name = text::lower(text::name_of_token(spelled));
    if (head.is_conditional)
      return report(Code::W0220, head.words, "a library's macro is always made: IF NOT EXISTS has no meaning",
                    fmt::format("write CREATE MACRO {}", spelled));
    if (!head.is_plain_name)
      return report(Code::W0221, head.name, fmt::format("`{}` is no plain name", spelled),
                    "a macro's name has ASCII letters, digits and underscores, and no schema before it");
    if (name == "wm_partition" || name == "weir_partition")
      return report(Code::W0221, head.name, fmt::format("weir itself makes the macro {}", name), "choose another name");
    for (const MacroLibrary::Macro& known : library_.macros)
      if (known.name == name && known.is_table == head.is_table)
        return report(Code::W0223, head.name, fmt::format("`{}` is defined above already", spelled),
                      fmt::format("several forms stand in one statement: CREATE MACRO {}(a) AS …, (a, b) AS …", name));
    library_.macros.push_back({name, index, head.is_table, head.name, head.forms});
  }

  MacroLibrary& library_;
  const std::string& text_;
  Diagnostics found_;
};

struct Node {
  const MacroLibrary* library;
  const MacroLibrary::Macro* macro;
  friend auto operator<=>(const Node&, const Node&) = default;
};

// Looks for a way from a macro back to itself, library by library in order.
class CircleFinder {
 public:
  explicit CircleFinder(const MacroIndex& index) : index_(index) {}

  Diagnostics run() {
    for (const MacroLibrary& library : index_.libraries())
      for (const MacroLibrary::Macro& macro : library.macros) visit({&library, &macro});
    return std::move(found_);
  }

 private:
  void visit(const Node& node) {
    if (done_.contains(node)) return;
    way_.push_back(node);
    std::set<std::string> seen;
    for (const parse::FunctionCall& call : node.library->script.statements[node.macro->statement].functions)
      if (const std::string name = called_macro(call); !name.empty() && seen.insert(name).second)
        for (const Node& next : meant(*node.library, name)) follow(next);
    way_.pop_back();
    done_.insert(node);
  }

  void follow(const Node& next) {
    const auto begin = std::find(way_.begin(), way_.end(), next);
    if (begin == way_.end()) return visit(next);
    report(begin);
  }

  std::vector<Node> meant(const MacroLibrary& from, const std::string& name) const {
    std::vector<Node> nodes;
    const auto add = [&](const MacroLibrary& library) {
      for (const MacroLibrary::Macro& macro : library.macros)
        if (macro.name == name) nodes.push_back({&library, &macro});
    };
    add(from);
    if (nodes.empty())
      for (const MacroLibrary* provider : index_.providers_of(name)) add(*provider);
    return nodes;
  }

  void report(std::vector<Node>::const_iterator begin) {
    // A circle is told once, whichever of its macros the walk meets first.
    if (std::any_of(begin, way_.cend(), [&](const Node& node) { return told_.contains(node); })) return;
    std::string way;
    for (auto node = begin; node != way_.cend(); ++node) {
      told_.insert(*node);
      const Source& source = *node->library->source;
      const auto [line, column] = text::LineIndex(source.text).position(node->macro->name_span.begin);
      way += fmt::format("{} ({}:{}:{}) → ", node->macro->name, source.path, line, column);
    }
    way += begin->macro->name;
    const std::string& next = begin + 1 == way_.cend() ? begin->macro->name : (begin + 1)->macro->name;
    Diagnostic circle{.code = Code::W0224, .path = begin->library->source->path, .span = begin->macro->name_span};
    circle.message = way_.cend() - begin == 1 ? "this macro calls itself: " + way
                                              : "these macros call each other in a circle: " + way;
    circle.hint = fmt::format("if DuckDB's own function is meant, write system.main.{}", next);
    for (const parse::FunctionCall& call : begin->library->script.statements[begin->macro->statement].functions)
      if (called_macro(call) == next) circle.span = call.span;
    found_.push_back(std::move(circle));
  }

  const MacroIndex& index_;
  std::vector<Node> way_;
  std::set<Node> done_;
  std::set<Node> told_;
  Diagnostics found_;
};

}  // namespace

std::optional<MacroHead> read_macro_head(std::string_view text, Span statement) {
  return HeadReader(text, statement).run();
}

std::string called_macro(const parse::FunctionCall& call) {
  if (!call.catalog.empty() && call.catalog != "temp") return {};
  if (call.schema == "pg_catalog" || call.schema == "information_schema") return {};
  return call.name;
}

Diagnostics read_library(MacroLibrary& library) { return LibraryReader(library).run(); }

Diagnostics judge_library(const MacroLibrary& library, const Config& config, const std::set<std::string>& names) {
  // The gate knows models: the library as one that may call every macro there is.
  Model model;
  model.path = library.path;
  model.source = library.source;
  model.script = library.script;
  for (const std::string& name : names) {
    model.macros.emplace_back();
    model.macros.back().name = name;
  }
  Diagnostics found = judge_gate(model, config);
  for (Diagnostic& one : judge_settings(model)) found.push_back(std::move(one));
  return found;
}

Diagnostics judge_hidden_functions(const MacroLibrary& library, duck::Connection& connection) {
  std::vector<duck::Sql> names;
  for (const MacroLibrary::Macro& macro : library.macros) names.emplace_back("{}", duck::Literal(macro.name));
  const auto hidden = connection.query(
      duck::Sql("SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal AND function_name IN ({}) AND "
                "function_type IN ('scalar', 'aggregate', 'table', 'macro', 'table_macro')",
                duck::Sql::join(names, ", ")));
  Diagnostics found;
  if (!hidden) return found;
  std::set<std::string> known;
  for (std::size_t row = 0; row < hidden->size(); ++row) known.insert(hidden->text(row, 0));
  for (const MacroLibrary::Macro& macro : library.macros)
    if (known.contains(macro.name))
      found.push_back(
          {Code::W0230, Severity::Warning,
           fmt::format("the macro `{}` hides a function of DuckDB from the models that call it", macro.name),
           library.source->path, macro.name_span,
           fmt::format("rename it; DuckDB's own stays reachable as system.main.{}", macro.name)});
  return found;
}

MacroIndex::MacroIndex(const std::vector<MacroLibrary>& libraries) : libraries_(libraries) {
  for (const MacroLibrary& library : libraries)
    for (const MacroLibrary::Macro& macro : library.macros) {
      auto& providers = providers_[macro.name];
      if (providers.empty() || providers.back() != &library) providers.push_back(&library);
    }
}

const std::vector<const MacroLibrary*>& MacroIndex::providers_of(const std::string& name) const {
  static const std::vector<const MacroLibrary*> none;
  const auto found = providers_.find(name);
  return found == providers_.end() ? none : found->second;
}

const MacroLibrary* MacroIndex::library(std::string_view path) const {
  for (const MacroLibrary& library : libraries_)
    if (library.path == path && !library.macros.empty()) return &library;
  return nullptr;
}

std::set<std::string> MacroIndex::names() const {
  std::set<std::string> names;
  for (const auto& [name, providers] : providers_) names.insert(name);
  return names;
}

Diagnostic MacroIndex::unknown(const Use& use, const Source& source) const {
  std::vector<std::string> known;
  for (const MacroLibrary& library : libraries_)
    if (!library.macros.empty()) known.push_back(library.path);
  Diagnostic found{.code = Code::W0225, .path = source.path, .span = use.span};
  found.message = fmt::format("`{}` is no library of macros", use.path);
  const auto near = text::nearest(use.path, known);
  found.hint = near ? fmt::format("did you mean `{}`?", *near)
                    : "`use` takes the path of a file with `-- macros`, below its root and without .sql";
  // A lone word is a library at the top of a root, or no annotation at all.
  if (use.path.find('/') == std::string::npos) found.severity = Severity::Warning;
  const bool is_path_alone = std::string_view(source.text).substr(use.span.begin, use.span.size()) == use.path;
  if (near && is_path_alone) found.fix = Fix{use.span, *near};
  return found;
}

Diagnostics MacroIndex::judge() const {
  Diagnostics found = CircleFinder(*this).run();
  for (const MacroLibrary& library : libraries_)
    for (const Use& use : library.uses)
      if (this->library(use.path) == nullptr) found.push_back(unknown(use, *library.source));
  return found;
}

}  // namespace weir
