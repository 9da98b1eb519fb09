#include "lsp/names.h"

#include "duck/sql.h"
#include "project/judge.h"

namespace weir::lsp {

std::string sql_name(const std::string& name) {
  const bool is_plain = !name.empty() &&
                        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos &&
                        !(name[0] >= '0' && name[0] <= '9');
  return is_plain ? name : duck::quote_identifier(name);
}

Names::Names(const View& view, const Outline& outline, const Snapshot& snapshot) : snapshot_(snapshot) {
  if (!snapshot.project.config.lakes.empty()) default_lake_ = snapshot.project.config.default_lake().name;
  if (const Model* model = snapshot.model_of_file(view.path());
      model != nullptr && model->target && !model->target->schema.empty())
    own_schema_ = model->target->schema;
  const auto& code = outline.code();
  for (const OutlinedStatement& statement : outline.statements()) {
    std::size_t i = 0;
    while (i < code.size() && code[i].span.begin < statement.span.begin) ++i;
    const auto word = [&](std::size_t at) {
      return at < code.size() && code[at].span.begin < statement.span.end ? view.spelled(code[at]) : std::string_view();
    };
    if (text::same_word(word(i), "attach")) {
      is_explicit_ = true;
      for (++i; !word(i).empty() && code[i].kind != text::TokenKind::String;) ++i;
      if (word(i).empty() || !code[i].is_closed) continue;
      auto asset = parse_asset(text::value_of_string(word(i)));
      if (asset && asset->name.empty() && text::same_word(word(i + 1), "as") && !word(i + 2).empty())
        aliases_.emplace(text::lower(text::name_of_token(word(i + 2))), std::move(*asset));
    } else if (text::same_word(word(i), "use") && !word(i + 1).empty()) {
      is_explicit_ = true;
      used_.reset();
      const auto alias = aliases_.find(text::lower(text::name_of_token(word(i + 1))));
      if (alias == aliases_.end()) continue;
      used_ = alias->second;
      used_->schema = word(i + 2) == "." && !word(i + 3).empty() ? text::name_of_token(word(i + 3)) : "main";
    }
  }
}

std::optional<Asset> Names::asset_of(const std::vector<std::string>& parts) const {
  if (parts.empty() || parts.size() > 3) return std::nullopt;
  if (parts.size() == 2 && (text::same_word(parts[0], "_wm_target") || text::same_word(parts[0], "weir_target")))
    return target_named(parts[1]);
  const auto alias = aliases_.find(text::lower(parts.front()));
  if (parts.size() > 1 && alias != aliases_.end()) {
    Asset asset = alias->second;
    asset.schema = parts.size() == 2 ? "main" : parts[1];
    asset.name = parts.back();
    return asset;
  }
  if (parts.size() == 3) return std::nullopt;
  if (is_explicit_ && !used_) return std::nullopt;
  Asset asset{AssetKind::Lake, default_lake_, "main", parts.back()};
  if (is_explicit_) asset = {used_->kind, used_->place, used_->schema, parts.back()};
  if (parts.size() == 2) asset.schema = parts[0];
  if (is_explicit_ || parts.size() == 2) return asset;
  Asset near = asset;
  near.schema = own_schema_;
  const KnownAsset* known = snapshot_.asset(near);
  return known != nullptr && !known->producer.empty() ? near : asset;
}

// Custom tests read the table of the model that names them under this schema.
std::optional<Asset> Names::target_named(const std::string& table) const {
  for (const auto& [key, known] : snapshot_.assets)
    if (!known.producer.empty() && text::same_word(known.asset.name, table)) return known.asset;
  return std::nullopt;
}

std::optional<std::string> Names::spelling(const Asset& asset) const {
  const auto same_place = [&asset](const Asset& other) {
    return other.kind == asset.kind && text::same_word(other.place, asset.place);
  };
  const auto with_schema = [&asset](const std::string& before, const std::string& hidden) {
    std::string spelled = before;
    if (!text::same_word(asset.schema, hidden)) spelled += sql_name(asset.schema) + ".";
    return spelled + sql_name(asset.name);
  };
  if (used_ && same_place(*used_)) return with_schema("", used_->schema);
  for (const auto& [alias, place] : aliases_)
    if (same_place(place)) return with_schema(sql_name(alias) + ".", "main");
  if (is_explicit_ || asset.kind != AssetKind::Lake || !text::same_word(asset.place, default_lake_))
    return std::nullopt;
  const auto short_name = asset_of({asset.name});
  return with_schema("", short_name && *short_name == asset ? asset.schema : "main");
}

}  // namespace weir::lsp
