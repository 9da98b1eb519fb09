// Owned tables and promotions.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/hash.h"
#include "state/sql_store.h"
#include "state/store.h"

namespace weir::state {
namespace {

std::string number(std::int64_t value) { return std::to_string(value); }
std::string text(Field& field) { return std::move(field).value_or(std::string()); }

std::string models_text(const std::vector<ShownModel>& models) {
  auto list = nlohmann::json::array();
  for (const ShownModel& one : models) list.push_back({one.model, one.fingerprint, one.data, one.view, one.definition});
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<ShownModel> models_of(const std::string& text) {
  std::vector<ShownModel> models;
  const auto list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return models;
  for (const auto& one : list)
    if (one.is_array() && one.size() == 5)
      models.push_back({one[0].get<std::string>(), one[1].get<std::string>(), one[2].get<std::string>(),
                        one[3].get<std::string>(), one[4].get<std::string>()});
  return models;
}

constexpr const char* kPromotion =
    "SELECT environment, generation, time, run, token, command, lake_version, models_json FROM promotion ";
constexpr std::size_t kPromotionColumns = 8;

PromotionRecord to_promotion(Row& row) {
  PromotionRecord record{.environment = text(row[0]),
                         .generation = std::stoll(row[1].value_or("0")),
                         .time = text(row[2]),
                         .run = text(row[3]),
                         .token = text(row[4]),
                         .command = text(row[5])};
  if (row[6]) record.lake_version = std::stoll(*row[6]);
  record.models = models_of(text(row[7]));
  return record;
}

std::string key_of(std::string uri) {
  // As Asset::key(): names compare without the case of ASCII letters.
  for (char& c : uri)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return uri;
}

}  // namespace

Result<std::vector<PromotionRecord>> SqlStore::promotions(const std::string& environment, std::size_t limit) {
  WEIR_TRY(auto found,
           rows(fmt::format("{}WHERE environment = :environment ORDER BY generation DESC LIMIT {}", kPromotion, limit),
                {environment}, kPromotionColumns));
  std::vector<PromotionRecord> promotions;
  for (Row& row : found) promotions.push_back(to_promotion(row));
  return promotions;
}

Result<std::optional<PromotionRecord>> SqlStore::promotion(const std::string& environment, std::int64_t generation) {
  WEIR_TRY(auto found, rows(fmt::format("{}WHERE environment = :environment AND generation = :generation", kPromotion),
                            {environment, number(generation)}, kPromotionColumns));
  if (found.empty()) return std::optional<PromotionRecord>();
  return std::optional(to_promotion(found.front()));
}

Result<std::vector<PromotionRecord>> SqlStore::newest_promotions() {
  WEIR_TRY(auto found, rows(fmt::format("{}WHERE generation = (SELECT max(generation) FROM promotion AS newest WHERE "
                                        "newest.environment = promotion.environment) ORDER BY environment",
                                        kPromotion),
                            {}, kPromotionColumns));
  std::vector<PromotionRecord> promotions;
  for (Row& row : found) promotions.push_back(to_promotion(row));
  return promotions;
}

Result<void> SqlStore::promote(const PromotionRecord& promotion) {
  const std::lock_guard guard(mutex_);
  return session_->write("promote", [&]() -> Result<void> {
    const auto known = session_->ask(
        "SELECT token FROM promotion WHERE environment = :environment AND "
        "(generation = :generation OR token = :token)",
        {promotion.environment, number(promotion.generation), promotion.token}, 1);
    // Recorded already: recovery and the promoter may both come here.
    if (!known.empty() && known.front()[0].value_or("") == promotion.token) return {};
    if (!known.empty())
      return fail(Diagnostic{.code = Code::W5412,
                             .message = fmt::format("generation {} of {} is another promotion's", promotion.generation,
                                                    promotion.environment),
                             .hint = "run the command again"});
    session_->run(
        "INSERT INTO promotion VALUES (:environment, :generation, :time, :run, :token, :command, :version, :models)",
        {promotion.environment, number(promotion.generation), promotion.time, promotion.run, promotion.token,
         promotion.command, promotion.lake_version ? Field(number(*promotion.lake_version)) : Field(),
         models_text(promotion.models)});
    note_references(promotion.time);
    return {};
  });
}

/// When a table ceased to be shown, or is shown again.
void SqlStore::note_references(const std::string& time) {
  std::set<std::string> shown;
  for (Row& row : session_->ask("SELECT models_json FROM promotion WHERE generation = (SELECT max(generation) FROM "
                                "promotion AS newest WHERE newest.environment = promotion.environment)",
                                {}, 1))
    for (const ShownModel& one : models_of(text(row[0]))) shown.insert(key_of(one.data));
  for (Row& row : session_->ask("SELECT asset, unreferenced FROM snapshot", {}, 2)) {
    const std::string asset = text(row[0]);
    const bool is_marked = !row[1].value_or("").empty();
    if (shown.contains(asset) != is_marked) continue;
    session_->run("UPDATE snapshot SET unreferenced = :since WHERE asset = :asset",
                  {shown.contains(asset) ? std::string() : time, asset});
  }
}

Result<void> SqlStore::remember(const std::vector<DefinitionRecord>& definitions) {
  if (definitions.empty()) return {};
  const std::lock_guard guard(mutex_);
  return session_->write("remember", [&]() -> Result<void> {
    std::vector<Row> rows;
    std::map<std::string, Row> texts;
    for (const DefinitionRecord& one : definitions) {
      auto libraries = nlohmann::json::object();
      for (const auto& [file, source] : one.libraries) {
        const std::string digest = io::xxh3_hex(source);
        libraries[file] = digest;
        texts.emplace(digest, Row{digest, source});
      }
      rows.push_back({one.model, one.fingerprint, one.local, one.file, one.plane, one.strategy, one.asset, one.source,
                      libraries.dump()});
    }
    std::vector<Row> library_rows;
    for (auto& [digest, row] : texts) library_rows.push_back(std::move(row));
    session_->insert("INSERT INTO library_text (digest, source)", library_rows, "ON CONFLICT (digest) DO NOTHING");
    session_->insert(
        "INSERT INTO definition (model, fingerprint, local, file, plane, strategy, asset, source, libraries_json)",
        rows, "ON CONFLICT (model, fingerprint) DO NOTHING");
    return {};
  });
}

Result<std::vector<DefinitionRecord>> SqlStore::definitions(
    const std::vector<std::pair<std::string, std::string>>& wanted) {
  std::vector<DefinitionRecord> found;
  if (wanted.empty()) return found;
  const std::lock_guard guard(mutex_);
  WEIR_CHECK(session_->read([&]() -> Result<void> {
    found.clear();
    std::vector<Row> keys;
    for (const auto& [model, fingerprint] : wanted) keys.push_back({model, fingerprint});
    std::map<std::string, std::string> texts;
    for (Row& row : session_->ask_keys(
             "SELECT model, fingerprint, local, file, plane, strategy, asset, source, libraries_json FROM definition "
             "WHERE (model, fingerprint) IN",
             keys, "", 9)) {
      DefinitionRecord one;
      std::size_t at = 0;
      for (std::string* field :
           {&one.model, &one.fingerprint, &one.local, &one.file, &one.plane, &one.strategy, &one.asset, &one.source})
        *field = text(row[at++]);
      const auto libraries = nlohmann::json::parse(text(row[at]), nullptr, /*allow_exceptions=*/false);
      for (const auto& [file, digest] : libraries.items()) {
        const auto known = texts.try_emplace(digest.get<std::string>());
        if (known.second)
          for (Row& library :
               session_->ask("SELECT source FROM library_text WHERE digest = :digest", {digest.get<std::string>()}, 1))
            known.first->second = text(library[0]);
        one.libraries[file] = known.first->second;
      }
      found.push_back(std::move(one));
    }
    return {};
  }));
  return found;
}

Result<void> SqlStore::forget_environment(const std::string& environment) {
  const std::lock_guard guard(mutex_);
  return session_->write("forget_environment", [&]() -> Result<void> {
    session_->run("DELETE FROM promotion WHERE environment = :environment", {environment});
    note_references(now_text());
    return {};
  });
}

Result<std::vector<OwnedRecord>> SqlStore::owned() {
  WEIR_TRY(auto found, rows("SELECT asset, uri, model, fingerprint, environment, plane, run, created, unreferenced "
                            "FROM snapshot ORDER BY asset",
                            {}, 9));
  std::vector<OwnedRecord> owned;
  for (Row& row : found)
    owned.push_back({text(row[0]), text(row[1]), text(row[2]), text(row[3]), text(row[4]), text(row[5]), text(row[6]),
                     text(row[7]), text(row[8])});
  return owned;
}

void SqlStore::write_owned(const std::vector<OwnedRecord>& owned) {
  // A table that is made anew under the same name keeps its first entry: its owner does not change.
  for (const OwnedRecord& one : owned)
    session_->run(
        "INSERT INTO snapshot VALUES (:asset, :uri, :model, :fingerprint, :environment, :plane, :run, "
        ":created, :unreferenced) ON CONFLICT (asset) DO NOTHING",
        {one.asset, one.uri, one.model, one.fingerprint, one.environment, one.plane, one.run, one.created,
         one.unreferenced});
}

Result<void> SqlStore::forget_owned(const std::vector<std::string>& assets) {
  const std::lock_guard guard(mutex_);
  return session_->write("forget_owned", [&]() -> Result<void> {
    for (const std::string& asset : assets) {
      session_->run("DELETE FROM snapshot WHERE asset = :asset", {asset});
      session_->run("DELETE FROM slice WHERE asset = :asset", {asset});
      session_->run("DELETE FROM asset_schema WHERE asset = :asset", {asset});
    }
    return {};
  });
}

}  // namespace weir::state
