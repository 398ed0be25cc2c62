// A GPT on t ranks. Attention, embedding and loss are the learner's; layer norms, residuals and the MLP stand here.

#include "submission/harness.h"

#include <string>
#include <utility>

using namespace shardlings;
using submission::Harness;
using submission::LinearShard;

SHARDLINGS_LEARNER_FUNCTION(qkv_rows, std::vector<Range>(const Group& tp, int heads, Count head_width));
SHARDLINGS_LEARNER_FUNCTION(attend_forward, Tensor(Group& tp, const Linear& qkv, const Linear& proj, int heads,
                                                   ConstView x, std::vector<Tensor>& kept));
SHARDLINGS_LEARNER_FUNCTION(attend_backward, Tensor(Group& tp, const Linear& qkv, const Linear& proj, int heads,
                                                    ConstView x, std::vector<Tensor>& kept, ConstView grad_y));
SHARDLINGS_LEARNER_FUNCTION(embed, Tensor(Group& tp, ConstView table, Count vocabulary, ConstView ids));
SHARDLINGS_LEARNER_FUNCTION(vocab_loss, Tensor(Group& tp, const Linear& head, Count vocabulary, ConstView x,
                                               ConstView targets, Count tokens, View loss));

namespace {

/// Rows of queries, keys and values as the learner wants them, in one weight.
struct FusedShard {
  FusedShard(Harness& h, int layer, std::vector<Range> wanted) : rows(std::move(wanted)), all(3 * width_of(h)) {
    const Count width = width_of(h);
    Count count = 0;
    for (const Range& range : rows) {
      Harness::check_choice("qkv_rows", "rows", range, all);
      count += range.size();
    }
    weight = h.rank().empty({count, width}, Kind::parameter);
    bias = h.rank().empty(count, Kind::parameter);
    Count at = 0;
    for (const Range& range : rows) {
      const Count matrices = begin_of(h, layer, "query.weight"), biases = begin_of(h, layer, "query.bias");
      const Range place{at, at + range.size()};
      copy(weight.rows_part(place), h.weights(layer, {matrices + range.begin * width, matrices + range.end * width}));
      copy(bias.part(place), h.weights(layer, {biases + range.begin, biases + range.end}));
      at += range.size();
    }
    grad_weight = h.rank().zeros(weight.shape(), Kind::gradient);
    grad_bias = h.rank().zeros(bias.shape(), Kind::gradient);
    for (const Tensor* tensor : {&weight, &bias, &grad_weight, &grad_bias}) h.mark_layer(*tensor, layer);
  }

  Linear linear() { return {weight, bias, grad_weight, grad_bias}; }

  void put_gradients(Harness& h, const std::string& name) {
    Count at = 0;
    for (const Range& range : rows) {
      const Range place{at, at + range.size()};
      h.put(name + ".weight", grad_weight.rows_part(place), {all, weight.cols(), {range, {0, weight.cols()}}});
      h.put(name + ".bias", grad_bias.part(place), {all, 1, {range, {0, 1}}});
      at += range.size();
    }
  }

  static Count width_of(const Harness& h) { return h.kase().model.hidden; }
  static Count begin_of(Harness& h, int layer, const std::string& name) {
    for (const Entry& entry : h.model().entries(layer)) {
      if (name == entry.name) return entry.range.begin;
    }
    return 0;
  }

  std::vector<Range> rows;
  Count all;
  Tensor weight, bias, grad_weight, grad_bias;
};

/// A weight that is divided by rows, without a bias: the table of tokens.
struct Table {
  Table(Harness& h, int layer, const std::string& name, Range rows)
      : part(rows), weight(h.weights(layer, name, rows, {0, h.kase().model.hidden})) {
    grad = h.rank().zeros(weight.shape(), Kind::gradient);
    h.mark_layer(grad, layer);
  }
  void put_gradient(Harness& h, const std::string& name, Count all) {
    h.put(name, grad, {all, weight.cols(), {part, {0, weight.cols()}}});
  }
  Range part;
  Tensor weight, grad;
};

/// Everything that has one number for each of h, the same on every rank.
LinearShard norm_of(Harness& h, int layer, const std::string& prefix) {
  return h.linear(layer, prefix, {{0, h.kase().model.hidden}, {0, 1}});
}

Tensor norm_forward(LinearShard& norm, ConstView x, Tensor& stats) {
  return layer_norm(x, norm.weight, norm.bias, &stats);
}

Tensor norm_backward(LinearShard& norm, ConstView x, ConstView stats, ConstView grad) {
  return layer_norm_backward(x, norm.weight, stats, grad, norm.grad_weight, norm.grad_bias);
}

/// x + attention(norm(x)), then the same of the MLP.
class Block {
 public:
  Block(Harness& h, Group& tp, int number)
      : h_(h),
        tp_(tp),
        number_(number),
        heads_(h.kase().model.heads),
        norm1_(norm_of(h, number, "ln1.")),
        qkv_(h, number, qkv_rows(tp, heads_, width() / heads_)),
        proj_(h.linear(number, "proj.", {{0, width()}, columns_of_heads()})),
        norm2_(norm_of(h, number, "ln2.")),
        fc_(h.linear(number, "fc.", {tp.mine(4 * width()), {0, width()}})),
        fc2_(h.linear(number, "fc2.", {{0, width()}, tp.mine(4 * width())})) {}

  Tensor forward(Tensor x) {
    x_ = std::move(x);
    normed1_ = norm_forward(norm1_, x_, stats1_);
    middle_ = attend_forward(tp_, qkv_.linear(), proj_.linear(), heads_, normed1_, kept_);
    if (number_ == 1) h_.put("attention of block 1", middle_);
    add(middle_, x_);
    normed2_ = norm_forward(norm2_, middle_, stats2_);
    z_ = matmul(normed2_, fc_.weight, nt);
    add_bias(z_, fc_.bias);
    a_ = gelu(z_);
    Tensor y = matmul(a_, fc2_.weight, nt);
    tp_.all_reduce(y, ReduceOp::sum);
    add_bias(y, fc2_.bias);
    add(y, middle_);
    return y;
  }

  /// Frees what forward has kept as it goes.
  Tensor backward(Tensor grad) {
    Tensor grad_middle = mlp_backward(grad);
    add(grad_middle, grad);
    grad = {};
    Tensor grad_normed = attend_backward(tp_, qkv_.linear(), proj_.linear(), heads_, normed1_, kept_, grad_middle);
    if (number_ == 1) h_.put("gradient behind attention", grad_normed);
    for (const Tensor& tensor : kept_) left_ += tensor.size();
    kept_.clear();
    normed1_ = {};
    Tensor grad_x = norm_backward(norm1_, x_, stats1_, grad_normed);
    x_ = {};
    stats1_ = {};
    add(grad_x, grad_middle);
    return grad_x;
  }

  void put_gradients() {
    const std::string layer = "layer " + std::to_string(number_) + ": gradient of ";
    h_.put_gradients(layer + "ln1", norm1_);
    qkv_.put_gradients(h_, layer + "qkv");
    h_.put_gradients(layer + "proj", proj_);
    h_.put_gradients(layer + "ln2", norm2_);
    h_.put_gradients(layer + "fc", fc_);
    h_.put_gradients(layer + "fc2", fc2_);
  }

  /// Elements that attend_backward has left in `kept`.
  Count left() const { return left_; }

  /// How many ranges of qkv this rank has, and the first three of them.
  std::vector<float> chosen_rows() const {
    std::vector<float> numbers(7);
    numbers[0] = static_cast<float>(qkv_.rows.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(3, qkv_.rows.size()); ++i) {
      numbers[1 + 2 * i] = static_cast<float>(qkv_.rows[i].begin);
      numbers[2 + 2 * i] = static_cast<float>(qkv_.rows[i].end);
    }
    return numbers;
  }

 private:
  Count width() const { return h_.kase().model.hidden; }
  Range columns_of_heads() const {
    const Range mine = tp_.mine(heads_);
    return {mine.begin * (width() / heads_), mine.end * (width() / heads_)};
  }

  Tensor mlp_backward(ConstView grad) {
    sum_rows_add(fc2_.grad_bias, grad);
    matmul_add(fc2_.grad_weight, grad, a_, tn);
    a_ = {};
    Tensor grad_z = gelu_backward(z_, matmul(grad, fc2_.weight, nn));
    z_ = {};
    sum_rows_add(fc_.grad_bias, grad_z);
    matmul_add(fc_.grad_weight, grad_z, normed2_, tn);
    normed2_ = {};
    Tensor grad_normed = matmul(grad_z, fc_.weight, nn);
    grad_z = {};
    tp_.all_reduce(grad_normed, ReduceOp::sum);
    Tensor grad_middle = norm_backward(norm2_, middle_, stats2_, grad_normed);
    middle_ = {};
    stats2_ = {};
    return grad_middle;
  }

  Harness& h_;
  Group& tp_;
  int number_, heads_;
  Count left_ = 0;
  LinearShard norm1_;
  FusedShard qkv_;
  LinearShard proj_, norm2_, fc_, fc2_;
  Tensor x_, normed1_, stats1_, middle_, normed2_, stats2_, z_, a_;
  std::vector<Tensor> kept_;
};

/// The loss of logits whose exponentials no f32 can hold: it tells whether the largest of all is subtracted.
void put_large_loss(Harness& h, Group& tp, LinearShard& head, ConstView targets) {
  const model::ModelSpec& model = h.kase().model;
  Tensor x = h.normals(0, {model.sequence, h.kase().batch, model.hidden}, Kind::other);
  scale(x, static_cast<float>(h.integer("enlarged")));
  Tensor loss = h.rank().zeros(1, Kind::other);
  fill(loss, 1);  // to be added to
  vocab_loss(tp, head.linear(), model.outputs, x, targets, targets.size(), loss);
  h.put("1 + loss of large logits", loss);
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  Group& tp = h.rank().world();
  const int last = h.model().num_layers() - 1;
  const Count width = h.kase().model.hidden, vocabulary = h.kase().model.outputs;
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  Table tokens(h, 0, "token", tp.mine(vocabulary)), positions(h, 0, "position", {0, h.kase().model.sequence});
  std::vector<Block> blocks;
  for (int l = 1; l < last; ++l) blocks.emplace_back(h, tp, l);
  LinearShard norm = norm_of(h, last, "norm."), head = h.linear(last, "", {tp.mine(vocabulary), {0, width}});
  h.begin();
  Tensor x = embed(tp, tokens.weight, vocabulary, batch.inputs);
  h.put("embedded", x);
  add_positions(x, positions.weight);
  for (Block& block : blocks) x = block.forward(std::move(x));
  Tensor stats, normed = norm_forward(norm, x, stats);
  h.put("input of the head", normed);
  Tensor grad = vocab_loss(tp, head.linear(), vocabulary, normed, batch.targets, batch.tokens_of_step(), loss);
  h.put("gradient behind the head", grad);
  normed = {};
  grad = norm_backward(norm, x, stats, grad);
  x = {};
  stats = {};
  for (std::size_t i = blocks.size(); i-- > 0;) grad = blocks[i].backward(std::move(grad));
  sum_positions_add(positions.grad, grad);
  embedding_backward_add(tokens.grad, batch.inputs, tp.mine(vocabulary), grad);
  h.end();
  h.put("loss", loss);
  tokens.put_gradient(h, "layer 0: gradient of token", vocabulary);
  positions.put_gradient(h, "layer 0: gradient of position", h.kase().model.sequence);
  for (Block& block : blocks) block.put_gradients();
  const std::string layer = "layer " + std::to_string(last) + ": gradient of ";
  h.put_gradients(layer + "norm", norm);
  h.put_gradients(layer + "head", head);
  h.put_of_rank("rows of qkv", h.tensor(blocks.front().chosen_rows(), Kind::other));
  Count left = 0;
  for (const Block& block : blocks) left += block.left();
  h.put_of_rank("elements left in kept", h.tensor({static_cast<float>(left)}, Kind::other));
  put_large_loss(h, tp, head, batch.targets);
}
