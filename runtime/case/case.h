/// \file
/// A case: everything that determines one graded run. Serialised as JSON between grader and submission.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "front/clock/cluster.h"
#include "front/clock/death.h"
#include "model/execution.h"
#include "model/structure.h"
#include "shardlings/export.h"

namespace shardlings::cases {

struct SHARDLINGS_API Case {
  std::string puzzle;   ///< "09_data_parallel"
  std::string name;     ///< "4 ranks, uneven"
  bool hidden = false;  ///< graded, but not shown in the statement
  /// The learner's function answers a question about plain data: one rank asks it, and nothing is counted, timed or
  /// drawn.
  bool question = false;
  int ranks = 1;
  model::ModelSpec model;      ///< layers = 0: the puzzle has no model
  Count batch = 2;             ///< b: sequences of one micro-batch
  int micro_batches = 1;       ///< of each rank
  bool uneven_tokens = false;  ///< micro-batches and ranks have different numbers of targets that count
  bool empty_batch = false;    ///< the first batch's targets are all padding
  /// Different batches: consecutive ranks share one, as those do that divide a model and not the data. 0: every rank
  /// has its own. Divides `ranks`.
  int batches = 0;
  int steps = 1;
  std::uint64_t seed = 1;
  front::Cluster cluster;
  Bytes capacity{std::int64_t{1} << 40};
  std::vector<front::Death> deaths;        ///< ranks that die: at most one a rank
  Nanos detection;                         ///< from a death until others can know of it
  std::optional<std::vector<int>> traced;  ///< the ranks that leave a trace, in order; nothing: all
  /// False: a simulation makes each call of the model of its operations. Nothing but its own time depends on that.
  bool recipes = true;
  /// Of replicas that are equal a simulation runs some, which stand for the others: front/group/fold.h.
  bool folded = false;
  model::Execution execution;
  std::map<std::string, double> numbers;  ///< what else the puzzle needs: "every" (k), "count" (elements), …
  std::map<std::string, std::vector<double>> lists;  ///< columns of a table that the puzzle needs, by their names

  bool has_model() const { return model.layers > 0; }
  int num_batches() const { return batches > 0 ? batches : ranks; }
  /// Which of them a rank has.
  int batch_of(int rank) const { return rank / (ranks / num_batches()); }
  /// The number of that name, as a whole number the second time. Throws std::runtime_error if there is none.
  double number(const std::string& key) const;
  Count integer(const std::string& key) const;
  /// The list of that name. Throws std::runtime_error if there is none.
  const std::vector<double>& list(const std::string& key) const;
};

/// One line of JSON and back. from_json throws std::runtime_error naming the key at fault.
std::string to_json(const Case& kase);
Case case_from_json(const std::string& text);

}  // namespace shardlings::cases
