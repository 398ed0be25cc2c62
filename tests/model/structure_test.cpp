#include "model/structure.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "front/model/on_model.h"

namespace shardlings::model_test {
namespace {

using model::LayerStructure;
using Type = LayerStructure::Type;

TEST(ModelStructure, MlpIsLinearWithGeluButForTheLast) {
  const auto structure = model::make_structure(mlp(3, 7, 5, 4));
  ASSERT_EQ(structure.layers.size(), 3U);
  EXPECT_EQ(structure.layers[0].type, Type::linear_gelu);
  EXPECT_EQ(structure.layers[1].type, Type::linear_gelu);
  EXPECT_EQ(structure.layers[2].type, Type::linear);
  EXPECT_EQ(structure.layers[1].range, (Range{7 * 7 + 7, 2 * (7 * 7 + 7)}));
  EXPECT_EQ(structure.layers[2].out, 5);
  EXPECT_EQ(structure.total, 2 * (7 * 7 + 7) + 7 * 5 + 5);
}

/// What stands at a place.
std::string at(const LayerStructure& layer, std::size_t place) {
  return layer.entries.at(place).name;
}

TEST(ModelStructure, PlacesAreThoseOfTheEntriesOfTheirNames) {
  const LayerStructure linear = model::make_structure(mlp(3, 7, 5, 4)).layers.front();
  EXPECT_EQ(at(linear, model::linear_entries::weight), "weight");
  EXPECT_EQ(at(linear, model::linear_entries::bias), "bias");
  model::ModelSpec spec;
  spec.family = model::ModelSpec::Family::gpt;
  const auto gpt = model::make_structure(spec).layers;
  EXPECT_EQ(at(gpt[0], model::embedding_entries::token), "token");
  EXPECT_EQ(at(gpt[0], model::embedding_entries::position), "position");
  EXPECT_EQ(gpt[1].entries.size(), model::block_entries::fc2_bias + 1U);
  using namespace model::block_entries;  // NOLINT: sixteen names
  const std::pair<std::size_t, const char*> places[] = {
      {ln1_weight, "ln1.weight"}, {ln1_bias, "ln1.bias"},         {query_weight, "query.weight"},
      {key_weight, "key.weight"}, {value_weight, "value.weight"}, {query_bias, "query.bias"},
      {key_bias, "key.bias"},     {value_bias, "value.bias"},     {proj_weight, "proj.weight"},
      {proj_bias, "proj.bias"},   {ln2_weight, "ln2.weight"},     {ln2_bias, "ln2.bias"},
      {fc_weight, "fc.weight"},   {fc_bias, "fc.bias"},           {fc2_weight, "fc2.weight"},
      {fc2_bias, "fc2.bias"}};
  for (const auto& [place, name] : places) EXPECT_EQ(at(gpt[1], place), name);
  EXPECT_EQ(at(gpt.back(), model::head_entries::norm_weight), "norm.weight");
  EXPECT_EQ(at(gpt.back(), model::head_entries::norm_bias), "norm.bias");
  EXPECT_EQ(at(gpt.back(), model::head_entries::weight), "weight");
}

TEST(ModelStructure, WidthsAreThoseOfTheOutputs) {
  model::ModelSpec spec = mlp(4, 7, 5, 4);
  spec.widths = {3, 11, 2};
  const auto structure = model::make_structure(spec);
  const Count widths[] = {7, 3, 11, 2, 5};
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_EQ(structure.layers[l].in, widths[l]);
    EXPECT_EQ(structure.layers[l].out, widths[l + 1]);
    EXPECT_EQ(structure.layers[l].range.size(), widths[l] * widths[l + 1] + widths[l + 1]);
  }
}

TEST(ModelStructure, GptIsEmbeddingBlocksHead) {
  const auto structure = model::make_structure(gpt(2, 6, 3, 11, 4));
  ASSERT_EQ(structure.layers.size(), 4U);
  EXPECT_EQ(structure.layers[0].type, Type::embedding);
  EXPECT_EQ(structure.layers[0].range.size(), (11 + 4) * 6);
  EXPECT_EQ(structure.layers[2].type, Type::block);
  EXPECT_EQ(structure.layers[2].heads, 3);
  EXPECT_EQ(structure.layers[2].range.size(), 12 * 6 * 6 + 13 * 6);
  EXPECT_EQ(structure.layers[3].type, Type::head);
  EXPECT_EQ(structure.layers[3].range.size(), 2 * 6 + 11 * 6);
}

TEST(ModelStructure, EntriesFillTheLayerWithoutGaps) {
  model::ModelSpec uneven = mlp(3, 7, 5, 4);
  uneven.widths = {2, 9};
  for (const model::ModelSpec& spec : {mlp(3, 7, 5, 4), uneven, gpt(2, 6, 3, 11, 4)}) {
    const auto structure = model::make_structure(spec);
    Count end_of_layer = 0;
    for (const LayerStructure& layer : structure.layers) {
      EXPECT_EQ(layer.range.begin, end_of_layer);
      end_of_layer = layer.range.end;
      Count end = 0;
      std::set<std::string> names;
      for (const Entry& entry : layer.entries) {
        EXPECT_EQ(entry.range.begin, end) << entry.name;
        EXPECT_EQ(entry.range.size(), entry.rows * entry.cols) << entry.name;
        EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
        end = entry.range.end;
      }
      EXPECT_EQ(end, layer.range.size());
    }
    EXPECT_EQ(end_of_layer, structure.total);
  }
}

TEST(ModelStructure, SplitsFollowMegatron) {
  const auto structure = model::make_structure(gpt(1, 6, 3, 11, 4));
  const LayerStructure& block = structure.layers[1];
  for (const char* name : {"query.weight", "key.bias", "value.weight", "fc.weight", "fc.bias"}) {
    EXPECT_EQ(entry_of(block, name).split, Split::rows) << name;
  }
  for (const char* name : {"proj.weight", "fc2.weight"}) EXPECT_EQ(entry_of(block, name).split, Split::cols) << name;
  for (const char* name : {"proj.bias", "fc2.bias", "ln1.weight"}) {
    EXPECT_EQ(entry_of(block, name).split, Split::whole) << name;
  }
  EXPECT_EQ(entry_of(structure.layers[0], "token").split, Split::rows);
  EXPECT_EQ(entry_of(structure.layers[2], "weight").split, Split::rows);
}

TEST(ModelStructure, ImpossibleModelsAreRefused) {
  EXPECT_THROW(model::make_structure(mlp(0, 7, 5, 4)), std::invalid_argument);
  EXPECT_THROW(model::make_structure(mlp(1, 0, 5, 4)), std::invalid_argument);
  EXPECT_THROW(model::make_structure(mlp(1, 7, std::numeric_limits<Count>::max(), 4)), std::invalid_argument);
  EXPECT_THROW(model::make_structure(mlp(2'000'000'000, 7, 5, 4)), std::invalid_argument);
  EXPECT_THROW(model::make_structure(gpt(1, 7, 2, 5, 4)), std::invalid_argument);
  model::ModelSpec spec = mlp(3, 7, 5, 4);
  spec.widths = {3};
  EXPECT_THROW(model::make_structure(spec), std::invalid_argument);
  spec.widths = {3, 0};
  EXPECT_THROW(model::make_structure(spec), std::invalid_argument);
  spec = gpt(2, 6, 3, 11, 4);
  spec.widths = {3};
  EXPECT_THROW(model::make_structure(spec), std::invalid_argument);
  EXPECT_THROW(entry_of(model::make_structure(mlp(1, 2, 2, 2)).layers[0], "query.weight"), std::out_of_range);
}

}  // namespace
}  // namespace shardlings::model_test
