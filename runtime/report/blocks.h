/// \file
/// What a run's lanes did when, as blocks in virtual time: what every picture of a run is drawn from.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "front/trace/event.h"

namespace shardlings::report {

/// What a block, or a cell of text, shows. A page's scripts have the same order: view/assets/data.js.
enum class Paint : std::uint8_t {
  idle,
  forward,
  backward,  ///< or the half of it for the gradient of the input
  weights,   ///< the half of backward for the gradients of the weights
  loss,
  update,
  operation,
  collective,
  send,
  recv,
  exchange
};

/// What the numbers inside the blocks count.
enum class Numbering : std::uint8_t { none, micro_batch, layer };

/// What the colours tell apart.
enum class Colouring : std::uint8_t { none, layer, stage };

/// How the events of a run look in every picture of it.
class Looks {
 public:
  explicit Looks(const std::vector<front::RankTrace>& traces);
  Numbering numbering() const { return numbering_; }
  Colouring colouring() const { return colouring_; }
  /// idle: the program waits.
  static Paint paint_of(const front::Event& event);
  /// As the numbering says; -1: none.
  int number_of(const front::Event& event) const;
  /// The layer or stage; -1: none.
  int hue_of(const front::Event& event) const;

 private:
  Numbering numbering_;
  Colouring colouring_ = Colouring::none;
  std::map<int, int> hues_;  // by layer
};

struct Block {
  Paint paint = Paint::idle;
  int number = -1;         ///< as `numbering` says; -1: none
  int hue = -1;            ///< the layer or stage; -1: none
  std::int64_t begin = 0;  ///< ns
  std::int64_t end = 0;
  const front::Event* event = nullptr;  ///< the first of those that the block shows
};

/// What one lane of one rank did, in order of time. Blocks of communication may overlap.
struct LaneBlocks {
  int rank = 0;
  front::Lane lane = front::Lane::compute;
  std::vector<Block> blocks;
};

struct RunBlocks {
  /// Rank by rank, lanes in the order of front::Lane: the program of every rank (unless nobody computes), and each
  /// other lane where it was used.
  std::vector<LaneBlocks> lanes;
  Numbering numbering = Numbering::none;
  Colouring colouring = Colouring::none;
  Nanos end;  ///< of the latest rank
};

/// Calls of the model and operations outside of them, communication, copies; time in which the program waits is empty.
/// What touches and looks the same becomes one block. Points into `traces`.
RunBlocks blocks_of(const std::vector<front::RankTrace>& traces);

/// How a lane is called: briefly, beside its row, and in full.
struct LaneName {
  std::string_view label;
  std::string_view name;
};
LaneName name_of(front::Lane lane);

}  // namespace shardlings::report
