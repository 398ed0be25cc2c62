#include "grading/judge/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "grading/judge/compare.h"

namespace shardlings::grading::judge {
namespace {

struct BuiltIn {
  std::string_view id;
  const char* text;
  const char* hint;  ///< empty where the learner's code has nothing to be changed
};

constexpr std::array kBuiltIn = {
    BuiltIn{
        "not_finite",
        "There are NaNs or infinities: either memory from empty() was read before anything was written to it (it is "
        "filled with NaN while grading), or numbers have grown beyond all bounds.",
        "Which tensor comes from empty(), and which of its elements has nothing been written to when they are read "
        "first? If there is none: which factor makes numbers larger each time?"},
    BuiltIn{"all_zero",
            "The gradients are all zero: no backward pass has added to them, or they were cleared after it.",
            "Into which tensor does backward add, and is that the one that is judged? What clears it, and when?"},
    BuiltIn{"stale", "The weights are as they were before the step: no update has changed them.",
            "Is the update ever called, for every layer, and with a gradient that is not zero?"},
    BuiltIn{"scaled_by_ranks",
            "Too large by exactly the number of ranks: summed over the ranks where every rank's part "
            "should count once only.",
            "How often does each rank's part go into the sum, and what is the loss divided by: the tokens of this rank "
            "or those of all?"},
    BuiltIn{"scaled_by_inverse_ranks", "Too small by exactly the number of ranks: divided by it once too often.",
            "By what has the loss been divided already? What does ReduceOp::mean divide by once more?"},
    BuiltIn{"scaled_by_micro_batches", "Too large by exactly the number of micro-batches.",
            "By what is the loss of one micro-batch divided: its own tokens, or those of the whole step?"},
    BuiltIn{"scaled_by_inverse_micro_batches",
            "Too small by exactly the number of micro-batches: divided once too often.",
            "The tokens of the step are those of all micro-batches. What else divides by their number?"},
    BuiltIn{
        "local_gradient",
        "Each rank has used the gradient of its own tokens only: no sum over the ranks has taken its place.",
        "Which call brings the gradients of the ranks together, and is it made for every layer before they are used?"},
    BuiltIn{
        "only_rank_0_right",
        "Rank 0 is right and others are not: they have not got its result, leave out what it does, or used theirs too "
        "early.",
        "Which ranks have the result after your collective: one of them, or all? When do the others use it?"},
    BuiltIn{"ranks_differ", "The ranks ended with different values of what should be the same on all of them.",
            "Up to which line do all ranks hold the same? From there on, what does each do with something of its own?"},
    BuiltIn{"nearly_right",
            "All numbers together are off by a hundredth or so at most, and not right to the last digit: either "
            "something was "
            "rounded on the way (bf16 has 8 bits), or a small share is missing or counted twice, or a factor is "
            "slightly wrong.",
            "Which tensors have fewer bits than f32, and what is added up in them? If there are none: what makes a "
            "hundredth of the whole, such as one token or one bias?"},
    BuiltIn{
        "host_reads",
        "read() brings a number to the host, but here the device computes everything: take the call out. To look at "
        "numbers while you work there is show(), which costs nothing.",
        "What do you decide by that number? Can the device compute with it, without your program seeing it?"},
    BuiltIn{
        "other_product",
        "Numbers of tensors were multiplied by an operation that this puzzle has no use for, or by more of it than it "
        "needs. What it counts and times are the calls that its lesson names: make those.",
        "Which call of the model, or of the lesson, does what you have put together here from single operations?"},
    BuiltIn{"products_of_sums",
            "Far more was added and scaled here than the products take of which the lesson speaks: as if products had "
            "been put together from sums, which nothing counts. Make them by the calls of the lesson.",
            "Which of these sums does the lesson ask for? Which product could take the place of the others?"},
    BuiltIn{"products_missing",
            "The results are right, but the products of matrices have computed less than they take: a part was put "
            "together from other operations, which nothing counts as what it is, or was left out.",
            "Which rows, or which numbers of them, has none of your matrix products made?"},
    BuiltIn{"barrier",
            "A barrier moves no data, and data are waited for by their own operations: nothing here needs one. Take it "
            "out; where it stood for a wait, wait for that Work.",
            "Which numbers did you want to be there after the barrier, and which operation brings them?"},
    BuiltIn{"needless_store",
            "The store outlives the ranks, and nothing in this puzzle has to: what one rank has and another one needs "
            "goes by messages and collectives, which are what is counted and timed here.",
            "Which ranks need what you have written to the store, and which call of a group brings it to them?"},
    BuiltIn{
        "needless_survivors",
        "survivors() is for runs in which ranks die, and here none does. It makes all ranks wait for one another and "
        "tells each what all others say: take it out.",
        "What did you want to know of the other ranks? Does each of them not know it already, from the case and its "
        "own rank?"},
    BuiltIn{"mismatch", "Ranks that meet in a call, or in a message, disagree about it: which one it is, or how large.",
            "Does the number of calls, their order or their size depend on rank.id(), or on a size that differs "
            "between ranks?"},
    BuiltIn{
        "deadlock", "Every rank waits for another one. Follow the list: who waits for whom, and where?",
        "Take two neighbours: at which line does each of them wait, and which call of the other one would end that?"},
    BuiltIn{
        "desertion", "A rank is done while others still wait for it.",
        "Count the calls of both ranks in that group: where does one of them leave its loop earlier than the other?"},
    BuiltIn{"peer_failed", "A rank has died, and another one that was told so has not gone on.",
            "Which call throws PeerFailed, who catches it, and which group does the program go on with?"},
    BuiltIn{"race", "A tensor was used while an operation that was started on it had not been waited for.",
            "From the start of an operation to the wait() on its Work: which lines touch its tensors?"},
    BuiltIn{"leak", "What was started must be waited for, and what was sent must be received.",
            "Where is the Work that belongs to that call, and which line waits for it? A Work that is overwritten is "
            "lost."},
    BuiltIn{"hang", "The GPUs do not finish an operation that all ranks have rightly called.", ""},
    BuiltIn{"out_of_memory", "The device is full: free what is not needed any more, or make it later.",
            "What is alive at the line of the peak that nothing reads any more, or nothing reads yet?"},
    BuiltIn{"invalid_argument",
            "A call got what it cannot take. The report of the run says what that is, and on which line.",
            "Print the shape of what you hand over, just before that line. Was it moved away, freed, or never made?"},
    BuiltIn{"not_implemented", "The hole is still there: replace not_implemented() by your code.", ""},
    BuiltIn{"exception", "An exception left the puzzle's function.",
            "Which call throws, and what is in its arguments there? The line stands in the report."},
    BuiltIn{"endless_loop", "A loop never ends: look at its condition, and at what should change it.",
            "Which variable does the condition of that loop read, and which line inside changes it?"},
    BuiltIn{
        "crashed", "The program crashed.",
        "Which index, into which vector, is used at that line? Compare it with the size that the vector has there."},
    BuiltIn{"early_exit", "The program ended before the run was over.",
            "Who calls exit() or ends the process? A puzzle's function returns."},
    BuiltIn{"cpu_limit", "The program never ends: look at the loop's condition.",
            "How often does your innermost loop run in the largest case? Which loop has no end, or too many turns?"},
    BuiltIn{"wall_limit", "The program does not come to its end: look at what it still did, and what it waits for.",
            "What was each rank doing in the end? Which of them could never go on?"},
    BuiltIn{"memory_limit", "The program asked the computer for memory that it did not get.",
            "Which vector or tensor grows with every turn of a loop?"},
    BuiltIn{"output_limit", "The program prints without end.",
            "Which loop prints? Print one line for each case, or none."},
    BuiltIn{"not_run", "What stopped the cases before it would stop this one, too.", ""},
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
  if (const cases::Diagnosis* own = manifest.diagnosis(id); own && !own->text.empty()) return own->text;
  const auto found = std::find_if(kBuiltIn.begin(), kBuiltIn.end(), [&](const BuiltIn& b) { return b.id == id; });
  return found == kBuiltIn.end() ? "" : found->text;
}

std::string cause_text(const cases::Manifest& manifest, const std::string& id) {
  constexpr std::array<std::string_view, 5> kRepeated = {"crashed", "early_exit", "exception", "invalid_argument",
                                                         "memory_limit"};
  const bool is_repeated = std::find(kRepeated.begin(), kRepeated.end(), id) != kRepeated.end();
  const cases::Diagnosis* own = manifest.diagnosis(id);
  const bool has_own = own && !own->text.empty();
  return is_repeated && !has_own ? "" : diagnosis_text(manifest, id);
}

const cases::Hint* diagnosis_hint(const cases::Manifest& manifest, const std::string& id) {
  static const std::map<std::string_view, cases::Hint> kHints = [] {
    std::map<std::string_view, cases::Hint> hints;
    for (const BuiltIn& each : kBuiltIn) {
      if (*each.hint) hints[each.id] = {cases::HintLevel::where, each.hint};
    }
    return hints;
  }();
  const cases::Diagnosis* own = manifest.diagnosis(id);
  if (own && own->hint) return &*own->hint;
  const auto built_in = kHints.find(id);
  return built_in == kHints.end() ? nullptr : &built_in->second;
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
