// Training steps of a small MLP and a small GPT against PyTorch's (golden/make_golden.py): of the runtime, and of the
// judge's reference.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "front/model/on_model.h"
#include "grading/reference/trainer.h"

namespace shardlings::model_test {
namespace {

/// f32 against double after a few layers.
constexpr double kTolerance = 5e-6;

struct Golden {
  cases::Case kase;
  cases::MicroData data;
  nlohmann::json json;
  Layers weights, grads;
  double loss = 0;
};

Golden load(const std::string& family) {
  Golden golden;
  std::ifstream file(std::string(SHARDLINGS_GOLDEN) + "/" + family + ".json");
  golden.json = nlohmann::json::parse(file);
  const auto& spec = golden.json["spec"];
  golden.kase = case_of(mlp(spec["layers"], spec["hidden"], spec["outputs"], spec["sequence"]), spec["batch"]);
  golden.kase.model.heads = spec["heads"];
  if (family == "gpt") golden.kase.model.family = model::ModelSpec::Family::gpt;
  golden.kase.model.lr = golden.json["lr"];
  golden.kase.model.eps = golden.json["eps"];
  const auto& batch = golden.json["batch"];
  golden.data.targets = batch["targets"].get<std::vector<std::int32_t>>();
  if (batch.contains("ids")) golden.data.ids = batch["ids"].get<std::vector<std::int32_t>>();
  if (batch.contains("inputs")) golden.data.inputs = batch["inputs"].get<std::vector<float>>();
  for (const std::int32_t target : golden.data.targets) golden.data.tokens += target >= 0 ? 1 : 0;
  golden.weights = golden.json["weights"].get<Layers>();
  golden.grads = golden.json["grads"].get<Layers>();
  golden.loss = golden.json["loss"];
  return golden;
}

class AgainstPyTorch : public testing::TestWithParam<const char*> {
 protected:
  AgainstPyTorch() : golden_(load(GetParam())) {}

  void check_optimizer(model::ModelSpec::Optimizer optimizer, const std::string& name) {
    golden_.kase.model.optimizer = optimizer;
    const auto structure = model::make_structure(golden_.kase.model);
    on_rank([&](Rank& rank) {
      OnDevice on(rank, structure, golden_.weights);
      for (int step = 0; step < golden_.json[name]["steps"].get<int>(); ++step) {
        for (Tensor& grad : on.state.grads) fill(grad, 0);
        train_micro(rank, on, golden_.kase, golden_.data, golden_.data.tokens);
        update(rank, on);
      }
      expect_close(get_layers(on.state.weights), golden_.json[name]["weights"].get<Layers>(), kTolerance, name);
    });
  }

  Golden golden_;
};

TEST_P(AgainstPyTorch, LossAndGradientsOfTheRuntime) {
  const auto structure = model::make_structure(golden_.kase.model);
  on_rank([&](Rank& rank) {
    OnDevice on(rank, structure, golden_.weights);
    train_micro(rank, on, golden_.kase, golden_.data, golden_.data.tokens);
    EXPECT_NEAR(get(on.loss)[0], golden_.loss, kTolerance * golden_.loss);
    expect_close(get_layers(on.state.grads), golden_.grads, kTolerance, "gradient");
  });
}

TEST_P(AgainstPyTorch, WeightsAfterSgd) {
  check_optimizer(model::ModelSpec::Optimizer::sgd, "sgd");
}

TEST_P(AgainstPyTorch, WeightsAfterAdam) {
  check_optimizer(model::ModelSpec::Optimizer::adam, "adam");
}

TEST_P(AgainstPyTorch, LossAndGradientsOfTheReference) {
  Layers grads = golden_.weights;
  for (auto& layer : grads) std::fill(layer.begin(), layer.end(), 0.0);
  const auto loss =
      grading::reference::train_micro<double>(golden_.kase, golden_.data, golden_.data.tokens, golden_.weights, grads);
  EXPECT_NEAR(loss, golden_.loss, 1e-11);
  expect_close(grads, golden_.grads, 1e-10, "gradient");
}

INSTANTIATE_TEST_SUITE_P(Models, AgainstPyTorch, testing::Values("mlp", "gpt"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace shardlings::model_test
