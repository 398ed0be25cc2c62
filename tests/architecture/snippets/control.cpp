// What the other snippets do wrongly, done rightly.
#include <utility>

#include "base/units.h"
#include "shardlings/puzzle.h"

using namespace shardlings;

void control(Rank& rank, Tensor tensor, Saved saved) {
  Tensor moved = std::move(tensor);
  Saved moved_saved = std::move(saved);
  Work work = rank.world().all_reduce_async(moved, ReduceOp::sum);
  Work moved_work = std::move(work);
  moved_work.wait();
  fill(moved, 0);
  const Bytes bytes = Bytes(1) + Bytes(2);
  static_cast<void>(bytes);
}
