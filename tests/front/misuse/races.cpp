// Tensors used while an operation works on them, items of the store that several ranks write, and work that nobody
// waits for.
#include "front/misuse/programs.h"

namespace shardlings::misuse {
namespace {

void writes_what_is_sent(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  Work work = rank.world().all_reduce_async(data, ReduceOp::sum, line(11));
  pause();
  scale(data.part({4, 8}), 0.5F, line(12));
  work.wait(line(13));
}

void reads_what_has_not_come(Rank& rank, Pauses& pause) {
  Tensor mine = rank.zeros(2, Kind::parameter, DType::f32, line(10));
  Tensor full = rank.zeros(2 * rank.size(), Kind::parameter, DType::f32, line(11));
  Work work = rank.world().all_gather_async(mine, full, line(12));
  pause();
  Tensor copied = clone(full, line(13));
  work.wait(line(14));
}

// Buckets that overlap by one element.
void overlapping_buckets(Rank& rank, Pauses& pause) {
  Tensor grads = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  Work upper = rank.world().all_reduce_async(grads.part({4, 8}, line(11)), ReduceOp::sum, line(11));
  pause();
  Work lower = rank.world().all_reduce_async(grads.part({0, 5}, line(12)), ReduceOp::sum, line(12));
  upper.wait(line(13));
  lower.wait(line(14));
}

void drops_what_is_in_flight(Rank& rank, Pauses& pause) {
  Work work;
  {
    Tensor data = rank.zeros(8, Kind::gradient, DType::f32, line(11));
    work = rank.world().all_reduce_async(data, ReduceOp::sum, line(12));
    pause();
  }
  work.wait(line(14));
}

void drops_the_work(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  {
    Work work = rank.world().all_reduce_async(data, ReduceOp::sum, line(12));
    pause();
  }
  rank.world().barrier(line(14));
}

void forgets_at_the_end(Rank& rank, Pauses& pause) {
  Tensor a = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  Tensor b = rank.zeros(8, Kind::gradient, DType::f32, line(11));
  Work first = rank.world().all_reduce_async(a, ReduceOp::sum, line(12));
  pause();
  Work second = rank.world().all_reduce_async(b, ReduceOp::sum, line(13));
  first.wait(line(14));
}

void forgets_a_send(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(8, Kind::activation, DType::f32, line(10));
  if (rank.id() == 0) {
    Work sent = rank.world().send_async(data, 1, line(12));
    pause();
    return;
  }
  if (rank.id() == 1) {
    pause();
    rank.world().recv(data, 0, line(17));
  }
}

void overwrites_a_work(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  Work work;
  for (int half = 0; half < 2; ++half) {
    pause();
    work = rank.world().all_reduce_async(data.part({4 * half, 4 * half + 4}, line(13)), ReduceOp::sum, line(13));
  }
  work.wait(line(15));
}

// Offloading: the gradient is used again, and the weights before they are back.
void writes_what_goes_to_the_host(Rank& rank, Pauses& pause) {
  Tensor grad = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  Tensor host_grad = rank.host_zeros(8, Kind::gradient, DType::f32, line(11));
  Work drained = copy_async(host_grad, grad, {}, line(12));
  pause();
  fill(grad, 0, line(13));
  drained.wait(line(14));
}

void reads_what_is_not_back(Rank& rank, Pauses& pause) {
  Tensor weights = rank.zeros(8, Kind::parameter, DType::f32, line(10));
  Tensor master = rank.host_zeros(8, Kind::parameter, DType::f32, line(11));
  Work filled = copy_async(weights, master, {}, line(12));
  pause();
  Tensor y = gelu(weights, line(13));
  filled.wait(line(14));
}

void updates_what_has_not_come(Rank& rank, Pauses& pause) {
  Tensor grad = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  Tensor host = rank.host_zeros({4, 8}, Kind::optimizer, DType::f32, line(11));
  const auto row = [&](Count i) { return host.rows_part({i, i + 1}, line(11)); };
  Work drained = copy_async(row(0), grad.reshaped({1, 8}, line(13)), {}, line(13));
  pause();
  Work updated = adam_async(row(1), row(0), row(2), row(3), {}, {}, {}, {}, line(14));
  drained.wait(line(15));
  updated.wait(line(16));
}

// The rank's number is missing in the item's name.
void all_write_one_item(Rank& rank, Pauses& pause) {
  Tensor weights = rank.zeros(1000, Kind::parameter, DType::f32, line(10));
  pause();
  rank.store().write("checkpoint", {"weights", 0}, weights, line(11));
}

// The next owner writes while the write of the one before is under way, which nobody tells it of.
void writes_before_another_one_has_ended(Rank& rank, Pauses& pause) {
  Tensor weights = rank.zeros(1000 * (1 + rank.id() % 2), Kind::parameter, DType::f32, line(10));
  if (rank.id() > 1) return;
  if (rank.id() == 0) scale(weights, 1, line(12));
  pause();
  Work written = rank.store().write_async("checkpoint", {"step"}, weights, {}, line(13));
  written.wait(line(14));
}

void forgets_a_copy(Rank& rank, Pauses& pause) {
  Tensor grad = rank.zeros(8, Kind::gradient, DType::f32, line(10));
  Tensor host_grad = rank.host_zeros(8, Kind::gradient, DType::f32, line(11));
  Work reduced = rank.world().all_reduce_async(grad, ReduceOp::sum, line(12));
  pause();
  Work drained = copy_async(host_grad, grad, reduced, line(13));
}

}  // namespace

std::vector<WrongProgram> races() {
  return {{"race_writes", "race", "writes a tensor that is being reduced", writes_what_is_sent},
          {"race_reads", "race", "reads a tensor that is being gathered", reads_what_has_not_come},
          {"race_buckets", "race", "two operations on overlapping ranges", overlapping_buckets},
          {"race_drops", "race", "drops a tensor that is being reduced", drops_what_is_in_flight},
          {"race_to_host", "race", "writes a gradient that goes to the host", writes_what_goes_to_the_host},
          {"race_to_device", "race", "reads weights that come from the host", reads_what_is_not_back},
          {"race_on_host", "race", "updates on the host without `after`", updates_what_has_not_come},
          {"race_store", "race", "all ranks write one item of the store", all_write_one_item},
          {"race_store_later", "race", "an item is written before another rank's write of it is over",
           writes_before_another_one_has_ended}};
}

std::vector<WrongProgram> leaks() {
  return {{"leak_drops", "leak", "drops a Work", drops_the_work},
          {"leak_end", "leak", "returns without waiting", forgets_at_the_end},
          {"leak_send", "leak", "returns without waiting for a send", forgets_a_send},
          {"leak_copy", "leak", "returns without waiting for a copy to the host", forgets_a_copy},
          {"leak_overwrites", "leak", "assigns to a Work that was not waited for", overwrites_a_work}};
}

}  // namespace shardlings::misuse
