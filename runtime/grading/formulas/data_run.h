/// \file
/// What one device reads and draws that trains with dropout, and the weights that it ends with (puzzle 43): the run
/// that every grid of ranks has to equal.
///
/// Layer l of the model is x + dropout(down^T dropout(gelu(up x))), with matrices of (f, h). The loss of a step is half
/// the mean over its tokens of the squared distance to their targets.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/parts.h"
#include "base/random.h"
#include "case/case.h"
#include "case/given_seed.h"

namespace shardlings::grading::formulas {

/// Which of the case's tensors is which: the puzzle's harness.cpp draws the same ones. What stands in the place of
/// weights on replica r > 0 begins at r kOthers.
enum DataDrawn : int { kInputs, kTargets, kMatrices, kOthers = 1000 };

/// What a case of the puzzle says: its model's sequence, hidden and layers, and numbers of that name.
struct DataCase {
  explicit DataCase(const cases::Case& of)
      : kase(of),
        s(of.model.sequence),
        width(of.model.hidden),
        middle(of.integer("middle")),
        layers(of.model.layers),
        sequences(of.integer("sequences")),
        batch(of.integer("batch")),
        steps(of.steps + of.integer("steps_later")),
        rate(static_cast<float>(of.number("rate"))),
        seed(cases::given_seed(of)) {
    const Count documents = of.numbers.contains("documents") ? of.integer("documents") : 0;
    for (Count i = 0; i < documents; ++i) lengths.push_back(of.integer("document_" + std::to_string(i)));
  }

  Count matrix() const { return middle * width; }
  /// The data set has documents of unequal lengths, which are packed (data_packing.h).
  bool is_packed() const { return !lengths.empty(); }
  /// Of the data set.
  Count tokens() const {
    return is_packed() ? std::accumulate(lengths.begin(), lengths.end(), Count(0)) : sequences * s;
  }

  const cases::Case& kase;
  Count s, width, middle, layers;
  Count sequences, batch;  ///< of the data set, and of a step
  Count steps;             ///< in both grids
  float rate;
  std::uint64_t seed;          ///< of the run, as the learner is told it
  std::vector<Count> lengths;  ///< tokens of each document; none where all sequences have s tokens
};

/// A rank's place in a grid of d x p x t.
struct GridPlace {
  int d = 1, p = 1, t = 1;  ///< sizes of the grid
  int dp = 0, pp = 0, tp = 0;
};

/// In step `step`: the case's second grid follows the first one.
GridPlace place_in_grid(const DataCase& of, int rank, Count step);

/// The step that begins at a cursor.
struct StepRead {
  Count cursor = 0;
  std::vector<Count> sequences;  ///< in the order of one device

  Count size() const { return static_cast<Count>(sequences.size()); }
};

/// What an epoch reads, if the run's seed is increased by `more`.
std::vector<Count> order_of(const DataCase& of, std::uint64_t more);

StepRead step_from(const DataCase& of, Count cursor);

std::vector<StepRead> all_steps(const DataCase& of);

/// What dropout multiplies by the elements of an activation of `width` columns, a row for each token of the step.
std::vector<float> mask_by_row(const DataCase& of, std::uint64_t stream, Count rows, Count width);

std::uint64_t stream_of(const DataCase& of, Count cursor, Count layer, bool inner);

/// Weights as they are drawn: `others` is 0, or kOthers times the number of a replica whose own they are.
std::vector<float> first_weights(const DataCase& of, int others = 0);
/// The mean of what so many replicas have at first.
std::vector<double> mean_of_first_weights(const DataCase& of, int replicas);

/// The weights in the end, of one device in double, and how far f32 arithmetic may be from them. With packed documents
/// the loss is that of the tokens that have a target.
struct TrainedWeights {
  std::vector<double> exact, tolerance;
};
TrainedWeights trained_by_one_device(const DataCase& of);

}  // namespace shardlings::grading::formulas
