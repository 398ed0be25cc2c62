// Ranks that are not ready for the death of another one, which comes as the case wants it.
#include "api/harness_calls.h"
#include "front/misuse/programs.h"

namespace shardlings::misuse {
namespace {

/// The last rank, when it has begun its first operation.
std::vector<front::Death> of_the_last(int ranks) {
  return {{ranks - 1, Nanos(1)}};
}

/// What is measured begins, on all ranks together: from here on ranks may die. The first operation takes time.
Tensor begun(Rank& rank, Pauses& pause) {
  rank.world().barrier(line(1));
  detail::harness::begin_measuring(rank);
  pause();
  Tensor data = rank.zeros(1000, Kind::gradient, DType::f32, line(10));
  scale(data, 2, line(11));
  pause();
  return data;
}

void catches_no_death(Rank& rank, Pauses& pause) {
  Tensor data = begun(rank, pause);
  rank.world().all_reduce(data, ReduceOp::sum, line(12));
}

void goes_on_with_the_old_group(Rank& rank, Pauses& pause) {
  Tensor data = begun(rank, pause);
  try {
    rank.world().all_reduce(data, ReduceOp::sum, line(13));
  } catch (const PeerFailed&) {
    pause();
    rank.survivors(0, line(16));
    rank.world().all_reduce(data, ReduceOp::sum, line(17));
  }
}

// Of two sums the wait for the first one tells it, and the other one is still there.
void waits_for_what_is_revoked(Rank& rank, Pauses& pause) {
  Tensor data = begun(rank, pause);
  Work upper = rank.world().all_reduce_async(data.part({500, 1000}, line(12)), ReduceOp::sum, line(12));
  Work lower = rank.world().all_reduce_async(data.part({0, 500}, line(13)), ReduceOp::sum, line(13));
  pause();
  try {
    upper.wait(line(15));
  } catch (const PeerFailed&) {
    lower.wait(line(17));
  }
}

}  // namespace

std::vector<WrongProgram> peer_deaths() {
  return {
      {"peer_failed_uncaught", "peer_failed", "does not catch that a peer has died", catches_no_death, 0, of_the_last},
      {"peer_failed_old_group", "peer_failed", "goes on with the group of before", goes_on_with_the_old_group, 0,
       of_the_last},
      {"peer_failed_old_work", "peer_failed", "waits for what was revoked", waits_for_what_is_revoked, 0, of_the_last}};
}

}  // namespace shardlings::misuse
