// What is asked before the puzzle and after the pass.

#include <cmath>

#include "elastic_cost.h"
#include "grading/formulas/save_interval.h"
#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

constexpr double kSecond = 1e9;

Formula<Nanos> whole_seconds(const char* how, double seconds) {
  return named(how, Nanos(static_cast<std::int64_t>(std::llround(seconds)) * static_cast<std::int64_t>(kSecond)));
}

}  // namespace

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Case& kase = predict.kase();
  const ElasticCost cost(kase);
  const int n = kase.ranks;
  const Formula<Bytes> state = named("the state", Bytes(cost.state_bytes()));
  predict.number("written", "How many bytes does each rank write for one checkpoint, numbers aside?", cost.part(n, 0))
      .unlike(state, "All four have the same state: together they need to write it once.")
      .unlike(named("weights", Bytes(cost.weight_bytes())) / named("N", Count(n)),
              "Adam goes on from its moments, too: two numbers more for each weight.");
  const Nanos writes = cost.write_time(n, 0);
  predict.end("time", "When does the run end?", cost.end(n))
      .unlike(cost.end(n) - named("writes of the last one", writes),
              "Behind the last update no gradients are computed: that checkpoint's writes are waited for.")
      .unlike(cost.end(n) + named("writes of the first one", writes),
              "Nobody changes the state while the next gradients are computed: they hide what is written meanwhile.");
  const Count steps = kase.steps, every = kase.integer("every");
  predict
      .count("again",
             "All four die while they compute the gradients of the last step, and four others take over. How many "
             "updates that had been made are made again?",
             named("T - 1", steps - 1) - named("the newest checkpoint", (steps - 1) / every * every), "updates")
      .unlike(named("T - 1", steps - 1), "There is a checkpoint.")
      .unlike(named("k", every), "The update of the last step had not been made yet.");
  constexpr double kMinute = 60, kThreeHours = 10'800;
  predict
      .number("interval",
              "A save holds a run up for a minute, and there is a death every three hours on average. After how much "
              "time of training should it save?",
              whole_seconds("sqrt(2 x 60 s x 10800 s)", youngs_interval(kMinute, kThreeHours)))
      .unlike(whole_seconds("sqrt(60 s x 10800 s)", std::sqrt(kMinute * kThreeHours)),
              "A death costs half an interval on average, and not a whole one.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  constexpr double kMinute = 60, kMean = 10'800;
  predict.answer(1)
      .number("shorter",
              "A save holds the run up for 2 s in the place of a minute, with a death every three hours. After how "
              "much time of training should it save?",
              whole_seconds("sqrt(2 x 2 s x 10800 s)", youngs_interval(2, kMean)))
      .unlike(whole_seconds("1138 s x 2/60", youngs_interval(kMinute, kMean) * 2 / kMinute),
              "The interval goes with the root of the time that a save takes.");
  predict.answer(2)
      .count(
          "deaths",
          "A run on 16384 GPUs has a death every 3 hours. How many hours are there between two of a run on 2048 GPUs?",
          named("3 hours x 16384 / 2048", Count{24}), "hours")
      .unlike(named("3 hours", Count{3}), "Each GPU dies by itself: an eighth of them have an eighth of the deaths.");
}
