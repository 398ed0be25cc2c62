/// \file
/// A puzzle's folder: puzzle.toml and what lies beside it.
///
/// puzzle.toml declares everything; nothing about a puzzle is registered elsewhere. Unknown keys are errors.
/// \code{.toml}
/// title = "Data parallel"
/// chapter = "3 Data parallel and sharding"
/// summary = "Replicas that train as one"           # one line
/// answer_lines = 8                                 # size of the solution's hole
/// model_use = "sizes"                              # what its programs use of a case's model: "all" (default);
///                                                  # "layers", without the model's update; or "sizes" alone:
///                                                  # `predict` tells no more of it
/// question = true                                  # its function answers a question about plain data: no ranks, no
///                                                  # tensors, no time, and nothing to draw (default false)
/// host_reads = true                                # its code may read numbers of tensors (default false)
/// barriers = true                                  # its code may call barriers: what it orders is no data of tensors
///                                                  # (default false)
/// store = true                                     # its code may use rank.store() (default false)
/// survivors = true                                 # its code may call rank.survivors(), since some of its cases have
///                                                  # deaths (default false)
/// products = ["matmul", "gelu"]                    # what it multiplies itself: words of kProductWords (default:
///                                                  # none). grader.cpp bounds those that are no products of matrices
/// axes = { tp = "t", pp = "p", dp = "ranks" }      # for simulate: the number of a case with the size of each axis, or
///                                                  # "ranks" for what is left; v: chunks of a pipeline's rank
/// interleaved = true                               # with v > 1 it wants micro-batches in multiples of pp (default
///                                                  # false)
///
/// train = { step = "clipping", divided = ["optimizer"] }
///                                                  # for train --puzzle: its train_step can train by itself. Whom it
///                                                  # is written for (see TrainStep), what of a layer is divided over
///                                                  # the replicas (weights, grads, optimizer; default: nothing);
///                                                  # micro_batches = true: it takes several (default false)
///
/// [[checks]]                                       # in the order of the report
/// id = "output"                                    # SHARDLINGS_CHECK(output) of grader.cpp; letters, digits, _
/// kind = "output"                                  # output, memory, communication, time or rules
/// title = "Weights and loss are those of one device"
/// points = 40
/// after = []                                       # ids of earlier checks without which this one says nothing
/// bonus = true                                     # passing does not need it, its points come on top (default false)
/// asked = "behind"                                 # before: by a function that the harness asks before the measured
///                                                  # run, which is made only if it is right; behind: after that run
///                                                  # (default run); see CheckSpec::asked
///
/// [[hints]]                                        # the ladder, in order; every level may occur more than once
/// level = "concept"                                # concept, where, invariant or near-code
/// text = """Each rank sees a part of the batch only."""
///
/// [[diagnoses]]                                    # mistakes that grader.cpp names by check.diagnose("id"), or own
/// id = "not_averaged"                              # words for one of the built-in ids (see diagnosis.h)
/// text = "The gradients were summed, not averaged."  # may be missing for a built-in id: then the built-in one stands
/// hint = "Which number is the loss divided by?"    # optional: comes before the ladder's after a run so diagnosed
/// level = "where"                                  # of that hint (default where)
///
/// [[cases]]
/// name = "4 ranks"                                 # letters, digits, spaces and .,_=-
/// hidden = false                                   # graded, but not announced in the statement (default false)
/// ranks = 4                                        # default 1
/// batch = 2                                        # sequences of a micro-batch (default 2)
/// micro_batches = 1                                # of each rank (default 1)
/// batches = 1                                      # different ones, shared by consecutive ranks (default: `ranks`)
/// uneven_tokens = false                            # micro-batches have different numbers of targets that count
/// empty_batch = false                              # the first batch's targets are all padding
/// steps = 1                                        # default 1
/// seed = 1                                         # default 1
/// cluster = "classroom"                            # runtime/front/clock/clusters/<name>.toml (default classroom)
/// capacity_mib = 64.0                              # of each device (default: the cluster's)
/// model = { family = "mlp", layers = 4, hidden = 16, outputs = 10, sequence = 8, optimizer = "sgd", lr = 0.1 }
///                                                  # gpt: also heads = 2; adam: also eps = 1e-3
///                                                  # gpt: tied = true: the head's weight is the embedding's table
///                                                  # clip = 1.0: the largest norm of the gradient (default: any)
///                                                  # mlp: widths = [8, 32, 16], of the outputs of all layers but the
///                                                  # last (default: all as `hidden`)
/// numbers = { every = 2 }                          # whatever else harness and grader want: kase.number("every")
/// lists = { gpus = [8, 16, 32] }                   # columns of a table: kase.list("gpus")
///                                                  # any number of the cluster's, under the key of its file:
/// ranks_per_node = 8
/// table = { forward_ns = 1_000_000, backward_ns = 2_000_000 }
/// host = { memory_mib = 64.0, bytes_per_second = 7e9 }   # each rank's part of the host
/// link = { latency_ns = 0, bytes_per_second = 1e9 }      # both intra_node and inter_node
/// inter_node = { bytes_per_second = 1e8 }                # after `link`: that between nodes alone
/// host_link = { latency_ns = 0, bytes_per_second = 1e9 } # both to_host and to_device
/// store = { latency_ns = 100_000, bytes_per_second = 1e9 } # each rank's way to the store
///                                                  # ranks that die, and how (front/clock/death.h), at most once each:
/// deaths = [{ rank = 2, at_ms = 41.5 }, { rank = 1, in_write = 3 }, { rank = 0, at_call = 120 }]
/// detection_ms = 5                                 # from a death until others can know of it (default 0)
///
/// [[milestones]]                                   # steps of a size for one sitting (docs/authors/puzzles.md)
/// letter = "a"                                     # ./shardlings run 09a
/// title = "Replicas"
/// cases = ["4 ranks"]                              # it is judged on these; the last one has none: it is all of them
/// titles = { memory = "1/t of the weights" }       # of checks that ask for less here: what for (default: as declared)
/// unasked = ["time"]                               # checks that ask for nothing here; a later milestone has them
/// \endcode
/// A case without `model` has none (model.layers is 0): its harness works on plain tensors, without a reference.
/// Cases of a question have one rank.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"
#include "case/case.h"
#include "case/check_spec.h"

namespace shardlings::cases {

/// Operations whose results are no linear function of one tensor: they multiply what two tensors hold, or what they
/// make of one tensor is a way to do so, as (a + b)² - (a - b)² is 4 ab. Powers of two and comparisons are enough for
/// that: a number is a sum of powers of two, and dequantize() multiplies codes by those. Each is meant with its
/// backward and its adding forms. The first ones multiply matrices. A layer can be put together from the others, too,
/// element by element.
enum class Product : std::uint8_t {
  matmul,
  attention,
  partial_attention,
  scale_by,
  scale_rows,
  divide_rows,
  exp_minus_row,
  gelu,
  relu,
  softmax,
  layer_norm,
  merge_attention,
  cross_entropy,
  loss_add,
  adam,
  sgd,
  add_squares,
  clip_factor,
  row_max,
  top_k,
  block_scales,
  quantize,
  dequantize,
  flag_nonfinite,
  cast_to_i32  ///< a cast that makes integers of numbers: as ids they choose rows of a table, of any function
};
inline constexpr Words<Product, 25> kProductWords{
    {"matmul",   "attention",  "partial_attention", "scale_by",    "scale_rows",      "divide_rows",   "exp_minus_row",
     "gelu",     "relu",       "softmax",           "layer_norm",  "merge_attention", "cross_entropy", "loss_add",
     "adam",     "sgd",        "add_squares",       "clip_factor", "row_max",         "top_k",         "block_scales",
     "quantize", "dequantize", "flag_nonfinite",    "cast_to_i32"}};
inline bool is_of_matrices(Product product) {
  return product <= Product::partial_attention;
}

/// What the programs of a puzzle use of the model that a case declares.
enum class ModelUse : std::uint8_t {
  all,     ///< its layers and its update
  layers,  ///< its layers. Nothing is updated, or by a rule of the puzzle's own
  sizes    ///< widths and lengths: the mathematics are the harness's own
};
inline constexpr Words<ModelUse, 3> kModelUseWords{{"all", "layers", "sizes"}};

/// How much a hint gives away.
enum class HintLevel : std::uint8_t {
  concept_,  ///< "concept", which is a word of C++
  where,
  invariant,
  near_code
};
inline constexpr Words<HintLevel, 4> kHintLevelWords{{"concept", "where", "invariant", "near-code"}};
inline const char* name_of(HintLevel level) {
  return kHintLevelWords.of(level);
}

/// What helps on: a step of the ladder, or what is said about one mistake.
struct Hint {
  HintLevel level = HintLevel::where;
  std::string text;
};

/// A known mistake: its id and the sentence that the learner is shown.
struct Diagnosis {
  std::string id;
  std::string text;               ///< empty: the built-in one
  std::optional<Hint> hint = {};  ///< comes before the ladder's after a run so diagnosed
};

/// An axis of parallelism along which a puzzle's ranks are divided.
struct Axis {
  std::string name;    ///< tp, pp, dp, or v for the chunks of each rank of a pipeline
  std::string number;  ///< which number of a case has its size; empty: none has, it is what is left of the ranks
};

/// How a puzzle's train_step is called.
enum class TrainStep : std::uint8_t {
  grid,      ///< with a GridShare and a limit, as that of puzzle 33
  device,    ///< with a TrainState, by the only rank
  replicas,  ///< with a TrainState, by each replica
  clipping   ///< likewise, and with a limit of the gradient's norm
};
inline constexpr Words<TrainStep, 4> kTrainStepWords{{"grid", "device", "replicas", "clipping"}};

/// What trains with a puzzle's train_step has to know of it. As it stands: what puzzle 33 asks for.
struct TrainForm {
  TrainStep step = TrainStep::grid;
  bool weights = false, grads = false, optimizer = true;  ///< whether they are divided over the replicas
  bool micro_batches = true;                              ///< whether it takes several
};

/// A step on the way through a large puzzle: the checks of the puzzle, on some of its cases.
struct Milestone {
  std::string letter;  ///< "a": the first one
  std::string title;
  std::vector<std::string> cases;                  ///< empty: all, which is the whole puzzle
  std::map<std::string, std::string> titles = {};  ///< by the check's id, where a check asks for less than in the whole
  std::vector<std::string> unasked = {};           ///< ids of checks that ask for nothing on these cases
};

struct Manifest {
  std::string id;      ///< name of the folder, "09_data_parallel"
  int number = 0;      ///< 9
  std::string folder;  ///< absolute
  std::string title;
  std::string chapter;
  std::string summary;   ///< one line
  int answer_lines = 0;  ///< size of the solution's hole
  ModelUse model_use = ModelUse::all;
  /// The learner's function answers a question about plain data (Case::question).
  bool question = false;
  /// The learner's code may read numbers of tensors; how many, the grader says. Otherwise it may not: what the host
  /// computes with them is neither counted nor timed.
  bool host_reads = false;
  /// The learner's code may call barriers, for what no operation waits for, such as files. Otherwise it may not.
  bool barriers = false;
  /// The learner's code may use the store. Otherwise it may not: what it moves there no budget counts.
  bool store = false;
  /// The learner's code may ask who lives. Otherwise it may not: that is a barrier, and carries a number from each
  /// rank.
  bool survivors = false;
  /// What the learner's code may multiply itself. Everything else is the model's layers' affair: whatever else a puzzle
  /// counts and times are their calls, and mathematics beside them would be neither.
  std::vector<Product> products;
  std::vector<CheckSpec> checks;
  std::vector<Hint> hints;  ///< the ladder
  std::vector<Diagnosis> diagnoses;
  std::vector<Case> cases;
  std::vector<Axis> axes;  ///< from the innermost to the outermost
  /// Several chunks of a rank take turns, stages of them at a time: micro-batches come in multiples of the stages then.
  bool interleaved = false;
  std::optional<TrainForm> train;     ///< nothing: its function is no step that could train by itself
  std::vector<Milestone> milestones;  ///< in their order; the last one is the whole puzzle. Small puzzles have none

  int max_points() const;  ///< without those of bonus checks
  const CheckSpec* check(const std::string& id) const;
  /// The manifest's own sentence for a diagnosis; nullptr if it has none.
  const Diagnosis* diagnosis(const std::string& id) const;
  const Case* find_case(const std::string& name) const;
  const Milestone* milestone(const std::string& letter) const;
};

/// Reads `puzzles/<id>/puzzle.toml`. Throws std::runtime_error: "puzzle.toml:12: …".
Manifest load_manifest(const std::string& puzzle_folder, const std::string& clusters_folder);
/// The same from text that was read already; `folder` gives the id.
Manifest parse_manifest(const std::string& text, const std::string& folder, const std::string& clusters_folder);

/// A folder among the puzzles that cannot be used, and why: "puzzles/09_data_parallel/puzzle.toml:12: …".
struct FaultyPuzzle {
  std::string id;
  int number = 0;
  std::string reason;
};

/// The folders of puzzles/, by chapter and name. One that is faulty takes nothing from the others.
struct Puzzles {
  std::vector<Manifest> whole;
  std::vector<FaultyPuzzle> faulty;
};
/// Every folder that has a file of a puzzle is meant to be one.
Puzzles load_puzzles(const std::string& puzzles_folder, const std::string& clusters_folder);

}  // namespace shardlings::cases
