/// \file
/// A text as numbers: its characters are the vocabulary, and any stretch of it is something to train on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "shardlings/tensor.h"

namespace shardlings::train {

/// Those of a file. Throws std::runtime_error if it cannot be read, or if it holds fewer than two.
std::string characters_of(const std::string& path);

/// Characters are bytes: of a text with others than ASCII, parts of characters.
class Text {
 public:
  explicit Text(const std::string& characters);
  /// As characters_of().
  static Text read(const std::string& path);

  Count size() const { return static_cast<Count>(ids_.size()); }
  /// Different characters; their ids are 0 to vocabulary()-1, in the order of the bytes.
  Count vocabulary() const { return vocabulary_; }
  std::int32_t id(Count at) const { return ids_[static_cast<std::size_t>(at)]; }
  /// Of all its characters; 16 hexadecimal digits.
  std::string hash() const;

 private:
  std::vector<std::int32_t> ids_;
  Count vocabulary_ = 0;
};

/// Ids and the ids that follow them, position by position: row = position * b + sequence.
struct Tokens {
  std::vector<std::int32_t> inputs, targets;
};

/// `b` stretches of `s` characters, at places that depend on the seed and the sequences' numbers alone: those from
/// `first` on, counted over all sequences of a training. However a step is divided, it trains on the same ones.
Tokens sequences(const Text& text, Count s, Count b, std::uint64_t first, std::uint64_t seed);

}  // namespace shardlings::train
