/// \file
/// Where a training stands: all weights and moments as one device would have them, so that any layout can go on with
/// it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "train/settings.h"
#include "train/text.h"

namespace shardlings::train {

/// A file that cannot be gone on from. What it says tells the way out.
class UnfitCheckpoint : public std::runtime_error {
 public:
  explicit UnfitCheckpoint(const std::string& why);
};

struct Checkpoint {
  /// Of a layer, whole and flat.
  struct Layer {
    std::vector<float> weights, m, v;
  };
  int step = 0;  ///< made so far
  std::vector<Layer> layers;
};

/// Zeros for the model of the settings.
Checkpoint empty_checkpoint(const Settings& settings);

/// At any moment, a kill or a power cut included, the file holds the old or the new checkpoint and never a part.
/// Throws std::runtime_error with the path and the reason.
void save(const std::string& path, const Checkpoint& checkpoint, const Settings& settings, const Text& text);

/// Throws UnfitCheckpoint that says what differs if it is that of another model or another text, or why it is none.
Checkpoint load(const std::string& path, const Settings& settings, const Text& text);

}  // namespace shardlings::train
