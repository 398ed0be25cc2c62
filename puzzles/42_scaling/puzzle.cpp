// Puzzle 42: scaling.
//
// From a table of runs: what more GPUs were worth, how much of them was used, which batch still pays, what training
// takes and costs; and which run to rent. The lesson is README.md beside this file; `./shardlings explain 42` shows it.

#include <shardlings/puzzle.h>
#include <shardlings/scaling.h>

#include <cmath>
#include <vector>

using namespace shardlings;

/// All numbers within 2 %. Structs and units: <shardlings/scaling.h>.
///
/// scaled          `run` beside `base`, whichever of gpus and sequences differ: speed_up is the quotient of their
///                 tokens a second, and efficiency is speed_up over the quotient of their GPUs: 1 is ideal
/// utilization     MFU counts the operations of products in forward and backward that the model needs, HFU those that
///                 the GPUs make. Forward of a token is 24 L h² + 4 L s h + 2 h V operations (blocks; attention without
///                 the causal mask; head), backward twice as many
/// critical_batch  in sequences: variance of one sequence's gradient (summed over all weights) over the square of the
///                 true gradient's norm
/// learning_rate   for SGD with batch `batch`, if `tuned` is the best one with batch `tuned_at`:
///                 proportional to 1/(1 + critical/B)
/// cost            with the run's batch B the wanted loss takes S_min (1 + critical/B) steps
/// choose          the index of the cheapest run that is done within job.days; one is. At most 5 % above the cheapest
// >>> your code (about 31 lines)
Scaling scaled(const MeasuredRun& base, const MeasuredRun& run) {
  not_implemented();
}

Utilization utilization(const TrainingJob& job, const MeasuredRun& run) {
  not_implemented();
}

double critical_batch(const GradientNorms& norms) {
  not_implemented();
}

double learning_rate(double tuned, Count tuned_at, double critical, Count batch) {
  not_implemented();
}

TrainingCost cost(const TrainingJob& job, double critical, const MeasuredRun& run) {
  not_implemented();
}

int choose(const TrainingJob& job, double critical, const std::vector<MeasuredRun>& runs) {
  not_implemented();
}
// <<<
