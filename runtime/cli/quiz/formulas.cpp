#include "cli/quiz/formulas.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "case/case_numbers.h"
#include "grading/formulas/checkpoint_plan.h"
#include "grading/formulas/grid_step.h"
#include "grading/formulas/loose_cost.h"
#include "grading/formulas/pipeline.h"
#include "grading/formulas/ring_attention.h"
#include "grading/formulas/ring_cost.h"
#include "grading/formulas/save_interval.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/step_cost.h"
#include "memory_map/memory_map.h"

namespace shardlings::cli::quiz {

namespace formulas = grading::formulas;
using cases::Case;
using grading::judge::Formula;
using grading::verdict::Unit;

namespace {

std::int64_t number(const Numbers& numbers, const std::string& name, std::int64_t fallback) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? fallback : found->second;
}

/// A case with these numbers, as `--set` would make it of a plain model: its layers are h x h weights and h biases.
Case case_of(const Numbers& numbers) {
  Case kase;
  kase.name = "quiz";
  kase.ranks = static_cast<int>(number(numbers, "ranks", 1));
  kase.cluster.ranks_per_node = static_cast<int>(number(numbers, "ranks_per_node", kase.ranks));
  const bool is_gpt = numbers.contains("heads");
  kase.model.family = is_gpt ? model::ModelSpec::Family::gpt : model::ModelSpec::Family::mlp;
  kase.model.outputs = number(numbers, "hidden", kase.model.outputs);
  const std::vector<std::string> known = cases::names_of_numbers(kase);
  for (const auto& [name, value] : numbers) {
    if (name == "ranks" || name == "ranks_per_node") continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      cases::set_number(kase, {name, static_cast<double>(value)});
    } else {
      kase.numbers[name] = static_cast<double>(value);
    }
  }
  return kase;
}

template <class T>
Amount amount(const Formula<T>& formula) {
  return {grading::verdict::unit_of(T{}), formula.expression().value(), formula.text()};
}

Amount plain(Unit unit, std::int64_t value) {
  return {unit, value, ""};
}

/// Weights, gradients and optimizer states of a rank in mixed precision with Adam.
Amount states(const Numbers& numbers) {
  memory_map::Training training;
  training.precision = memory_map::precision_of("mixed");
  const std::int64_t divided = number(numbers, "tp", 1) * number(numbers, "pp", 1);
  const Count parameters = number(numbers, "billions", 1) * 1'000'000'000 / divided;
  return plain(Unit::bytes, memory_map::states_of(parameters, training, static_cast<int>(number(numbers, "zero", 0)),
                                                  static_cast<int>(number(numbers, "ranks", 1)))
                                .total()
                                .value());
}

/// What a block keeps from forward to backward if so much of it is computed again.
Amount kept_by_block(const Numbers& numbers, model::Recompute recompute) {
  memory_map::Transformer model;
  model.layers = 1;
  model.hidden = number(numbers, "hidden", 1024);
  model.heads = static_cast<int>(number(numbers, "heads", 16));
  model.sequence = number(numbers, "sequence", 1024);
  memory_map::Parallel parallel;
  parallel.tp = static_cast<int>(number(numbers, "tp", 1));
  parallel.sp = number(numbers, "sp", 0) > 0;
  memory_map::Training training;
  training.precision = memory_map::precision_of("mixed");
  training.recompute = recompute;
  training.micro_batch = number(numbers, "batch", 1);
  return plain(Unit::bytes, memory_map::kept_by_one_block(model, parallel, training).value());
}

/// Operations of the forward of a block.
Amount block_flops(const Numbers& numbers) {
  return plain(Unit::flops, formulas::planned_layers(case_of(numbers)).at(1).flops);
}

formulas::RingCost ring(const Numbers& numbers) {
  return formulas::RingCost(case_of(numbers));
}

/// Elements of a tensor (s, b, h).
Count activation_of(const Numbers& numbers) {
  return number(numbers, "sequence", 1) * number(numbers, "batch", 1) * number(numbers, "hidden", 1);
}

formulas::Pipeline pipeline(const Numbers& numbers) {
  return formulas::pipeline_of(case_of(numbers));
}

int rank_of(const Numbers& numbers) {
  return static_cast<int>(number(numbers, "rank", 0));
}

/// Time in which a rank of the pipeline does not compute.
Amount pipeline_idle(const Numbers& numbers) {
  const Case kase = case_of(numbers);
  const Amount end = amount(formulas::step_time(kase, formulas::pipeline_of(kase)));
  const Nanos layer = kase.cluster.table.forward + kase.cluster.table.backward;
  const std::int64_t computed = kase.micro_batches * (kase.model.layers / kase.ranks) * layer.value();
  return plain(Unit::ns, end.value - computed);
}

/// Of the ring of puzzle 27.
Amount ring_attention(const Numbers& numbers, const std::function<Amount(const formulas::RingAttention&)>& what) {
  const Case kase = case_of(numbers);
  return what(formulas::RingAttention(kase));
}

/// Of a rank with two pieces of 2c, as puzzle 28 deals them.
Amount zigzag_pairs(const Numbers& numbers) {
  const Case kase = case_of(numbers);
  const formulas::RingAttention ring(kase);
  const int rank = rank_of(numbers), pieces = 2 * ring.ranks;
  return plain(Unit::count, ring.pairs(part_of(ring.sequence, pieces, rank)) +
                                ring.pairs(part_of(ring.sequence, pieces, pieces - 1 - rank)));
}

/// In an all-reduce of as many fragments as there are rounds.
Amount outer_sent(const Numbers& numbers) {
  const Bytes weights(number(numbers, "millions", 1) * 4'000'000 / number(numbers, "fragments", 1));
  const std::int64_t rounds = number(numbers, "steps", 1) / number(numbers, "every", 1);
  return amount(formulas::rounds_sent(rounds, weights, static_cast<int>(number(numbers, "ranks", 1))));
}

Amount outer_exposed(const Numbers& numbers) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  const Nanos sum(number(numbers, "sum", 1) * kMillisecond), step(number(numbers, "step", 1) * kMillisecond);
  return amount(
      formulas::rounds_exposed(number(numbers, "rounds", 1), sum, static_cast<int>(number(numbers, "tau", 0)), step));
}

/// Ways to write `gpus` as t p d, where t divides a node and p the layers.
Amount layouts(const Numbers& numbers) {
  const std::int64_t gpus = number(numbers, "gpus", 1), node = number(numbers, "node", 1);
  std::int64_t count = 0;
  for (std::int64_t t = 1; t <= node; ++t) {
    for (std::int64_t p = 1; p <= gpus / t && node % t == 0; ++p) {
      count += gpus % (t * p) == 0 && number(numbers, "layers", 1) % p == 0 ? 1 : 0;
    }
  }
  return plain(Unit::count, count);
}

/// In whole seconds.
Amount save_interval(const Numbers& numbers) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr double kSecondsOfAnHour = 3600;
  const double mean = kSecondsOfAnHour * static_cast<double>(number(numbers, "hours", 1));
  const double best = formulas::youngs_interval(static_cast<double>(number(numbers, "save", 1)), mean);
  return plain(Unit::ns, static_cast<std::int64_t>(std::llround(best)) * kSecond);
}

/// Of a job that hangs until its watchdog gives up.
Amount gpu_hours(const Numbers& numbers) {
  constexpr std::int64_t kMinutes = 60;
  return plain(Unit::count, number(numbers, "gpus", 1) * number(numbers, "minutes", 1) / kMinutes);
}

/// That a loss takes with such a batch (McCandlish et al. 2018).
Amount steps_of_batch(const Numbers& numbers) {
  const std::int64_t batch = number(numbers, "batch", 1), critical = number(numbers, "critical", 1);
  return plain(Unit::count, number(numbers, "least", 1) * (batch + critical) / batch);
}

using OfNumbers = std::function<Amount(const Numbers&)>;

OfNumbers kept_with(model::Recompute recompute) {
  return [recompute](const Numbers& n) { return kept_by_block(n, recompute); };
}

OfNumbers step_bytes(int zero) {
  return [zero](const Numbers& n) { return amount(formulas::step_bytes(case_of(n), 0, zero)); };
}

const std::map<std::string, OfNumbers>& table() {
  static const std::map<std::string, OfNumbers> all = {
      {"states", states},
      {"kept_by_block", kept_with(model::Recompute::off)},
      {"kept_by_selective_block", kept_with(model::Recompute::selective)},
      {"kept_by_recomputed_block", kept_with(model::Recompute::full)},
      {"block_flops", block_flops},
      {"ring_sent", [](const Numbers& n) { return amount(ring(n).sent()); }},
      {"ring_peak", [](const Numbers& n) { return amount(ring(n).peak()); }},
      {"ring_time", [](const Numbers& n) { return amount(ring(n).time()); }},
      {"ring_messages", [](const Numbers& n) { return plain(Unit::count, ring(n).steps); }},
      {"reduce_scatter_bytes",
       [](const Numbers& n) {
         return plain(Unit::bytes, formulas::sum_of(formulas::reduce_scatter_bytes(case_of(n), 0)));
       }},
      {"data_parallel_bytes", step_bytes(0)},
      {"zero2_bytes", step_bytes(2)},
      {"zero3_bytes", step_bytes(3)},
      {"hybrid_bytes_between", [](const Numbers& n) { return amount(formulas::hybrid_bytes(case_of(n), 0).between); }},
      {"activation_all_reduce_bytes",
       [](const Numbers& n) {
         return plain(Unit::bytes, formulas::all_reduce_bytes(case_of(n), activation_of(n), 0));
       }},
      {"activation_all_reduce_time",
       [](const Numbers& n) { return plain(Unit::ns, formulas::all_reduce_time(case_of(n), activation_of(n))); }},
      {"ring_attention_sent",
       [](const Numbers& n) { return ring_attention(n, [](const auto& ring) { return amount(ring.sent()); }); }},
      {"ring_attention_on_top",
       [](const Numbers& n) {
         return ring_attention(n, [](const auto& ring) {
           return plain(Unit::bytes, (ring.peak().value() - ring.given().value()).value());
         });
       }},
      {"ring_attention_hop",
       [](const Numbers& n) {
         return ring_attention(n, [](const auto& ring) { return plain(Unit::ns, ring.hop(0).value()); });
       }},
      {"consecutive_pairs",
       [](const Numbers& n) {
         return ring_attention(
             n, [&](const auto& ring) { return plain(Unit::count, ring.pairs(ring.positions(rank_of(n)))); });
       }},
      {"zigzag_pairs", zigzag_pairs},
      {"outer_sent", outer_sent},
      {"outer_exposed", outer_exposed},
      {"largest_sent",
       [](const Numbers& n) {
         return amount(formulas::largest_sent(number(n, "k", 1), static_cast<int>(number(n, "ranks", 1))));
       }},
      {"largest_even",
       [](const Numbers& n) {
         return amount(formulas::largest_even(number(n, "n", 1), static_cast<int>(number(n, "ranks", 1))));
       }},
      {"layouts", layouts},
      {"save_interval", save_interval},
      {"gpu_hours", gpu_hours},
      {"steps_of_batch", steps_of_batch},
      {"summed_factor",
       [](const Numbers& n) { return plain(Unit::count, number(n, "micro_batches", 1) * number(n, "ranks", 1)); }},
      {"in_flight", [](const Numbers& n) { return amount(formulas::one_f_one_b_in_flight(pipeline(n), rank_of(n))); }},
      {"gpipe_in_flight",
       [](const Numbers& n) {
         const auto line = pipeline(n);
         return plain(Unit::count, formulas::most_in_flight(formulas::order_of(line, formulas::gpipe_warm_up(line))));
       }},
      {"warm_up",
       [](const Numbers& n) { return plain(Unit::count, formulas::one_f_one_b_warm_up(pipeline(n), rank_of(n))); }},
      {"step_time", [](const Numbers& n) { return amount(formulas::step_time(case_of(n), pipeline(n))); }},
      {"pipeline_idle", pipeline_idle},
      {"message_bytes", [](const Numbers& n) { return amount(formulas::message_bytes(pipeline(n), rank_of(n))); }},
      {"grid_pp", [](const Numbers& n) { return plain(Unit::count, formulas::GridRank(case_of(n), rank_of(n)).pp); }},
      {"grid_dp", [](const Numbers& n) { return plain(Unit::count, formulas::GridRank(case_of(n), rank_of(n)).dp); }},
      {"grid_in_flight", [](const Numbers& n) {
         const formulas::GridRank own(case_of(n), rank_of(n));
         return plain(Unit::count, formulas::most_in_flight(formulas::order_of(own)));
       }}};
  return all;
}

}  // namespace

Amount amount_of(const std::string& formula, const Numbers& numbers) {
  const auto found = table().find(formula);
  if (found == table().end()) throw std::runtime_error("there is no formula \"" + formula + "\"");
  return found->second(numbers);
}

}  // namespace shardlings::cli::quiz
