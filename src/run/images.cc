#include "run/images.h"

namespace weir::run {

void Images::add(const Asset& asset, Image image) {
  const std::string key = asset.key();
  keys_.emplace(image.step, key);
  images_[key] = std::move(image);
}

void Images::remove_step(std::size_t step) {
  const auto [first, last] = keys_.equal_range(step);
  for (auto at = first; at != last; ++at) images_.erase(at->second);
  keys_.erase(first, last);
}

void Images::set_published(std::size_t step, std::int64_t version) {
  const auto [first, last] = keys_.equal_range(step);
  for (auto at = first; at != last; ++at) images_.at(at->second).published = version;
  commits_[step] = version;
}

std::optional<Images::Found> Images::find(const Asset& asset, std::int64_t version) const {
  const auto at = images_.find(asset.key());
  if (at == images_.end()) return std::nullopt;
  const Image& image = at->second;
  if (!image.stands_alone && image.published && *image.published <= version) return std::nullopt;
  return Found{image.relation, image.step, image.rows, image.times, image.base};
}

std::optional<std::int64_t> Images::published(std::size_t step) const {
  const auto at = commits_.find(step);
  return at == commits_.end() ? std::nullopt : std::optional(at->second);
}

bool Images::needs_pin(const Asset& asset) const {
  const auto at = images_.find(asset.key());
  return at == images_.end() || !at->second.stands_alone;
}

}  // namespace weir::run
