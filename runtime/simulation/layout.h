/// \file
/// How many ranks each axis of parallelism has, as `--parallel tp=8,pp=16,dp=128` says it, and the case that is so.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "case/case.h"
#include "case/manifest.h"
#include "simulation/stack_file.h"

namespace shardlings::simulation {

/// What is asked of a simulation, as it was written; an empty text was not.
struct Wish {
  std::string base{};      ///< the case that everything else is taken from; empty: the puzzle's first
  std::string parallel{};  ///< "tp=8,pp=16,dp=128,v=2"
  int ranks = 0;           ///< 0: as the layout says, or the case
  std::string model{};     ///< as ./shardlings memory takes it: a name of models.toml, or "layers=12,hidden=768,…"
  std::string cluster{};
  std::string precision{};            ///< "f32", "mixed" or "mixed-f32-grads"; empty: f32, with a stack "mixed"
  std::string recompute{};            ///< "off", "full" or "selective"; empty: off
  std::string stack{};                ///< a software stack by name or by its file; empty or "ours": ours
  bool no_sequence_parallel = false;  ///< a stack that has sequence parallelism goes without
  bool ideal = false;                 ///< the cluster's peaks, and not what was measured of them
  int micro_batches = 0;              ///< of each rank; 0: as the case
  Count batch = 0;                    ///< sequences of a micro-batch; 0: as the case
  Count global_batch = 0;          ///< sequences of a step over all replicas, in place of `micro_batches`; 0: not said
  bool fold = false;               ///< of equal replicas some are run, and stand for the others
  bool unlimited = false;          ///< the devices have as much memory as is asked for
  std::vector<std::string> set{};  ///< "bucket=300": numbers of the case
};

struct Files {
  std::string models;    ///< memory_map/models.toml
  std::string clusters;  ///< folder
  std::string stacks{};  ///< folder
};

/// More memory than any model needs.
inline constexpr Bytes kUnlimited{std::int64_t{1} << 50U};

/// A case, and what the file of its software stack says of times on its cluster.
struct WishedCase {
  cases::Case kase;
  std::optional<OnCluster> on_cluster{};  ///< nothing: it says nothing, or there is no stack
};

/// The case that is wished for: the puzzle's own, with what is asked for in its place. Nothing of it is hidden, no
/// tokens are padding, and the device is the cluster's. Throws std::runtime_error with what does not fit, and what
/// would.
WishedCase wished_case(const cases::Manifest& puzzle, const Wish& wish, const Files& files);
/// Of it the case alone.
cases::Case case_of(const cases::Manifest& puzzle, const Wish& wish, const Files& files);

}  // namespace shardlings::simulation
