/// \file
/// How a model is trained and divided: what the map of memory depends on beside the model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/execution.h"
#include "shardlings/tensor.h"

namespace shardlings::memory_map {

/// Sizes of the groups; the ranks are tp x pp x dp.
struct Parallel {
  int dp = 1;              ///< data parallel: replicas, or shards of the states (zero)
  int tp = 1;              ///< tensor parallel
  bool sp = false;         ///< with sequence parallelism: all activations are divided by tp
  int pp = 1;              ///< pipeline stages, 1F1B
  int virtual_stages = 1;  ///< v: model chunks of a rank; above 1 the schedule is interleaved
  int zero = 0;            ///< what is divided: 0 nothing, 1 optimizer states, 2 gradients too, 3 weights too
  int shard = 0;           ///< over how many of the dp ranks (hybrid sharding); 0: all of them
  int ranks() const { return dp * tp * pp; }
  int shards() const { return shard > 0 ? shard : dp; }
};

/// Bytes of one parameter's states; the names are those of the command.
struct Precision {
  std::string name;
  Count weight = 4;
  Count gradient = 4;
  Count master = 0;      ///< f32 copy of the weight, part of the optimizer's states
  Count activation = 4;  ///< of one element
};

using model::Recompute;

/// Whose list of kept tensors it is.
enum class KeptBy : std::uint8_t {
  megatron,   ///< with dropout masks; what grows with s b alone is left out (Korthikanti et al. 2022)
  shardlings  ///< this project's model: without dropout, everything counted
};

struct Training {
  Precision precision;
  Count moments = 8;  ///< bytes of a parameter's moments: Adam 8, momentum 4, plain SGD 0
  Recompute recompute = Recompute::off;
  KeptBy kept_by = KeptBy::megatron;
  Count sequence = 0;     ///< s; 0: the model's
  Count micro_batch = 1;  ///< b
  int micro_batches = 0;  ///< m, of each replica in a step; 0: enough to fill the pipeline
  /// K of the ZeRO paper: everything that the optimizer keeps.
  Count optimizer_bytes() const { return precision.master + moments; }
};

/// "mixed" (2 + 2 + master 4: Rajbhandari et al. 2020), "mixed-f32-grads" (2 + 4 + 4: Megatron-LM) or "f32" (4 + 4).
Precision precision_of(const std::string& name);
/// "adam", "momentum" or "sgd".
Count moments_of(const std::string& name);
/// "off", "full" or "selective".
Recompute recompute_of(const std::string& name);
KeptBy kept_by_of(const std::string& name);
/// "dp=64,zero=3,shard=8,tp=8,sp,pp=4,v=2".
Parallel parallel_of(const std::string& text);

/// "a=1,b=2,c" as pairs; a key alone has the value "1". All functions here throw std::invalid_argument that says what
/// would have been right.
std::vector<std::pair<std::string, std::string>> key_values(const std::string& text);
/// The value of a key as a whole number of at least `least`.
std::int64_t whole_number(const std::string& key, const std::string& value, std::int64_t least);

}  // namespace shardlings::memory_map
