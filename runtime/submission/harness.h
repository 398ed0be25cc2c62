/// \file
/// What a puzzle's harness.cpp uses: it sets a rank up from the case, calls the learner's function, and publishes what
/// is judged. It is prebuilt and linked with puzzle.cpp; the learner cannot edit it.
///
/// \code
/// #include "submission/harness.h"
/// using namespace shardlings;
/// SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, const Model& model, TrainState& state, const Batch& batch,
///                                              View loss));
///
/// SHARDLINGS_HARNESS(h) {
///   Model model = h.model();
///   TrainState state = h.state();
///   Batch batch = h.batch();
///   Tensor loss = h.rank().zeros(1, Kind::other);
///   h.begin();                                   // counted and timed from here
///   train_step(h.rank(), model, state, batch, loss);
///   h.end();                                     // until here
///   h.put_layers("weights", state.weights);      // "weights.0", "weights.1", …
///   h.put("loss", loss);
/// }
/// \endcode
/// Where the puzzle is a question, nothing is measured: the function is asked, and what it says is published.
/// \code
/// SHARDLINGS_LEARNER_FUNCTION(speed_up, double(const std::vector<double>& seconds));
///
/// SHARDLINGS_HARNESS(h) { h.answer("speed-up", speed_up(h.kase().list("seconds"))); }
/// \endcode
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/matrix_part.h"
#include "boundary/learner_function.h"
#include "case/case.h"
#include "model/shared_structures.h"
#include "shardlings/puzzle.h"

namespace shardlings::submission {

/// What of a training state is divided over a group, instead of standing whole on each of its ranks.
struct Divided {
  bool weights = false;
  bool grads = false;
  bool optimizer = false;
};

enum class Memory : std::uint8_t { device, host };

/// Which training state a rank is given. As it stands: of all layers, whole, in f32, on the device.
struct StateChoice {
  /// Stretches of layers; the tensors of all others are empty, and never were there. None: all layers.
  std::vector<Range> layers{};
  /// Over this group, or over the world if there is none, a layer is divided where `divided` says so: a rank has the
  /// part group.mine(model.size(l)) only, and has never had more.
  Group group{};
  Divided divided{};
  bool grads = true;  ///< false: they are left empty
  /// bf16: of weights (rounded) and gradients. The optimizer keeps f32: its moments, and weights of its own in
  /// TrainState::master. Neither divided nor on the host.
  DType dtype = DType::f32;
  /// On the host nothing is known yet of the gradients.
  Memory memory = Memory::device;
};

/// What of a batch a rank is given.
struct BatchChoice {
  bool inputs = true;   ///< false: its inputs are empty views, and take no memory
  bool targets = true;  ///< likewise
  int which = -1;       ///< number of the batch; -1: kase().batch_of(rank), as consecutive ranks share them
};

/// A linear layer of which a rank holds a rectangle of the weight and the bias of its rows.
struct LinearShard {
  Tensor weight, bias, grad_weight, grad_bias;
  MatrixPart place;  ///< of `weight` in the whole one
  /// For the learner's function.
  Linear linear() { return {weight, bias, grad_weight, grad_bias}; }
};

/// The groups of a rank in a grid of t x p x d: tensor parallelism is the innermost axis, replicas are the outermost.
struct GridGroups {
  Group tp, dp;
  Group down, up;  ///< both are the pipeline: one for each direction of its messages
  Group ends;      ///< first and last rank of the pipeline, one rank if p = 1; empty on those in between
};

class SHARDLINGS_API Harness {
 public:
  /// `structures`: of kase.model, shared with other ranks; without it the rank has its own.
  Harness(Rank& rank, const cases::Case& kase, std::shared_ptr<model::SharedStructures> structures = nullptr);
  ~Harness();
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  Rank& rank() { return rank_; }
  /// Extras of the case: `h.integer("every")`.
  Count integer(const std::string& key) const { return kase_.integer(key); }
  const cases::Case& kase() const { return kase_; }
  Model model() const;
  /// Divides each layer of the model over `tp`: from now on model() is this rank's part, and so are weights, states and
  /// what put_layers, put_parts and put_moments publish. Throws std::runtime_error if the model cannot be divided.
  void divide_layers(const Group& tp);

  /// Collective over the world, whose size is t p d.
  GridGroups grid_groups(int t, int p, int d);

  /// Weights from the seed (the same on every rank), gradients allocated and zero, optimizer as the model's.
  /// Throws std::logic_error for a choice that nobody has needed yet.
  TrainState state(const StateChoice& choice = {});
  /// Which layers stage `stage` of a pipeline of `stages` has: as Group::part deals them; with a software
  /// stack (model/execution.h) it deals blocks, and embedding and head come on top.
  Range layers_of_stage(int stage, int stages) const;
  /// The layers of each chunk of rank `rank` in a pipeline of `ranks` with so many chunks each: chunk c is stage
  /// c ranks + rank.
  std::vector<Range> layers_of_chunks(int rank, int ranks, int chunks) const;
  /// The stage of these layers, with weights and gradients of `state`, which must outlive it.
  Stage stage(Range layers, TrainState& state) const;
  std::vector<Stage> stages(const std::vector<Range>& chunks, TrainState& state) const;
  /// This rank's micro-batches (those of batch kase().batch_of(rank), or of choice.which); lives as long as the
  /// harness. Labelled with their numbers.
  Batch batch(const BatchChoice& choice = {});
  /// Targets that count in micro-batch `micro` of a rank's batch, whichever rank asks.
  Count tokens_of(int rank, int micro) const;
  /// Weights from the seed: of a whole layer, of a stretch of it, or a rectangle (outputs x inputs) of the matrix of
  /// that name inside it. Only what is asked for is ever in device memory, so that a shard costs a shard.
  /// Throws std::runtime_error if there is no such layer, matrix, or part of it.
  Tensor weights(int layer);
  Tensor weights(int layer, Range range);
  Tensor weights(int layer, const std::string& entry, Range rows, Range cols);
  /// That rectangle of the matrix prefix + "weight" and the same rows of prefix + "bias" (nothing if there is none),
  /// with gradients that are zero.
  LinearShard linear(int layer, const std::string& prefix, Rectangle part);
  /// For ranges that a learner's function has chosen: throws InvalidArgument, which names the function, unless the
  /// range lies inside [0, extent).
  static void check_choice(const std::string& function, const std::string& what, Range chosen, Count extent);
  /// Zeros in all of them that are still there: gradients between two steps.
  void clear(std::vector<Tensor>& tensors);
  /// Says which layer a tensor belongs to, for the numbers in timelines; those above know it already.
  void mark_layer(ConstView tensor, int layer);
  /// Makes this rank's gradients NaN, by one target that names no class, or makes that target right again.
  void spoil(bool spoiled);
  /// Host values as a tensor of the device.
  Tensor tensor(const std::vector<float>& values, Kind kind);
  /// Standard normal numbers, the same on every rank; `which` tells several tensors apart. As normals_of(kase, …).
  Tensor normals(int which, Shape shape, Kind kind);
  /// Rows [rows.begin, rows.end) of the first dimension of such a tensor, and never more.
  Tensor normals(int which, Shape whole, Range rows, Kind kind);
  /// Host values as an i32 tensor of the device: rows of a table, or tokens.
  Tensor ids(const std::vector<std::int32_t>& values, Kind kind);
  /// An item of the store that is there from the beginning, at no cost. Before begin(), on one rank.
  void give_item(const std::string& folder, Item item, const std::vector<float>& values);
  /// What rank.read() will give the learner's code in a simulation: of a tensor of as many numbers the one at the same
  /// place, of others one number after another. Elsewhere it gives what was computed, and this does nothing. A harness
  /// can know such numbers only if the case determines them.
  void script_reads(const std::vector<float>& values);
  /// False in a simulation: nothing is computed there.
  bool computes() const;
  /// `n` small integers, different on each rank: sums of them are exact in any order. As integers_of(kase, rank, n).
  Tensor integers(Count n, Kind kind);

  /// Counters, clock, trace and peak start anew here; memory that is alive stays counted. All ranks meet first.
  void begin();
  /// Takes the counters and the clock as they are: what comes after is not counted.
  void end();
  /// Where the learner's code made its last call on this rank: the place of what it has done wrong by returning.
  Location last_place() const;

  /// Publishes a view as the whole of `name` (replicas on the ranks must be equal), or as a rectangle of that matrix.
  /// The grader wants every element exactly once, or replicas that are equal. An empty view or tensor (what the learner
  /// freed or never made) is published as missing: where other ranks have parts of `name`, that is not right, whatever
  /// they hold. Of layers whose weights this rank was never given it should have nothing.
  void put(const std::string& name, ConstView view);
  void put(const std::string& name, ConstView view, const MatrixPart& place);
  void put_layers(const std::string& name, const std::vector<Tensor>& tensors);
  /// Publishes what is divided over a group: of name.l the part group.mine(model.size(l)). Tensor l is that part, or
  /// the whole layer, of which only that part counts. Of another size it is published as the whole, and will not fit.
  void put_parts(const std::string& name, const std::vector<Tensor>& tensors, const Group& group);
  /// The same for both moments of Adam: "m.0", "v.0", "m.1", …, each with the prefix before it.
  void put_moments(const std::vector<OptimizerState>& optimizer, const Group& group, const std::string& prefix = "");
  /// Publishes what optimizers keep of whole layers: "m.0", "v.0", "m.1", … where there are moments (plain SGD has
  /// none), and "updates", how often each layer was updated.
  void put_optimizer(const std::vector<OptimizerState>& optimizer);
  /// Publishes the gradients of a part: rectangles of name.weight and name.bias.
  void put_gradients(const std::string& name, const LinearShard& shard);
  /// Publishes what each rank has of its own: row r of the whole is that of rank r.
  void put_of_rank(const std::string& name, ConstView view);

  /// What the learner's function has answered, where the puzzle is a question (`question = true` in puzzle.toml): a
  /// number, or a list of them, under a name that the grader asks for. Exact to 48 bits; beyond 3e38 it is infinite.
  void answer(const std::string& name, double value) { answer(name, std::vector<double>{value}); }
  void answer(const std::string& name, const std::vector<double>& values);
  /// Refuses an answer that makes no sense as such, a list of another length for example: throws InvalidArgument,
  /// "FUNCTION WHY".
  [[noreturn]] static void refuse_answer(const std::string& function, const std::string& why);

 private:
  void add_layer(TrainState& state, const StateChoice& choice, int layer);
  std::vector<float> own_weights(int layer) const;
  std::vector<std::pair<int, ConstView>> by_layer(const std::vector<Tensor>& tensors) const;
  void put_part(const std::string& name, int layer, ConstView tensor, const Group& group);
  void put_stretch(const std::string& name, int layer, ConstView tensor, Range stretch);

  struct Data;
  Rank& rank_;
  const cases::Case& kase_;
  std::unique_ptr<Data> data_;
};

}  // namespace shardlings::submission

/// Defines the entry of a puzzle's harness; `h` names the Harness& parameter. Beside the learner's code (see
/// boundary/learner_function.h) there is none.
#ifdef SHARDLINGS_BESIDE_LEARNER
#define SHARDLINGS_HARNESS(h) \
  template <class Nobody>     \
  void shardlings_harness_of([[maybe_unused]] ::shardlings::submission::Harness& h, Nobody)
#else
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a parameter
#define SHARDLINGS_HARNESS(h) \
  [[gnu::visibility("default")]] void shardlings_harness(::shardlings::submission::Harness& h)
#endif

[[gnu::visibility("default")]] void shardlings_harness(shardlings::submission::Harness& harness);
