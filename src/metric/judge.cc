// The faults that no deployment takes. See judge.h; the warnings lie in bound.cc.
#include "metric/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/hash.h"
#include "metric/expression.h"
#include "metric/fit_texts.h"
#include "metric/place.h"
#include "metric/table_path.h"
#include "text/render.h"

namespace weir::metric {
namespace {

std::string key_of(const Metric& metric) {
  return io::xxh3_hex(fmt::format("{}:{}{}", metric.expression.size(), metric.expression, metric.filter));
}

class MetricJudge {
 public:
  MetricJudge(Project& project, ParserProvider& parser, FitTexts& fit)
      : project_(project), parser_(parser), fit_(fit) {}

  Result<void> run() {
    for (const Model& model : project_.models) {
      if (model.metrics.empty()) continue;
      judge_names(model);
      for (const Metric& metric : model.metrics)
        if (!fit_.contains(key_of(metric)) && is_worth_asking(model, metric)) asked_.emplace_back(&model, &metric);
    }
    if (!asked_.empty()) WEIR_CHECK(ask());
    if (found_.empty()) return {};
    std::move(found_.begin(), found_.end(), std::back_inserter(project_.diagnostics));
    text::sort_diagnostics(project_.diagnostics);
    const auto bad = std::stable_partition(project_.models.begin(), project_.models.end(),
                                           [this](const Model& model) { return !bad_.contains(model.path); });
    for (auto model = bad; model != project_.models.end(); ++model) {
      project_.broken.emplace(model->target->key(), model->path);
      project_.broken_models.push_back(std::move(*model));
    }
    project_.models.erase(bad, project_.models.end());
    return {};
  }

 private:
  void say(const Model& model, Code code, std::string message, Span span, std::string hint) {
    bad_.insert(model.path);
    found_.push_back({code, Severity::Error, std::move(message), model.source->path, span, std::move(hint)});
  }

  void judge_names(const Model& model) {
    if (const std::string path = table_path(*model.target); !is_safe_path(path))
      say(model, Code::W2201,
          fmt::format(
              "measures and dimensions cannot be kept for the table {}: its path is put into the SQL of readers", path),
          model.target_span.empty() ? model.metrics.front().span : model.target_span,
          "ASCII letters, digits, `_`, `-`, `.` and `/` are allowed, at most 510 of them");
    for (const Metric& metric : model.metrics)
      if (!is_name_short_enough(metric.name))
        say(model, Code::W2204,
            fmt::format("the name of the {} has more than 255 characters", metric.is_measure ? "measure" : "dimension"),
            metric.span, "give it a shorter name");
  }

  bool is_worth_asking(const Model& model, const Metric& metric) {
    if (auto flaw = lexical_flaw(metric.expression)) {
      say_flaw(model, metric, Code::W2202, metric.is_measure ? "measure" : "dimension", std::move(*flaw), false);
      return false;
    }
    if (metric.filter.empty()) return true;
    auto flaw = lexical_flaw(metric.filter);
    if (flaw) say_flaw(model, metric, Code::W2202, "filter of the measure", std::move(*flaw), true);
    return !flaw;
  }

  void say_flaw(const Model& model, const Metric& metric, Code code, std::string_view what, Flaw flaw, bool in_filter) {
    say(model, code, fmt::format("the {} `{}` {}", what, metric.name, flaw.message),
        in_filter ? place_of(*model.source, metric.filter_span, metric.filter, flaw.span)
                  : place_of(*model.source, metric.expression_span, metric.expression, flaw.span),
        std::move(flaw.hint));
  }

  Result<void> ask() {
    const auto connection = parser_.connection();
    if (!connection)
      return fail(Diagnostic{.code = Code::W4001,
                             .message = "DuckDB's parser cannot be started: " + connection.error().message});
    std::vector<std::string> queries;
    for (const auto& [model, metric] : asked_)
      for (std::string& query : queries_for(metric->expression, metric->filter)) queries.push_back(std::move(query));
    parse::Trees trees;
    if (auto done = trees.fetch(**connection, queries); !done)
      return fail(Diagnostic{.code = Code::W4001, .message = "DuckDB's parser failed: " + done.error().message});
    for (const auto& [model, metric] : asked_) {
      if (auto flaw = expression_flaw(trees, metric->expression)) {
        say_flaw(*model, *metric, Code::W2202, metric->is_measure ? "measure" : "dimension", std::move(*flaw), false);
        continue;
      }
      if (!metric->filter.empty()) {
        if (auto flaw = expression_flaw(trees, metric->filter)) {
          say_flaw(*model, *metric, Code::W2202, "filter of the measure", std::move(*flaw), true);
          continue;
        }
        const auto known = functions(**connection);
        if (!known)
          return fail(Diagnostic{.code = Code::W4001,
                                 .message = "DuckDB does not list its functions: " + known.error().message});
        if (auto flaw = filter_flaw(trees, metric->expression, metric->filter, **known)) {
          say_flaw(*model, *metric, Code::W2203, "measure", std::move(*flaw), false);
          continue;
        }
      }
      fit_.add(key_of(*metric));
    }
    return {};
  }

  Project& project_;
  ParserProvider& parser_;
  FitTexts& fit_;
  std::vector<std::pair<const Model*, const Metric*>> asked_;
  Diagnostics found_;
  std::set<std::string> bad_;
};

}  // namespace

Result<void> judge(Project& project, ParserProvider& parser, FitTexts& fit) {
  return MetricJudge(project, parser, fit).run();
}

Result<void> judge(Project& project, ParserProvider& parser) {
  FitTexts fit(project.config.root + "/.weir/cache/metrics");
  WEIR_CHECK(judge(project, parser, fit));
  fit.save();
  return {};
}

}  // namespace weir::metric
