#include "train/text.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"

namespace shardlings::train {

Text::Text(const std::string& characters) {
  std::array<bool, 256> there{};
  for (const char c : characters) there[static_cast<unsigned char>(c)] = true;
  std::array<std::int32_t, 256> ids{};
  for (std::size_t c = 0; c < there.size(); ++c) {
    if (there[c]) ids[c] = static_cast<std::int32_t>(vocabulary_++);
  }
  ids_.reserve(characters.size());
  for (const char c : characters) ids_.push_back(ids[static_cast<unsigned char>(c)]);
}

std::string characters_of(const std::string& path) {
  const auto characters = read_file(path);
  if (!characters) throw std::runtime_error("cannot read the text " + path);
  if (characters->size() < 2) {
    throw std::runtime_error("the text " + path + " is too short: one character follows another");
  }
  return *characters;
}

Text Text::read(const std::string& path) {
  return Text(characters_of(path));
}

std::string Text::hash() const {
  std::uint64_t hash = kHashStart;  // of the ids, not of their bytes: checkpoints know texts by it
  for (const std::int32_t id : ids_) hash = (hash ^ static_cast<std::uint64_t>(id)) * kHashPrime;
  return fmt::format("{:016x}", hash);
}

Tokens sequences(const Text& text, Count s, Count b, std::uint64_t first, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x7465787400000000;  // apart from all streams of case/data.cpp
  Tokens tokens;
  const auto size = static_cast<std::size_t>(s * b);
  tokens.inputs.resize(size);
  tokens.targets.resize(size);
  const auto places = static_cast<std::uint32_t>(text.size() - s);  // the last character is a target only
  for (Count j = 0; j < b; ++j) {
    const Count begin = below_at(places, seed, first + static_cast<std::uint64_t>(j), kStream);
    for (Count i = 0; i < s; ++i) {
      const auto at = static_cast<std::size_t>(i * b + j);
      tokens.inputs[at] = text.id(begin + i);
      tokens.targets[at] = text.id(begin + i + 1);
    }
  }
  return tokens;
}

}  // namespace shardlings::train
