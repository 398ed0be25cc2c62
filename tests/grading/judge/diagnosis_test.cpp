#include "grading/judge/diagnosis.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace shardlings::grading {
namespace {

using reference::Layers;

/// A model with one layer of two weights, on four ranks with two micro-batches each.
class DiagnosisTest : public testing::Test {
 protected:
  DiagnosisTest() {
    kase_.ranks = 4;
    kase_.micro_batches = 2;
    kase_.model.layers = 1;
    kase_.model.lr = 0.5F;
    reference_.grads = {{1, -3}};
    reference_.weights_before = {{10, 20}};
    reference_.weights = {{9.5, 21.5}};
    reference_.grads_tolerance = reference_.weights_tolerance = {{1e-5, 1e-5}};
    reference_.local_grads = {{{0.5, 0}}, {{0.25, -1}}, {{0.25, -2}}, {{0, 0}}};
  }

  std::string of(const std::string& name, std::vector<std::vector<float>> replicas) const {
    wire::Result result;
    wire::Output& output = result.outputs[name + ".0"];
    output.values = replicas.front();
    if (replicas.size() > 1) output.replicas = std::move(replicas);
    return judge::recognise(kase_, reference_, result, name);
  }
  std::string of_grads(std::vector<float> values) const { return of("grads", {std::move(values)}); }
  std::string of_weights(std::vector<float> values) const { return of("weights", {std::move(values)}); }

  cases::Case kase_;
  reference::Reference reference_;
};

TEST_F(DiagnosisTest, ScaledGradients) {
  EXPECT_EQ(of_grads({4, -12}), "scaled_by_ranks");
  EXPECT_EQ(of_grads({0.25F, -0.75F}), "scaled_by_inverse_ranks");
  EXPECT_EQ(of_grads({2, -6}), "scaled_by_micro_batches");
  EXPECT_EQ(of_grads({0.5F, -1.5F}), "scaled_by_inverse_micro_batches");
  EXPECT_EQ(of_grads({3, -9}), "");
  EXPECT_EQ(of_grads({4, -12.1F}), "") << "one element is off";
}

TEST_F(DiagnosisTest, ScaledGradientsAreSeenInTheWeightsOfOneStepOfSgd) {
  EXPECT_EQ(of_weights({8, 26}), "scaled_by_ranks");
  kase_.steps = 2;
  EXPECT_EQ(of_weights({8, 26}), "");
}

// A crash may be anything: a division by zero, too.
TEST_F(DiagnosisTest, OfACrashNamesNoCause) {
  const std::string text = judge::diagnosis_text({}, "crashed");
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find("index"), std::string::npos) << text;
}

// What the report says already is no cause of it.
TEST_F(DiagnosisTest, OfHowARunEndedIsNoCause) {
  cases::Manifest manifest;
  EXPECT_EQ(judge::cause_text(manifest, "crashed"), "");
  EXPECT_EQ(judge::cause_text(manifest, "deadlock"), judge::diagnosis_text(manifest, "deadlock"));
  manifest.diagnoses = {{"crashed", "my own"}};
  EXPECT_EQ(judge::cause_text(manifest, "crashed"), "my own");
  manifest.diagnoses = {{"crashed", "", cases::Hint{cases::HintLevel::where, "Which index?"}}};
  EXPECT_EQ(judge::cause_text(manifest, "crashed"), "") << "a hint of one's own is no sentence";
  EXPECT_EQ(judge::diagnosis_text(manifest, "crashed"), judge::diagnosis_text({}, "crashed"));
  EXPECT_EQ(judge::diagnosis_hint(manifest, "crashed")->text, "Which index?");
}

TEST_F(DiagnosisTest, NanZeroAndStale) {
  EXPECT_EQ(of_grads({std::numeric_limits<float>::quiet_NaN(), 1}), "not_finite");
  EXPECT_EQ(of_grads({0, 0}), "all_zero");
  EXPECT_EQ(of_weights({10, 20}), "stale");
}

TEST_F(DiagnosisTest, RanksThatDiffer) {
  EXPECT_EQ(of("grads", {{0.5F, 0}, {0.25F, -1}, {0.25F, -2}, {0, 0}}), "local_gradient");
  EXPECT_EQ(of("grads", {{1, -3}, {0.25F, -1}, {0.25F, -2}, {0, 0}}), "only_rank_0_right");
  EXPECT_EQ(of("grads", {{5, 5}, {1, -3}, {1, -3}, {1, -3}}), "ranks_differ");
  EXPECT_EQ(of("weights", {{9.75F, 20}, {9.875F, 20.5F}, {9.875F, 21}, {10, 20}}), "local_gradient");
}

TEST_F(DiagnosisTest, OtherOutputsAndSizesAreNotGuessedAt) {
  EXPECT_EQ(of("loss", {{4, -12}}), "");
  EXPECT_EQ(of_grads({4}), "");
}

TEST_F(DiagnosisTest, ManifestsSentenceWins) {
  cases::Manifest manifest;
  EXPECT_NE(judge::diagnosis_text(manifest, "deadlock"), "");
  manifest.diagnoses = {{"deadlock", "my own"}};
  EXPECT_EQ(judge::diagnosis_text(manifest, "deadlock"), "my own");
  EXPECT_EQ(judge::diagnosis_text(manifest, "unheard_of"), "");
  const std::string own = "What have you started, and not waited for?";
  ASSERT_NE(judge::diagnosis_hint(manifest, "leak"), nullptr);
  EXPECT_NE(judge::diagnosis_hint(manifest, "leak")->text, own);
  manifest.diagnoses.push_back({"leak", "my own", {{cases::HintLevel::where, own}}});
  EXPECT_EQ(judge::diagnosis_hint(manifest, "leak")->text, own);
  EXPECT_EQ(judge::diagnosis_hint(manifest, "unheard_of"), nullptr);
}

}  // namespace
}  // namespace shardlings::grading
