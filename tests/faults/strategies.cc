#include "strategies.h"

namespace weir::faults {
namespace {

std::string pairs(const std::map<int, int>& rows) {
  std::string text;
  for (const auto& [k, v] : rows) text += (text.empty() ? "" : " ") + std::to_string(k) + "|" + std::to_string(v);
  return text;
}

constexpr int kManyRows = 120000;

}  // namespace

const std::vector<std::string>& strategies() {
  static const std::vector<std::string> all{"replace", "replace_files", "append",     "append_files", "merge",
                                            "scd",     "part",          "part_files", "manual"};
  return all;
}

void write_models(const Shop& shop) {
  const std::string rows = "SELECT k::INTEGER AS k, v::INTEGER AS v FROM read_csv('data.csv')\n";
  const std::string many = "SELECT i::INTEGER AS k, v FROM range(" + std::to_string(kManyRows) +
                           ") AS r(i), (SELECT max(v)::INTEGER AS v FROM read_csv('data.csv'))\n";
  shop.write("models/replace.sql", "-- materialize ducklake://main/replace\n" + rows);
  shop.write("models/replace_files.sql", "-- materialize ducklake://main/replace_files\n" + many);
  shop.write("models/append.sql", "-- materialize ducklake://main/append append\n" + rows);
  shop.write("models/append_files.sql", "-- materialize ducklake://main/append_files append\n" + many);
  shop.write("models/merge.sql", "-- materialize ducklake://main/merge key=k\n-- data_test unique k\n" + rows);
  shop.write("models/scd.sql", "-- materialize ducklake://main/scd history key=k\n" + rows);
  shop.write("models/part.sql", "-- materialize ducklake://main/part\n-- partitioned dynamic key=p\n" + rows);
  shop.write("models/part_files.sql",
             "-- materialize ducklake://main/part_files\n-- partitioned dynamic key=p\n" + many);
  shop.write("models/manual.sql",
             "-- materialize manual ducklake://main/manual\nATTACH 'ducklake://main' AS l;\nCREATE TABLE IF NOT EXISTS "
             "l.manual (k INTEGER, v INTEGER);\n"
             "BEGIN;\nDELETE FROM l.manual;\nINSERT INTO l.manual SELECT k, v FROM "
             "read_csv('data.csv');\nCOMMIT;\nSELECT count(*) FROM l.manual;\n");
}

std::map<int, int> delivery(int n) {
  std::map<int, int> rows;
  for (int k = n % 3; k < n % 3 + 5; ++k) rows[k] = 10 * n + k;
  return rows;
}

void write_delivery(const Shop& shop, int n) {
  std::string text = "k,v\n";
  for (const auto& [k, v] : delivery(n)) text += std::to_string(k) + "," + std::to_string(v) + "\n";
  // Put in place whole: a run may read at any moment.
  shop.write("next.csv", text);
  std::rename((shop.root() + "/next.csv").c_str(), (shop.root() + "/data.csv").c_str());
}

void Expected::apply(const std::string& model, int n) { applied_[model].push_back(n); }

std::string Expected::question(const std::string& model) const {
  const std::string table = "lake." + model;
  if (model.ends_with("_files"))
    return "SELECT v, count(*), count(DISTINCT k) FROM " + table + " GROUP BY v ORDER BY v";
  if (model == "append") return "SELECT v % 10, v, count(*) FROM " + table + " GROUP BY v ORDER BY v";
  if (model == "scd") return "SELECT k, v FROM " + table + " WHERE is_current ORDER BY k";
  return "SELECT k, v FROM " + table + " ORDER BY k, v";
}

std::string Expected::answer(const std::string& model) const {
  const auto found = applied_.find(model);
  if (found == applied_.end()) return {};
  const std::vector<int>& all = found->second;
  std::string text;
  if (model.ends_with("_files")) {
    std::map<int, int> times;
    for (const int n : model == "append_files" ? all : std::vector<int>{all.back()})
      ++times[delivery(n).rbegin()->second];
    for (const auto& [v, count] : times)
      text += (text.empty() ? "" : " ") + std::to_string(v) + "|" + std::to_string(count * kManyRows) + "|" +
              std::to_string(kManyRows);
    return text;
  }
  if (model == "append") {
    std::map<int, int> times;
    for (const int n : all)
      for (const auto& [k, v] : delivery(n)) ++times[v];
    for (const auto& [v, count] : times)
      text +=
          (text.empty() ? "" : " ") + std::to_string(v % 10) + "|" + std::to_string(v) + "|" + std::to_string(count);
    return text;
  }
  std::map<int, int> rows;
  for (const int n : all) {
    const auto delivered = delivery(n);
    // A history keeps keys that a snapshot lacks open; replace forgets them.
    if (model != "merge" && model != "scd") rows.clear();
    for (const auto& [k, v] : delivered) rows[k] = v;
  }
  return pairs(rows);
}

}  // namespace weir::faults
