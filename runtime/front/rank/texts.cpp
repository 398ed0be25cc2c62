#include "front/rank/texts.h"

namespace shardlings::front {

detail::TextId Texts::define(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  // Each costs more than its letters.
  constexpr std::size_t kOverhead = 64;
  if (text.empty() || text.size() > kLongest || bytes_ + text.size() + kOverhead > kMostBytes) return 0;
  bytes_ += text.size() + kOverhead;
  const auto id = static_cast<detail::TextId>(texts_->size());
  const std::string& kept = texts_->emplace_back(text);
  pointers_.push_back(kept.c_str());
  ids_.emplace(kept, id);
  return id;
}

}  // namespace shardlings::front
