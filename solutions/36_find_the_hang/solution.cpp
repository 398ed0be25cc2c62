// Puzzle 36: find the hang.
//
// Eight programs that wait for ever. You name the cause of each from what its ranks have recorded, and mend it.
// The lesson is README.md beside this file; `./shardlings explain 36` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <vector>

using namespace shardlings;

/// What makes ranks wait for ever, or for long. The lesson's table says each in a sentence.
enum class Cause {
  called_by_some,
  fewer_turns,
  other_order,
  all_send_first,
  groups_crossed,
  message_missing,
  own_size,
  skipped_for_data,
  another_root,
  another_type,
  slow_rank,
};

struct Finding {
  int rank = kNobody;  ///< whose record is unlike those of the others
  int call = 0;        ///< its number, from 1; of a message the number between its two ranks
  Cause cause = Cause::slow_rank;
};

/// What a rank has. Which of it a program uses, the comments at its head say.
struct Job {
  Group world;              ///< all N ranks
  Group other;              ///< the same ranks once more, for what is logged
  std::vector<View> grads;  ///< gradients of buckets, of steps, or of batches; or activations of micro-batches
  std::vector<int> ready;   ///< the buckets, in the order in which backward has finished them on this rank
  int batches = 0;          ///< of this rank
  int most_batches = 0;     ///< of the rank with most; grads of batches that this rank has not are zeros
  int bad_step = -1;        ///< the step in which this rank's gradient is not finite; -1: none
  Count elements = 0;       ///< n, of the whole tensor: rank r has world.part(n, r) of it
  View shard;               ///< this rank's part
  View whole;               ///< room for all of it, and for some elements more
  View loss;                ///< (1)
};

/// findings  of programs 1 to 8, in their order, from the records in the lesson: the rank that does what the others do
///           not, or kNobody if all of them do the same; the number of the first call, in its group, that has not ended
///           on all ranks in the record; and the cause
/// Result    what the comment on the first line of each program says. No rank waits for ever, with any number of ranks
/// Wire      all ranks together send no more than the collectives and messages that the program has, each made once by
///           all of its ranks, and no barrier. By which calls, and over which of the two groups, you may choose
// >>> your code (about 18 lines)
std::vector<Finding> findings() {
  return {{0, 1, Cause::called_by_some},        // 1
          {2, 3, Cause::fewer_turns},           // 2
          {1, 1, Cause::other_order},           // 3
          {kNobody, 1, Cause::all_send_first},  // 4
          {1, 1, Cause::groups_crossed},        // 5
          {0, 3, Cause::message_missing},       // 6
          {2, 1, Cause::own_size},              // 7
          {1, 5, Cause::skipped_for_data}};     // 8
}

void save(Job job) {  // 1: job.whole is, on rank 0, the shards of all ranks; job.loss is the sum over the ranks
  job.world.all_gather(job.shard, job.whole.part({0, job.elements}));
  job.world.all_reduce(job.loss, ReduceOp::sum);
}

void epoch(Job job) {  // 2: job.grads[i] is the sum over the ranks, of each batch
  for (int i = 0; i < job.most_batches; ++i) job.world.all_reduce(job.grads[i], ReduceOp::sum);
}

void buckets(Job job) {  // 3: job.grads[b] is the sum over the ranks, of each bucket
  for (std::size_t b = 0; b < job.grads.size(); ++b) job.world.all_reduce(job.grads[b], ReduceOp::sum);
}

void ring(Job job) {  // 4: job.whole begins with the previous rank's shard. All shards are of one size
  const int n = job.world.size(), next = (job.world.rank() + 1) % n, previous = (job.world.rank() + n - 1) % n;
  job.world.send_recv(job.shard, next, job.whole.part({0, job.shard.size()}), previous);
}

void step_and_log(Job job) {  // 5: job.grads[0] and job.loss are sums over the ranks
  Work grads = job.world.all_reduce_async(job.grads[0], ReduceOp::sum);
  Work loss = job.other.all_reduce_async(job.loss, ReduceOp::sum);
  grads.wait();
  loss.wait();
}

void pipeline(Job job) {  // 6: job.grads[i] of rank 0 is passed on from stage to stage, for each micro-batch
  const int r = job.world.rank(), n = job.world.size();
  for (std::size_t i = 0; i < job.grads.size(); ++i) {
    job.world.recv(job.grads[i], r > 0 ? r - 1 : kNobody);
    job.world.send(job.grads[i], r + 1 < n ? r + 1 : kNobody);
  }
}

void gather(Job job) {  // 7: job.whole begins with the shards of all ranks, n elements together, on every rank
  job.world.all_gather(job.shard, job.whole.part({0, job.elements}));
}

void steps(Job job) {  // 8: job.grads[s] is the sum over the ranks whose gradient of step s is finite, on all ranks
  for (int s = 0; s < static_cast<int>(job.grads.size()); ++s) {
    if (s == job.bad_step) fill(job.grads[s], 0);
    job.world.all_reduce(job.grads[s], ReduceOp::sum);
  }
}
// <<<

// In the stub's hole:
// std::vector<Finding> findings() {
//   not_implemented();
// }
//
// void save(Job job) {  // 1: job.whole is, on rank 0, the shards of all ranks; job.loss is the sum over the ranks
//   if (job.world.rank() == 0) {
//     job.world.all_gather(job.shard, job.whole.part({0, job.elements}));
//   }
//   job.world.all_reduce(job.loss, ReduceOp::sum);
// }
//
// void epoch(Job job) {  // 2: job.grads[i] is the sum over the ranks, of each batch
//   for (int i = 0; i < job.batches; ++i) job.world.all_reduce(job.grads[i], ReduceOp::sum);
// }
//
// void buckets(Job job) {  // 3: job.grads[b] is the sum over the ranks, of each bucket
//   for (const int b : job.ready) job.world.all_reduce(job.grads[b], ReduceOp::sum);
// }
//
// void ring(Job job) {  // 4: job.whole begins with the previous rank's shard. All shards are of one size
//   const int n = job.world.size(), next = (job.world.rank() + 1) % n, previous = (job.world.rank() + n - 1) % n;
//   job.world.send(job.shard, next);
//   job.world.recv(job.whole.part({0, job.shard.size()}), previous);
// }
//
// void step_and_log(Job job) {  // 5: job.grads[0] and job.loss are sums over the ranks
//   Work loss, grads;
//   if (job.world.rank() == 1) loss = job.other.all_reduce_async(job.loss, ReduceOp::sum);
//   grads = job.world.all_reduce_async(job.grads[0], ReduceOp::sum);
//   if (job.world.rank() != 1) loss = job.other.all_reduce_async(job.loss, ReduceOp::sum);
//   grads.wait();
//   loss.wait();
// }
//
// void pipeline(Job job) {  // 6: job.grads[i] of rank 0 is passed on from stage to stage, for each micro-batch
//   const int r = job.world.rank(), n = job.world.size(), m = static_cast<int>(job.grads.size());
//   for (int i = r == 0 ? 1 : 0; i < m; ++i) {
//     job.world.recv(job.grads[i], r > 0 ? r - 1 : kNobody);
//     job.world.send(job.grads[i], r + 1 < n ? r + 1 : kNobody);
//   }
// }
//
// void gather(Job job) {  // 7: job.whole begins with the shards of all ranks, n elements together, on every rank
//   const Count n = job.shard.size() * job.world.size();
//   job.world.all_gather(job.shard, job.whole.part({0, n}));
// }
//
// void steps(Job job) {  // 8: job.grads[s] is the sum over the ranks whose gradient of step s is finite, on all ranks
//   for (int s = 0; s < static_cast<int>(job.grads.size()); ++s) {
//     if (s == job.bad_step) continue;
//     job.world.all_reduce(job.grads[s], ReduceOp::sum);
//   }
// }

// What it costs: no more than the programs did. Every call is made by all ranks of its group, as often and in the same
// order, whatever a rank's number, its data and its part are.
//
// What production does differently: PyTorch's flight recorder keeps the last calls of each rank in a ring buffer, and
// writes them when its watchdog gives up; a script lays the ranks' calls side by side, by group and sequence number.
