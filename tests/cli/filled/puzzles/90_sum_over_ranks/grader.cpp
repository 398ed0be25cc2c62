// Judges puzzle 90: the numbers, and the bytes that each rank sends.

#include "grading/judge/grader.h"

#include "case/data.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

/// What `data` must hold in the end, computed without any code under test.
std::vector<float> expected_data(const Case& kase) {
  std::vector<float> sums(static_cast<std::size_t>(kase.integer("count")));
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const std::vector<float> values = integers_of(kase, rank, kase.integer("count"));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  return sums;
}

/// Bytes that a rank may send: a formula of the case.
Formula<Bytes> byte_budget(const Case& kase) {
  const Count n = kase.integer("count");
  return 2 * (named("data", Bytes(4 * n)) - named("smallest part", Bytes(4 * (n / kase.ranks))));
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (check.identical("data", expected_data(check.kase()))) return;
  if (check.counters(0).bytes_sent().value() == 0) check.diagnose("nothing_done");
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Bytes sent = check.counters(rank).bytes_sent();
    if (check.at_most("bytes sent by " + check.name_of(rank), sent, byte_budget(check.kase()))) continue;
    check.diagnose("too_much_sent");
    return;
  }
}

SHARDLINGS_PREDICTIONS("2 ranks") {
  predict.sent("sent", 0, "How many bytes does each rank send?", byte_budget(predict.kase()))
      .unlike(2 * byte_budget(predict.kase()), "Filled. what somebody has overlooked who says so");
  const Formula<Bytes> data = named("data", Bytes(4 * predict.kase().integer("count")));
  predict.peak("peak", 0, "How many bytes are alive on each rank?", data)
      .unlike(2 * data, "Sums take the data's memory.");
}

SHARDLINGS_PREDICTIONS_AFTER("2 ranks") {
  Case many = predict.kase();
  many.ranks = 8;
  predict.answer(1)
      .number("many", "Filled. what the lesson's question 1 asks for", byte_budget(many))
      .unlike(2 * byte_budget(many), "Filled. what somebody has overlooked who says so");
}
