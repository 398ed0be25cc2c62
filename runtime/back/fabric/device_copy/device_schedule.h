/// \file
/// Which member moves or reduces which piece of a collective between devices that read one another's memory.
#pragma once

#include <span>
#include <vector>

#include "back/fabric/fabric.h"
#include "back/kernels/kernels.h"

namespace shardlings::back {

/// Kernels of one collective by who runs them. Inside a phase, no kernel writes what another member's kernel reads or
/// writes; the second phase may begin when all of the first is done.
struct DeviceSchedule {
  static constexpr int kPhases = 2;
  std::vector<std::vector<Kernel>> of_member[kPhases];  ///< by member; empty if the phase has nothing to do
};

/// The schedule of a collective. `scratch` holds each member's memory for partial results, which is needed if
/// scratch_size() is not 0.
DeviceSchedule make_device_schedule(const Signature& signature, std::span<const Buffers> buffers,
                                    std::span<void* const> scratch);

/// How much memory for partial results a member needs: a kernel combines only so many inputs at once.
Bytes scratch_size(const Signature& signature, int member);

}  // namespace shardlings::back
