#include "run/images.h"

namespace weir::run {

void Images::remove_step(std::size_t step) {
  std::erase_if(images_, [step](const auto& entry) { return entry.second.step == step; });
}

void Images::set_published(std::size_t step, std::int64_t version) {
  for (auto& [key, image] : images_)
    if (image.step == step) image.published = version;
}

std::optional<Images::Found> Images::find(const Asset& asset, std::int64_t version) const {
  const auto at = images_.find(asset.key());
  if (at == images_.end()) return std::nullopt;
  const Image& image = at->second;
  if (!image.stands_alone && image.published && *image.published <= version) return std::nullopt;
  return Found{image.relation, image.step, image.rows};
}

bool Images::needs_pin(const Asset& asset) const {
  const auto at = images_.find(asset.key());
  return at == images_.end() || !at->second.stands_alone;
}

}  // namespace weir::run
