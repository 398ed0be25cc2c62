// The judge's own computation of a piece of a model: values by hand, gradients by differences, tolerances that f32
// meets.
#include "grading/reference/part_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "case/data.h"

namespace shardlings::grading {
namespace {

constexpr Count kIn = 5, kMiddle = 7, kOut = 3, kRows = 4;
constexpr Count kFirst = kMiddle * kIn, kSecond = kFirst + kMiddle, kLast = kSecond + kOut * kMiddle;

constexpr auto kMlp = []<class Real>() {
  reference::Parts<Real> parts;
  parts.push_back(reference::make_linear<Real>(kIn, kMiddle, 0, kFirst));
  parts.push_back(reference::make_gelu<Real>());
  parts.push_back(reference::make_linear<Real>(kMiddle, kOut, kSecond, kLast));
  return reference::make_sequence<Real>(std::move(parts));
};

reference::PartInputs inputs() {
  const cases::Case kase;
  return {cases::normals_of(kase, 0, kLast + kOut),
          {{0, kFirst}, {kFirst, kSecond}, {kSecond, kLast}, {kLast, kLast + kOut}},
          cases::normals_of(kase, 1, kRows * kIn),
          cases::normals_of(kase, 2, kRows * kOut)};
}

/// The sum of outputs times grad_output: what the gradients are those of.
double along_gradient(const reference::PartInputs& at, const std::vector<double>& weights,
                      const std::vector<double>& x) {
  const std::vector<double> y = kMlp.operator()<double>()->forward(weights, x);
  return std::inner_product(y.begin(), y.end(), at.grad_output.begin(), 0.0);
}

TEST(PartReference, OutputOfOneLinearLayerIsThatOfPaper) {
  const reference::PartInputs two = {{2, 3, 10}, {{0, 2}, {2, 3}}, {1, 2}, {5}};  // weight (1, 2), bias (1); one row
  const reference::PartReference found =
      reference::part_reference(two, []<class Real>() { return reference::make_linear<Real>(2, 1, 0, 2); });
  EXPECT_EQ(found.output, std::vector<double>{2 * 1 + 3 * 2 + 10});
  EXPECT_EQ(found.grad_input, (std::vector<double>{10, 15}));
  EXPECT_EQ(found.grads, (std::vector<double>{5, 10, 5}));
}

TEST(PartReference, GradientsAreThoseOfTheOutput) {
  const reference::PartInputs at = inputs();
  const reference::PartReference found = reference::part_reference(at, kMlp);
  const std::vector<double> weights(at.weights.begin(), at.weights.end()), x(at.x.begin(), at.x.end());
  constexpr double kStep = 1e-5;
  const auto slope = [&](std::vector<double> values, std::size_t i, auto along) {
    values[i] += kStep;
    const double above = along(values);
    values[i] -= 2 * kStep;
    return (above - along(values)) / (2 * kStep);
  };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double expected = slope(weights, i, [&](const auto& w) { return along_gradient(at, w, x); });
    ASSERT_NEAR(found.grads[i], expected, 1e-7) << "weight " << i;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = slope(x, i, [&](const auto& other) { return along_gradient(at, weights, other); });
    ASSERT_NEAR(found.grad_input[i], expected, 1e-7) << "input " << i;
  }
}

TEST(PartReference, AnotherComputationInF32IsWithinTheTolerance) {
  const reference::PartInputs at = inputs();
  const reference::PartReference found = reference::part_reference(at, kMlp);
  constexpr std::uint64_t kUnused = 77;  // none of the runs that the tolerance comes from
  const auto run = reference::run_part<float>(*kMlp.operator()<float>(), at, kUnused);
  for (std::size_t i = 0; i < run.grads.size(); ++i) {
    EXPECT_LT(std::abs(static_cast<double>(run.grads[i]) - found.grads[i]), found.grads_tolerance[i] / 2);
    EXPECT_LT(found.grads_tolerance[i], 1e-3) << "and it is small";
  }
  for (std::size_t i = 0; i < run.output.size(); ++i) {
    EXPECT_LT(std::abs(static_cast<double>(run.output[i]) - found.output[i]), found.output_tolerance[i] / 2);
  }
}

TEST(PartReference, EveryTensorHasAToleranceOfItsOwn) {
  const reference::PartReference found = reference::part_reference(inputs(), kMlp);
  EXPECT_EQ(found.grads_tolerance.front(), found.grads_tolerance[kFirst - 1]);
  EXPECT_NE(found.grads_tolerance.front(), found.grads_tolerance[kSecond]);
  EXPECT_GT(found.grads_tolerance.back(), 0);
}

}  // namespace
}  // namespace shardlings::grading
