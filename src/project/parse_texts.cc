#include "project/parse_texts.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "parse/trees.h"

namespace weir {
namespace {

/// Trees take ten times the room of their queries, so not all of a large project's are held at once.
constexpr std::size_t kTextsAtOnce = 100;

Failed not_asked(const duck::Failure& failure) {
  return fail(Diagnostic{.code = Code::W0201, .message = "DuckDB's parser failed: " + failure.message});
}

/// Texts from `begin` to `end`, each script at its place.
Result<void> parse_part(duck::Connection& connection, const std::vector<UnparsedText>& texts, std::size_t begin,
                        std::size_t end, std::vector<Result<parse::Script>>& scripts) {
  std::vector<std::string> queries;
  for (std::size_t i = begin; i < end; ++i)
    for (std::string& query : parse::queries_of(texts[i].sql)) queries.push_back(std::move(query));
  parse::Trees trees;
  if (auto done = trees.fetch(connection, queries); !done) return not_asked(done.error());
  for (std::size_t i = begin; i < end; ++i)
    scripts[i] = parse::parse_script(trees, connection, texts[i].sql, std::string(texts[i].path));
  return {};
}

}  // namespace

Result<std::vector<Result<parse::Script>>> parse_texts(ParserProvider& parser, duck::Connection& connection,
                                                       const std::vector<UnparsedText>& texts) {
  std::vector<Result<parse::Script>> scripts(texts.size());
  std::vector<duck::Connection*> connections = {&connection};
  std::optional<duck::Connection> second;
  if (texts.size() > kTextsAtOnce && std::thread::hardware_concurrency() > 1) second = parser.another();
  if (second) connections.push_back(&*second);

  std::atomic<std::size_t> next = 0;
  std::vector<Result<void>> outcomes(connections.size());
  const auto take_parts = [&](std::size_t thread) {
    while (outcomes[thread]) {
      const std::size_t begin = next.fetch_add(kTextsAtOnce);
      if (begin >= texts.size()) return;
      const std::size_t end = std::min(begin + kTextsAtOnce, texts.size());
      outcomes[thread] = parse_part(*connections[thread], texts, begin, end, scripts);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < connections.size(); ++i) threads.emplace_back(take_parts, i);
    take_parts(0);
  }
  for (Result<void>& outcome : outcomes) WEIR_CHECK(std::move(outcome));
  return scripts;
}

}  // namespace weir
