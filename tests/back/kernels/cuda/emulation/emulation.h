/// \file
/// The emulated GPU as tests see it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "back/kernels/kernels.h"

namespace shardlings::emulation {

/// A device of the CUDA backend, of whose sources every line but the toolkit's own is the one that runs on GPUs.
std::unique_ptr<back::Device> make_device();

/// From now on things of streams begin up to so many microseconds late; 0: at once.
void delay_streams(std::uint64_t seed, int max_us);
/// Allocations of both memories that nobody has given back to the driver or a pool.
std::int64_t blocks_alive();
/// What was wrong with memory so far, in words; forgets it.
std::vector<std::string> take_faults();
/// The next so many allocations of device memory fail.
void refuse_allocations(int count);

}  // namespace shardlings::emulation
