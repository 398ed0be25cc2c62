// diagnosis: through_one_rank
// Rank 0 collects, adds, and hands out: N-1 tensors out of one rank.

#include <shardlings/puzzle.h>

using namespace shardlings;

void ring_all_reduce(Rank& rank, Group& group, View data) {
  const int n = group.size();
  const int me = group.rank();
  const int next = (me + 1) % n;
  const int prev = (me + n - 1) % n;
  const auto part = [&](int i) { return data.part(group.part(data.size(), ((i % n) + n) % n)); };
  Tensor buffer = rank.empty(part(0).size(), Kind::buffer);  // part 0 is the longest

  // >>> your code (about 8 lines)
  if (me > 0) {
    group.send(data, 0);
    group.recv(data, 0);
    return;
  }
  for (int r = 1; r < n; ++r) {
    Tensor other = rank.empty(data.size(), Kind::buffer);
    group.recv(other, r);
    add(data, other);
  }
  for (int r = 1; r < n; ++r) group.send(data, r);
  // <<<
}
