/// \file
/// What the CUDA library offers to the runtime that loads it.
#pragma once

#include "back/kernels/gpus.h"

namespace shardlings::back::cuda {

/// Must agree between the library and the runtime: both are built together, but may be packaged apart.
inline constexpr int kEntryVersion = 1;

struct Entry {
  int version = kEntryVersion;
  Gpus (*find_gpus)() = nullptr;
  /// `host` computes on the host's lane.
  std::unique_ptr<Device> (*make_device)(int gpu, std::unique_ptr<Device> host) = nullptr;
};

inline constexpr const char* kEntryName = "shardlings_cuda_entry";
using EntryFunction = const Entry* (*)();

}  // namespace shardlings::back::cuda
