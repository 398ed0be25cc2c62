#include "grading/formulas/grid_step.h"

#include <fmt/format.h>

#include "base/parts.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/tensor_parallel.h"
#include "model/memory.h"

namespace shardlings::grading::formulas {
namespace {

int number_of(const cases::Case& kase, const char* name) {
  return static_cast<int>(kase.integer(name));
}

/// The layers' own sums: of whole activations, and for the loss of numbers for each token.
Budget bytes_inside_layers(const cases::Case& kase, const GridRank& own) {
  Count wide = 0, narrow = 0;
  for (const Count l : own.layers) {
    const auto type = own.layer(l).type;
    wide += type == model::LayerStructure::Type::block ? 4 : 1;
    if (type == model::LayerStructure::Type::head) narrow += 3;
  }
  const Count tokens = kase.model.sequence * kase.batch;
  const std::int64_t of_wide = all_reduce_bytes(tokens * kase.model.hidden, own.t, own.tp);
  const std::int64_t of_narrow = all_reduce_bytes(tokens, own.t, own.tp);
  return {own.pipeline.m * (wide * of_wide + narrow * of_narrow),
          fmt::format("m x sums of the rank's layers = {} x ({} x {} + {} x {})", own.pipeline.m, wide, of_wide, narrow,
                      of_narrow)};
}

Budget bytes_over_replicas(const GridRank& own) {
  std::vector<std::int64_t> terms;
  for (const Count l : own.layers) {
    terms.push_back(reduce_scatter_bytes(own.size(l), own.d, own.dp) + all_gather_bytes(own.size(l), own.d, own.dp));
  }
  return {sum_of(terms), "2 (d-1)/d of each layer's bytes = " + sum_text(terms)};
}

Budget bytes_between_ends(const GridRank& own) {
  if (own.p == 1 || (!own.is_first() && !own.is_last())) return {0, "nothing between the ends"};
  return {all_reduce_bytes(own.table_size(), 2, own.is_first() ? 0 : 1),
          fmt::format("the table's gradient = {} x {}", judge::kElement, own.table_size())};
}

Budget bytes_of_messages(const GridRank& own) {
  const std::int64_t messages = message_bytes(own.pipeline, own.pp);
  return {messages,
          fmt::format("m x what the rank's stages pass on = {} x {}", own.pipeline.m, messages / own.pipeline.m)};
}

/// "a = 1" with one more term in front on both sides.
std::string with_term(const std::string& name, std::int64_t value, const std::string& formula) {
  const std::size_t equals = formula.find(" = ");
  return fmt::format("{} + {} = {} + {}", name, formula.substr(0, equals), value, formula.substr(equals + 3));
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
  for (const Count l : own.layers) bytes += 2 * judge::kElement * own.mine(l).size();
  return bytes;
}

Budget peak_of(const cases::Case& kase, const GridRank& own) {
  const Budget pipeline = memory_along(kase, own.pipeline, own.pp, order_of(own), {.sends_in_flight = true}).peak;
  const std::int64_t moments = moment_bytes(own);
  return {pipeline.value + moments, with_term("moments", moments, pipeline.formula)};
}

std::vector<GroupBytes> bytes_of_groups(const cases::Case& kase, const GridRank& own) {
  const int rank = (own.dp * own.p + own.pp) * own.t + own.tp;
  return {{{"dp"}, bytes_over_replicas(own)},
          {{"ends"}, bytes_between_ends(own)},
          {{"world"}, {all_reduce_bytes(1, kase.ranks, rank), "2 (N-1)/N of one number"}},
          {{"down", "up"}, bytes_of_messages(own)},
          {{"tp"}, bytes_inside_layers(kase, own)}};
}

}  // namespace shardlings::grading::formulas
