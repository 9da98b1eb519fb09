// Nothing here is decided by the words of an error. The engine is asked again instead: with the column added to the
// stand-in of one asset (if that binds further, the asset lacks it), with a qualifier put before a name (if several
// bind further, it was ambiguous), with a side of a set operation left out. What was explained is then put out of the
// way, so that the next fault shows too.
#include "bind/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bind/breach.h"
#include "bind/query_place.h"
#include "project/custom_test.h"
#include "project/macro_place.h"
#include "project/macros.h"
#include "project/piece.h"
#include "text/line_index.h"
#include "text/suggest.h"

namespace weir::bind {
namespace {

using parse::StatementKind;

constexpr int kMostFaults = 20;
constexpr std::size_t kMostQualifiers = 60;

/// A text of the user's that a fault may lie in: the statement itself, or a macro that it calls.
struct Unit {
  std::string path;
  /// Of its patches in Places.
  std::string key;
  const Source* source;
  StatementPlaces text;
};

struct Attempt {
  std::optional<Refusal> refusal;
  /// Where the refusal lies, and in which text.
  std::optional<Span> place;
  const Unit* unit = nullptr;
};

const parse::Statement& refused_statement_of(const ModelBinding& binding) {
  return binding.test != nullptr ? binding.test->statement
                                 : binding.model->script.statements[binding.refused_statement];
}

Unit unit_of(const ModelBinding& binding) {
  const Source& source = binding.test != nullptr ? *binding.test->source : *binding.model->source;
  const bool is_model = binding.test == nullptr || binding.test->is_in_header;
  return {source.path, is_model ? "" : source.path, &source,
          StatementPlaces(source.text, refused_statement_of(binding).span)};
}

class Diagnosis {
 public:
  Diagnosis(duck::Connection& connection, ModelBinding& binding, KnownAssets& known)
      : connection_(connection),
        binding_(binding),
        known_(known),
        model_(*binding.model),
        statement_(refused_statement_of(binding)),
        main_(unit_of(binding)),
        unit_(&main_),
        places_(binding.places) {}

  duck::Outcome<void> run() {
    // An ORDER BY over something put out of the way is no fault.
    if (auto done = connection_.execute("SET order_by_non_integer_literal = true"); !done)
      return tl::unexpected(done.error());
    const std::size_t before = binding_.found.size();
    Attempt now = {binding_.refusal, place_in(text_with(places_), binding_.refusal), &main_};
    // With macros a place may lie in one of them, which only those tell that are made apart.
    if (has_macros() && (can_rebind() || binding_.is_macro_refused)) now = attempt(places_);
    for (int fault = 0; fault < kMostFaults && now.refusal; ++fault) {
      if (failure_) return tl::unexpected(*failure_);
      unit_ = now.unit;
      if (now.place && is_patched(now.place->begin)) break;
      if (!can_rebind() && !binding_.is_macro_refused) {
        report(Code::W2106, now.place.value_or(text().start()), first_line(now.refusal->message), {});
        break;
      }
      const bool goes_on = explain(now);
      if (failure_) return tl::unexpected(*failure_);
      if (!goes_on) break;
      now = attempt(places_);
      if (failure_) return tl::unexpected(*failure_);
    }
    unit_ = &main_;
    if (binding_.found.size() == before) report(Code::W2106, text().start(), first_line(binding_.refusal->message), {});
    name_caller(before);
    return {};
  }

 private:
  bool has_macros() const {
    return !model_.macros.empty() ||
           std::any_of(model_.script.statements.begin(), model_.script.statements.end(),
                       [](const parse::Statement& one) { return one.kind == StatementKind::CreateTempMacro; });
  }

  const StatementPlaces& text() const { return unit_->text; }

  /// Who calls what is wrong in a library.
  void name_caller(std::size_t from) {
    for (std::size_t i = from; i < binding_.found.size(); ++i) {
      Diagnostic& one = binding_.found[i];
      const bool is_library =
          std::any_of(model_.macros.begin(), model_.macros.end(),
                      [&one](const MacroDefinition& macro) { return macro.source->path == one.path; });
      if (!is_library) continue;
      one.hint += (one.hint.empty() ? "" : "; ") + fmt::format("the model {} calls it", model_.path);
    }
  }

  bool can_rebind() const {
    return statement_.kind == StatementKind::Result ||
           (!statement_.query.empty() &&
            (statement_.kind == StatementKind::CreateTempTable || statement_.kind == StatementKind::CreateTempView));
  }

  parse::Spliced text_with(const Places& places) const {
    return binding_.test != nullptr ? test_for_binding(model_, *binding_.test, places)
                                    : text_for_binding(model_, binding_.refused_statement, places);
  }

  /// Makes the macros that the statement may call, so that their places are told apart. The engine may refuse one: it
  /// looks up the tables of its body.
  std::optional<duck::Failure> make_macros(const Places& places, MacroPlaces& macros) {
    const SetupFor purpose = binding_.test != nullptr ? SetupFor::Tests : SetupFor::Result;
    std::vector<parse::Spliced> made;
    for (std::size_t i = 0; i <= binding_.refused_statement; ++i) {
      for (SetupStatement& one : macros_for_binding(model_, i, places, purpose)) made.push_back(std::move(one.sql));
      if ((i < binding_.refused_statement || binding_.is_macro_refused) &&
          model_.script.statements[i].kind == StatementKind::CreateTempMacro)
        made.push_back(text_for_binding(model_, i, places));
    }
    for (const parse::Spliced& one : made) {
      if (!read_macro_head(one.text(), {0, static_cast<std::uint32_t>(one.text().size())})) continue;
      if (auto done = connection_.execute(macros.apart(one, true)); !done) {
        if (done.error().type == duck::FailureType::Interrupt) failure_ = done.error();
        return done.error();
      }
    }
    return std::nullopt;
  }

  /// Places what lies in a macro. False if it does not.
  bool place_in_macro(const MacroPlaces& macros, std::uint32_t position, Attempt& tried) {
    const auto place = macros.find(position);
    if (!place) return false;
    if (const Unit* unit = unit_of_macro(*place->macro); unit != nullptr) {
      tried.unit = unit;
      tried.place = place->macro->source_of(place->byte);
    }
    return true;
  }

  /// The text that a macro was made from.
  const Unit* unit_of_macro(const parse::Spliced& macro) {
    const auto begin = macro.source_of(0);
    if (!begin) return nullptr;
    auto& known = macro_units_[{macro.path(), begin->begin}];
    if (known != nullptr) return known.get();
    const auto add = [&](const Source& source, Span statement, const std::string& key) {
      known = std::make_unique<Unit>(Unit{source.path, key, &source, StatementPlaces(source.text, statement)});
    };
    for (const MacroDefinition& one : model_.macros)
      if (one.source->path == macro.path() && one.statement.span.begin <= begin->begin &&
          begin->begin < one.statement.span.end)
        add(*one.source, one.statement.span, one.source->path);
    for (const parse::Statement& one : model_.script.statements)
      if (macro.path().empty() && one.span.begin <= begin->begin && begin->begin < one.span.end)
        add(*model_.source, one.span, "");
    return known.get();
  }

  static std::optional<Span> place_in(const parse::Spliced& sql, const std::optional<Refusal>& refusal) {
    if (!refusal || !refusal->position) return std::nullopt;
    return sql.source_of(*refusal->position);
  }

  Attempt attempt(const Places& places) {
    const parse::Spliced sql = text_with(places);
    MacroPlaces macros(std::max(sql.text().size(), model_.source->text.size()));
    if (const auto refused = has_macros() ? make_macros(places, macros) : std::nullopt; refused) {
      Attempt tried{Refusal{.type = refused->type, .message = refused->message}, std::nullopt, &main_};
      if (refused->position) place_in_macro(macros, *refused->position, tried);
      return tried;
    }
    if (!can_rebind()) return {{}, {}, &main_};
    const std::uint32_t offset = query_offset(sql, statement_);
    const std::string query = sql.text().substr(offset);
    auto answers = bind_queries(connection_, {query});
    if (!answers) {
      failure_ = answers.error();
      return {{}, {}, &main_};
    }
    Attempt tried{std::move(answers->front().refusal), std::nullopt, &main_};
    if (!tried.refusal) return tried;
    Refusal& refusal = *tried.refusal;
    if (refusal.is_unsupported) return {{}, {}, &main_};
    if (refusal.position && *refusal.position >= query.size() &&
        place_in_macro(macros, *refusal.position_in_sent, tried))
      return tried;
    if (refusal.position) *refusal.position += offset;
    tried.place = place_in(sql, refusal);
    return tried;
  }

  /// True if the fault of `before` is gone in `after`.
  static bool is_further(const Attempt& before, const Attempt& after) {
    if (!after.refusal) return true;
    if (after.refusal->type == duck::FailureType::Parser) return false;
    if (!before.place || !after.place) return before.refusal->message != after.refusal->message;
    return before.unit != after.unit || before.place->begin != after.place->begin ||
           before.refusal->subtype != after.refusal->subtype || before.refusal->name != after.refusal->name;
  }

  bool is_patched(std::uint32_t byte) const {
    const auto own = places_.patches.find(unit_->key);
    if (own == places_.patches.end()) return false;
    return std::any_of(own->second.begin(), own->second.end(), [byte](const parse::Replacement& patch) {
      return patch.span.begin <= byte && byte < patch.span.end;
    });
  }

  Diagnostic& report(Code code, Span span, std::string message, std::string hint) {
    binding_.found.push_back({code, Severity::Error, std::move(message), unit_->path, shown(span), std::move(hint)});
    return binding_.found.back();
  }

  /// A place of the text at hand as one of its file.
  Span shown(Span span) const {
    return binding_.test != nullptr && unit_ == &main_ ? place_in_file(model_, *binding_.test, span) : span;
  }

  void put_away(Span span) { patch(places_, span, "NULL"); }
  void patch(Places& places, Span span, std::string text) const {
    places.patches[unit_->key].push_back({span, std::move(text)});
  }

  /// Says what is wrong and puts it out of the way. False if nothing further can be looked at.
  bool explain(const Attempt& now) {
    const Refusal& refusal = *now.refusal;
    auto named = now.place ? text().name_at(now.place->begin) : std::nullopt;
    // The engine knows no place within the macro.
    const bool is_elsewhere = !refusal.name.empty() && (!named || !text::same_word(named->parts.back(), refusal.name));
    if (is_elsewhere && has_macros() && unit_ == &main_) {
      report(refusal.subtype == "COLUMN_NOT_FOUND" ? Code::W2101 : Code::W2106, text().start(),
             "within a macro: " + first_line(refusal.message), {});
      return false;
    }
    if (refusal.subtype == "MISSING_ENTRY") return explain_entry(refusal, now, named);
    if (refusal.subtype == "NO_MATCHING_FUNCTION") return explain_types(refusal, now, named);
    if (!now.place) return explain_unplaced(now);
    const bool is_word = named && is_operator_word(*named);
    if (named && !named->is_call && !is_word) return explain_name(now, *named);
    const auto token = text().token_at(now.place->begin);
    const bool is_operator = is_word || (token && token->kind == text::TokenKind::Operator);
    report(is_operator ? Code::W2103 : Code::W2106, token ? token->span : *now.place, first_line(refusal.message), {});
    return false;
  }

  /// The engine marks a comparison that is a word by that word, which names nothing.
  static bool is_operator_word(const NamedPlace& named) {
    static constexpr std::array<std::string_view, 6> kWords = {"between", "in", "like", "ilike", "similar", "is"};
    return named.parts.size() == 1 && std::any_of(kWords.begin(), kWords.end(), [&named](std::string_view word) {
             return text::same_word(word, named.parts.front());
           });
  }

  bool explain_entry(const Refusal& refusal, const Attempt& now, const std::optional<NamedPlace>& named) {
    const Span span = named ? named->span : now.place.value_or(text().start());
    const auto near = text::nearest(refusal.name, refusal.candidates);
    const std::vector<std::string> likely = near ? std::vector{*near} : std::vector<std::string>();
    if (refusal.entry.find("Function") == std::string::npos) {
      suggest(report(Code::W2107, span, first_line(refusal.message), {}), refusal.name, likely,
              shown(named ? named->last : span));
      return false;
    }
    suggest(report(Code::W2104, span, fmt::format("there is no function `{}`", refusal.name), {}), refusal.name, likely,
            shown(named ? named->last : span));
    if (!named || !named->is_call) return false;
    put_away(named->call);
    return true;
  }

  bool explain_types(const Refusal& refusal, const Attempt& now, const std::optional<NamedPlace>& named) {
    std::string forms;
    for (std::size_t i = 0; i < refusal.candidates.size() && i < 3; ++i)
      forms += (i == 0 ? "" : ", ") + refusal.candidates[i];
    Span span = named ? named->span : now.place.value_or(text().start());
    if (!named && now.place)
      if (const auto token = text().token_at(now.place->begin)) span = token->span;
    report(Code::W2103, span, first_line(refusal.message),
           forms.empty() ? "cast the argument" : "cast the argument; DuckDB knows " + forms);
    if (!named || !named->is_call) return false;
    put_away(named->call);
    return true;
  }

  bool explain_name(const Attempt& now, const NamedPlace& named) {
    if (lacks_column(now, named)) return true;
    const std::string& name = named.parts.back();
    if (now.refusal->subtype.empty() && is_ambiguous(now, named)) return true;
    const bool is_unknown = now.refusal->subtype == "COLUMN_NOT_FOUND" || !is_known_column(name);
    if (std::any_of(unknown_.begin(), unknown_.end(), [&](const auto& one) { return text::same_word(one, name); })) {
      put_away(named.span);  // a follow-up of one that is reported
      return true;
    }
    if (is_unknown) {
      unknown_.push_back(name);
      std::string message = now.refusal->subtype.empty() ? first_line(now.refusal->message)
                                                         : fmt::format("there is no column `{}` here", name);
      suggest(report(Code::W2101, named.span, std::move(message), {}), name, columns_here(*now.refusal),
              shown(named.last));
    } else {
      report(Code::W2106, named.span, first_line(now.refusal->message), {});
    }
    put_away(named.span);
    return true;
  }

  bool is_known_column(const std::string& name) const {
    return std::any_of(binding_.inputs.begin(), binding_.inputs.end(),
                       [&name](const Input& input) { return has_column(*input.columns, name); });
  }

  /// Names that could have been meant.
  std::vector<std::string> columns_here(const Refusal& refusal) const {
    std::vector<std::string> names;
    for (const std::string& candidate : refusal.candidates) {
      std::string last = candidate.substr(candidate.rfind('.') + 1);
      if (std::find(names.begin(), names.end(), last) == names.end()) names.push_back(std::move(last));
    }
    if (!names.empty()) return names;
    for (const Input& input : binding_.inputs)
      for (const duck::Column& column : *input.columns)
        if (std::find(names.begin(), names.end(), column.name) == names.end()) names.push_back(column.name);
    return names;
  }

  // --- columns that an input lacks ---

  const Reference* reference_of(const Input& input) const {
    if (binding_.test != nullptr)
      for (const Reference& reference : binding_.test->references)
        if (reference.asset.key() == input.key) return &reference;
    for (const Reference& reference : model_.references)
      if (reference.asset.key() == input.key) return &reference;
    return nullptr;
  }

  /// The columns of an input with those that were added while looking.
  const Columns& columns_now(std::size_t input) const {
    const auto added = added_.find(input);
    return added == added_.end() ? *binding_.inputs[input].columns : added->second;
  }

  /// Inputs that a name may have been meant for.
  std::vector<std::size_t> inputs_lacking(const NamedPlace& named) const {
    std::vector<std::size_t> all;
    std::vector<std::size_t> qualified;
    for (std::size_t i = 0; i < binding_.inputs.size(); ++i) {
      const Input& input = binding_.inputs[i];
      if (has_column(columns_now(i), named.parts.back())) continue;
      all.push_back(i);
      const Reference* reference = reference_of(input);
      if (named.parts.size() > 1 && reference != nullptr &&
          text::same_word(reference->alias, named.parts[named.parts.size() - 2]))
        qualified.push_back(i);
    }
    return qualified.empty() ? all : qualified;
  }

  /// The stand-in of an input with one more column, used by this model alone.
  Places with_column(std::size_t input, const std::string& name, const std::string& type) {
    Columns columns = columns_now(input);
    columns.push_back({name, type});
    const std::string table = fmt::format("_weir_missing_{}", input);
    if (auto made = connection_.execute(create_stand_in(table, columns)); !made) failure_ = made.error();
    Places places = places_;
    places.tables[binding_.inputs[input].key] = table;
    for (auto& [at, file] : places.files)
      if (file.second == binding_.inputs[input].table || file.second == table) file.second = table;
    return places;
  }

  bool lacks_column(const Attempt& now, const NamedPlace& named) {
    const std::string& name = named.parts.back();
    std::vector<std::size_t> fitting;
    for (const std::size_t input : inputs_lacking(named)) {
      if (is_further(now, attempt(with_column(input, name, "VARCHAR")))) fitting.push_back(input);
      if (failure_) return false;
    }
    if (fitting.empty()) return false;
    std::size_t chosen = fitting.front();
    const KnownSchema* captured = nullptr;
    for (const std::size_t input : fitting) {
      const Reference* reference = reference_of(binding_.inputs[input]);
      if (reference == nullptr) continue;
      const KnownSchema* last = known_.captured(reference->asset);
      if (last == nullptr || !has_column(last->columns, name)) continue;
      chosen = input;
      captured = last;
      fitting = {input};
      break;
    }
    report_lack(fitting, chosen, named, captured);
    keep_column(chosen, name, captured);
    return true;
  }

  /// Goes on with the column there, of the type that lets the query bind furthest.
  void keep_column(std::size_t input, const std::string& name, const KnownSchema* captured) {
    std::vector<std::string> types = {"VARCHAR", "BIGINT", "DOUBLE", "TIMESTAMP", "DATE", "BOOLEAN"};
    if (captured != nullptr)
      for (const duck::Column& column : captured->columns)
        if (text::same_word(column.name, name)) types = {column.type};
    std::string best = types.front();
    for (const std::string& type : types) {
      const Attempt tried = attempt(with_column(input, name, type));
      if (failure_) return;
      if (tried.refusal && tried.refusal->subtype != "COLUMN_NOT_FOUND") continue;
      best = type;
      if (!tried.refusal) break;
    }
    places_ = with_column(input, name, best);
    Columns columns = columns_now(input);
    columns.push_back({name, best});
    added_[input] = std::move(columns);
  }

  void report_lack(const std::vector<std::size_t>& fitting, std::size_t chosen, const NamedPlace& named,
                   const KnownSchema* captured) {
    const Input& input = binding_.inputs[chosen];
    const std::string& name = named.parts.back();
    std::vector<std::string> names;
    for (const std::size_t one : fitting)
      for (const duck::Column& column : *binding_.inputs[one].columns) names.push_back(column.name);
    const Reference* reference = reference_of(input);
    if (input.key == kTarget) {
      suggest(
          report(Code::W2130, named.span, fmt::format("the model {} returns no column `{}`", model_.path, name), {}),
          name, names, shown(named.last));
      return;
    }
    if (reference == nullptr) {
      suggest(report(Code::W2101, named.span, fmt::format("{} has no column `{}`", input.uri, name), {}), name, names,
              shown(named.last));
      return;
    }
    Diagnostic breach{.code = Code::W2110, .path = unit_->path, .span = shown(named.span)};
    suggest(breach, name, names, shown(named.last));
    const Model* producer = known_.graph().producer(reference->asset);
    if (captured != nullptr && producer != nullptr) {
      breach.message =
          fmt::format("`{}` is about to go from {}: {} no longer returns it ({})", name, input.uri,
                      producer->source->path, columns_as_known(known_, reference->asset, captured->columns));
      report_breach(binding_, known_, reference->asset, breach);
      warn_producer(*producer, reference->asset, name, named.span);
      return;
    }
    if (fitting.size() > 1) {
      std::string uris;
      for (const std::size_t one : fitting) uris += (uris.empty() ? "" : " nor ") + binding_.inputs[one].uri;
      breach.message = fmt::format("neither {} has a column `{}`", uris, name);
    } else {
      breach.message = fmt::format("{} has no column `{}`: {}", input.uri, name,
                                   columns_as_known(known_, reference->asset, *input.columns));
    }
    report_breach(binding_, known_, reference->asset, breach);
  }

  /// The same where the cause is: at the query that drops the column.
  void warn_producer(const Model& producer, const Asset& asset, const std::string& name, Span read) {
    const bool is_in_model = unit_->path == model_.source->path;
    const text::LineIndex lines(is_in_model ? model_.source->text : unit_->source->text);
    Diagnostic warning{
        .code = Code::W2115,
        .message = fmt::format("this edit removes `{}`, which {} line {} reads", name,
                               is_in_model ? model_.path : unit_->path, lines.position(shown(read).begin).line),
        .path = producer.source->path,
        .span = StatementPlaces(producer.source->text, producer.result().span).start(),
        .hint = "keep the column, or change its readers first"};
    report_breach(binding_, known_, asset, std::move(warning));
  }

  // --- names with several meanings ---

  bool is_ambiguous(const Attempt& now, const NamedPlace& named) {
    if (named.parts.size() != 1) return false;
    std::vector<std::string> qualifiers;
    std::vector<std::string> names = text().names();
    if (names.size() > kMostQualifiers) names.resize(kMostQualifiers);
    std::optional<Places> first;
    for (const std::string& name : names) {
      Places places = places_;
      patch(places, named.span, duck::quote_identifier(name) + "." + duck::quote_identifier(named.parts.front()));
      const Attempt tried = attempt(places);
      if (failure_) return false;
      // A refusal without a place is about the qualifier itself: a column that has no fields.
      if (!is_further(now, tried) || (tried.refusal && !tried.place)) continue;
      qualifiers.push_back(name);
      if (!first) first = std::move(places);
    }
    if (qualifiers.size() < 2) return false;
    std::string ways;
    for (const std::string& one : qualifiers)
      ways += fmt::format("{}`{}.{}`", ways.empty() ? "" : " or ", one, named.parts.front());
    report(Code::W2102, named.span, fmt::format("several tables here have a column `{}`", named.parts.front()),
           "write " + ways);
    places_ = std::move(*first);
    return true;
  }

  // --- faults that the engine gives no place for ---

  bool explain_unplaced(const Attempt& now) {
    for (const NamedPlace& listed : text().listed_columns()) {
      if (is_patched(listed.span.begin)) continue;
      if (lacks_column(now, listed)) return true;
      if (failure_) return false;
    }
    for (const auto& [keyword, whole] : text().set_operations()) {
      Places places = places_;
      patch(places, whole, " ");
      if (!is_further(now, attempt(places))) continue;
      report(Code::W2105, keyword, first_line(now.refusal->message), "return the same columns on both sides");
      places_ = std::move(places);
      return true;
    }
    for (const NamedPlace& listed : text().listed_columns()) {
      if (is_known_column(listed.parts.back())) continue;
      suggest(report(Code::W2101, listed.span, first_line(now.refusal->message), {}), listed.parts.back(),
              columns_here(*now.refusal), shown(listed.last));
      return false;
    }
    report(Code::W2106, text().start(), first_line(now.refusal->message), {});
    return false;
  }

  duck::Connection& connection_;
  ModelBinding& binding_;
  KnownAssets& known_;
  const Model& model_;
  const parse::Statement& statement_;
  Unit main_;
  std::map<std::pair<std::string, std::uint32_t>, std::unique_ptr<Unit>> macro_units_;
  /// The text that the fault at hand lies in.
  const Unit* unit_;
  Places places_;
  std::map<std::size_t, Columns> added_;
  std::vector<std::string> unknown_;
  std::optional<duck::Failure> failure_;
};

}  // namespace

duck::Outcome<void> diagnose(duck::Connection& connection, ModelBinding& binding, KnownAssets& known) {
  return Diagnosis(connection, binding, known).run();
}

}  // namespace weir::bind
