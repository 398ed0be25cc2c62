/// \file
/// Looking at tensors while a puzzle is being solved.
///
/// A show costs nothing that is counted: no bytes, no memory, no operation, no virtual time. It gives no number to the
/// program (Rank::read does), so a show that is forgotten in a solution changes no verdict.
#pragma once

#include "shardlings/tensor.h"

namespace shardlings {

/// Puts a look at the tensor, as it is now, into the report of the run: shape, type, smallest and largest element,
/// mean, norm, how many are NaN or infinite, and its first and last rows. It may be in the device's memory or in the
/// host's. `label` is printed beside it, 80 bytes of it at most. Of each rank the first 32 shows of a run are kept.
/// An empty tensor (never allocated, moved from, used up) is shown as such.
/// throws: MisuseError(race) on a tensor that an operation in flight writes, InvalidArgument on a view of one that was
/// freed.
SHARDLINGS_API void show(ConstView x, const char* label = "", Location at = Location::current());

}  // namespace shardlings
