// A long random walk of edits, runs, applications, promotions, rollbacks, drops and collections over three
// environments, against a plain list of what each of them must read. WEIR_SEED and WEIR_STEPS give another walk.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <random>

#include "io/files.h"
#include "ops/collect.h"
#include "ops/data.h"
#include "ops/environments.h"
#include "ops/promotion.h"
#include "ops/rollback.h"
#include "support/test_lake.h"

namespace weir::ops {
namespace {

/// One number of each model's text: of base (managed), of mid (virtual, reads base and, by an ephemeral model, its
/// number), of top (view, reads mid) and of solo (virtual, reads nothing; without a number the project has it not).
constexpr int kGone = -1;
struct Texts {
  int base = 0, mid = 0, top = 0, solo = 0;
  friend bool operator==(const Texts&, const Texts&) = default;
};
using Pair = std::pair<int, int>;

/// An environment as it must be. One that was never run has nothing of its own and reads its parent's.
struct Expected {
  std::string parent;
  bool has_run = false;
  Pair base;  // rows: line of the file, number of the text
  int base_text = 0;
  /// What was shown, the newest last: definitions of mid and top are of a definition of base too.
  std::vector<Texts> generations;
  /// Rows of mid's tables, by the definitions of base and mid.
  std::map<Pair, Pair> tables;
};

class Walk : public ::testing::Test {
 protected:
  Walk() {
    write("weir.yaml", "name: walk\nlakes:\n  main: {catalog: lake/main.sqlite, data: lake/main}\n");
    expected_["prod"] = {};
    expected_["dev"] = {.parent = "prod"};
    expected_["try"] = {.parent = "dev"};
    edit();
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(io::write_file(folder_.path() + "/" + name, text).has_value());
  }
  void edit() const {
    const auto number = [](int value) { return std::to_string(value); };
    write("models/base.sql", "-- materialize ducklake://main/base\nSELECT d, " + number(files_.base) +
                                 " AS b FROM read_csv('data.csv')\n");
    write("models/part.sql", "/* weir: {materialise: ephemeral} */\nSELECT " + number(files_.mid) + " AS m\n");
    write("models/mid.sql", "SELECT d, b, m FROM base, part\n");
    write("models/top.sql",
          "/* weir: {materialise: view} */\nSELECT d, b, m, " + number(files_.top) + " AS t FROM mid\n");
    std::filesystem::remove(folder_.path() + "/models/solo.sql");
    if (files_.solo != kGone) write("models/solo.sql", "SELECT " + number(files_.solo) + " AS s\n");
    write("data.csv", "d\n" + number(data_) + "\n");
  }

  Workspace open(const std::string& environment) const {
    auto workspace = Workspace::open(folder_.path(), environment);
    EXPECT_TRUE(workspace.has_value());
    return std::move(*workspace);
  }
  template <typename T>
  static void expect_done(const Result<T>& result) {
    ASSERT_TRUE(result.has_value()) << result.error().front().message;
  }
  static void expect_done(const Result<RunOutcome>& result) {
    ASSERT_TRUE(result.has_value()) << result.error().front().message;
    ASSERT_EQ(result->report.status, "done");
  }

  /// What everything is after the definitions were brought to `texts`; `all`: rows are refreshed too.
  void bring(Expected& one, const Texts& texts, bool all) {
    if (all || one.base_text != texts.base || !one.has_run) one.base = {data_, texts.base};
    one.base_text = texts.base;
    one.has_run = true;
    const bool shows_mid = !one.generations.empty() && one.generations.back().base == texts.base &&
                           one.generations.back().mid == texts.mid;
    if (all || !shows_mid) one.tables[{texts.base, texts.mid}] = one.base;
    show(one, texts);
  }
  static void show(Expected& one, const Texts& texts) {
    if (one.generations.empty() || !(one.generations.back() == texts)) one.generations.push_back(texts);
  }
  /// The definitions that an environment has: of owned models those that it shows.
  static Texts texts_of(const Expected& one) {
    Texts texts = one.generations.back();
    texts.base = one.base_text;
    return texts;
  }

  void run(const std::string& environment) {
    Workspace workspace = open(environment);
    RunRequest request;
    request.options.environment = environment;
    request.options.approved = true;
    expect_done(ops::run(workspace, request, listener_, stop_));
    bring(expected_[environment], files_, true);
  }
  void apply(const std::string& environment, const Texts& texts, Workspace workspace) {
    ApplyRequest request;
    request.options.environment = environment;
    request.options.approved = true;
    const auto applied = ops::apply(workspace, request, listener_, stop_);
    expect_done(applied);
    bring(expected_[environment], texts, false);
  }
  void apply(const std::string& environment) { apply(environment, files_, open(environment)); }
  void promote(const std::string& from, const std::string& to) {
    Workspace workspace = open(to);
    expect_done(take_definitions(workspace, from));
    apply(to, texts_of(expected_[from]), std::move(workspace));
  }
  /// Without approval a breaking change is refused, and nothing moves.
  void apply_unapproved(const std::string& environment) {
    // A model that comes is no breaking change.
    if (expected_[environment].generations.back().solo == kGone && files_.solo != kGone) return;
    Workspace workspace = open(environment);
    ApplyRequest request;
    request.options.environment = environment;
    const auto applied = ops::apply(workspace, request, listener_, stop_);
    const bool is_same =
        texts_of(expected_[environment]) == files_ && expected_[environment].generations.back().base == files_.base;
    ASSERT_EQ(applied.has_value(), is_same);
    ASSERT_TRUE(is_same || applied.error().front().code == Code::W5405);
  }
  void rollback(const std::string& environment) {
    Workspace workspace = open(environment);
    Expected& one = expected_[environment];
    const auto done = ops::rollback(workspace, {.environment = environment}, listener_, stop_);
    if (one.generations.size() < 2) {
      ASSERT_EQ(done.error().front().code, Code::W5409);
      return;
    }
    expect_done(done);
    show(one, one.generations[one.generations.size() - 2]);
  }
  void drop(const std::string& environment) {
    Workspace workspace = open("prod");
    const auto done = drop_environment(workspace, {.name = environment}, listener_, stop_);
    if (environment == "dev") {
      ASSERT_EQ(done.error().front().code, Code::W5424) << "try comes from it";
      return;
    }
    expect_done(done);
    expect_done(create_environment(workspace, {.name = environment, .from = expected_[environment].parent}, stop_));
    expected_[environment] = {.parent = expected_[environment].parent};
  }
  void collect() {
    Workspace workspace = open("prod");
    expect_done(ops::collect(workspace, {.grace = "0", .keep = 2}, listener_, stop_));
  }

  /// What the environment must read of base, mid, top and solo.
  std::string wanted(const std::string& environment) const {
    const Expected& one = expected_.at(environment);
    if (!one.has_run) return wanted(one.parent);
    const Texts& texts = one.generations.back();
    const Pair& mid = one.tables.at({texts.base, texts.mid});
    std::string all;
    for (const int value : {one.base.first, one.base.second, mid.first, mid.second, texts.mid, mid.first, mid.second,
                            texts.mid, texts.top})
      all += std::to_string(value) + " ";
    if (texts.solo != kGone) all += std::to_string(texts.solo) + " ";
    return all;
  }
  Texts shown(const std::string& environment) const {
    const Expected& one = expected_.at(environment);
    return one.has_run ? one.generations.back() : shown(one.parent);
  }
  /// Nobody reads in prod what is gone there.
  void expect_gone() const {
    Workspace workspace = open("prod");
    ASSERT_EQ(query(workspace, {.sql = "FROM solo"}).has_value(), shown("prod").solo != kGone);
  }
  std::string read(const std::string& environment) const {
    Workspace workspace = open(environment);
    const bool has_solo = shown(environment).solo != kGone;
    const auto result =
        query(workspace, {.sql = std::string("SELECT base.d, base.b, mid.d, mid.b, mid.m, top.d, top.b, top.m, top.t") +
                                 (has_solo ? ", solo.s FROM base, mid, top, solo" : " FROM base, mid, top")});
    if (!result) return result.error().front().message;
    std::string all;
    for (const auto& row : result->rows)
      for (const auto& value : row) all += value.value_or("NULL") + " ";
    return all;
  }

  static std::uint32_t from_environment(const char* name, std::uint32_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::stoul(text));
  }

  test::TemporaryFolder folder_;
  run::Listener listener_;
  std::atomic<bool> stop_{false};
  Texts files_;
  int data_ = 0;
  std::map<std::string, Expected> expected_;
};

TEST_F(Walk, EachEnvironmentReadsWhatItWasBroughtToAndNothingElse) {
  const std::uint32_t seed = from_environment("WEIR_SEED", 20260701);
  const std::uint32_t steps = from_environment("WEIR_STEPS", 24);
  std::cout << "WEIR_SEED=" << seed << " WEIR_STEPS=" << steps << "\n";
  std::mt19937 random(seed);
  const auto below = [&random](int end) { return static_cast<int>(random() % static_cast<std::uint32_t>(end)); };
  const std::array<std::string, 3> names{"prod", "dev", "try"};
  run("prod");
  {
    Workspace workspace = open("prod");
    expect_done(create_environment(workspace, {.name = "dev"}, stop_));
    expect_done(create_environment(workspace, {.name = "try", .from = "dev"}, stop_));
  }
  std::string story;
  for (std::uint32_t step = 0; step < steps; ++step) {
    // Half of the steps edit first.
    if (below(2) == 0) {
      int* const fields[] = {&files_.base, &files_.mid, &files_.top, &files_.solo};
      const int field = below(4);
      *fields[field] = below(field == 3 ? 4 : 3) - (field == 3 ? 1 : 0);
      if (below(3) == 0) ++data_;
      edit();
    }
    const std::string& name = names[static_cast<std::size_t>(below(3))];
    const std::string& other = names[static_cast<std::size_t>(below(3))];
    const bool has_run = expected_[name].has_run;
    const auto tell = [&](const std::string& what) {
      story += "\n" + what + " [files " + std::to_string(files_.base) + std::to_string(files_.mid) +
               std::to_string(files_.top) + std::to_string(files_.solo) + " data " + std::to_string(data_) + "]";
    };
    switch (below(9)) {
      case 0:
      case 1:
        tell("run " + name);
        run(name);
        break;
      case 2:
      case 3:
        if (!has_run) continue;
        tell("apply " + name);
        apply(name);
        break;
      case 4:
        if (!has_run || !expected_[other].has_run || name == other) continue;
        tell("promote " + name + " to " + other);
        promote(name, other);
        break;
      case 5:
        if (!has_run) continue;
        tell("apply unapproved " + name);
        apply_unapproved(name);
        break;
      case 6:
        if (!has_run) continue;
        tell("rollback " + name);
        rollback(name);
        break;
      case 7:
        if (name == "prod") continue;
        tell("drop " + name);
        drop(name);
        break;
      default:
        tell("gc");
        collect();
    }
    for (const std::string& environment : names)
      ASSERT_EQ(read(environment), wanted(environment)) << environment << " after" << story;
    expect_gone();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weir::ops
