// One model a strategy over one CSV file, and what each must hold after a sequence of runs: the naive recomputation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shop.h"

namespace weir::faults {

/// Names of the models; the ones named `…_files` are large enough to be staged in Parquet.
const std::vector<std::string>& strategies();

/// Models of the strategies that are left, all small: they are written by one run, and killed together. That run says
/// `--at` by at_of(n), so that the n-th delivery lies in a window of its own.
const std::vector<std::string>& more_strategies();
std::string at_of(int n);

/// Writes the models.
void write_models(const Shop& shop);
void write_more_models(const Shop& shop);

/// The n-th delivery: five keys, of which one leaves and one comes with each, with values that all differ from the
/// delivery before.
std::map<int, int> delivery(int n);
void write_delivery(const Shop& shop, int n);

/// What the tables hold after deliveries were applied.
class Expected {
 public:
  /// One more publication of the n-th delivery by the model.
  void apply(const std::string& model, int n);
  /// The query to ask of the lake, and the rows it must give.
  std::string question(const std::string& model) const;
  std::string answer(const std::string& model) const;

 private:
  static std::string versions(const std::vector<int>& all, bool marks);
  std::map<std::string, std::vector<int>> applied_;
};

}  // namespace weir::faults
