#include "report/blocks.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace shardlings::report {
namespace {

using front::Event;
using front::EventKind;
using front::Lane;
using front::RankTrace;

constexpr auto kLaneNames = std::to_array<LaneName>({{"", "program"},
                                                     {"comm", "links inside a node"},
                                                     {"inter", "links between nodes"},
                                                     {"to host", "copies to the host"},
                                                     {"to dev", "copies to the device"},
                                                     {"host", "the host's processor"},
                                                     {"store", "writes to and reads from the store"}});
static_assert(kLaneNames.size() == front::kLanes, "every lane has a name");

bool is_pass(EventKind kind) {
  return kind == EventKind::forward || kind == EventKind::backward || kind == EventKind::backward_input ||
         kind == EventKind::backward_weights;
}

bool is_operation(EventKind kind) {
  return kind == EventKind::operation;
}

/// Which ranks compute each layer: by its calls of the model or, where there are none, its operations.
std::map<int, std::set<int>> ranks_by_layer(const std::vector<RankTrace>& traces) {
  for (const auto is_one : {is_pass, is_operation}) {
    std::map<int, std::set<int>> ranks;
    for (std::size_t rank = 0; rank < traces.size(); ++rank) {
      for (const Event& event : traces[rank].events) {
        if (event.label.layer >= 0 && is_one(event.kind)) ranks[event.label.layer].insert(static_cast<int>(rank));
      }
    }
    if (!ranks.empty()) return ranks;
  }
  return {};
}

Numbering numbering_in(const std::vector<RankTrace>& traces) {
  std::set<int> micros;
  bool layers = false;
  for (const auto& trace : traces) {
    for (const Event& event : trace.events) {
      if (event.depth > 0) continue;
      if (event.label.micro >= 0) micros.insert(event.label.micro);
      layers = layers || event.label.layer >= 0;
    }
  }
  if (micros.size() > 1) return Numbering::micro_batch;
  return layers ? Numbering::layer : Numbering::none;
}

bool continues(const Block& before, const Block& block) {
  return before.end == block.begin && before.paint == block.paint && before.number == block.number &&
         before.hue == block.hue && (block.number >= 0 || block.hue >= 0);
}

/// All blocks of one rank, by lane.
std::array<std::vector<Block>, front::kLanes> blocks_of_rank(const RankTrace& trace, const Looks& looks) {
  std::array<std::vector<Block>, front::kLanes> lanes;
  for (const Event& event : trace.events) {
    const Paint paint = Looks::paint_of(event);
    if (paint == Paint::idle || event.depth > 0 || event.end <= event.begin) continue;
    lanes[static_cast<std::size_t>(event.lane)].push_back(
        {paint, looks.number_of(event), looks.hue_of(event), event.begin.value(), event.end.value(), &event});
  }
  for (auto& blocks : lanes) {
    std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.begin < b.begin; });
  }
  auto& program = lanes[static_cast<std::size_t>(Lane::compute)];
  std::vector<Block> merged;
  for (const Block& block : program) {
    if (!merged.empty() && continues(merged.back(), block)) {
      merged.back().end = block.end;
    } else {
      merged.push_back(block);
    }
  }
  program = std::move(merged);
  return lanes;
}

}  // namespace

// Where all ranks compute all layers each layer has its own colour, otherwise consecutive layers of the same ranks are
// a stage and share one.
Looks::Looks(const std::vector<RankTrace>& traces) : numbering_(numbering_in(traces)) {
  const auto ranks = ranks_by_layer(traces);
  if (ranks.empty()) return;
  const auto& first = ranks.begin()->second;
  const bool stages = std::any_of(ranks.begin(), ranks.end(), [&](const auto& entry) { return entry.second != first; });
  colouring_ = stages ? Colouring::stage : Colouring::layer;
  int stage = 0;
  const std::set<int>* before = &first;
  for (const auto& [layer, of_layer] : ranks) {
    if (of_layer != *before) ++stage;
    before = &of_layer;
    hues_[layer] = stages ? stage : layer;
  }
}

Paint Looks::paint_of(const Event& event) {
  switch (event.kind) {
    case EventKind::forward: return Paint::forward;
    case EventKind::backward:
    case EventKind::backward_input: return Paint::backward;
    case EventKind::backward_weights: return Paint::weights;
    case EventKind::loss: return Paint::loss;
    case EventKind::update: return Paint::update;
    case EventKind::collective: return Paint::collective;
    case EventKind::send: return Paint::send;
    case EventKind::recv: return Paint::recv;
    case EventKind::wait: return Paint::idle;
    default: return Paint::operation;
  }
}

int Looks::number_of(const Event& event) const {
  if (numbering_ == Numbering::none) return -1;
  return numbering_ == Numbering::layer ? event.label.layer : event.label.micro;
}

int Looks::hue_of(const Event& event) const {
  const auto found = hues_.find(event.label.layer);
  return found == hues_.end() ? -1 : found->second;
}

LaneName name_of(Lane lane) {
  return kLaneNames[static_cast<std::size_t>(lane)];
}

RunBlocks blocks_of(const std::vector<RankTrace>& traces) {
  RunBlocks run;
  const Looks looks(traces);
  run.colouring = looks.colouring();
  run.numbering = looks.numbering();
  bool computes = false;
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    for (const Event& event : traces[rank].events) run.end = std::max(run.end, event.end);
    auto lanes = blocks_of_rank(traces[rank], looks);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const bool program = lane == static_cast<std::size_t>(Lane::compute);
      computes = computes || (program && !lanes[lane].empty());
      if (!program && lanes[lane].empty()) continue;
      run.lanes.push_back({static_cast<int>(rank), static_cast<Lane>(lane), std::move(lanes[lane])});
    }
  }
  if (!computes) std::erase_if(run.lanes, [](const LaneBlocks& lane) { return lane.lane == Lane::compute; });
  return run;
}

}  // namespace shardlings::report
