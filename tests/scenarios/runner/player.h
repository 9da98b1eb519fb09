// Plays the steps of one scenario and says where it went another way than written.
#pragma once

#include <array>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "duck/database.h"
#include "place.h"
#include "process.h"
#include "scenario.h"

namespace weir::scenario {

struct Tools {
  std::string weir;
  std::string extension_folder;
  bool rewrite = false;
};

class Player {
 public:
  Player(const Scenario& scenario, Place& place, const Tools& tools)
      : scenario_(scenario), place_(place), tools_(tools) {}

  /// Nothing if all went as written; otherwise the step, what was expected and what was got.
  std::optional<std::string> play();

 private:
  using Problem = std::optional<std::string>;
  Problem play(const Step& step);
  Problem weir(const Step& step);
  Problem parallel(const Step& step);
  Problem start(const Step& step);
  Problem wait(const Step& step);
  Problem signal(const Step& step);
  Problem foreign_sql(const Step& step);
  Problem shown(const Step& step, bool wanted, bool is_whole_line = false);
  Problem same_output(const Step& step);
  Problem json(const Step& step);
  Problem files(const Step& step) const;
  Problem let(const Step& step);
  Problem compare_rows(const Step& step, const std::vector<std::string>& got) const;
  Problem check_exit(const Step& step, int got) const;
  std::vector<std::string> command(const std::string& rest) const;
  std::string with_variables(std::string text) const;
  std::string normalised(std::string text) const;
  std::optional<nlohmann::ordered_json> value_at(const std::string& path, std::string& problem) const;

  const Scenario& scenario_;
  Place& place_;
  const Tools& tools_;
  std::map<std::string, std::string> environment_;
  std::map<std::string, std::string> variables_;
  std::unique_ptr<Process> background_;
  std::string out_;
  std::string err_;
  std::array<std::size_t, 2> seen_ = {};  // `?` looks from these lines of stdout and stderr on
};

}  // namespace weir::scenario
