#include "strategies.h"

#include <set>

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

const std::vector<std::string>& more_strategies() {
  static const std::vector<std::string> all{"full_merge", "hash_merge", "windows",    "windows_key",
                                            "scd_from",   "scd_mark",   "part_merge", "part_append"};
  return all;
}

std::string at_of(int n) { return "2026-07-" + std::string(n < 8 ? "0" : "") + std::to_string(n + 2) + "T00:30Z"; }

void write_more_models(const Shop& shop) {
  const std::string from = " FROM read_csv('data.csv')\n";
  const std::string rows = "SELECT k::INTEGER AS k, v::INTEGER AS v" + from;
  // The day of its delivery.
  const std::string timed =
      "SELECT k::INTEGER AS k, v::INTEGER AS v, DATE '2026-07-01' + (v // 10)::INTEGER AS t" + from;
  shop.write("models/full_merge.sql", "/* weir: {strategy: full_merge, key: k} */\n" + rows);
  shop.write("models/hash_merge.sql", "/* weir: {strategy: hash_merge, key: k, hash: true} */\n" + rows);
  shop.write("models/windows.sql", "/* weir: {strategy: incremental_by_time, time_column: t} */\n" + timed);
  shop.write("models/windows_key.sql", "/* weir: {strategy: incremental_by_time, time_column: t, key: k} */\n" + timed);
  shop.write("models/scd_from.sql", "-- materialize ducklake://main/scd_from history key=k valid_from=t\n" + timed);
  shop.write("models/scd_mark.sql", "-- materialize ducklake://main/scd_mark history key=k deletes=mark\n" + rows);
  shop.write("models/part_merge.sql",
             "-- materialize ducklake://main/part_merge key=k\n-- partitioned dynamic key=p\n" + rows);
  shop.write("models/part_append.sql",
             "-- materialize ducklake://main/part_append append\n-- partitioned dynamic key=p\n" + rows);
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
  if (model.ends_with("append")) return "SELECT v % 10, v, count(*) FROM " + table + " GROUP BY v ORDER BY v";
  // Every version, and whether it ends where the next one begins; the last is open.
  if (model.starts_with("scd"))
    return std::string("SELECT k, ") + (model == "scd_mark" ? "CASE WHEN NOT is_deleted THEN v END" : "v") +
           ", valid_to IS NOT DISTINCT FROM lead(valid_from) OVER (PARTITION BY k ORDER BY valid_from) AND "
           "coalesce(valid_to > valid_from, true) AND is_current = (valid_to IS NULL) FROM " +
           table + " ORDER BY k, valid_from";
  return "SELECT k, v FROM " + table + " ORDER BY k, v";
}

std::string Expected::versions(const std::vector<int>& all, bool marks) {
  // A value opens a version where it is not the newest one's. A key that a delivery lacks stays open, or is marked.
  std::map<int, std::vector<std::string>> versions;
  for (const int n : all) {
    const auto delivered = delivery(n);
    for (const auto& [k, v] : delivered)
      if (versions[k].empty() || versions[k].back() != std::to_string(v)) versions[k].push_back(std::to_string(v));
    for (auto& [k, values] : versions)
      if (marks && !delivered.contains(k) && values.back() != "NULL") values.emplace_back("NULL");
  }
  std::string text;
  for (const auto& [k, values] : versions)
    for (const std::string& v : values) text += (text.empty() ? "" : " ") + std::to_string(k) + "|" + v + "|true";
  return text;
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
  if (model.ends_with("append")) {
    std::map<int, int> times;
    for (const int n : all)
      for (const auto& [k, v] : delivery(n)) ++times[v];
    for (const auto& [v, count] : times)
      text +=
          (text.empty() ? "" : " ") + std::to_string(v % 10) + "|" + std::to_string(v) + "|" + std::to_string(count);
    return text;
  }
  if (model.starts_with("scd")) return versions(all, model == "scd_mark");
  if (model == "windows") {
    std::set<std::pair<int, int>> rows;
    for (const int n : all)
      for (const auto& row : delivery(n)) rows.insert(row);
    for (const auto& [k, v] : rows) text += (text.empty() ? "" : " ") + std::to_string(k) + "|" + std::to_string(v);
    return text;
  }
  std::map<int, int> rows;
  for (const int n : all) {
    const auto delivered = delivery(n);
    // Replace forgets what a delivery lacks.
    const bool keeps = model == "merge" || model == "hash_merge" || model == "part_merge" || model == "windows_key";
    if (!keeps) rows.clear();
    for (const auto& [k, v] : delivered) rows[k] = v;
  }
  return pairs(rows);
}

}  // namespace weir::faults
