#include "grading/formulas/grid_step.h"

#include "base/parts.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/tensor_parallel.h"
#include "model/memory.h"
#include "model/stretches.h"

namespace shardlings::grading::formulas {
namespace {

using judge::Formula;
using judge::named;

int number_of(const cases::Case& kase, const char* name) {
  return static_cast<int>(kase.integer(name));
}

/// The layers' own sums: of whole activations, and for the loss of numbers for each token.
Formula<Bytes> bytes_inside_layers(const cases::Case& kase, const GridRank& own) {
  Count wide = 0, narrow = 0;
  for (const Count l : own.layers) {
    const auto type = own.layer(l).type;
    wide += type == model::LayerStructure::Type::block ? 4 : 1;
    if (type == model::LayerStructure::Type::head) narrow += 3;
  }
  const Count tokens = kase.model.sequence * kase.batch;
  const Formula<Bytes> of_wide = Bytes(all_reduce_bytes(tokens * kase.model.hidden, own.t, own.tp));
  const Formula<Bytes> of_narrow = Bytes(all_reduce_bytes(tokens, own.t, own.tp));
  const Formula<Bytes> sums = narrow > 0 ? wide * of_wide + narrow * of_narrow : wide * of_wide;
  return named("m", own.pipeline.m) * called("sums of the rank's layers", sums);
}

Formula<Bytes> bytes_over_replicas(const GridRank& own) {
  std::vector<Formula<Bytes>> layers;
  for (const Count l : own.layers) {
    layers.emplace_back(
        Bytes(reduce_scatter_bytes(own.size(l), own.d, own.dp) + all_gather_bytes(own.size(l), own.d, own.dp)));
  }
  return called("2 (d-1)/d of each layer's bytes", sum(layers));
}

Formula<Bytes> bytes_between_ends(const GridRank& own) {
  if (own.p == 1 || (!own.is_first() && !own.is_last())) return named("nothing between the ends", Bytes(0));
  // An all-reduce of two ranks sends as much as it is large.
  return called("the table's gradient", judge::kBytesOfF32 * Formula<Bytes>(Bytes(own.table_size())));
}

}  // namespace

GridRank::GridRank(const cases::Case& kase, int rank)
    : t(number_of(kase, "t")),
      p(number_of(kase, "p")),
      d(number_of(kase, "d")),
      v(number_of(kase, "v")),
      tp(rank % t),
      pp(rank / t % p),
      dp(rank / t / p),
      structure(model::make_part(kase.model, t, tp)) {
  const model::LayerStructure& head = structure.layers.back();
  const Count tokens = kase.model.sequence * kase.batch;
  const std::int64_t loss = (loss_peak(head, kase.model.outputs, tokens) - output_bytes(head, tokens)).value();
  pipeline = {p, kase.micro_batches, v, layer_bytes(kase, structure), loss};
  for (int chunk = 0; chunk < v; ++chunk) {
    const Range own = pipeline.layers_of(pp, chunk);
    for (Count l = own.begin; l < own.end; ++l) layers.push_back(l);
  }
}

Range GridRank::mine(Count l) const {
  return part_of(size(l), d, dp);
}

Count GridRank::table_size() const {
  if (!structure.spec.tied) return 0;
  return entry_of(structure.layers.front(), "token").range.size();
}

int chunk_of_layer(const Pipeline& pipeline, Count layer) {
  int stage = 0;
  while (layer >= pipeline.layers_of(stage % pipeline.p, stage / pipeline.p).end) ++stage;
  return stage / pipeline.p;
}

Order order_of(const GridRank& own) {
  return order_of(own.pipeline, one_f_one_b_warm_up(own.pipeline, own.pp));
}

std::int64_t moment_bytes(const GridRank& own) {
  std::int64_t bytes = 0;
  for (const Count l : own.layers) bytes += 2 * judge::kBytesOfF32 * own.mine(l).size();
  return bytes;
}

Formula<Bytes> peak_of(const cases::Case& kase, const GridRank& own) {
  return named("moments", Bytes(moment_bytes(own))) +
         memory_along(kase, own.pipeline, own.pp, order_of(own), {.sends_in_flight = true}).peak;
}

std::vector<GroupBytes> bytes_of_groups(const cases::Case& kase, const GridRank& own) {
  const int rank = (own.dp * own.p + own.pp) * own.t + own.tp;
  return {{{"dp"}, bytes_over_replicas(own)},
          {{"ends"}, bytes_between_ends(own)},
          {{"world"}, named("2 (N-1)/N of one number", Bytes(all_reduce_bytes(1, kase.ranks, rank)))},
          {{"down", "up"}, message_bytes(own.pipeline, own.pp)},
          {{"tp"}, bytes_inside_layers(kase, own)}};
}

std::vector<double> alone_on(const GridRank& own, const model::ModelStructure& whole, const reference::Layers& all,
                             const std::vector<bool>& layers) {
  std::vector<double> values;
  for (const Count l : own.layers) {
    const auto at = static_cast<std::size_t>(l);
    if (!layers[at]) continue;
    for (const auto& [part, first] : model::stretches(whole.layers[at], own.layer(l))) {
      for (const Entry& entry : own.layer(l).entries) {
        const Range common = intersect(intersect(part, own.mine(l)), entry.range);
        if (common.size() == 0 || entry.split == Split::whole) continue;
        const auto begin = all[at].begin() + first + common.begin - part.begin;
        values.insert(values.end(), begin, begin + common.size());
      }
    }
  }
  return values;
}

Formula<Count> forward_calls(const cases::Case& kase, const GridRank& own) {
  return in_all_steps(kase, named("m", kase.micro_batches) * named("layers", std::ssize(own.layers)));
}

bool goes_back_too_soon(const judge::CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const GridRank own(check.kase(), rank);
    const Order order = order_of(own);
    Count expected = 0, found = 0;
    for (int slot = 0; slot < leading_forwards(order); ++slot) {
      expected += own.pipeline.layers_of(own.pp, order[static_cast<std::size_t>(slot)].chunk).size();
    }
    for (const front::Event& event : check.trace(rank).events) {
      if (event.depth == 0 && event.kind == front::EventKind::backward) break;
      found += event.depth == 0 && event.kind == front::EventKind::forward ? 1 : 0;
    }
    if (found < expected) return true;
  }
  return false;
}

}  // namespace shardlings::grading::formulas
