// Named models and those given by their numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "memory_map/examples.h"

namespace shardlings::grading {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    named(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

/// The numbers of parameters of the released checkpoints.
TEST(Transformers, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(memory_map::parameters_of(named("gpt2")), 124'439'808);
  EXPECT_EQ(memory_map::parameters_of(named("gpt2-medium")), 354'823'168);
  EXPECT_EQ(memory_map::parameters_of(named("gpt2-large")), 774'030'080);
  EXPECT_EQ(memory_map::parameters_of(named("gpt2-xl")), 1'557'611'200);
  const auto billions = [](const char* name) {
    return static_cast<double>(memory_map::parameters_of(named(name))) / 1e9;
  };
  EXPECT_NEAR(billions("gpt3-175b"), 175, 0.5);
  EXPECT_NEAR(billions("megatron-22b"), 22, 0.5);
  EXPECT_NEAR(billions("mt-nlg-530b"), 530, 1);
  EXPECT_NEAR(billions("megatron-1t"), 1008, 1);
}

TEST(Transformers, SayWhereTheirNumbersComeFrom) {
  const auto models = memory_map::load_transformers(SHARDLINGS_TRANSFORMERS);
  EXPECT_GE(models.size(), 12U);
  for (const memory_map::Transformer& model : models) {
    EXPECT_THAT(model.source, HasSubstr("et al.")) << model.name;
    EXPECT_NE(model.title, "") << model.name;
  }
}

TEST(Transformers, CanBeGivenByTheirNumbers) {
  const memory_map::Transformer model = named("layers=12,hidden=768,heads=12,vocabulary=50257,sequence=1024");
  EXPECT_EQ(memory_map::parameters_of(model), 124'439'808);
  EXPECT_EQ(memory_map::parameters_of(named("layers=12,hidden=768,heads=12,vocabulary=50257,sequence=1024,tied=0")),
            124'439'808 + 50257 * 768);
  EXPECT_EQ(memory_map::parameters_of(named("parameters=7.5e9")), 7'500'000'000);
}

TEST(Transformers, ThatAreUnknownSayWhatThereIs) {
  EXPECT_THAT(refusal("gpt5"), HasSubstr("There is no model 'gpt5'. There are gpt2, "));
  EXPECT_THAT(refusal("layers=2,hidden=8"), HasSubstr("lacks heads, vocabulary, sequence"));
  EXPECT_THAT(refusal("layers=2,width=8"), HasSubstr("a model has no 'width'"));
  EXPECT_THAT(refusal("parameters=many"), HasSubstr("7.5e9, not 'many'"));
  EXPECT_THAT(refusal("parameters=1e30"), HasSubstr("not '1e30'"));
  EXPECT_THAT(refusal("layers=2,hidden=99999999999"), HasSubstr("hidden can be"));
}

}  // namespace
}  // namespace shardlings::grading
