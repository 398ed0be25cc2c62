// Named models and those given by their numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
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

/// Those of the released checkpoints (meta-llama on Hugging Face, the sum of all tensors).
TEST(Transformers, LlamasHaveThePublishedNumberOfParameters) {
  EXPECT_EQ(memory_map::parameters_of(named("llama-7b")), 6'738'415'616);
  EXPECT_EQ(memory_map::parameters_of(named("llama-8b")), 8'030'261'248);
  EXPECT_EQ(memory_map::parameters_of(named("llama-70b")), 70'553'706'496);
  EXPECT_EQ(memory_map::parameters_of(named("llama-405b")), 405'853'388'800);
}

TEST(Transformers, OfALlamaAllSizesCanBeGiven) {
  EXPECT_EQ(memory_map::parameters_of(named("blocks=llama,layers=32,hidden=4096,heads=32,key_value_heads=8,wide=14336,"
                                            "vocabulary=128256,sequence=8192,tied=0")),
            8'030'261'248);
  EXPECT_THAT(refusal("blocks=bert,layers=2"), HasSubstr("blocks are gpt or llama, not 'bert'"));
}

/// What is said of a file with one such model.
std::string refusal_of_file(const std::string& keys) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("models_" + std::to_string(getpid()) + ".toml");
  std::ofstream(path)
      << "[[models]]\nname = \"m\"\ntitle = \"M\"\nsource = \"none\"\nlayers = 2\nhidden = 8\nheads = 2\n"
         "vocabulary = 9\nsequence = 4\n"
      << keys << "\n";
  std::string said;
  try {
    memory_map::load_transformers(path.string());
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  std::filesystem::remove(path);
  return said;
}

TEST(Transformers, OfAFileAGptHasNoSizesOfLlamas) {
  EXPECT_EQ(refusal_of_file("blocks = \"llama\"\nkey_value_heads = 1\nwide = 12"), "");
  for (const char* blocks : {"", "blocks = \"gpt\"\n"}) {
    EXPECT_THAT(refusal_of_file(blocks + std::string("wide = 12")), HasSubstr("only Llama's blocks have these"));
    EXPECT_THAT(refusal_of_file(blocks + std::string("key_value_heads = 1")), HasSubstr("only Llama's blocks"));
  }
}

// Of 32 heads' keys and values 8 are there, and a gate of 14336: in all 2 (h + 2 k) + 2 h * 5 + 2 * 3 w bytes a token,
// and the scores' 2 a s.
TEST(Transformers, LlamasKeepFewerKeysAndAGate) {
  const memory_map::Transformer model = named("llama-8b");
  const std::int64_t tokens = 8192, h = 4096, k = 1024, w = 14336;
  const std::int64_t all = 2 * tokens * (5 * h + (h + 2 * k) + 3 * w + 32 * tokens);
  EXPECT_EQ(memory_map::kept_by_one_block(model, {}, mixed()), Bytes(all));
  memory_map::Parallel sixteen;
  sixteen.tp = 16;
  EXPECT_THROW(memory_map::map_memory(model, sixteen, mixed()), std::invalid_argument) << "8 heads of keys";
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
