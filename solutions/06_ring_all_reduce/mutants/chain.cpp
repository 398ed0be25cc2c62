// diagnosis: through_one_rank
// Sums up along a chain and passes them back: the ranks in the middle send everything twice.

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
    Tensor sum = rank.empty(data.size(), Kind::buffer);
    group.recv(sum, prev);
    add(data, sum);
  }
  if (me + 1 < n) {
    group.send(data, next);
    group.recv(data, next);
  }
  if (me > 0) group.send(data, prev);
  // <<<
}
