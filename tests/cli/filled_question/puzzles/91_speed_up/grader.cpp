// Judges puzzle 91: the answer to its question.

#include "grading/judge/grader.h"

#include <cmath>

#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

/// The right answer, computed without any code under test.
double right_answer(const Case& kase) {
  return kase.list("seconds").front() / kase.list("seconds").back();
}

/// As whole percent, for predictions.
Formula<Count> as_percent(const std::string& name, double value) {
  return named(name, static_cast<Count>(100 * value + 0.5));
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const double found = check.answer("answer"), right = right_answer(check.kase());
  if (check.within("the answer", found, right, 2, "times")) return;
  if (std::abs(found * right - 1) < 1e-6) check.diagnose("upside_down");
}

SHARDLINGS_PREDICTIONS("3 runs") {
  const double right = right_answer(predict.kase());
  predict.count("answer", "Filled. what is asked for?", as_percent("answer", right), "%")
      .unlike(as_percent("upside down", 1 / right), "Filled. what somebody has overlooked who says so");
  const double second = predict.kase().list("seconds").front() / predict.kase().list("seconds").at(1);
  predict.count("second", "Filled. of run 1?", as_percent("second", second), "%")
      .unlike(as_percent("answer", right), "Filled. that is run 2's");
}

SHARDLINGS_PREDICTIONS_AFTER("3 runs") {
  const double right = right_answer(predict.kase());
  predict.answer(1)
      .count("after", "Filled. what the lesson's question 1 asks for", as_percent("answer", right), "%")
      .unlike(as_percent("upside down", 1 / right), "Filled. what somebody has overlooked who says so");
}
