// Judges a program that was mended, against one device, and a test, by what it says of three logs: the program as it
// was published, and two right ones.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "case/data.h"
#include "grading/formulas/training.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "model/operation_flops.h"
#include "reference.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::EventKind;

namespace {

Layers layer(const Numbers& numbers) {
  return {numbers};
}

/// What was published under this name, as one layer; empty if nothing was.
Layers found(const CheckContext& check, const std::string& name) {
  const Output* output = check.output(name);
  if (output == nullptr) return {};
  return layer(Numbers(output->values.begin(), output->values.end()));
}

bool replicas_disagree(const CheckContext& check, const std::string& name) {
  const Output* output = check.output(name);
  return output != nullptr && !output->conflict.empty();
}

OneDevice one_device_of(const ShippedCase& of) {
  return {of, [&](int which, Count n) { return normals_of(of.kase, which, n); }};
}

// ---- The gradient of the first step ----

struct KnownWeighing {
  const char* diagnosis;
  Weighing weighing;
};

std::vector<KnownWeighing> known_weighings(const ShippedCase& of) {
  const auto m = static_cast<double>(of.m);
  const Count last = of.m - 1;
  std::vector<KnownWeighing> known;
  if (of.program == 1) {
    known.push_back({"scaled_in_each_micro_batch", [=](Count i, int) { return std::pow(m, -double(last + 1 - i)); }});
  }
  known.push_back({"summed", [](Count, int) { return 1.0; }});
  known.push_back({"divided_twice", [=](Count, int) { return 1 / (m * m); }});
  known.push_back({"last_alone", [=](Count i, int) { return i == last ? 1 / m : 0.0; }});
  known.push_back({"last_alone", [=](Count i, int) { return i == last ? 1.0 : 0.0; }});
  known.push_back({"first_alone", [=](Count i, int) { return i == 0 ? 1 / m : 0.0; }});
  return known;
}

void diagnose_gradient(CheckContext& check, const ShippedCase& of, const OneDevice& device) {
  const std::string name = "grads of step 1";
  if (replicas_disagree(check, name)) return check.diagnose("replicas_differ");
  const Layers grads = found(check, name);
  if (grads.empty()) return;
  const First first = in_order(of);
  for (const KnownWeighing& known : known_weighings(of)) {
    if (alike(grads, layer(device.gradient(0, known.weighing, first)))) return check.diagnose(known.diagnosis);
  }
  const Numbers right = device.gradient(0, one_device(of), first);
  if (of.replicas > 1 && near(constant_ratio(grads, layer(right)), of.replicas)) {
    return check.diagnose("replicas_summed");
  }
  const First same = [&](Count step, Count) { return first(step, 0); };
  if (alike(grads, layer(device.gradient(0, one_device(of), same)))) check.diagnose("same_micro_batch");
}

// ---- Samples ----

std::vector<float> samples_of_run(const ShippedCase& of, const First& first) {
  std::vector<float> samples;
  for (Count step = 0; step < of.kase.steps; ++step) {
    for (Count i = 0; i < of.m; ++i) {
      for (Count j = 0; j < of.samples; ++j) samples.push_back(static_cast<float>((first(step, i) + j) % of.data));
    }
  }
  std::vector<float> all;
  for (int rank = 0; rank < of.kase.ranks; ++rank) all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

bool samples_are_right(CheckContext& check, const ShippedCase& of) {
  if (of.program != 6) return true;
  const First right = in_order(of);
  if (check.identical("read", samples_of_run(of, right))) return true;
  check.detail("read: one row for each rank, with the samples of its micro-batches in their order");
  const Output* read = check.output("read");
  if (read == nullptr) return false;
  const auto limit = static_cast<float>(of.data);
  const bool behind = std::any_of(read->values.begin(), read->values.end(), [&](float s) { return s >= limit; });
  const Count whole = of.data / of.samples;  // micro-batches of an epoch that drops the rest
  const First dropped = [&](Count step, Count i) { return (step * of.m + i) % whole * of.samples; };
  if (behind) {
    check.diagnose("behind_the_data_set");
    return false;
  }
  if (of.data % of.samples != 0 && read->values == samples_of_run(of, dropped)) {
    check.diagnose("rest_dropped");
    return false;
  }
  if (read->values == samples_of_run(of, [&](Count, Count i) { return right(0, i); })) {
    check.diagnose("loader_begins_anew");
  } else if (read->values == samples_of_run(of, [&](Count step, Count) { return right(step, 0); }) ||
             read->values == samples_of_run(of, [&](Count, Count) { return right(0, 0); })) {
    check.diagnose("same_micro_batch");
  } else if (read->values == samples_of_run(of, [&](Count step, Count) { return step * of.samples % of.data; })) {
    check.diagnose("same_micro_batch");
  }
  return false;
}

// ---- Numbers ----

void judge_product(CheckContext& check, const ShippedCase& of) {
  const OneDevice device = one_device_of(of);
  const Numbers right = device.output(1);
  if (check.equal("output", right, tolerance_of(right))) return;
  if (replicas_disagree(check, "output")) return check.diagnose("product_not_reduced");
  const Layers output = found(check, "output");
  if (output.empty()) return;
  if (alike(output, layer(device.output(of.kase.ranks)))) return check.diagnose("bias_of_each_rank");
  if (alike(output, layer(device.output(0)))) return check.diagnose("bias_missing");
  Numbers averaged = device.output(of.kase.ranks);
  for (double& number : averaged) number /= of.kase.ranks;
  if (alike(output, layer(averaged))) check.diagnose("product_averaged");
}

void judge_training(CheckContext& check, const ShippedCase& of) {
  if (!samples_are_right(check, of)) return;
  OneDevice device = one_device_of(of);
  const Numbers before = device.weights();
  for (Count step = 0; step < of.kase.steps; ++step) {
    const Numbers grads = device.gradient(step, one_device(of), in_order(of));
    if (step == 0 && !check.equal("grads of step 1", grads, tolerance_of(grads))) {
      return diagnose_gradient(check, of, device);
    }
    device.update(grads, step);
  }
  const std::string name = "weights in the end";
  if (check.equal(name, device.weights(), tolerance_of(device.weights()))) return;
  if (replicas_disagree(check, name)) return check.diagnose("replicas_differ");
  if (alike(found(check, name), layer(before))) check.diagnose("never_updated");
}

// ---- Bytes ----

/// By all ranks together: as much as rings send, or a reduction to one rank and a broadcast of what it has.
Formula<Bytes> wire_budget(const ShippedCase& of) {
  const Formula<Count> n = named("N", Count(of.kase.ranks));
  const Formula<Count> steps = named("steps", Count(of.kase.steps));
  if (of.program == 2) {
    return 2 * (named("stages", Count(of.stages)) - 1) * steps * named("m", of.m) *
           named("activation", Bytes(of.samples * of.width * kBytesOfF32));
  }
  if (of.program == 3) return 2 * (n - 1) * named("output", Bytes(of.of_step() * of.width * kBytesOfF32));
  return steps * (2 * (n - 1) * named("gradient", Bytes(of.matrix() * kBytesOfF32)));
}

/// By one rank of a ring, for gradients that are reduced once in a step.
Formula<Bytes> ring_sent(const ShippedCase& of) {
  const Formula<Count> n = named("N", Count(of.kase.ranks));
  return named("steps", Count(of.kase.steps)) * (2 * (n - 1) / n * named("gradient", Bytes(of.matrix() * kBytesOfF32)));
}

// ---- The test ----

/// What was said of log `version`, by rank 0: 0 is the program as it was published, 1 and 2 are right, 3 has another
/// fault.
bool objects(const CheckContext& check, std::size_t version) {
  const Output* answers = check.output("answers");
  return answers != nullptr && version < answers->values.size() && answers->values[version] != 0;
}

constexpr std::array kMissed = {"missed_scaling", "missed_sum",  "missed_bias",
                                "missed_samples", "missed_sync", "missed_loader"};
/// Why it objects to a right program: by what it says of the harness's probes, which stand behind the four logs.
std::string alarm(const CheckContext& check, const ShippedCase& of) {
  constexpr std::array kProbes = {"objects_to_all",    "objects_to_run", "alarm_by_shuffle", "runs_mixed",
                                  "alarm_by_rounding", "alarm_by_order", "alarm_by_bytes"};
  for (std::size_t i = 0; i < kProbes.size(); ++i) {
    if (objects(check, 4 + i)) return kProbes.at(i);
  }
  if (of.program == 4) return "alarm_by_exchange";
  return of.program == 6 ? "alarm_by_epoch" : "";
}

const char* text(bool objects) {
  return objects ? "true" : "false";
}

}  // namespace

SHARDLINGS_CHECK(program) {
  const ShippedCase of(check.kase());
  if (of.program == 3) return judge_product(check, of);
  judge_training(check, of);
}

SHARDLINGS_CHECK(communication) {
  const ShippedCase of(check.kase());
  Bytes sent;
  for (int rank = 0; rank < check.ranks(); ++rank) sent += check.counters(rank).bytes_sent();
  const Formula<Bytes> budget = wire_budget(of);
  if (check.at_most("bytes sent by all ranks together", sent, budget)) return;
  if (of.program == 2) return check.diagnose("activation_sent_again");
  const bool each = of.m > 1 && of.program != 3 && sent == (named("m", of.m) * budget).value();
  check.diagnose(each ? "reduced_for_each_micro_batch" : "too_much_sent");
}

SHARDLINGS_CHECK(fault) {
  const ShippedCase of(check.kase());
  const auto program = static_cast<std::size_t>(of.program - 1);
  if (of.program == 3 && of.kase.ranks == 1) {  // the published program is right on one rank
    const Count wrong = objects(check, 0) ? 1 : 0;
    check.exactly("right logs that the test objects to", wrong, named("right logs", Count(0)), "logs");
    return;
  }
  if (objects(check, 0) && objects(check, 3)) {
    check.exactly("faulty logs that the test objects to", 1, named("faulty logs", Count(1)), "logs");
    return;
  }
  if (objects(check, 0)) {
    check.fail(fmt::format("suspicious(log of program {} with a second, smaller fault) == true", of.program),
               text(false));
    return check.diagnose(of.program == 5 ? "missed_replica" : "missed_repetition");
  }
  check.fail(fmt::format("suspicious(log of program {} as it was published) == true", of.program), text(false));
  check.diagnose(kMissed.at(program));
}

SHARDLINGS_CHECK(right) {
  const ShippedCase of(check.kase());
  const bool first = objects(check, 1), second = objects(check, 2);
  if (!first && !second) {
    check.exactly("right logs that the test objects to", 0, named("right logs", Count(0)), "logs");
    return;
  }
  const char* which = first ? "as it should have been" : "right in another way";
  check.fail(fmt::format("suspicious(log of program {}, {}) == false", of.program, which), text(true));
  const std::string cause = alarm(check, of);
  if (!cause.empty()) check.diagnose(cause);
}

/// What the functions that are given take, twice.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const ShippedCase of(check.kase());
  const Count updates = 2 * of.kase.steps * of.m * of.matrix();
  return {{Product::add_squares, Flops(2 * (updates + 2 * of.kase.steps * of.m * of.samples * of.width))},
          {Product::adam, Flops(model::kAdamFlops * updates)},
          {Product::sgd, Flops(model::kSgdFlops * updates)}};
}

SHARDLINGS_PREDICTIONS("1, scaled") {
  const ShippedCase of(predict.kase());
  const Formula<Count> m = named("m", of.m);
  predict
      .count("first",
             "In program 1 as it was published, the first micro-batch of a step counts for one n-th of its mean "
             "gradient. Which n?",
             m * m * m * m, "parts")
      .unlike(m, "So it would count if it were divided once. How often is it divided by the end of the loop?")
      .unlike(m * m * m, "It is divided after its own backward as well.");
  predict
      .count("norm",
             "A pipeline adds up the mean gradients of m micro-batches and divides by nothing. How many times as large "
             "as in a run with one micro-batch is the norm, for m = 4?",
             m, "times")
      .unlike(m * m, "Each of them is a mean already. By what would the sum have to be divided?")
      .unlike(named("none", Count(1)), "That is what the optimizer's step looks like, and not the gradient.");
  predict.sent("sent", 0, "How many bytes does rank 0 send in the two steps of the mended program 1?", ring_sent(of))
      .unlike(m * ring_sent(of), "That is one reduction for each micro-batch. Their sum can be reduced.")
      .unlike(named("gradient", Bytes(of.matrix() * kBytesOfF32)), "That is one of the two steps.");
}

SHARDLINGS_PREDICTIONS_AFTER("1, scaled") {
  const Formula<Count> m = named("m", Count(8));
  predict.answer(1)
      .count("parts",
             "A pipeline of 4 stages divides the gradient by m = 8 at every stage, before it sends it on to the stage "
             "below. Which n-th of the sum of its micro-batches' gradients does stage 1 train with?",
             m * m * m, "parts")
      .unlike(m * m * m * m, "That is stage 0. Stage 1 is passed third.")
      .unlike(m * m, "Stages 3, 2 and 1 divide.")
      .unlike(m, "So it should be. Stages above stage 1 have divided already.");
}
