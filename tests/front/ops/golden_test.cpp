// Against values of an independent framework; see golden/make_golden.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "front/ops/on_rank.h"

namespace shardlings::ops_test {
namespace {

constexpr double kTolerance = 3e-6;

class Golden : public testing::Test {
 protected:
  /// The entries of one case.
  void open(const std::string& name) {
    std::ifstream file(SHARDLINGS_GOLDEN);
    case_ = nlohmann::json::parse(file).at(name);
  }
  Doubles values(const std::string& entry) const { return case_.at(entry).at("data").get<Doubles>(); }
  Shape shape(const std::string& entry) const {
    const auto dims = case_.at(entry).at("shape").get<std::vector<Count>>();
    switch (dims.size()) {
      case 1: return {dims[0]};
      case 2: return {dims[0], dims[1]};
      case 3: return {dims[0], dims[1], dims[2]};
      default: return {dims[0], dims[1], dims[2], dims[3]};
    }
  }
  Tensor tensor(Rank& rank, const std::string& entry) const { return put(rank, shape(entry), values(entry)); }
  Tensor ids(Rank& rank, const std::string& entry) const {
    return put_ids(rank, shape(entry), case_.at(entry).at("data").get<std::vector<int>>());
  }
  Tensor zeros(Rank& rank, const std::string& entry) const { return rank.zeros(shape(entry), Kind::gradient); }
  void expect(const std::string& entry, ConstView got) const {
    EXPECT_EQ(got.size(), shape(entry).size());
    expect_close(get(got), values(entry), kTolerance, entry);
  }

 private:
  nlohmann::json case_;
};

TEST_F(Golden, Linear) {
  open("linear");
  on_rank([&](Rank& rank) {
    const Tensor x = tensor(rank, "x");
    const Tensor w = tensor(rank, "w");
    const Tensor g = tensor(rank, "g");
    Tensor y = matmul(x, w, nt);
    EXPECT_EQ(y.shape(), shape("y"));
    add_bias(y, tensor(rank, "b"));
    expect("y", y);
    Tensor gw = zeros(rank, "gw");
    Tensor gb = zeros(rank, "gb");
    matmul_add(gw, g, x, tn);
    sum_rows_add(gb, g);
    expect("gx", matmul(g, w, nn));
    expect("gw", gw);
    expect("gb", gb);
  });
}

TEST_F(Golden, Gelu) {
  open("gelu");
  on_rank([&](Rank& rank) {
    const Tensor x = tensor(rank, "x");
    expect("y", gelu(x));
    expect("gx", gelu_backward(x, tensor(rank, "g")));
  });
}

TEST_F(Golden, Softmax) {
  open("softmax");
  on_rank([&](Rank& rank) {
    const Tensor y = softmax(tensor(rank, "x"));
    expect("y", y);
    expect("gx", softmax_backward(y, tensor(rank, "g")));
  });
}

TEST_F(Golden, LayerNorm) {
  open("layer_norm");
  on_rank([&](Rank& rank) {
    const Tensor x = tensor(rank, "x");
    const Tensor w = tensor(rank, "w");
    Tensor stats;
    expect("y", layer_norm(x, w, tensor(rank, "b"), &stats));
    Tensor gw = zeros(rank, "gw");
    Tensor gb = zeros(rank, "gb");
    expect("gx", layer_norm_backward(x, w, stats, tensor(rank, "g"), gw, gb));
    expect("gw", gw);
    expect("gb", gb);
  });
}

TEST_F(Golden, CausalAttention) {
  open("attention");
  on_rank([&](Rank& rank) {
    const Tensor qkv = tensor(rank, "qkv");
    Tensor inner;
    expect("y", attention(qkv, 3, &inner));
    EXPECT_EQ(inner.shape(), shape("p"));
    expect("p", inner);
    expect("gqkv", attention_backward(qkv, 3, std::move(inner), tensor(rank, "g")));
  });
}

TEST_F(Golden, CrossEntropyWithIgnoredTargets) {
  open("cross_entropy");
  on_rank([&](Rank& rank) {
    Tensor loss = rank.zeros(1, Kind::other);
    expect("gx", cross_entropy(tensor(rank, "x"), ids(rank, "targets"), 6, loss));
    expect("loss", loss);
  });
}

TEST_F(Golden, AdamWithDecay) {
  open("adam");
  on_rank([&](Rank& rank) {
    Tensor w = tensor(rank, "w");
    Tensor m = rank.zeros(w.size(), Kind::optimizer);
    Tensor v = rank.zeros(w.size(), Kind::optimizer);
    const Tensor grads = tensor(rank, "grads");
    const Doubles steps = values("steps");
    for (int step = 1; step <= 3; ++step) {
      const Range row{(step - 1) * w.size(), step * w.size()};
      adam(w, grads.part(row), m, v, {.lr = 0.01F, .beta2 = 0.99F, .eps = 1e-6F, .weight_decay = 0.1F, .step = step});
      expect_close(get(w), Doubles(steps.begin() + row.begin, steps.begin() + row.end), kTolerance, "weights");
    }
    expect("m", m);
    expect("v", v);
  });
}

TEST_F(Golden, Embedding) {
  open("embedding");
  on_rank([&](Rank& rank) {
    const Tensor id_tensor = ids(rank, "ids");
    const Tensor table = tensor(rank, "table");
    const Range all{0, table.rows()};
    Tensor y = embedding(id_tensor, table, all);
    add_positions(y, tensor(rank, "positions"));
    expect("y", y);
    Tensor gtable = zeros(rank, "gtable");
    Tensor gpositions = zeros(rank, "gpositions");
    const Tensor g = tensor(rank, "g");
    embedding_backward_add(gtable, id_tensor, all, g);
    sum_positions_add(gpositions, g);
    expect("gtable", gtable);
    expect("gpositions", gpositions);
  });
}

}  // namespace
}  // namespace shardlings::ops_test
