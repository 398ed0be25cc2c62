// Trains a model with dropout on the sequences and the random numbers that the learner's functions name, in one grid
// and, where the case has one, in a second grid that goes on from the cursor; publishes what is judged.

#include "submission/harness.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "case/given_seed.h"
#include "cursor_log.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(sequences_of_step, std::vector<Count>(const DataRun& run, const Grid& grid, Count cursor));
SHARDLINGS_LEARNER_FUNCTION(next_cursor, Count(const DataRun& run, const Grid& grid, Count cursor));
SHARDLINGS_LEARNER_FUNCTION(draws_of, Draws(const DataRun& run, const Grid& grid, Count cursor, const DroppedLayer& x));
SHARDLINGS_LEARNER_FUNCTION(share_weights, void(const Grid& grid, View weights));

namespace {

/// Which of the case's tensors is which: grader.cpp draws the same ones. Matrix m of layer l is kMatrices + 2 l + m;
/// what stands in the place of weights on other replicas begins at kOthers.
enum Drawn : int { kInputs, kTargets, kMatrices, kOthers = 1000 };

/// The model: layer l is x + dropout(down^T dropout(gelu(up x))), where up and down are (f, h).
struct Sizes {
  explicit Sizes(const Harness& h)
      : s(h.kase().model.sequence),
        width(h.kase().model.hidden),
        middle(h.integer("middle")),
        layers(h.kase().model.layers),
        rate(static_cast<float>(h.kase().number("rate"))),
        lr(h.kase().model.lr) {}

  Count s, width, middle, layers;
  float rate, lr;
};

/// A grid, and what this rank has of the model in it.
struct Layout {
  Layout(const Group& world, const Sizes& sizes, Count t, Count p)
      : grid(world, {{"dp", static_cast<int>(world.size() / (t * p))},
                     {"pp", static_cast<int>(p)},
                     {"tp", static_cast<int>(t)}}),
        dp(grid.along("dp")),
        pp(grid.along("pp")),
        tp(grid.along("tp")),
        layers(pp.mine(sizes.layers)),
        rows(tp.mine(sizes.middle)) {}

  bool is_first() const { return pp.rank() == 0; }
  bool is_last() const { return pp.rank() + 1 == pp.size(); }
  Count matrix_size(const Sizes& sizes) const { return rows.size() * sizes.width; }
  /// Matrix m of this rank's layer l in a tensor of all of them.
  View matrix(View all, const Sizes& sizes, Count l, Count m) const {
    const Count begin = (2 * l + m) * matrix_size(sizes);
    return all.part({begin, begin + matrix_size(sizes)}).reshaped({rows.size(), sizes.width});
  }
  /// Its rows of the matrices of the whole model, one below another.
  Range rows_of_whole(const Sizes& sizes, Count l, Count m) const {
    const Count begin = (2 * (layers.begin + l) + m) * sizes.middle;
    return {begin + rows.begin, begin + rows.end};
  }

  Grid grid;
  Group dp, pp, tp;
  Range layers, rows;
};

/// A dropout that was applied: its numbers are looked at after the run.
struct Applied {
  std::string name;
  Draws draws;
  bool inner = false;
  Range sequences;  ///< of the step, of this rank
  Count batch = 0;  ///< of the step
  const Layout* layout = nullptr;
};

class Training {
 public:
  explicit Training(Harness& h)
      : h_(h),
        sizes_(h),
        run_{cases::given_seed(h.kase()), h.integer("sequences"), h.integer("batch"), static_cast<int>(sizes_.layers)},
        inputs_(h.normals(kInputs, {run_.sequences * sizes_.s, sizes_.width}, Kind::other)),
        targets_(h.normals(kTargets, {run_.sequences * sizes_.s, sizes_.width}, Kind::other)),
        cursor_(h.integer("cursor")),
        read_(cursor_) {}

  /// This rank's weights, right on replica 0 and something else on the others.
  Tensor weights(const Layout& layout) {
    Tensor all = empty(layout, Kind::parameter);
    const int replica = layout.dp.rank(), others = replica == 0 ? 0 : kOthers * replica;
    for (Count l = 0; l < layout.layers.size(); ++l) {
      for (Count m = 0; m < 2; ++m) {
        const int which = others + kMatrices + static_cast<int>(2 * (layout.layers.begin + l) + m);
        const View matrix = layout.matrix(all, sizes_, l, m);
        copy(matrix, h_.normals(which, {sizes_.middle, sizes_.width}, layout.rows, Kind::other));
        scale(matrix, 0.5F / std::sqrt(static_cast<float>(sizes_.width)));
      }
    }
    return all;
  }
  Tensor empty(const Layout& layout, Kind kind) {
    return h_.rank().zeros(layout.layers.size() * 2 * layout.matrix_size(sizes_), kind);
  }

  /// All weights on every rank, and back: what a checkpoint is for.
  Tensor whole(const Layout& layout, View weights) {
    Tensor all = h_.rank().zeros({2 * sizes_.layers * sizes_.middle, sizes_.width}, Kind::other);
    for (Count l = 0; l < layout.layers.size() && layout.dp.rank() == 0; ++l) {
      for (Count m = 0; m < 2; ++m) {
        copy(all.rows_part(layout.rows_of_whole(sizes_, l, m)), layout.matrix(weights, sizes_, l, m));
      }
    }
    h_.rank().world().all_reduce(all, ReduceOp::sum);
    return all;
  }
  Tensor part_of(const Layout& layout, View all) {
    Tensor weights = empty(layout, Kind::parameter);
    for (Count l = 0; l < layout.layers.size(); ++l) {
      for (Count m = 0; m < 2; ++m) {
        copy(layout.matrix(weights, sizes_, l, m), all.rows_part(layout.rows_of_whole(sizes_, l, m)));
      }
    }
    return weights;
  }

  void put(const std::string& name, const Layout& layout, View weights) {
    const Count rows = 2 * sizes_.layers * sizes_.middle;
    for (Count l = 0; l < layout.layers.size(); ++l) {
      for (Count m = 0; m < 2; ++m) {
        const Range mine = layout.rows_of_whole(sizes_, l, m);
        if (mine.size() == 0) continue;
        h_.put(name, layout.matrix(weights, sizes_, l, m), {rows, sizes_.width, {mine, {0, sizes_.width}}});
      }
    }
  }

  void step(const Layout& layout, View weights);
  void put_records();

 private:
  struct Layer {
    Tensor x, z, a;
  };

  /// Sequences of the table: positions of this rank's sequences, (s, b, h).
  Tensor rows_of(ConstView table, const std::vector<Count>& sequences) {
    const auto b = static_cast<Count>(sequences.size());
    if (b == 0) return h_.rank().zeros({sizes_.s, 0, sizes_.width}, Kind::activation);
    std::vector<float> ids;
    for (Count i = 0; i < sizes_.s; ++i) {
      for (const Count sequence : sequences) ids.push_back(static_cast<float>(sequence * sizes_.s + i));
    }
    Tensor rows = cast(h_.tensor(ids, Kind::other), DType::i32);
    return embedding(rows.part({0, sizes_.s * b}).reshaped({sizes_.s, b}), table, {0, run_.sequences * sizes_.s});
  }

  Tensor forward(const Layout& layout, View weights, Tensor x, std::vector<Layer>& saved);
  void backward(const Layout& layout, View weights, View grads, std::vector<Layer>& saved, Tensor& g);
  Draws drawn(const Layout& layout, Count l, bool inner);
  void put_mask(const Applied& applied);

  Harness& h_;
  Sizes sizes_;
  DataRun run_;
  Tensor inputs_, targets_;
  Count cursor_;  ///< the learner's
  Count read_;    ///< what it should be: for the sizes of messages alone, which ranks must agree upon
  Count steps_ = 0;
  Range mine_;              ///< of the step's sequences
  Count batch_ = 0;         ///< all of them
  std::vector<float> log_;  ///< of each step: cursor, number of sequences, and `batch` of their numbers
  std::vector<Applied> applied_;
};

Draws Training::drawn(const Layout& layout, Count l, bool inner) {
  const Count width = inner ? sizes_.middle : sizes_.width;
  const Draws draws = draws_of(run_, layout.grid, cursor_, {static_cast<int>(l), inner, sizes_.s, width});
  const std::string name = "mask of step " + std::to_string(steps_) + ", layer " +
                           std::to_string(layout.layers.begin + l) + ", " + (inner ? "inner" : "output");
  applied_.push_back({name, draws, inner, mine_, batch_, &layout});
  return draws;
}

Tensor Training::forward(const Layout& layout, View weights, Tensor x, std::vector<Layer>& saved) {
  for (Count l = 0; l < layout.layers.size(); ++l) {
    Tensor z = matmul(x, layout.matrix(weights, sizes_, l, 0), nt);
    Tensor a = gelu(z);
    dropout(a, sizes_.rate, drawn(layout, l, true));
    Tensor y = matmul(a, layout.matrix(weights, sizes_, l, 1), nn);
    const Draws draws = drawn(layout, l, false);
    Group tp = layout.tp;
    tp.all_reduce(y, ReduceOp::sum);
    dropout(y, sizes_.rate, draws);
    add(y, x);
    saved.push_back({std::move(x), std::move(z), std::move(a)});
    x = std::move(y);
  }
  return x;
}

void Training::backward(const Layout& layout, View weights, View grads, std::vector<Layer>& saved, Tensor& g) {
  for (Count l = layout.layers.size() - 1; l >= 0; --l) {
    const Layer of = std::move(saved.back());
    saved.pop_back();
    const std::size_t at = applied_.size() - 2 * static_cast<std::size_t>(layout.layers.size() - l);
    Tensor gy = clone(g);
    dropout(gy, sizes_.rate, applied_[at + 1].draws);
    matmul_add(layout.matrix(grads, sizes_, l, 1), of.a, gy, tn);
    Tensor ga = matmul(gy, layout.matrix(weights, sizes_, l, 1), nt);
    dropout(ga, sizes_.rate, applied_[at].draws);
    const Tensor gz = gelu_backward(of.z, ga);
    matmul_add(layout.matrix(grads, sizes_, l, 0), gz, of.x, tn);
    Tensor gx = matmul(gz, layout.matrix(weights, sizes_, l, 0), nn);
    Group tp = layout.tp;
    tp.all_reduce(gx, ReduceOp::sum);
    add(g, gx);
  }
}

void Training::step(const Layout& layout, View weights) {
  batch_ = std::min(run_.batch, run_.sequences - read_ % run_.sequences);
  mine_ = layout.dp.mine(batch_);
  std::vector<Count> sequences = sequences_of_step(run_, layout.grid, cursor_);
  log_cursor(log_, cursor_);
  log_.push_back(static_cast<float>(sequences.size()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(run_.batch); ++i) {
    log_.push_back(i < sequences.size() ? static_cast<float>(sequences[i]) : -1.0F);
  }
  // Too many are left out and too few stand for sequences of zeros: messages have one size on all ranks of a replica.
  sequences.resize(static_cast<std::size_t>(mine_.size()), run_.sequences);

  Group pp = layout.pp, dp = layout.dp;
  const Shape shape{sizes_.s, mine_.size(), sizes_.width};
  Tensor x = layout.is_first() ? rows_of(inputs_, sequences) : h_.rank().empty(shape, Kind::activation);
  if (!layout.is_first()) pp.recv(x, pp.rank() - 1);
  std::vector<Layer> saved;
  Tensor g = forward(layout, weights, std::move(x), saved);
  if (layout.is_last()) {  // half the mean of (y - target)^2, over the tokens of all replicas
    axpy(g, -1, rows_of(targets_, sequences));
    scale(g, 1 / static_cast<float>(batch_ * sizes_.s));
  } else {
    pp.send(g, pp.rank() + 1);
    pp.recv(g, pp.rank() + 1);
  }
  Tensor grads = empty(layout, Kind::gradient);
  backward(layout, weights, grads, saved, g);
  if (!layout.is_first()) pp.send(g, pp.rank() - 1);
  dp.all_reduce(grads, ReduceOp::sum);
  sgd(weights, grads, sizes_.lr);
  cursor_ = next_cursor(run_, layout.grid, cursor_);
  read_ += batch_;
  ++steps_;
}

/// What dropout makes of ones, where it lies in that of one device: (s, B w).
void Training::put_mask(const Applied& applied) {
  const Range columns = applied.inner ? applied.layout->rows : Range{0, sizes_.width};
  const Count b = applied.sequences.size(), w = applied.inner ? sizes_.middle : sizes_.width;
  if (b == 0 || columns.size() == 0) return;
  Tensor ones = h_.rank().empty({sizes_.s, b, columns.size()}, Kind::other);
  fill(ones, 1);
  dropout(ones, sizes_.rate, applied.draws);
  for (Count j = 0; j < b; ++j) {
    const Count begin = (applied.sequences.begin + j) * w;
    const Tensor mask = slice_cols(ones.part({0, ones.size()}).reshaped({sizes_.s, b * columns.size()}),
                                   {j * columns.size(), (j + 1) * columns.size()});
    h_.put(applied.name, mask,
           {sizes_.s, applied.batch * w, {{0, sizes_.s}, {begin + columns.begin, begin + columns.end}}});
  }
}

void Training::put_records() {
  for (const Applied& applied : applied_) put_mask(applied);
  log_cursor(log_, cursor_);
  h_.put_of_rank("steps", h_.tensor(log_, Kind::other));
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const Sizes sizes(h);
  Group& world = h.rank().world();
  const Layout layout(world, sizes, h.integer("t"), h.integer("p"));
  const Layout other(world, sizes, h.integer("t_later"), h.integer("p_later"));
  Training training(h);
  Tensor weights = training.weights(layout);
  h.begin();
  share_weights(layout.grid, weights);
  Tensor shared = clone(weights);
  for (int step = 0; step < h.kase().steps; ++step) training.step(layout, weights);
  if (h.integer("steps_later") > 0) {
    weights = training.part_of(other, training.whole(layout, weights));
    for (Count step = 0; step < h.integer("steps_later"); ++step) training.step(other, weights);
  }
  h.end();
  training.put("weights at first", layout, shared);
  training.put("weights in the end", h.integer("steps_later") > 0 ? other : layout, weights);
  training.put_records();
}
