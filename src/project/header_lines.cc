#include "project/header_lines.h"

#include <algorithm>
#include <charconv>

#include "calendar/partition.h"
#include "project/header_near.h"
#include "project/header_prose.h"
#include "project/header_tests.h"
#include "text/lexer.h"

namespace weir {
namespace {

constexpr std::size_t kLongestTag = 50;

bool is_duration(std::string_view text) { return calendar::parse_duration(text).has_value(); }

class LineReader {
 public:
  LineReader(std::string_view text, Findings& findings) : text_(text), findings_(findings) {}

  void read(Span comment) {
    Piece tail = Piece(text_, comment).trimmed();
    line_ = tail;
    if (tail.view().starts_with('$')) return argument(tail);
    const Piece head = tail.take_word();
    keyword_ = keyword_named(head.view());
    if (keyword_ == nullptr) return judge_near_keyword(head, tail, findings_);
    head_ = head;
    header.is_present = dispatch(tail) || header.is_present;
  }

  LineHeader header;

 private:
  /// Reads the tail of one keyword. Returns false if the line turned out to be prose.
  bool dispatch(Piece tail) {
    const auto name = keyword_->name;
    if (name == "pipeline") return flag(header.pipeline, tail);
    if (name == "macros") return flag(header.macros, tail);
    if (name == "use") return use(tail);
    if (name == "on") return on(tail);
    if (name == "mute") return mute(tail);
    if (name == "partitioned") return partitioned(tail);
    if (name == "freshness") return duration(header.freshness, tail);
    if (name == "debounce") return duration(header.debounce, tail);
    if (name == "trigger") return trigger(tail);
    if (name == "tag") return tag(tail);
    if (name == "retry") return retry(tail);
    if (name == "materialize") return materialize(tail);
    if (name == "data_test") return data_test(tail);
    if (name == "column") return column(tail);
    return metric(tail, name == "measure");
  }

  /// Says that the line is not accepted: a hint if it reads like a sentence, a warning otherwise. Returns whether it is
  /// an annotation.
  bool malformed(Code code, Span span, const std::string& message, Advice hint = {}) {
    const Piece tail = line_.sub(keyword_->name.size()).trimmed();
    if (looks_like_prose(*keyword_, tail.view())) {
      findings_.note(Code::W0117, line_.span(),
                     "this line reads like prose: it is no `" + std::string(keyword_->name) + "` annotation",
                     "the annotation is written `" + std::string(keyword_->shape) +
                         "`; begin the line with another word to be rid of this note");
      return false;
    }
    if (hint.empty()) hint = "it is written `" + std::string(keyword_->shape) + "`";
    findings_.warn(code, span.empty() ? line_.span() : span, message + ": the line is left out", std::move(hint));
    return true;
  }

  /// A line of a single-valued keyword that has its value already. Returns true if the new one shall be dropped.
  bool repeated(bool is_set) {
    if (!is_set) return false;
    const bool last = keyword_->repeats == Repeats::LastWins;
    findings_.warn(Code::W0118, line_.span(),
                   "`" + std::string(keyword_->name) + "` is given more than once: the " + (last ? "last" : "first") +
                       " one counts");
    return !last;
  }

  bool flag(std::optional<Span>& set, Piece tail) {
    if (!tail.empty())
      return malformed(Code::W0100, tail.span(), "nothing may stand behind `" + std::string(keyword_->name) + "`");
    if (!set) set = line_.span();
    return true;
  }

  bool use(Piece tail) {
    Piece rest = tail;
    const Piece path = rest.take_word();
    if (path.empty() || !rest.empty()) return malformed(Code::W0101, tail.span(), "`use` needs one path");
    const auto same = [&](const Word& known) { return known.text == path.view(); };
    if (std::none_of(header.uses.begin(), header.uses.end(), same)) header.uses.push_back(path.word());
    return true;
  }

  bool on(Piece tail) {
    const auto cut = first_option(tail.view());
    const Piece reference = tail.sub(0, cut).trimmed();
    Trigger trigger{.asset = std::nullopt, .native_kind = "", .debounce = "", .span = line_.span()};
    const auto& kinds = keyword_->heads;
    if (std::find(kinds.begin(), kinds.end(), reference.view()) != kinds.end()) {
      trigger.native_kind = std::string(reference.view());
      if (cut < tail.view().size())
        findings_.warn(Code::W0110, tail.sub(cut).span(), "options have no effect on `on " + trigger.native_kind + "`");
    } else {
      if (!read_asset(reference, trigger.asset)) return bad_reference(reference, Code::W0102);
      const auto options = read_options(*keyword_, tail.sub(cut), findings_);
      if (const auto* debounce = find_option(options, "debounce")) {
        if (is_duration(debounce->value.text))
          trigger.debounce = debounce->value.text;
        else
          bad_duration(debounce->value);
      }
    }
    const auto same = [&](const Trigger& known) {
      return known.asset == trigger.asset && known.native_kind == trigger.native_kind &&
             known.debounce == trigger.debounce;
    };
    if (std::any_of(header.triggers.begin(), header.triggers.end(), same))
      findings_.note(Code::W0119, line_.span(), "the same trigger is listed above already");
    else
      header.triggers.push_back(std::move(trigger));
    return true;
  }

  bool bad_reference(const Piece& reference, Code code) {
    const auto& kinds = keyword_->heads;
    Advice hint;
    Piece rest = reference;
    const Word head = rest.take_word().word();
    if (std::find(kinds.begin(), kinds.end(), head.text) != kinds.end())
      hint = {"write `" + std::string(keyword_->name) + " " + head.text + "` alone", {reference.span(), head.text}};
    else
      hint = did_you_mean(head, kinds, std::string(keyword_->name) + " ");
    if (hint.empty()) hint = "an asset is `ducklake://<lake>/<table>`, `datatable://<db>/<table>` or `s3:///<key>`";
    if (reference.empty()) return malformed(code, {}, "`" + std::string(keyword_->name) + "` names nothing", hint);
    return malformed(code, reference.span(), "`" + std::string(reference.view()) + "` is no asset", hint);
  }

  /// An asset by its full URI; the bare words `ducklake` and `datatable` are none here.
  static bool read_asset(const Piece& reference, std::optional<Asset>& asset) {
    if (reference.view().find(':') == std::string_view::npos) return false;
    asset = parse_asset(reference.view());
    return asset.has_value();
  }

  bool mute(Piece tail) {
    if (tail.view() == "all") {
      header.mute_all = true;
      return true;
    }
    std::optional<Asset> asset;
    if (!read_asset(tail, asset)) return bad_reference(tail, Code::W0103);
    header.muted.push_back(*std::move(asset));
    return true;
  }

  bool partitioned(Piece tail) {
    Piece rest = tail;
    const Piece kind_word = rest.take_word();
    const auto kind = calendar::kind_named(kind_word.view());
    if (!kind) {
      Advice hint = did_you_mean(kind_word.word(), keyword_->heads, "partitioned ");
      if (const auto kind = kind_in_words(tail.view()); hint.empty() && !kind.empty())
        hint = {"did you mean `partitioned " + std::string(kind) + "`?", {tail.span(), std::string(kind)}};
      if (hint.empty()) hint = "kinds are " + one_of(keyword_->heads);
      return malformed(Code::W0104, kind_word.span(),
                       kind_word.empty() ? "`partitioned` has no kind"
                                         : "`" + std::string(kind_word.view()) + "` is no kind of partition",
                       hint);
    }
    PartitionedLine found{
        .span = line_.span(), .partitioning = {}, .options = read_options(*keyword_, rest, findings_)};
    found.partitioning.kind = *kind;
    found.partitioning.span = line_.span();
    const bool dynamic = *kind == calendar::PartitionKind::Dynamic;
    if (dynamic && find_option(found.options, "key") == nullptr)
      return malformed(Code::W0104, tail.span(), "a dynamic partition needs `key=`",
                       "write for example `partitioned dynamic key=$.tenant`");
    set_partition_options(found, dynamic);
    if (!repeated(header.partitioned.has_value())) header.partitioned = std::move(found);
    return true;
  }

  void set_partition_options(PartitionedLine& found, bool dynamic) {
    auto& partitioning = found.partitioning;
    partitioning.format = std::string(calendar::default_format(partitioning.kind));
    for (const auto& option : found.options) {
      const auto& name = option.name.text;
      if ((name == "key") != dynamic) {
        findings_.warn(Code::W0110, option.span(),
                       "`" + name + "` has no effect on a partition of kind `" +
                           std::string(calendar::name_of(partitioning.kind)) + "`");
      } else if (name == "key") {
        partitioning.key_path = option.value.text;
      } else if (name == "tz") {
        partitioning.tz = option.value.text;
      } else if (name == "start") {
        partitioning.start = option.value.text;
      } else if (name == "end") {
        partitioning.end = option.value.text;
      } else {
        partitioning.format = option.value.text;
        partitioning.has_own_format = true;
      }
    }
  }

  void bad_duration(const Word& word) {
    findings_.warn(Code::W0105, word.span, "`" + word.text + "` is no duration: it counts as not given",
                   "write for example `90s`, `15m`, `1h` or `7d`");
  }

  bool duration(std::optional<Word>& set, Piece tail) {
    if (!is_duration(tail.view())) {
      const std::string name(keyword_->name);
      return malformed(
          Code::W0105, tail.span(),
          tail.empty() ? "`" + name + "` has no duration" : "`" + std::string(tail.view()) + "` is no duration",
          "write for example `" + name + " 15m`, `" + name + " 1h` or `" + name + " 7d`");
    }
    if (!repeated(set.has_value())) set = tail.word();
    return true;
  }

  bool trigger(Piece tail) {
    if (tail.view() != "any" && tail.view() != "all") {
      Advice hint = did_you_mean(tail.word(), keyword_->heads, "trigger ");
      return malformed(
          Code::W0106, tail.span(),
          tail.empty() ? "`trigger` has no value" : "`" + std::string(tail.view()) + "` is no value of `trigger`",
          hint);
    }
    repeated(header.trigger.has_value());
    header.trigger = tail.word();
    return true;
  }

  bool tag(Piece tail) {
    Piece rest = tail;
    const Piece word = rest.take_word();
    if (word.empty() || !rest.empty()) return malformed(Code::W0111, tail.span(), "`tag` needs one word");
    if (word.view().size() > kLongestTag) return malformed(Code::W0111, word.span(), "a tag has at most 50 bytes");
    if (!repeated(header.tag.has_value())) header.tag = word.word();
    return true;
  }

  bool retry(Piece tail) {
    Piece rest = tail;
    const Piece count_word = rest.take_word();
    const auto text = count_word.view();
    RetryLine found{.span = line_.span(), .count = 0, .delay = ""};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.count);
    if (error != std::errc() || end != text.data() + text.size() || found.count < 1)
      return malformed(Code::W0112, tail.span(), "`retry` needs a count of at least 1",
                       "write for example `retry 3 30s`");
    const Piece delay = rest.take_word();
    if (!rest.empty())
      return malformed(Code::W0112, rest.span(), "`retry` takes a count and a delay only",
                       "write for example `retry 3 30s`");
    if (!delay.empty() && is_duration(delay.view()))
      found.delay = std::string(delay.view());
    else if (!delay.empty())
      bad_duration(delay.word());
    if (!repeated(header.retry.has_value())) header.retry = std::move(found);
    return true;
  }

  bool materialize(Piece tail) {
    MaterializeLine found;
    found.span = line_.span();
    Piece rest = tail;
    Piece target = rest.take_word();
    if (target.view() == "manual" || target.view() == "scd2") {
      (target.view() == "manual" ? found.is_manual : found.is_history) = true;
      target = rest.take_word();
    }
    const auto asset = parse_asset(target.view());
    if (!asset) {
      if (target.empty()) return malformed(Code::W0113, tail.span(), "`materialize` names no target");
      return malformed(Code::W0113, target.span(), "`" + std::string(target.view()) + "` is no asset",
                       "a target is `ducklake://<lake>/<table>` or `ducklake://<lake>/<schema>.<table>`");
    }
    found.target = *asset;
    found.target_span = target.span();
    found.options = read_options(*keyword_, rest, findings_);
    found.is_append = find_option(found.options, "append") != nullptr;
    found.is_history = found.is_history || find_option(found.options, "history") != nullptr;
    if (!repeated(header.materialize.has_value())) header.materialize = std::move(found);
    return true;
  }

  bool data_test(Piece tail) {
    if (tail.empty())
      return malformed(Code::W0114, {}, "`data_test` names no test", "write for example `data_test not_null id`");
    if (auto test = read_test_line(tail, findings_)) header.tests.push_back(*std::move(test));
    return true;
  }

  bool column(Piece tail) {
    const auto arrow = tail.view().find("<-");
    if (arrow == std::string_view::npos) return malformed(Code::W0115, tail.span(), "`column` has no `<-`");
    Piece left = tail.sub(0, arrow);
    const Piece output = left.take_quoted_word();
    if (output.empty() || !left.empty())
      return malformed(Code::W0115, tail.sub(0, arrow).trimmed().span(), "one column name must stand before `<-`");
    DeclaredLineage found{.output = output.name().text, .sources = {}, .span = tail.span()};
    const Piece list = tail.sub(arrow + 2);
    const auto text = list.view();
    for (std::size_t begin = 0; begin <= text.size();) {
      const auto end = std::min(text.find(',', begin), text.size());
      const Piece one = list.sub(begin, end - begin).trimmed();
      begin = end + 1;
      if (auto reference = read_column_reference(one.view())) {
        found.sources.push_back(*std::move(reference));
      } else {
        const Span span = one.empty() ? tail.span() : one.span();
        findings_.warn(Code::W0115, span,
                       one.empty() ? std::string("a source is missing in this list")
                                   : "`" + std::string(one.view()) + "` is no `<asset>.<column>`: it is left out",
                       "write for example `ducklake://main/orders.amount`");
      }
    }
    if (!found.sources.empty()) header.lineage.push_back(std::move(found));
    return true;
  }

  bool metric(Piece tail, bool is_measure) {
    const std::string what(keyword_->name);
    const auto equals = tail.view().find('=');
    if (equals == std::string_view::npos)
      return malformed(Code::W0116, tail.span(), "`" + what + "` has no `=` with an expression");
    Piece left = tail.sub(0, equals);
    const Piece name = left.take_word();
    if (name.empty() || !left.empty())
      return malformed(Code::W0116, tail.sub(0, equals).trimmed().span(), "one name must stand before `=`");
    const Piece body = tail.sub(equals + 1).trimmed();
    Metric found{.is_measure = is_measure,
                 .name = std::string(name.view()),
                 .expression = "",
                 .filter = "",
                 .description = "",
                 .unit = "",
                 .format = "",
                 .span = tail.span(),
                 .expression_span = body.span(),
                 .filter_span = {}};
    if (is_measure) {
      const auto parts = split_measure(body);
      if (!parts)
        return malformed(Code::W0116, tail.span(),
                         body.empty() ? "`measure` has no aggregate" : "`where` has no predicate");
      found.expression = std::string(parts->first.view());
      found.expression_span = parts->first.span();
      found.filter = std::string(parts->second.view());
      found.filter_span = parts->second.span();
    } else {
      if (body.empty()) return malformed(Code::W0116, tail.span(), "`dimension` has no expression");
      found.expression = std::string(body.view());
    }
    const auto same = [&](const Metric& known) { return known.is_measure == is_measure && known.name == found.name; };
    if (std::any_of(header.metrics.begin(), header.metrics.end(), same))
      findings_.warn(Code::W0122, name.span(),
                     "the " + what + " `" + found.name + "` is declared above already: the first one counts");
    else
      header.metrics.push_back(std::move(found));
    return true;
  }

  /// `$name (type) [= default]`.
  void argument(Piece line) {
    const auto text = line.view();
    std::size_t size = 1;
    while (size < text.size() && is_name_char(text[size])) ++size;
    const Piece name = line.sub(1, size - 1);
    // `$5 a piece` is prose.
    if (name.empty() || (name.view().front() >= '0' && name.view().front() <= '9')) return;
    const Piece rest = line.sub(size).trimmed();
    if (!rest.view().starts_with('(')) {
      if (!rest.empty() && is_name_char(rest.view().front())) {
        findings_.note(Code::W0117, line.span(), "this line reads like prose: it declares no argument",
                       "an argument is declared as `$" + std::string(name.view()) + " (<type>)`");
        return;
      }
      return bad_argument(line, "the argument `$" + std::string(name.view()) + "` has no type", name);
    }
    const auto close = closing(rest.view());
    const Piece type = close == std::string_view::npos ? Piece() : rest.sub(1, close - 1).trimmed();
    if (type.empty())
      return bad_argument(line, "the type of `$" + std::string(name.view()) + "` is not closed or empty", name);
    const Piece behind = rest.sub(close + 1).trimmed();
    if (!behind.empty() && !behind.view().starts_with('='))
      return bad_argument(behind, "only `= <default>` may stand behind the type", name);
    const Piece value = behind.sub(1).trimmed();
    if (!behind.empty() && value.empty())
      return bad_argument(line, "the default of `$" + std::string(name.view()) + "` is missing", name);
    Argument found{.name = std::string(name.view()),
                   .type = std::string(type.view()),
                   .default_value = std::nullopt,
                   .span = line.span()};
    if (!behind.empty()) found.default_value = found.written_default = value.unquoted().text;
    header.is_present = true;
    const auto same = [&](const Argument& known) { return known.name == found.name; };
    if (std::any_of(header.arguments.begin(), header.arguments.end(), same))
      return findings_.error(Code::W0121, line.span(), "the argument `$" + found.name + "` is declared twice");
    header.arguments.push_back(std::move(found));
  }

  void bad_argument(const Piece& where, std::string message, const Piece& name) {
    header.is_present = true;
    findings_.warn(Code::W0120, where.span(), std::move(message) + ": the line is left out",
                   "write for example `-- $" + std::string(name.view()) + " (date) = 2024-01-01`");
  }

  /// The position of the parenthesis that closes the one that `text` begins with.
  static std::size_t closing(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0) return i;
    }
    return std::string_view::npos;
  }

  /// Where the first word of the shape `<identifier>=` begins; the size if there is none.
  static std::size_t first_option(std::string_view text) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (!is_blank(text[i - 1]) || !is_name_char(text[i]) || (text[i] >= '0' && text[i] <= '9')) continue;
      std::size_t end = i;
      while (end < text.size() && is_name_char(text[end])) ++end;
      if (end < text.size() && text[end] == '=') return i;
    }
    return text.size();
  }

  std::string_view text_;
  Findings& findings_;
  const KeywordEntry* keyword_ = nullptr;
  Piece line_;
  Piece head_;
};

}  // namespace

LineHeader read_header_lines(std::string_view text, const HeaderRegion& region, Findings& findings) {
  LineReader reader(text, findings);
  for (const auto& comment : region.comments) reader.read(comment.text);
  return std::move(reader.header);
}

bool reads_as_annotation(std::string_view line) {
  Diagnostics said;
  Findings findings("", said);
  LineReader reader(line, findings);
  reader.read({0, static_cast<std::uint32_t>(line.size())});
  return reader.header.is_present && said.empty();
}

std::optional<std::pair<Piece, Piece>> split_measure(Piece body) {
  body = body.trimmed();
  if (body.empty()) return std::nullopt;
  const auto text = body.view();
  const auto is_at = [&](std::uint32_t place, auto is_wanted) { return place < text.size() && is_wanted(text[place]); };
  int depth = 0;
  // Cut as the engine cuts it, so that a quote of any spelling hides what it holds.
  for (const text::Token& token : text::lex(text)) {
    const auto word = text.substr(token.span.begin, token.span.size());
    if (token.kind == text::TokenKind::Punctuation && (word == "(" || word == ")")) depth += word == "(" ? 1 : -1;
    if (depth != 0 || token.kind != text::TokenKind::Word || !text::same_word(word, "where")) continue;
    if (token.span.begin == 0 || !is_at(token.span.begin - 1, is_blank)) continue;
    if (token.span.end < text.size() && !is_at(token.span.end, is_blank)) continue;
    const Piece filter = body.sub(token.span.end).trimmed();
    if (filter.empty()) return std::nullopt;
    return std::pair{body.sub(0, token.span.begin).trimmed(), filter};
  }
  return std::pair{body, body.sub(text.size())};
}

}  // namespace weir
