/// \file
/// The cut between learner code and the runtime: every public operation is one Call through one Port.
///
/// A Call holds numbers only (no addresses of data), so that the runtime may as well sit in another process.
#pragma once

#include <cstdint>

#include "shardlings/group.h"
#include "shardlings/location.h"
#include "shardlings/tensor.h"

namespace shardlings::detail {

/// What a Call asks for. The arguments of each are described where it is handled.
enum class Verb : std::uint16_t {
  // memory (front/memory); allocate: tensor[0] gives shape and dtype, number[0] the kind, number[1] = 1 for zeros,
  // number[2] = 1 for the host's memory.
  // keep (front/group): tensor[0] goes to the Work `id`, which frees it when waited for
  allocate, drop, read_scalar, keep,
  // operations (front/ops). Of `copy` and `adam` on the host (front/host): id = the Work that they come after, or 0
  matmul, matmul_add, clone, cast, cast_into, copy, fill, add, axpy, scale, scale_by, gelu, gelu_backward, relu,
  relu_backward, random_normal, add_bias, sum_rows_add, row_max, row_sum, exp_minus_row, divide_rows, pick, add_at,
  slice_cols, concat_cols, concat_rows, softmax, softmax_backward, layer_norm, layer_norm_backward, attention,
  attention_backward, embedding, embedding_backward_add, add_positions, sum_positions_add, cross_entropy, loss_add,
  adam, sgd, add_squares, clip_factor, flag_nonfinite,
  // layers (front/model)
  layer_forward, layer_backward, layer_loss, layer_update, drop_saved,
  // ranks (front/group)
  all_reduce, reduce_scatter, all_gather, broadcast, reduce, gather, scatter, all_to_all, send, recv, send_recv,
  barrier, split, wait, drop_work,
  // what the harness alone may ask for (front/memory): `load` is as `allocate`, `host` its values; `mark_layer` takes
  // tensor[0] and the layer; `publish` takes tensor[0], text = name, number = rows, cols, row range, column range
  load, mark_layer, begin_measuring, end_measuring, publish,
  count_  // how many there are
};

inline constexpr int kVerbs = static_cast<int>(Verb::count_);
inline constexpr int kMaxTensors = 8;
inline constexpr int kMaxNumbers = 8;
inline constexpr int kMaxScalars = 6;

/// One request of a rank.
struct Call {
  Verb verb = Verb::count_;
  bool blocking = true;        ///< collectives, work of the host: wait in the same call
  std::uint8_t num_tensors = 0;
  Location at;
  Ref tensor[kMaxTensors];
  std::int64_t number[kMaxNumbers] = {};
  float scalar[kMaxScalars] = {};
  std::uint64_t id = 0;        ///< of a Work or a Saved
  std::uint32_t group = 0;
  const void* host = nullptr;  ///< harness and model plans only, never reachable from a puzzle
  const char* text = "";       ///< names: of a split group, of a published output
};

/// What comes back.
struct Reply {
  Ref tensor[2];
  std::uint64_t id = 0;
  std::uint32_t group = 0;
  std::int32_t group_rank = 0;
  std::int32_t group_size = 0;
  float scalar = 0;
};

/// Where calls go. One per rank, used by that rank's thread only.
class Port {
 public:
  virtual Reply call(const Call& call) = 0;
  /// For destructors: `drop`, `drop_work` and `drop_saved`. What is wrong about them is raised by the next call().
  virtual void release(const Call& call) noexcept = 0;

 protected:
  ~Port() = default;
};

}  // namespace shardlings::detail
