#include "grading/judge/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "grading/judge/compare.h"

namespace shardlings::grading::judge {
namespace {

struct BuiltIn {
  std::string_view id;
  const char* text;
};

constexpr std::array kBuiltIn = {
    BuiltIn{"not_finite",
            "There are NaNs or infinities: memory from empty() was read before anything was written to it "
            "(it is filled with NaN while grading)."},
    BuiltIn{"all_zero",
            "The gradients are all zero: no backward pass has added to them, or they were cleared after it."},
    BuiltIn{"stale", "The weights are as they were before the step: nothing has updated them."},
    BuiltIn{"scaled_by_ranks",
            "Too large by exactly the number of ranks: summed over the ranks where every rank's part "
            "should count once only."},
    BuiltIn{"scaled_by_inverse_ranks", "Too small by exactly the number of ranks: divided by it once too often."},
    BuiltIn{"scaled_by_micro_batches", "Too large by exactly the number of micro-batches."},
    BuiltIn{"scaled_by_inverse_micro_batches",
            "Too small by exactly the number of micro-batches: divided once too often."},
    BuiltIn{"local_gradient",
            "Each rank has used the gradient of its own tokens only: it was never reduced over the ranks."},
    BuiltIn{"only_rank_0_right",
            "Rank 0 is right and others are not: they have not got its result, or used theirs too early."},
    BuiltIn{"ranks_differ", "The ranks ended with different values of what should be the same on all of them."},
    BuiltIn{"host_reads",
            "read() brings a number to the host. That is for looking at it while you work: here the device computes "
            "everything, so take the call out."},
    BuiltIn{"mismatch", "Ranks of one group must make the same calls in the same order, with equal sizes."},
    BuiltIn{"deadlock", "Every rank waits for another one. Follow the list: who waits for whom, and where?"},
    BuiltIn{"desertion", "A rank is done while others still wait for it."},
    BuiltIn{"race", "A tensor was used while an operation that was started on it had not been waited for."},
    BuiltIn{"leak", "What was started must be waited for, and what was sent must be received."},
    BuiltIn{"hang", "The GPUs do not finish an operation that all ranks have rightly called."},
    BuiltIn{"out_of_memory", "The device is full: free what is not needed any more, or make it later."},
    BuiltIn{"invalid_argument", "A call got what it cannot take: what that is, and on which line, stands above."},
    BuiltIn{"not_implemented", "The hole is still there: replace not_implemented() by your code."},
    BuiltIn{"exception", "An exception left the puzzle's function."},
    BuiltIn{"endless_loop", "A loop never ends: look at its condition, and at what should change it."},
    BuiltIn{"crashed",
            "The program was stopped by a signal: the report says by which one, and what that usually means."},
    BuiltIn{"early_exit", "The program ended before the run was over."},
    BuiltIn{"cpu_limit", "The program never ends: look at the loop's condition."},
    BuiltIn{"wall_limit", "The program does not come to its end: look at what it still did, and what it waits for."},
    BuiltIn{"memory_limit", "The program fills the computer's memory."},
    BuiltIn{"output_limit", "The program prints without end."},
    BuiltIn{"not_run", "What stopped the cases before it would stop this one, too."},
};

/// Something to compare gradients with.
struct Gradients {
  reference::Layers found;
  reference::Layers tolerance;
};

std::vector<const wire::Output*> outputs_of(const wire::Result& result, const std::string& name, std::size_t layers) {
  std::vector<const wire::Output*> outputs;
  for (std::size_t l = 0; l < layers; ++l) {
    const auto found = result.outputs.find(name + "." + std::to_string(l));
    if (found == result.outputs.end() || !found->second.complete) return {};
    outputs.push_back(&found->second);
  }
  return outputs;
}

/// What one rank published of all layers.
reference::Layers values_of(const std::vector<const wire::Output*>& outputs, std::size_t rank) {
  reference::Layers layers;
  for (const wire::Output* output : outputs) {
    const auto& values = rank < output->replicas.size() ? output->replicas[rank] : output->values;
    layers.emplace_back(values.begin(), values.end());
  }
  return layers;
}

/// found = factor expected, within the tolerance that grows with the factor.
bool matches(const reference::Layers& found, const reference::Layers& expected, const reference::Layers& tolerance,
             double factor) {
  if (!same_sizes(found, expected)) return false;
  for (std::size_t l = 0; l < found.size(); ++l) {
    for (std::size_t i = 0; i < found[l].size(); ++i) {
      if (!close(found[l][i], factor * expected[l][i], 2 * std::max(1.0, factor) * tolerance[l][i])) return false;
    }
  }
  return true;
}

bool all_of(const reference::Layers& layers, auto holds) {
  return std::all_of(layers.begin(), layers.end(),
                     [&](const auto& l) { return std::all_of(l.begin(), l.end(), holds); });
}

/// The gradient that one step of plain SGD has used: (before - after) / lr.
Gradients used_by_sgd(const cases::Case& kase, const reference::Reference& reference, const reference::Layers& after) {
  Gradients gradients{reference.weights_before, reference.weights_tolerance};
  const double lr = kase.model.lr;
  for (std::size_t l = 0; l < after.size(); ++l) {
    for (std::size_t i = 0; i < after[l].size(); ++i) {
      gradients.found[l][i] = (gradients.found[l][i] - after[l][i]) / lr;
      gradients.tolerance[l][i] = std::max(gradients.tolerance[l][i] / lr, reference.grads_tolerance[l][i]);
    }
  }
  return gradients;
}

std::string scaled_by(const cases::Case& kase, const reference::Reference& reference, const Gradients& gradients) {
  const auto is = [&](double factor) { return matches(gradients.found, reference.grads, gradients.tolerance, factor); };
  const double ranks = kase.ranks, micros = kase.micro_batches;
  if (ranks > 1 && is(ranks)) return "scaled_by_ranks";
  if (ranks > 1 && is(1 / ranks)) return "scaled_by_inverse_ranks";
  if (micros > 1 && is(micros)) return "scaled_by_micro_batches";
  if (micros > 1 && is(1 / micros)) return "scaled_by_inverse_micro_batches";
  return "";
}

/// Gradients of one rank; empty if they cannot be told from the output.
std::optional<Gradients> gradients_of(const cases::Case& kase, const reference::Reference& reference,
                                      const std::string& name, const reference::Layers& found) {
  if (!same_sizes(found, reference.grads)) return std::nullopt;
  if (name == "grads") return Gradients{found, reference.grads_tolerance};
  if (kase.model.optimizer != model::ModelSpec::Optimizer::sgd || kase.steps != 1) return std::nullopt;
  return used_by_sgd(kase, reference, found);
}

bool is_local(const cases::Case& kase, const reference::Reference& reference, const std::string& name,
              const std::vector<const wire::Output*>& outputs) {
  if (kase.ranks == 1 || reference.local_grads.size() != static_cast<std::size_t>(kase.ranks)) return false;
  for (std::size_t rank = 0; rank < reference.local_grads.size(); ++rank) {
    const auto gradients = gradients_of(kase, reference, name, values_of(outputs, rank));
    if (!gradients || !matches(gradients->found, reference.local_grads[rank], gradients->tolerance, 1)) return false;
  }
  return true;
}

}  // namespace

std::string diagnosis_text(const cases::Manifest& manifest, const std::string& id) {
  if (const cases::Diagnosis* own = manifest.diagnosis(id)) return own->text;
  const auto found = std::find_if(kBuiltIn.begin(), kBuiltIn.end(), [&](const BuiltIn& b) { return b.id == id; });
  return found == kBuiltIn.end() ? "" : found->text;
}

std::string recognise(const cases::Case& kase, const reference::Reference& reference, const wire::Result& result,
                      const std::string& name) {
  if ((name != "grads" && name != "weights") || !kase.has_model()) return "";
  const auto outputs = outputs_of(result, name, reference.grads.size());
  if (outputs.empty()) return "";
  const reference::Layers first = values_of(outputs, 0);
  if (!same_sizes(first, reference.grads)) return "";
  if (!all_of(first, [](double x) { return std::isfinite(x); })) return "not_finite";
  const bool is_gradient = name == "grads";
  if (is_gradient && all_of(first, [](double x) { return x == 0; })) return "all_zero";
  if (!is_gradient && matches(first, reference.weights_before, reference.weights_tolerance, 1)) return "stale";
  if (is_local(kase, reference, name, outputs)) return "local_gradient";
  const bool differ =
      std::any_of(outputs.begin(), outputs.end(), [](const wire::Output* o) { return !o->replicas.empty(); });
  const reference::Layers& right = is_gradient ? reference.grads : reference.weights;
  const reference::Layers& tolerance = is_gradient ? reference.grads_tolerance : reference.weights_tolerance;
  if (differ) return matches(first, right, tolerance, 1) ? "only_rank_0_right" : "ranks_differ";
  const auto gradients = gradients_of(kase, reference, name, first);
  return gradients ? scaled_by(kase, reference, *gradients) : "";
}

}  // namespace shardlings::grading::judge
