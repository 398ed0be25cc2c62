// Ranks that wait for one another, and ranks that wait for somebody who has gone.
#include <algorithm>
#include <stdexcept>

#include "front/misuse/programs.h"

namespace shardlings::misuse {
namespace {

int next(const Rank& rank) {
  return (rank.id() + 1) % rank.size();
}
int last(const Rank& rank) {
  return (rank.id() + rank.size() - 1) % rank.size();
}

void all_receive_first(Rank& rank, Pauses& pause) {
  Tensor mine = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  Tensor theirs = rank.zeros(4, Kind::buffer, DType::f32, line(11));
  pause();
  rank.world().recv(theirs, last(rank), line(12));
  rank.world().send(mine, next(rank), line(13));
}

void all_send_first(Rank& rank, Pauses& pause) {
  Tensor mine = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  Tensor theirs = rank.zeros(4, Kind::buffer, DType::f32, line(11));
  pause();
  rank.world().send(mine, next(rank), line(12));
  rank.world().recv(theirs, last(rank), line(13));
}

// All sends are asynchronous, and waited for before anybody receives.
void all_wait_for_sends_first(Rank& rank, Pauses& pause) {
  Tensor mine = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  Tensor theirs = rank.zeros(4, Kind::buffer, DType::f32, line(11));
  pause();
  Work sent = rank.world().send_async(mine, next(rank), line(12));
  sent.wait(line(13));
  rank.world().recv(theirs, last(rank), line(14));
}

// The others wait for the two, and do nothing wrong.
void receives_beside_a_barrier(Rank& rank, Pauses& pause) {
  Tensor mine = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  Tensor theirs = rank.zeros(4, Kind::buffer, DType::f32, line(11));
  pause();
  if (rank.id() < 2) {
    rank.world().recv(theirs, 1 - rank.id(), line(13));
    rank.world().send(mine, 1 - rank.id(), line(14));
  }
  rank.world().barrier(line(16));
}

void collective_against_message(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 1) rank.world().recv(data, 0, line(12));
  rank.world().all_reduce(data, ReduceOp::sum, line(13));
  if (rank.id() == 0) rank.world().send(data, 1, line(14));
}

// Two groups of all ranks, used in the other order by rank 0.
void groups_in_another_order(Rank& rank, Pauses& pause) {
  Group a = rank.world().split(0, 0, "a", line(10));
  Group b = rank.world().split(0, 0, "b", line(11));
  Tensor x = rank.zeros(4, Kind::buffer, DType::f32, line(12));
  Tensor y = rank.zeros(4, Kind::buffer, DType::f32, line(13));
  pause();
  Group& first = rank.id() == 0 ? b : a;
  Group& second = rank.id() == 0 ? a : b;
  first.all_reduce(x, ReduceOp::sum, line(16));
  pause();
  second.all_reduce(y, ReduceOp::sum, line(17));
}

// The same without blocking at the calls: the communication lanes of the ranks wait for one another.
void lanes_in_another_order(Rank& rank, Pauses& pause) {
  Group a = rank.world().split(0, 0, "a", line(10));
  Group b = rank.world().split(0, 0, "b", line(11));
  Tensor x = rank.zeros(4, Kind::buffer, DType::f32, line(12));
  Tensor y = rank.zeros(4, Kind::buffer, DType::f32, line(13));
  pause();
  Group& first = rank.id() == 0 ? b : a;
  Group& second = rank.id() == 0 ? a : b;
  Work one = first.all_reduce_async(x, ReduceOp::sum, line(16));
  pause();
  Work two = second.all_reduce_async(y, ReduceOp::sum, line(17));
  one.wait(line(18));
  two.wait(line(19));
}

// One direction too many on one channel: receives posted ahead in another order than the sends (decisions, D8).
void one_channel_for_two_purposes(Rank& rank, Pauses& pause) {
  Tensor a = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  Tensor b = rank.zeros(4, Kind::buffer, DType::f32, line(11));
  pause();
  if (rank.id() == 0) {
    rank.world().send(a, 1, line(13));
    rank.world().recv(b, 1, line(14));
    rank.world().send(a, 1, line(15));
  } else if (rank.id() == 1) {
    rank.world().recv(a, 0, line(17));
    rank.world().recv(b, 0, line(18));
    rank.world().send(a, 0, line(19));
  }
}

void one_skips(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 1) return;
  rank.world().all_reduce(data, ReduceOp::sum, line(12));
}

void one_stops_early(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  const int steps = rank.id() == 0 ? 2 : 3;
  for (int i = 0; i < steps; ++i) {
    pause();
    rank.world().all_reduce(data, ReduceOp::sum, line(14));
  }
}

void nobody_receives(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) rank.world().send(data, 1, line(12));
}

void nobody_sends(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 1) rank.world().recv(data, 0, line(12));
}

// A server that waits to be asked, and others that wait to be given something.
void server_and_clients_wait(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) {
    const int from = rank.world().recv_any(data, line(12));
    rank.world().send(data, from, line(13));
  } else {
    rank.world().recv(data, 0, line(15));
    rank.world().send(data, 0, line(16));
  }
}

// The last rank waits for what nobody sends; the others have returned, and that is none of their fault.
void one_of_the_clients_waits(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) {
    for (int i = 1; i < rank.size(); ++i) rank.world().recv_any(data, line(12));
  } else if (rank.id() < rank.size() - 1) {
    rank.world().send(data, 0, line(14));
  } else {
    rank.world().recv(data, 0, line(16));
  }
}

void receives_once_too_often(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) {
    for (int i = 0; i < rank.size(); ++i) rank.world().recv_any(data, line(12));
  } else {
    rank.world().send(data, 0, line(14));
  }
}

// The first two ranks serve, and each expects a message more than it gets. They do not wait for one another.
void two_servers_receive_too_often(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() < std::min(2, rank.size() - 1)) {
    for (int i = 0; i < rank.size(); ++i) rank.world().recv_any(data, line(12));
  } else {
    rank.world().send(data, 0, line(14));
  }
}

void one_throws(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 1) throw std::runtime_error("the loss is not a number");
  rank.world().all_reduce(data, ReduceOp::sum, line(13));
}

void one_calls_wrongly(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 1) rank.world().send(data, 99, line(12));
  rank.world().all_reduce(data, ReduceOp::sum, line(13));
}

// The first rank has returned from the learner's function, and what stands behind that in a harness asks who lives.
void waits_behind_the_run(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(4, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) {
    rank.survivors(0, {"harness.cpp", 5});
  } else {
    rank.world().all_reduce(data, ReduceOp::sum, line(12));
  }
}

}  // namespace

std::vector<WrongProgram> deadlocks() {
  return {{"deadlock_receive_first", "deadlock", "all receive before they send", all_receive_first, 8},
          {"deadlock_send_first", "deadlock", "all send before they receive", all_send_first},
          {"deadlock_wait_for_sends_first", "deadlock", "all wait for what they send before they receive",
           all_wait_for_sends_first},
          {"deadlock_beside_a_barrier", "deadlock", "two receive before they send, and the others are in a barrier",
           receives_beside_a_barrier},
          {"deadlock_collective_and_message", "deadlock", "a message after a collective and before it",
           collective_against_message},
          {"deadlock_groups", "deadlock", "rank 0 uses two groups in the other order", groups_in_another_order},
          {"deadlock_lanes", "deadlock", "the same, asynchronously", lanes_in_another_order},
          {"deadlock_server", "deadlock", "a server waits to be asked, and the others for its answer",
           server_and_clients_wait},
          {"deadlock_one_client", "deadlock", "a server waits to be asked by the only one who has not returned",
           one_of_the_clients_waits},
          {"deadlock_channel", "deadlock", "two receives where one send comes first", one_channel_for_two_purposes}};
}

std::vector<WrongProgram> desertions() {
  return {
      {"desertion_skips", "desertion", "rank 1 leaves the collective out", one_skips, 4},
      {"desertion_early", "desertion", "rank 0 makes a step less", one_stops_early},
      {"desertion_no_receive", "desertion", "a send without a receive", nobody_receives},
      {"desertion_no_send", "desertion", "a receive without a send", nobody_sends},
      {"desertion_server", "desertion", "a server receives once more than is sent", receives_once_too_often},
      {"desertion_two_servers", "desertion", "two servers receive more than is sent", two_servers_receive_too_often},
      {"desertion_behind_the_run", "desertion", "rank 0 has returned, and its harness waits", waits_behind_the_run},
      {"desertion_throws", "exception", "rank 1 throws", one_throws, 7},
      {"desertion_invalid", "invalid_argument", "rank 1 sends to a rank that does not exist", one_calls_wrongly}};
}

}  // namespace shardlings::misuse
