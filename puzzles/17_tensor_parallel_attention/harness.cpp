// A GPT on t ranks. Attention, embedding and loss are the learner's; layer norms, residuals and the MLP stand here.
// In a case with the number `only_attention`, embedding and head are whole on every rank and not the learner's; in one
// with `only_vocabulary` the blocks are. So either half of the puzzle runs without the other one.

#include "submission/harness.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

/// A layer that is not this case's subject: whole on every rank, and computed by the model.
class WholeLayer {
 public:
  WholeLayer(Harness& h, const Group&, int number)
      : h_(h),
        model_(h.model()),
        number_(number),
        weights_(h.weights(number)),
        grads_(h.rank().zeros(weights_.shape(), Kind::gradient)) {
    h.mark_layer(grads_, number);
  }

  Tensor forward(Tensor x) {
    x_ = std::move(x);
    return forward_of(x_);
  }
  /// Of an x that somebody else holds, such as the ids of a batch.
  Tensor forward_of(ConstView x) { return model_.forward(number_, weights_, x, &saved_); }

  Tensor backward(Tensor grad) {
    Tensor grad_x = backward_of(x_, std::move(grad));
    x_ = {};
    return grad_x;
  }
  Tensor backward_of(ConstView x, Tensor grad) {
    return model_.backward(number_, weights_, x, std::move(saved_), std::move(grad), grads_);
  }

  /// Under the names that the divided layer has for its parts.
  void put_gradients() {
    for (const Entry& entry : model_.entries(number_)) {
      std::string name = entry.name;
      Range range = entry.range;
      if (name.starts_with("key.") || name.starts_with("value.")) continue;  // they lie behind the queries
      if (name.starts_with("query.")) {
        name.replace(0, std::string("query").size(), "qkv");
        range.end = range.begin + 3 * range.size();
      }
      if (number_ == model_.num_layers() - 1 && name == "weight") name = "head.weight";
      h_.put("layer " + std::to_string(number_) + ": gradient of " + name, grads_.part(range));
    }
  }

 private:
  Harness& h_;
  Model model_;
  int number_;
  Tensor weights_, grads_, x_;
  Saved saved_;
};

/// Embedding, head and loss, divided by the vocabulary: the learner's.
class DividedEnds {
 public:
  DividedEnds(Harness& h, Group& tp, const Batch& batch)
      : h_(h),
        tp_(tp),
        batch_(batch),
        last_(h.model().num_layers() - 1),
        tokens_(h, 0, "token", tp.mine(vocabulary())),
        positions_(h, 0, "position", {0, h.kase().model.sequence}),
        norm_(norm_of(h, last_, "norm.")),
        head_(h.linear(last_, "", {tp.mine(vocabulary()), {0, h.kase().model.hidden}})) {}

  Tensor forward() {
    Tensor x = embed(tp_, tokens_.weight, vocabulary(), batch_.inputs);
    h_.put("embedded", x);
    add_positions(x, positions_.weight);
    return x;
  }

  /// Adds the loss, and returns the gradient of x.
  Tensor loss_backward(Tensor x, View loss) {
    Tensor stats, normed = norm_forward(norm_, x, stats);
    h_.put("input of the head", normed);
    Tensor grad = vocab_loss(tp_, head_.linear(), vocabulary(), normed, batch_.targets, batch_.tokens_of_step(), loss);
    h_.put("gradient behind the head", grad);
    normed = {};
    return norm_backward(norm_, x, stats, grad);
  }

  void backward(Tensor grad) {
    sum_positions_add(positions_.grad, grad);
    embedding_backward_add(tokens_.grad, batch_.inputs, tp_.mine(vocabulary()), grad);
  }

  void put_gradients() {
    tokens_.put_gradient(h_, "layer 0: gradient of token", vocabulary());
    positions_.put_gradient(h_, "layer 0: gradient of position", h_.kase().model.sequence);
    const std::string layer = "layer " + std::to_string(last_) + ": gradient of ";
    h_.put_gradients(layer + "norm", norm_);
    h_.put_gradients(layer + "head", head_);
    put_large_loss();
  }

 private:
  Count vocabulary() const { return h_.kase().model.outputs; }

  /// The loss of logits whose exponentials no f32 can hold: it tells whether the largest of all is subtracted. Comes
  /// last, since what is computed here is neither counted nor timed.
  void put_large_loss() {
    const model::ModelSpec& model = h_.kase().model;
    Tensor x = h_.normals(0, {model.sequence, h_.kase().batch, model.hidden}, Kind::other);
    scale(x, static_cast<float>(h_.integer("enlarged")));
    Tensor loss = h_.rank().zeros(1, Kind::other);
    fill(loss, 1);  // to be added to
    boundary::beside_the_run(vocab_loss, tp_, head_.linear(), model.outputs, x, batch_.targets, batch_.targets.size(),
                             loss);
    h_.put("1 + loss of large logits", loss);
  }

  Harness& h_;
  Group& tp_;
  const Batch& batch_;
  int last_;
  Table tokens_, positions_;
  LinearShard norm_, head_;
};

/// The same, whole on every rank.
class WholeEnds {
 public:
  WholeEnds(Harness& h, Group& tp, const Batch& batch)
      : model_(h.model()), batch_(batch), embedding_(h, tp, 0), head_(h, tp, model_.num_layers() - 1) {}

  Tensor forward() { return embedding_.forward_of(batch_.inputs); }
  Tensor loss_backward(Tensor x, View loss) {
    Tensor logits = head_.forward(std::move(x));
    return head_.backward(model_.loss(std::move(logits), batch_.targets, batch_.tokens_of_step(), loss));
  }
  void backward(Tensor grad) { embedding_.backward_of(batch_.inputs, std::move(grad)); }
  void put_gradients() {
    embedding_.put_gradients();
    head_.put_gradients();
  }

 private:
  Model model_;
  const Batch& batch_;
  WholeLayer embedding_, head_;
};

/// Which rows the learner has chosen for the first block, and what was left in `kept`.
void put_choices(Harness& h, const std::vector<Block>& blocks) {
  h.put_of_rank("rows of qkv", h.tensor(blocks.front().chosen_rows(), Kind::other));
  Count left = 0;
  for (const Block& block : blocks) left += block.left();
  h.put_of_rank("elements left in kept", h.tensor({static_cast<float>(left)}, Kind::other));
}

/// A step of the model with these ends and layers between them.
template <class Ends, class Layer>
void run_step(Harness& h) {
  Group& tp = h.rank().world();
  const Batch batch = h.batch();
  Tensor loss = h.rank().zeros(1, Kind::other);
  Ends ends(h, tp, batch);
  std::vector<Layer> layers;
  for (int l = 1; l < h.model().num_layers() - 1; ++l) layers.emplace_back(h, tp, l);
  h.begin();
  Tensor x = ends.forward();
  for (Layer& layer : layers) x = layer.forward(std::move(x));
  Tensor grad = ends.loss_backward(std::move(x), loss);
  for (std::size_t i = layers.size(); i-- > 0;) grad = layers[i].backward(std::move(grad));
  ends.backward(std::move(grad));
  h.end();
  h.put("loss", loss);
  for (Layer& layer : layers) layer.put_gradients();
  if constexpr (std::is_same_v<Layer, Block>) put_choices(h, layers);
  ends.put_gradients();
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const auto is_so = [&](const char* number) { return h.kase().numbers.count(number) > 0; };
  if (is_so("only_attention")) {
    run_step<WholeEnds, Block>(h);
  } else if (is_so("only_vocabulary")) {
    run_step<DividedEnds, WholeLayer>(h);
  } else {
    run_step<DividedEnds, Block>(h);
  }
}
