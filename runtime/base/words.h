/// \file
/// The words that files and reports have for the values of an enum, each written once.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

/// One word for each of the N values of an enum, which count from 0, in their order.
template <class Enum, std::size_t N>
struct Words {
  std::array<const char*, N> words;

  constexpr const char* of(Enum value) const { return words.at(static_cast<std::size_t>(value)); }

  /// Nothing for a word that no value has.
  constexpr std::optional<Enum> find(std::string_view word) const {
    for (std::size_t i = 0; i < N; ++i) {
      if (word == words[i]) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }

  std::vector<std::string> all() const { return {words.begin(), words.end()}; }
};

}  // namespace shardlings
