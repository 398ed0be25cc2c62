#include "grading/formulas/data_numbering.h"

#include <fmt/format.h>

#include <utility>

namespace shardlings::grading::formulas {

Numbering right_numbering(const DataCase& of, const DrawnPart& part) {
  const Count by_sequence = of.s * part.width;
  return {0, static_cast<Count>(stream_of(of, part.cursor, part.layer, part.inner)),
          part.sequences.begin * by_sequence + part.columns.begin, part.width, by_sequence};
}

Mask mask_by(const DataCase& of, Count step, const StepRead& read, Count layer, bool inner, const NumberingRule& rule) {
  const Count width = inner ? of.middle : of.width, all = read.size() * width;
  Mask mask{fmt::format("mask of step {}, layer {}, {}", step, layer, inner ? "inner" : "output"),
            std::vector<float>(static_cast<std::size_t>(of.s * all))};
  for (int rank = 0; rank < of.kase.ranks; ++rank) {
    DrawnPart part{place_in_grid(of, rank, step), read.cursor, read.size(), {}, {0, width}, layer, 0, inner, width};
    const Range layers = part_of(of.layers, part.place.p, part.place.pp);
    if (layer < layers.begin || layer >= layers.end) continue;
    part.layer_of_rank = layer - layers.begin;
    part.sequences = part_of(read.size(), part.place.d, part.place.dp);
    if (inner) part.columns = part_of(width, part.place.t, part.place.tp);
    const Numbering numbers = rule(of, part);
    for (Count i = 0; i < of.s; ++i) {
      for (Count j = part.sequences.begin; j < part.sequences.end; ++j) {
        for (Count k = part.columns.begin; k < part.columns.end; ++k) {
          const Count number = numbers.first + i * numbers.by_position +
                               (j - part.sequences.begin) * numbers.by_sequence + k - part.columns.begin;
          const std::uint32_t word = random_word_at(of.seed + numbers.more, static_cast<std::uint64_t>(number),
                                                    static_cast<std::uint64_t>(numbers.stream));
          mask.values[static_cast<std::size_t>(i * all + j * width + k)] =
              word < words_below(of.rate) ? 0.0F : 1 / (1 - of.rate);
        }
      }
    }
  }
  return mask;
}

bool all_masks(const DataCase& of, const NumberingRule& rule, const std::function<bool(const Mask&)>& look) {
  Count number = 0;
  for (const StepRead& read : all_steps(of)) {
    for (Count layer = 0; layer < of.layers; ++layer) {
      for (const bool inner : {true, false}) {
        if (!look(mask_by(of, number, read, layer, inner, rule))) return false;
      }
    }
    ++number;
  }
  return true;
}

std::vector<KnownNumbering> known_numberings() {
  const auto changed = [](auto change) {
    return [change](const DataCase& of, const DrawnPart& part) {
      Numbering numbers = right_numbering(of, part);
      change(of, part, numbers);
      return numbers;
    };
  };
  using Of = const DataCase&;
  using Part = const DrawnPart&;
  return {
      {"alike_on_replicas", changed([](Of of, Part part, Numbering& numbers) {
         numbers.first -= part.sequences.begin * of.s * part.width;
       })},
      {"alike_on_parts", changed([](Of, Part part, Numbering& numbers) { numbers.first -= part.columns.begin; })},
      {"part_taken_for_whole", changed([](Of of, Part part, Numbering& numbers) {
         const Count own = part.columns.size();
         numbers.by_position = own;
         numbers.by_sequence = of.s * own;
         numbers.first = part.sequences.begin * of.s * own;
       })},
      {"part_taken_for_whole", changed([](Of of, Part part, Numbering& numbers) {
         const Count own = part.columns.size();
         numbers.by_position = own;
         numbers.by_sequence = of.s * own;
         numbers.first = part.sequences.begin * of.s * own + part.columns.begin;
       })},
      {"alike_on_stages", changed([](Of of, Part part, Numbering& numbers) {
         numbers.stream = static_cast<Count>(stream_of(of, part.cursor, part.layer_of_rank, part.inner));
       })},
      {"alike_in_each_step", changed([](Of of, Part part, Numbering& numbers) {
         numbers.stream = static_cast<Count>(stream_of(of, 0, part.layer, part.inner));
       })},
      {"alike_at_both_sites", changed([](Of of, Part part, Numbering& numbers) {
         numbers.stream = static_cast<Count>(stream_of(of, part.cursor, part.layer, true));
       })},
      {"seed_of_a_replica",
       changed([](Of, Part part, Numbering& numbers) { numbers.more = static_cast<std::uint64_t>(part.place.dp); })},
      {"drawn_by_batch", changed([](Of of, Part part, Numbering& numbers) {
         const Count first = part_of(of.batch, part.place.d, part.place.dp).begin;
         numbers.first = first * numbers.by_sequence + part.columns.begin;
       })},
      {"distances_exchanged",
       changed([](Of, Part, Numbering& numbers) { std::swap(numbers.by_position, numbers.by_sequence); })},
      {"numbered_by_position", changed([](Of, Part part, Numbering& numbers) {
         numbers.by_position = part.size * part.width;
         numbers.by_sequence = part.width;
         numbers.first = part.sequences.begin * part.width + part.columns.begin;
       })},
  };
}

}  // namespace shardlings::grading::formulas
