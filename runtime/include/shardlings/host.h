/// \file
/// The host's memory and processor, beside the device.
///
/// Rank::host_empty and host_zeros make tensors in the host's memory, which is larger and slower. The device computes
/// on its own memory only; with host tensors there is copying, Adam, and rank.read(). Copies to the host, copies to the
/// device and the host's processor are three lanes: each runs one thing after another, in the order of the calls,
/// beside the program and beside one another.
///
/// What is started here may come `after` other work. It then begins when that is over, may use the data that it leaves,
/// and waiting for the later one is enough: nobody need wait for the earlier one. A chain of three lanes:
/// \code
/// Work drained = copy_async(host_grad, grad).keep(std::move(grad));
/// Work updated = adam_async(master, host_grad, m, v, step, drained);
/// Work filled = copy_async(weights, master, updated);
/// …
/// filled.wait();  // for all three
/// \endcode
#pragma once

#include "shardlings/group.h"
#include "shardlings/ops.h"

namespace shardlings {

/// to = from, at least one of which is in the host's memory; same size and type.
/// host link: its bytes, in the direction of the copy. throws: InvalidArgument if sizes or types differ or both are in
/// the device's memory, MisuseError(race) on a tensor that is in flight for anything but `after`, Aborted.
SHARDLINGS_API Work copy_async(View to, ConstView from, const Work& after = {}, Location at = Location::current());

/// adam() of ops.h by the host's processor, on tensors of the host's memory. throws: as adam(), and InvalidArgument for
/// tensors of the device's memory.
SHARDLINGS_API Work adam_async(View w, ConstView grad, View m, View v, AdamStep step, const Work& after = {},
                               ConstView factor = {}, ConstView skip = {}, Location at = Location::current());

}  // namespace shardlings
