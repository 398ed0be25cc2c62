/// \file
/// Vectors that grow by a quarter. A vector that doubles leaves up to half of its memory unused, which counts where
/// each of thousands of ranks has one.
#pragma once

#include <vector>

namespace shardlings {

/// Room for one more element.
template <class T>
void make_room(std::vector<T>& elements) {
  constexpr std::size_t kLeast = 4;
  if (elements.size() == elements.capacity()) elements.reserve(elements.size() + elements.size() / 4 + kLeast);
}

}  // namespace shardlings
