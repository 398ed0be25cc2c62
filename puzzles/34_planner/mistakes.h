// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a layout would take by formulas of puzzle 34 that have one known mistake.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "formulas.h"

namespace shardlings::planning {

struct MemoryMistake {
  const char* diagnosis;
  MemoryRule rule;
};

/// So many tables on a stage.
inline OfStage weights_if(const std::function<int(const Layout&, int stage)>& tables) {
  return [=](const PlannedJob& job, const Layout& of, int stage) { return weights_with(job, of, tables(of, stage)); };
}

/// What is left of the number of weights in an int of 32 bits: that of the blocks, or of all.
inline double weights_in_int(const PlannedJob& job, const Layout& of, int stage, bool is_sum) {
  const Count blocks = job.layers / of.pp * job.block_weights, tables = tables_on(of, stage) * job.table_weights;
  if (is_sum) return static_cast<double>(static_cast<std::int32_t>(blocks + tables)) / of.tp;
  return static_cast<double>(static_cast<std::int32_t>(blocks) + tables) / of.tp;
}

inline OfStage weights_in_int(bool is_sum) {
  return [=](const PlannedJob& job, const Layout& of, int stage) { return weights_in_int(job, of, stage, is_sum); };
}

/// So many chunks of a stage, as long as there are as many.
inline OfStage chunks_if(const std::function<Count(const Layout&, int stage)>& chunks) {
  return [=](const PlannedJob& job, const Layout& of, int stage) { return most_in_flight(job, of, chunks(of, stage)); };
}

inline std::vector<MemoryMistake> mistakes_of_states() {
  return {
      {"optimizer_not_divided", {.bytes_per_weight = [](const Layout&) { return 16.0; }}},
      {"all_states_divided", {.bytes_per_weight = [](const Layout& of) { return 16.0 / of.dp; }}},
      {"weights_not_divided",
       {.weights_of = [](const PlannedJob& job, const Layout& of,
                         int stage) { return of.tp * weights(job, of, stage); }}},
      {"tables_forgotten", {.weights_of = weights_if([](const Layout&, int) { return 0; })}},
      {"one_table",
       {.weights_of = weights_if([](const Layout& of, int stage) { return std::min(1, tables_on(of, stage)); })}},
      {"two_tables", {.weights_of = weights_if([](const Layout&, int) { return 2; })}},
      {"weights_beyond_int", {.weights_of = weights_in_int(true)}},
      {"weights_beyond_int", {.weights_of = weights_in_int(false)}},
      {"once_forgotten", {.once = 0}},
  };
}

inline std::vector<MemoryMistake> mistakes_of_activations() {
  const auto kept_times = [](auto factor) {
    return [=](const PlannedJob& job, const Layout& of) { return factor(of) * blocks_of_chunk(job, of); };
  };
  return {
      {"all_in_flight",
       {.chunks = [](const PlannedJob& job, const Layout& of,
                     int) { return static_cast<double>(micro_batches(job, of) * of.chunks); }}},
      {"one_in_flight", {.chunks = [](const PlannedJob&, const Layout& of, int) { return double(of.chunks); }}},
      {"one_in_flight", {.chunks = [](const PlannedJob&, const Layout&, int) { return 1.0; }}},
      {"chunks_as_one",
       {.chunks = chunks_if([](const Layout& of, int stage) { return Count{of.pp - stage} * of.chunks; })}},
      {"more_in_flight_than_there_are",
       {.chunks = [](const PlannedJob&, const Layout& of,
                     int stage) { return static_cast<double>(warm_up(of, stage) + 1); }}},
      {"warm_up_alone", {.chunks = chunks_if(warm_up)}},
      {"interleaved_always", {.chunks = chunks_if([](const Layout& of, int stage) {
                                return Count{2 * (of.pp - stage - 1) + (of.chunks - 1) * of.pp + 1};
                              })}},
      {"kept_of_one_block", {.kept = [](const PlannedJob&, const Layout&) { return 1.0; }}},
      {"kept_of_whole_stage", {.kept = kept_times([](const Layout& of) { return double(of.chunks); })}},
      {"kept_scaled", {.kept = kept_times([](const Layout& of) { return 1.0 / of.tp; })}},
      {"kept_scaled", {.kept = kept_times([](const Layout& of) { return static_cast<double>(of.batch); })}},
  };
}

inline std::vector<MemoryMistake> memory_mistakes() {
  std::vector<MemoryMistake> all = mistakes_of_states();
  for (MemoryMistake& mistake : mistakes_of_activations()) all.push_back(std::move(mistake));
  return all;
}

/// What a mistake makes of the parts of a step.
struct TimeMistake {
  const char* diagnosis;
  std::function<void(StepParts& of, const PlannedJob& job, const Layout& layout)> apply;
};

/// All micro-batches, as if there were so many times more of them.
inline void more_micro_batches(StepParts& of, double times) {
  of.blocks *= times;
  of.head *= times;
}

/// As if a block took so many times as long.
inline void longer_blocks(StepParts& of, double times) {
  of.blocks *= times;
  of.bubble *= times;
}

inline std::vector<TimeMistake> mistakes_of_passes() {
  using Parts = StepParts;
  using Job = PlannedJob;
  return {
      {"bubble_forgotten", [](Parts& of, const Job&, const Layout&) { of.bubble = 0; }},
      {"bubble_not_divided", [](Parts& of, const Job&, const Layout& at) { of.bubble *= at.chunks; }},
      {"bubble_of_all_stages",
       [](Parts& of, const Job& job, const Layout& at) {
         const auto m = static_cast<double>(micro_batches(job, at));
         of.bubble = at.pp * of.blocks / m / at.chunks;
       }},
      {"head_in_the_bubble",
       [](Parts& of, const Job& job, const Layout& at) {
         const auto m = static_cast<double>(micro_batches(job, at));
         of.bubble += (at.pp - 1) * of.head / m / at.chunks;
       }},
      {"stages_divided_twice", [](Parts& of, const Job&, const Layout& at) { of.blocks /= at.pp; }},
      {"stage_not_divided", [](Parts& of, const Job&, const Layout& at) { longer_blocks(of, at.pp); }},
      {"seconds_scaled", [](Parts& of, const Job&, const Layout& at) { longer_blocks(of, 1.0 / at.tp); }},
      {"seconds_scaled",
       [](Parts& of, const Job&, const Layout& at) { longer_blocks(of, static_cast<double>(at.batch)); }},
      {"micro_batches_of_one",
       [](Parts& of, const Job&, const Layout& at) { more_micro_batches(of, static_cast<double>(at.batch)); }},
      {"micro_batches_of_all", [](Parts& of, const Job&, const Layout& at) { more_micro_batches(of, at.dp); }},
      {"head_forgotten", [](Parts& of, const Job&, const Layout&) { of.head = 0; }},
      {"head_forgotten",
       [](Parts& of, const Job& job, const Layout& at) { of.head /= static_cast<double>(micro_batches(job, at)); }},
      {"head_divided", [](Parts& of, const Job&, const Layout& at) { of.head /= at.pp; }},
      {"update_forgotten", [](Parts& of, const Job&, const Layout&) { of.update = 0; }},
      {"update_forgotten", [](Parts& of, const Job&, const Layout& at) { of.update /= at.dp; }},
  };
}

/// The exchange at a speed that a mistake takes for right.
inline std::function<void(StepParts&, const PlannedJob&, const Layout&)> exchanged_at(const OfJob& speed) {
  return [=](StepParts& of, const PlannedJob& job, const Layout& at) {
    of.exchange *= exchange_speed(job, at) / speed(job, at);
  };
}

inline std::vector<TimeMistake> mistakes_of_exchange() {
  using Job = PlannedJob;
  const auto in_int = [](bool is_sum) {
    return [=](StepParts& of, const Job& job, const Layout& at) {
      of = parts_with(job, at, weights_in_int(job, at, 0, is_sum));
    };
  };
  const auto times = [](double factor) {
    return [=](StepParts& of, const Job&, const Layout&) { of.exchange *= factor; };
  };
  const auto as_whole = [](StepParts& of, const Job&, const Layout& at) {
    if (at.dp > 1) of.exchange *= at.dp / (at.dp - 1.0);
  };
  return {
      {"exchange_forgotten", times(0)},
      {"exchange_halved", times(0.5)},
      {"exchanged_in_32_bits", times(1.5)},
      {"exchanged_in_32_bits", times(2)},
      {"own_part_exchanged", as_whole},
      {"own_part_exchanged",
       [=](StepParts& of, const Job& job, const Layout& at) {
         as_whole(of, job, at);
         if (at.dp == 1) of.exchange = 4 * weights(job, at, 0) / exchange_speed(job, at);
       }},
      {"one_port", exchanged_at([](const Job& job, const Layout& at) {
         return replicas_in_node(job, at) == at.dp ? job.node_bandwidth : job.port_bandwidth;
       })},
      {"as_in_a_node", exchanged_at([](const Job& job, const Layout&) { return job.node_bandwidth; })},
      {"as_in_a_node_if_two_are", exchanged_at([](const Job& job, const Layout& at) {
         const int in_node = replicas_in_node(job, at);
         return in_node > 1 || in_node == at.dp ? job.node_bandwidth : job.port_bandwidth;
       })},
      {"as_in_a_node",
       exchanged_at([](const Job& job, const Layout& at) { return speed_of(job, at, std::min(job.node, at.dp)); })},
      {"as_in_a_node", exchanged_at([](const Job& job, const Layout& at) {
         return speed_of(job, at, std::clamp(job.node / at.tp, 1, at.dp));
       })},
      {"all_ports", exchanged_at([](const Job& job, const Layout& at) {
         const bool share_a_node = replicas_in_node(job, at) == at.dp;
         return share_a_node ? job.node_bandwidth : std::min(job.node_bandwidth, job.node * job.port_bandwidth);
       })},
      {"a_part_of_a_port", exchanged_at([](const Job& job, const Layout& at) {
         const double in_node = static_cast<double>(job.node) / (at.tp * at.pp);
         return speed_of(job, at, std::clamp(in_node, 1.0, static_cast<double>(at.dp)));
       })},
      {"a_part_of_a_port", exchanged_at([](const Job& job, const Layout& at) {
         const double in_node = static_cast<double>(job.node) / (at.tp * at.pp);  // also less than one
         return speed_of(job, at, std::min(in_node, static_cast<double>(at.dp)));
       })},
      {"weights_beyond_int", in_int(true)},
      {"weights_beyond_int", in_int(false)},
  };
}

inline std::vector<TimeMistake> time_mistakes() {
  std::vector<TimeMistake> all = mistakes_of_passes();
  for (TimeMistake& mistake : mistakes_of_exchange()) all.push_back(std::move(mistake));
  return all;
}

}  // namespace shardlings::planning
