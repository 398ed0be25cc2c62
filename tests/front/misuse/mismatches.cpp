// Ranks of a group that do not make the same call.
#include <numeric>

#include "front/misuse/programs.h"

namespace shardlings::misuse {
namespace {

bool is_last(const Rank& rank) {
  return rank.id() == rank.size() - 1;
}

void counts(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(is_last(rank) ? 8 : 12, Kind::buffer, DType::f32, line(10));
  pause();
  rank.world().all_reduce(data, ReduceOp::sum, line(11));
}

// Rank 0 sends rank 1 a row more than that expects.
void rows(Rank& rank, Pauses& pause) {
  const auto n = static_cast<std::size_t>(rank.size());
  std::vector<Count> sends(n, 2), receives(n, 2);
  if (rank.id() == 0) sends[1] = 3;
  const auto total = [](const std::vector<Count>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), Count{0});
  };
  Tensor in = rank.zeros({total(sends), 4}, Kind::buffer, DType::f32, line(10));
  Tensor out = rank.zeros({total(receives), 4}, Kind::buffer, DType::f32, line(11));
  pause();
  rank.world().all_to_all_rows(in, sends, out, receives, line(12));
}

void types(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(12, Kind::buffer, rank.id() == 0 ? DType::i32 : DType::f32, line(10));
  pause();
  rank.world().all_reduce(data, ReduceOp::sum, line(11));
}

void operators(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(12, Kind::buffer, DType::f32, line(10));
  pause();
  rank.world().all_reduce(data, rank.id() == 1 ? ReduceOp::max : ReduceOp::sum, line(11));
}

void operations(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(12, Kind::buffer, DType::f32, line(10));
  pause();
  if (is_last(rank)) {
    rank.world().barrier(line(12));
  } else {
    rank.world().all_reduce(data, ReduceOp::sum, line(14));
  }
}

void roots(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(12, Kind::buffer, DType::f32, line(10));
  pause();
  rank.world().broadcast(data, rank.id() == 0 ? 1 : 0, line(11));
}

// The first calls agree, so the report must count.
void second_call(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(12, Kind::buffer, DType::f32, line(10));
  rank.world().all_reduce(data, ReduceOp::sum, line(11));
  pause();
  if (rank.id() == 1) rank.world().all_reduce(data, ReduceOp::sum, line(13));  // once too often
  rank.world().broadcast(data, 0, line(14));
  pause();
  rank.world().barrier(line(15));
}

void order(Rank& rank, Pauses& pause) {
  Tensor a = rank.zeros(12, Kind::buffer, DType::f32, line(10));
  Tensor b = rank.zeros(5, Kind::buffer, DType::f32, line(11));
  pause();
  View first = rank.id() == 0 ? b : a;
  View second = rank.id() == 0 ? a : b;
  Work one = rank.world().all_reduce_async(first, ReduceOp::sum, line(14));
  pause();
  Work two = rank.world().all_reduce_async(second, ReduceOp::sum, line(15));
  two.wait(line(16));
  one.wait(line(17));
}

// Every rank thinks that its part is as long as rank 0's.
void parts(Rank& rank, Pauses& pause) {
  const Count n = 4 * rank.size() + 1;
  Tensor whole = rank.zeros(rank.id() == 0 ? n : 0, Kind::buffer, DType::f32, line(10));
  Tensor part = rank.zeros(5, Kind::buffer, DType::f32, line(11));
  pause();
  rank.world().gather(part, rank.id() == 0 ? View(whole) : View(), 0, line(12));
}

// Every rank thinks that all parts are as long as its own.
void whole_from_own_part(Rank& rank, Pauses& pause) {
  const Count mine = rank.world().mine(4 * rank.size() + 1).size();
  Tensor whole = rank.zeros(mine * rank.size(), Kind::buffer, DType::f32, line(10));
  Tensor part = rank.zeros(mine, Kind::buffer, DType::f32, line(11));
  pause();
  rank.world().all_gather(part, whole, line(12));
}

// Rank 1 receives a part that it takes to be as long as its own.
void message_of_own_length(Rank& rank, Pauses& pause) {
  const Count mine = rank.world().mine(4 * rank.size() + 1).size();
  Tensor part = rank.zeros(mine, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) rank.world().send(part, 1, line(12));
  if (rank.id() == 1) rank.world().recv(part, 0, line(13));
}

// The last rank has made room for the whole.
void scattered_parts(Rank& rank, Pauses& pause) {
  const Count n = 4 * rank.size() + 1;
  const Count mine = rank.world().mine(n).size();
  Tensor whole = rank.zeros(rank.id() == 0 ? n : 0, Kind::buffer, DType::f32, line(10));
  Tensor part = rank.zeros(is_last(rank) ? n : mine, Kind::buffer, DType::f32, line(11));
  pause();
  rank.world().scatter(rank.id() == 0 ? View(whole) : View(), part, 0, line(12));
}

void in_a_subgroup(Rank& rank, Pauses& pause) {
  Group pair = rank.world().split(rank.id() < 2 ? 0 : 1, 0, rank.id() < 2 ? "tp" : "rest", line(10));
  Tensor data = rank.zeros(6, Kind::buffer, DType::f32, line(11));
  pause();
  if (rank.id() == 0) {
    pair.all_reduce(data, ReduceOp::sum, line(13));
  } else if (rank.id() == 1) {
    pair.all_reduce(data.part({0, 3}), ReduceOp::sum, line(15));
  }
  rank.world().barrier(line(17));
}

void message_sizes(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(12, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) rank.world().send(data, 1, line(12));
  if (rank.id() == 1) rank.world().recv(data.part({0, 8}), 0, line(13));
}

void message_types(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(12, Kind::buffer, rank.id() == 0 ? DType::f32 : DType::i32, line(10));
  pause();
  if (rank.id() == 0) rank.world().send(data, 1, line(12));
  if (rank.id() == 1) rank.world().recv(data, 0, line(13));
}

// The last rank asks for more than the server has made room for.
void sizes_of_questions(Rank& rank, Pauses& pause) {
  Tensor data = rank.zeros(is_last(rank) ? 12 : 8, Kind::buffer, DType::f32, line(10));
  pause();
  if (rank.id() == 0) {
    for (int i = 1; i < rank.size(); ++i) rank.world().recv_any(data, line(12));
  } else {
    rank.world().send(data, 0, line(14));
  }
}

// Groups of different colors may have different names; one group has one.
void names(Rank& rank, Pauses& pause) {
  pause();
  const int color = rank.id() == 2 ? 1 : 0;
  rank.world().split(color, 0, color == 1 ? "alone" : rank.id() == 1 ? "b" : "a", line(11));
}

// What the harness has called before the learner's function is none of the learner's calls.
void after_the_harness(Rank& rank, Pauses& pause) {
  Group pair = rank.world().split(0, rank.id(), "pair", Location());
  pair.barrier(Location());
  rank.world().barrier(Location());
  Tensor data = rank.zeros(12, Kind::buffer, DType::f32, line(10));
  rank.world().all_reduce(data, ReduceOp::sum, line(11));
  pause();
  pair.broadcast(data, rank.id() == 1 ? 1 : 0, line(13));
}

}  // namespace

std::vector<WrongProgram> mismatches() {
  return {
      {"mismatch_counts", "mismatch", "the last rank gives fewer elements", counts, 1},
      {"mismatch_rows", "mismatch", "rank 0 sends more rows than rank 1 expects", rows},
      {"mismatch_types", "mismatch", "rank 0 gives another type of the same size", types, 2},
      {"mismatch_operators", "mismatch", "rank 1 reduces with another operator", operators, 3},
      {"mismatch_operations", "mismatch", "the last rank calls barrier instead", operations, 5},
      {"mismatch_roots", "mismatch", "rank 0 names another root", roots, 6},
      {"mismatch_whole_from_own_part", "mismatch", "all parts taken to be as long as the own one", whole_from_own_part},
      {"mismatch_message_of_own_length", "mismatch", "a part taken to be as long as the own one",
       message_of_own_length},
      {"mismatch_second_call", "mismatch", "rank 1 reduces once too often", second_call},
      {"mismatch_order", "mismatch", "rank 0 starts two reductions in the other order", order},
      {"mismatch_parts", "mismatch", "parts are taken for equally long", parts},
      {"mismatch_scattered_parts", "mismatch", "a part as large as the whole", scattered_parts},
      {"mismatch_names", "mismatch", "rank 1 gives its group another name", names},
      {"mismatch_after_the_harness", "mismatch", "in the first call that is the learner's", after_the_harness},
      {"mismatch_subgroup", "mismatch", "in a group of two", in_a_subgroup},
      {"mismatch_message_sizes", "mismatch", "the receiver expects fewer elements", message_sizes},
      {"mismatch_questions", "mismatch", "the last rank sends more than a server has room for", sizes_of_questions},
      {"mismatch_message_types", "mismatch", "the receiver expects another type", message_types}};
}

}  // namespace shardlings::misuse
