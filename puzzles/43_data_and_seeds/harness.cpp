// Trains on the sequences and random numbers that the learner's functions name, or on documents that they pack; in one
// grid and, where the case has one, in a second grid that goes on from the cursor. Publishes what is judged.

#include "submission/harness.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "case/given_seed.h"
#include "cursor_log.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(sequences_of_step, std::vector<Count>(const DataRun& run, const Grid& grid, Count cursor));
SHARDLINGS_LEARNER_FUNCTION(next_cursor, Count(const DataRun& run, const Grid& grid, Count cursor));
SHARDLINGS_LEARNER_FUNCTION(draws_of, Draws(const DataRun& run, const Grid& grid, Count cursor, const DroppedLayer& x));
SHARDLINGS_LEARNER_FUNCTION(share_weights, void(const Grid& grid, View weights));
/// What packed_tokens says, three numbers for each token.
SHARDLINGS_LEARNER_FUNCTION(packed_numbers,
                            std::vector<Count>(const DataRun& run, const Grid& grid, const std::vector<Count>& lengths,
                                               Count sequence, Count cursor));
/// loss_tokens, and next_packed_cursor.
SHARDLINGS_LEARNER_FUNCTION(packed_counts, std::vector<Count>(const DataRun& run, const std::vector<Count>& lengths,
                                                              Count sequence, Count cursor));

#ifdef SHARDLINGS_BESIDE_LEARNER

// As in puzzle.cpp.
struct Packing {
  std::vector<Count> lengths;
  Count sequence = 0;
};
struct PackedToken {
  Count token = 0, target = -1, sees = 0;
};

std::vector<PackedToken> packed_tokens(const DataRun& run, const Grid& grid, const Packing& packing, Count cursor);
Count loss_tokens(const DataRun& run, const Packing& packing, Count cursor);
Count next_packed_cursor(const DataRun& run, const Packing& packing, Count cursor);

std::vector<Count> packed_numbers(const DataRun& run, const Grid& grid, const std::vector<Count>& lengths,
                                  Count sequence, Count cursor) {
  std::vector<Count> numbers;
  for (const PackedToken& own : packed_tokens(run, grid, {lengths, sequence}, cursor)) {
    numbers.insert(numbers.end(), {own.token, own.target, own.sees});
  }
  return numbers;
}

std::vector<Count> packed_counts(const DataRun& run, const std::vector<Count>& lengths, Count sequence, Count cursor) {
  const Packing packing{lengths, sequence};
  return {loss_tokens(run, packing, cursor), next_packed_cursor(run, packing, cursor)};
}

#endif

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
        lr(h.kase().model.lr) {
    const bool packed = h.kase().numbers.contains("documents");
    for (Count i = 0; i < (packed ? h.integer("documents") : 0); ++i) {
      lengths.push_back(h.integer("document_" + std::to_string(i)));
    }
  }

  Count tokens() const { return std::accumulate(lengths.begin(), lengths.end(), Count(0)); }

  Count s, width, middle, layers;
  float rate, lr;
  std::vector<Count> lengths;  ///< of documents that are packed
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
        tokens_(sizes_.lengths.empty() ? run_.sequences * sizes_.s : sizes_.tokens()),
        inputs_(h.normals(kInputs, {tokens_, sizes_.width}, Kind::other)),
        targets_(h.normals(kTargets, {tokens_, sizes_.width}, Kind::other)),
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
  void step_packed(const Layout& layout, View weights, Count s);
  void put_records();

 private:
  struct Layer {
    Tensor x, z, a;
  };

  /// Which rows of the tables a rank reads: position by position, (s, b).
  struct Rows {
    Count s = 0, b = 0;
    std::vector<float> inputs, targets{};  ///< a row that is not there is one of zeros, and a target of -1 is none
  };
  Tensor rows_of(ConstView table, const Rows& rows, const std::vector<float>& numbers) {
    if (rows.s * rows.b == 0) return h_.rank().zeros({rows.s, rows.b, sizes_.width}, Kind::activation);
    const Tensor ids = cast(h_.tensor(numbers, Kind::other), DType::i32);
    return embedding(ids.part({0, rows.s * rows.b}).reshaped({rows.s, rows.b}), table, {0, tokens_});
  }
  /// Trains on them. The loss is half the mean of (y - target)^2 over `tokens` tokens, those of all replicas.
  void train(const Layout& layout, View weights, const Rows& rows, Count tokens);

  Tensor forward(const Layout& layout, View weights, Tensor x, std::vector<Layer>& saved);
  void backward(const Layout& layout, View weights, View grads, std::vector<Layer>& saved, Tensor& g);
  Draws drawn(const Layout& layout, Count l, bool inner);
  void put_mask(const Applied& applied);

  Harness& h_;
  Sizes sizes_;
  DataRun run_;
  Count tokens_;  ///< of the data set
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
    if (sizes_.lengths.empty()) dropout(a, sizes_.rate, drawn(layout, l, true));
    Tensor y = matmul(a, layout.matrix(weights, sizes_, l, 1), nn);
    const Draws draws = sizes_.lengths.empty() ? drawn(layout, l, false) : Draws{};
    Group tp = layout.tp;
    tp.all_reduce(y, ReduceOp::sum);
    if (sizes_.lengths.empty()) dropout(y, sizes_.rate, draws);
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
    const bool drops = sizes_.lengths.empty();
    const std::size_t at = drops ? applied_.size() - 2 * static_cast<std::size_t>(layout.layers.size() - l) : 0;
    Tensor gy = clone(g);
    if (drops) dropout(gy, sizes_.rate, applied_[at + 1].draws);
    matmul_add(layout.matrix(grads, sizes_, l, 1), of.a, gy, tn);
    Tensor ga = matmul(gy, layout.matrix(weights, sizes_, l, 1), nt);
    if (drops) dropout(ga, sizes_.rate, applied_[at].draws);
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

  Rows rows{sizes_.s, mine_.size(), {}};
  for (Count i = 0; i < sizes_.s; ++i) {
    for (const Count sequence : sequences) rows.inputs.push_back(static_cast<float>(sequence * sizes_.s + i));
  }
  rows.targets = rows.inputs;
  train(layout, weights, rows, batch_ * sizes_.s);
  cursor_ = next_cursor(run_, layout.grid, cursor_);
  read_ += batch_;
  ++steps_;
}

void Training::step_packed(const Layout& layout, View weights, Count s) {
  const Count left = std::min(run_.batch * s, tokens_ - read_ % tokens_);
  mine_ = layout.dp.mine((left + s - 1) / s);
  const Range mine{std::min(mine_.begin * s, left), std::min(mine_.end * s, left)};
  std::vector<Count> numbers = packed_numbers(run_, layout.grid, sizes_.lengths, s, cursor_);
  std::vector<Count> counts = packed_counts(run_, sizes_.lengths, s, cursor_);
  counts.resize(2);  // from a jail it may come in any length
  log_cursor(log_, cursor_);
  log_.push_back(static_cast<float>(numbers.size() / 3));
  log_.push_back(static_cast<float>(counts[0]));
  const std::size_t most = 3 * static_cast<std::size_t>(run_.batch * std::max(sizes_.s, h_.integer("sequence_later")));
  for (std::size_t i = 0; i < most; ++i) log_.push_back(i < numbers.size() ? static_cast<float>(numbers[i]) : -1.0F);
  numbers.resize(3 * static_cast<std::size_t>(mine.size()), -1);
  Rows rows{mine.size(), 1, {}};
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    rows.inputs.push_back(static_cast<float>(numbers[i]));
    rows.targets.push_back(static_cast<float>(numbers[i + 1]));
  }
  train(layout, weights, rows, std::max(counts[0], Count(1)));
  cursor_ = counts[1];
  read_ += left;
  ++steps_;
}

void Training::train(const Layout& layout, View weights, const Rows& rows, Count tokens) {
  Group pp = layout.pp, dp = layout.dp;
  const Shape shape{rows.s, rows.b, sizes_.width};
  Tensor x = layout.is_first() ? rows_of(inputs_, rows, rows.inputs) : h_.rank().empty(shape, Kind::activation);
  if (!layout.is_first()) pp.recv(x, pp.rank() - 1);
  std::vector<Layer> saved;
  Tensor g = forward(layout, weights, std::move(x), saved);
  if (layout.is_last()) {
    axpy(g, -1, rows_of(targets_, rows, rows.targets));
    if (!sizes_.lengths.empty() && !rows.targets.empty()) {
      std::vector<float> counts;
      for (const float target : rows.targets) counts.push_back(target < 0 ? 0.0F : 1.0F);
      scale_rows(g, h_.tensor(counts, Kind::other));
    }
    scale(g, 1 / static_cast<float>(tokens));
  } else {
    pp.send(g, pp.rank() + 1);
    pp.recv(g, pp.rank() + 1);
  }
  Tensor grads = empty(layout, Kind::gradient);
  backward(layout, weights, grads, saved, g);
  if (!layout.is_first()) pp.send(g, pp.rank() - 1);
  dp.all_reduce(grads, ReduceOp::sum);
  sgd(weights, grads, sizes_.lr);
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
  const bool packed = !sizes.lengths.empty();
  const auto step = [&](const Layout& in, Count s) {
    packed ? training.step_packed(in, weights, s) : training.step(in, weights);
  };
  for (int number = 0; number < h.kase().steps; ++number) step(layout, sizes.s);
  if (h.integer("steps_later") > 0) {
    weights = training.part_of(other, training.whole(layout, weights));
    const Count s = packed ? h.integer("sequence_later") : sizes.s;
    for (Count number = 0; number < h.integer("steps_later"); ++number) step(other, s);
  }
  h.end();
  training.put("weights at first", layout, shared);
  training.put("weights in the end", h.integer("steps_later") > 0 ? other : layout, weights);
  training.put_records();
}
