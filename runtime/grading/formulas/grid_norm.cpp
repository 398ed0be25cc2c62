#include "grading/formulas/grid_norm.h"

#include <cmath>

#include "base/parts.h"
#include "case/data.h"
#include "grading/reference/trainer.h"
#include "model/stretches.h"

namespace shardlings::grading::formulas {
namespace {

consteval SharedId in_norm(std::string_view id) {
  return {"mistake_behind", id};
}

/// What a rank may count beside what is its own.
struct Beside {
  bool second_table = false;
  bool replicas = false;  ///< what tensor-parallel rank 0 has as well
};

std::vector<Range> owned(const GridRank& rank, Count l, Beside beside = {}) {
  const model::LayerStructure& layer = rank.layer(l);
  std::vector<Range> ranges;
  for (const Entry& entry : layer.entries) {
    const bool is_second_table = rank.structure.spec.tied && layer.type == model::LayerStructure::Type::head &&
                                 std::string_view(entry.name) == "weight";
    const bool is_replica = rank.tp > 0 && entry.split == Split::whole;
    if ((is_second_table && !beside.second_table) || (is_replica && !beside.replicas)) continue;
    ranges.push_back(entry.range);
  }
  return ranges;
}

/// Of these ranges what is the optimizer's here.
std::vector<Range> mine(const GridRank& rank, Count l, const std::vector<Range>& ranges) {
  std::vector<Range> parts = ranges;
  for (Range& part : parts) part = intersect(part, rank.mine(l));
  return parts;
}

/// And what is other replicas'.
std::vector<Range> others(const GridRank& rank, Count l, const std::vector<Range>& ranges) {
  std::vector<Range> parts;
  for (const Range& range : ranges) {
    parts.push_back(intersect(range, {0, rank.mine(l).begin}));
    parts.push_back(intersect(range, {rank.mine(l).end, rank.size(l)}));
  }
  return parts;
}

double squares_of(const std::vector<double>& values, Count begin, Count count) {
  double squares = 0;
  for (Count i = begin; i < begin + count; ++i) {
    squares += values[static_cast<std::size_t>(i)] * values[static_cast<std::size_t>(i)];
  }
  return squares;
}

std::vector<Range> own_part(const GridRank& rank, Count l) {
  return mine(rank, l, owned(rank, l));
}

std::vector<Range> whole_layer(const GridRank& rank, Count l) {
  return owned(rank, l);
}

/// Its owned ranges as if they counted from the beginning of its part.
std::vector<Range> shifted_part(const GridRank& rank, Count l) {
  const Range part = rank.mine(l);
  std::vector<Range> ranges = owned(rank, l);
  for (Range& range : ranges) {
    range = intersect(range, {0, part.size()});
    range = {part.begin + range.begin, part.begin + range.end};
  }
  return ranges;
}

}  // namespace

GridNorm::GridNorm(const cases::Case& kase, const reference::Reference& expected)
    : kase_(kase), expected_(expected), whole_(model::make_structure(kase.model)) {
  for (int rank = 0; rank < kase.ranks; ++rank) ranks_.emplace_back(kase, rank);
  const reference::Layers weights = reference::initial_weights<double>(kase);
  const Count tokens = cases::tokens_of_step(kase);
  sum_of_uses_apart_ = scaled(weights, 0);
  for (int batch = 0; batch < kase.num_batches(); ++batch) {
    reference::Layers& apart = uses_apart_.emplace_back(scaled(weights, 0));
    for (int i = 0; i < kase.micro_batches; ++i) {
      reference::train_micro(kase, cases::micro_of(kase, batch, i), tokens, weights, apart);
    }
    sum_of_uses_apart_ = combine(sum_of_uses_apart_, 1, apart);
  }
}

double GridNorm::squares(const Ranges& counted, const Values& values) const {
  double sum = 0;
  for (const GridRank& rank : ranks_) {
    for (const Count l : rank.layers) {
      const auto at = static_cast<std::size_t>(l);
      const std::vector<model::Stretch> all = stretches(whole_.layers[at], rank.layer(l));
      for (const Range& range : counted(rank, l)) {
        for (const auto& [part, first] : all) {
          const Range common = intersect(part, range);
          if (common.size() == 0) continue;
          sum += squares_of(values(rank)[at], first + common.begin - part.begin, common.size());
        }
      }
    }
  }
  return sum;
}

double GridNorm::right() const {
  return std::sqrt(squares(own_part, [&](const GridRank&) -> const reference::Layers& { return expected_.grads; }));
}

reference::Layers GridNorm::with_uses_apart() const {
  return sum_of_uses_apart_;
}

SharedId GridNorm::mistake_behind(double factor) const {
  SharedId id;
  for (const Mistake& mistake : mistakes()) {
    if (!near(clip_factor_of(kase_, std::sqrt(mistake.squares)), factor) || mistake.id == std::string(id)) continue;
    if (!id.empty()) return {};  // of two that have the same effect here neither is certain
    id = mistake.id;
  }
  return id;
}

std::vector<GridNorm::Mistake> GridNorm::mistakes() const {
  const Values summed = [&](const GridRank&) -> const reference::Layers& { return expected_.grads; };
  const auto with = [&](Beside beside) {
    return squares([=](const GridRank& rank, Count l) { return mine(rank, l, owned(rank, l, beside)); }, summed);
  };
  std::vector<Mistake> all;
  if (ranks_.front().t > 1) {
    all.push_back({in_norm("replicas_counted"), with({.replicas = true})});
    all.push_back({in_norm("everything_counted"), with({.second_table = true, .replicas = true})});
  }
  all.push_back({in_norm("tied_counted_twice"), with({.second_table = true})});
  all.push_back({in_norm("norm_before_tied"),
                 squares(own_part, [&](const GridRank&) -> const reference::Layers& { return sum_of_uses_apart_; })});
  for (int chunk = 0; ranks_.front().v > 1 && chunk < ranks_.front().v; ++chunk) {
    const auto of_chunk = [chunk](const GridRank& rank, Count l) {
      return chunk_of_layer(rank.pipeline, l) == chunk ? own_part(rank, l) : std::vector<Range>();
    };
    all.push_back({in_norm("chunk_forgotten"), squares(of_chunk, summed)});
  }
  if (ranks_.front().d > 1) add_mistakes_with_replicas(all);
  return all;
}

/// With a single replica none of these would be one.
void GridNorm::add_mistakes_with_replicas(std::vector<Mistake>& all) const {
  const auto at_replica = [](const std::vector<reference::Layers>& layers,
                             const GridRank& rank) -> const reference::Layers& {
    return layers[static_cast<std::size_t>(rank.dp)];
  };
  const Values summed = [&](const GridRank&) -> const reference::Layers& { return expected_.grads; };
  const Values local = [&](const GridRank& rank) -> const reference::Layers& {
    return at_replica(expected_.local_grads, rank);
  };
  const Values apart = [&](const GridRank& rank) -> const reference::Layers& { return at_replica(uses_apart_, rank); };
  for (const Values& values : {local, apart}) {
    for (const Ranges& counted : {Ranges(own_part), Ranges(whole_layer)}) {
      all.push_back({in_norm("norm_before_reduction"), squares(counted, values)});
    }
  }
  const auto rest = [](const GridRank& rank, Count l) { return others(rank, l, owned(rank, l)); };
  all.push_back({in_norm("whole_layers_counted"), squares(own_part, summed) + squares(rest, local)});
  all.push_back({in_norm("whole_layers_counted"), squares(whole_layer, summed)});
  all.push_back({in_norm("owned_from_the_part"), squares(shifted_part, summed)});
}

}  // namespace shardlings::grading::formulas
