/// \file
/// Mistakes that every puzzle's learners make, recognised by the numbers they leave behind.
///
/// | id                              | what the gradients (or the weights after a step) look like                 |
/// |---------------------------------|----------------------------------------------------------------------------|
/// | not_finite                      | NaN or infinity: mostly memory that was never written                      |
/// | all_zero                        | gradients that are all zero                                                |
/// | stale                           | weights as they were before the step                                       |
/// | scaled_by_ranks                 | N times too large: summed, not averaged                                    |
/// | scaled_by_inverse_ranks         | N times too small: averaged what was divided already                       |
/// | scaled_by_micro_batches         | m times too large; scaled_by_inverse_micro_batches likewise too small      |
/// | local_gradient                  | each rank has the gradient of its own tokens only: never reduced           |
/// | only_rank_0_right               | rank 0 is right, others are not                                            |
/// | ranks_differ                    | replicas that should be equal are not                                      |
/// | host_reads                      | right, but read() was called where puzzle.toml does not allow it           |
/// | other_product                   | right, but by products that puzzle.toml does not list, or by too many      |
/// | products_of_sums                | right, but far more was added than the products take                       |
/// | products_missing                | right, but products of matrices have computed less than the results take    |
/// | needless_store                  | right, but the store was called where puzzle.toml does not allow it        |
/// | needless_survivors              | right, but survivors() was called where puzzle.toml does not allow it      |
/// | barrier                         | right, but a barrier was called where puzzle.toml does not allow it        |
/// | nearly_right                    | right to two or three digits, and no other mistake is recognised           |
///
/// The types of failures and endings (deadlock, out_of_memory, cpu_limit, …) are ids as well.
#pragma once

#include <string>

#include "case/manifest.h"
#include "grading/reference/reference.h"
#include "submission/wire/result.h"

namespace shardlings::grading::judge {

/// The sentence for an id: the manifest's own, else the built-in one, else nothing.
std::string diagnosis_text(const cases::Manifest& manifest, const std::string& id);

/// The same where it stands beside a failed check: nothing where it only repeats what the report says of the run's end.
std::string cause_text(const cases::Manifest& manifest, const std::string& id);

/// The hint for an id, likewise; nullptr where there is none. It lives as long as the manifest does.
const cases::Hint* diagnosis_hint(const cases::Manifest& manifest, const std::string& id);

/// The id of the mistake that outputs name.0, name.1, … look like, for name "grads" or "weights"; "" for none.
std::string recognise(const cases::Case& kase, const reference::Reference& reference, const wire::Result& result,
                      const std::string& name);

}  // namespace shardlings::grading::judge
