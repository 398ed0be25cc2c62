// However a training is divided, it is the same training.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "train/trainings.h"

namespace shardlings::train {
namespace {

struct Divided {
  Layout layout;
  int micro_batches;
};

/// "t1_p2_d2_v2_m4".
void PrintTo(const Divided& divided, std::ostream* out) {
  const Layout& layout = divided.layout;
  *out << fmt::format("t{}_p{}_d{}_v{}{}_m{}", layout.t, layout.p, layout.d, layout.v,
                      layout.recompute ? "_recompute" : "", divided.micro_batches);
}

std::vector<double> losses_of(const Settings& settings) {
  const Trained trained = train(settings, &train_step, go_on);
  EXPECT_EQ(trained.failure, "");
  return trained.losses;
}

const std::vector<double>& on_one_device() {
  constexpr int kSteps = 300;
  static const std::vector<double> kLosses = losses_of(small_training({}, 1, kSteps));
  return kLosses;
}

void expect_same_curve(const std::vector<double>& found) {
  const std::vector<double>& right = on_one_device();
  ASSERT_LE(found.size(), right.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(20, found.size()); ++i) {
    EXPECT_NEAR(found[i], right[i], 1e-3 * right[i]) << "step " << i + 1;
  }
  if (found.size() == right.size()) {
    EXPECT_NEAR(found.back(), right.back(), 0.02 * right.back());
  }
}

class Layouts : public testing::TestWithParam<Divided> {};

TEST_P(Layouts, BeginAsOneDevice) {
  expect_same_curve(losses_of(small_training(GetParam().layout, GetParam().micro_batches, 20)));
}

INSTANTIATE_TEST_SUITE_P(Grids, Layouts,
                         testing::Values(Divided{{1, 1, 1}, 4}, Divided{{2, 1, 1}, 1}, Divided{{1, 2, 1}, 4},
                                         Divided{{1, 1, 2}, 1}, Divided{{3, 1, 1}, 2}, Divided{{1, 3, 2}, 2},
                                         Divided{{1, 4, 1, true}, 2}, Divided{{2, 1, 4}, 1}, Divided{{4, 2, 2}, 2},
                                         Divided{{1, 2, 2, false, 2}, 4}, Divided{{2, 2, 1, true, 2}, 2}),
                         testing::PrintToStringParamName());

TEST(LossCurve, EndAsOneDevice) {
  expect_same_curve(losses_of(small_training({2, 2, 2}, 2, 300)));
}

TEST(LossCurve, EndsAsOneDeviceWithChunks) {
  expect_same_curve(losses_of(small_training({1, 2, 1, false, 2}, 4, 300)));
}

TEST(LossCurve, TrainingLearns) {
  const std::vector<double>& losses = on_one_device();
  EXPECT_GT(losses.front(), 3.5) << "it knows nothing";
  EXPECT_LT(losses.back(), 2.7) << "it has learned which characters there are, and some that follow others";
}

TEST(Recomputing, TakesLessMemoryAndGivesTheSame) {
  const Trained kept = train(small_training({}, 1, 3), &train_step, go_on);
  const Trained again = train(small_training({1, 1, 1, true}, 1, 3), &train_step, go_on);
  EXPECT_EQ(again.losses, kept.losses);
  EXPECT_LT(again.peak, kept.peak);
}

TEST(Training, TakesVirtualTimeAndAKnownAmountOfWork) {
  Nanos time;
  train(small_training({1, 2, 1}, 4, 2), &train_step, [&](const StepReport& report) {
    time = report.virtual_time;
    return true;
  });
  EXPECT_GE(time, Nanos(0));
  EXPECT_EQ(flops_of_step(small_training({}, 1, 1)), flops_of_step(small_training({2, 2, 2}, 2, 1)));
}

TEST(Training, SaysWhyARankCouldNotGoOn) {
  const StepFunction fails = [](Rank&, const Model&, const GridShare&, const Batch&, float, View) {
    not_implemented();
  };
  const Trained trained = train(small_training({1, 1, 2}, 1, 2), fails, go_on);
  EXPECT_NE(trained.failure, "");
  EXPECT_TRUE(trained.losses.empty());
}

}  // namespace
}  // namespace shardlings::train
