/// \file
/// The norm of a gradient that is divided over a grid of ranks (grid_step.h), and what becomes of it if ranks count
/// something else than what is theirs.
///
/// | id                    | what the ranks have counted                                                   |
/// |-----------------------|-------------------------------------------------------------------------------|
/// | tied_counted_twice    | the second copy of the table, too                                             |
/// | replicas_counted      | on each of t ranks what tensor parallelism does not divide                    |
/// | everything_counted    | both of these                                                                 |
/// | norm_before_tied      | each use of the table by itself                                               |
/// | norm_before_reduction | their own replica's gradient                                                  |
/// | whole_layers_counted  | beside their part over the replicas the rest of the layer, whatever lay there |
/// | owned_from_the_part   | owned ranges, taken as if they counted from the beginning of their part       |
/// | chunk_forgotten       | one of their chunks only                                                      |
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grading/formulas/grid_step.h"
#include "grading/formulas/shared_diagnosis.h"

namespace shardlings::grading::formulas {

class GridNorm {
 public:
  /// `expected` is the reference of the case's first step.
  GridNorm(const cases::Case& kase, const reference::Reference& expected);

  /// The norm of the whole gradient: each number of it once.
  double right() const;
  /// The id of the mistake whose norm would shorten the gradient by this factor; none if none would, or several.
  SharedId mistake_behind(double factor) const;
  /// The gradient as it is if the two uses of the table are never added up.
  reference::Layers with_uses_apart() const;

 private:
  /// Which of its numbers of a layer a rank counts.
  using Ranges = std::function<std::vector<Range>(const GridRank&, Count layer)>;
  /// What they are there.
  using Values = std::function<const reference::Layers&(const GridRank&)>;
  struct Mistake {
    SharedId id;
    double squares;
  };

  double squares(const Ranges& counted, const Values& values) const;
  std::vector<Mistake> mistakes() const;
  void add_mistakes_with_replicas(std::vector<Mistake>& all) const;

  const cases::Case& kase_;
  const reference::Reference& expected_;
  model::ModelStructure whole_;
  std::vector<GridRank> ranks_;
  std::vector<reference::Layers> uses_apart_;  ///< by batch
  reference::Layers sum_of_uses_apart_;
};

}  // namespace shardlings::grading::formulas
