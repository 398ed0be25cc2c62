// diagnosis: remainder_lost
// Parts of n / N elements, rounded down: the rest is never sent.

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
  const Count length = data.size() / n;
  const auto even = [&](int i) {
    const Count begin = ((i % n) + n) % n * length;
    return data.part({begin, begin + length});
  };
  for (int s = 0; s < n - 1; ++s) {
    const View sum = even(me - s - 1);
    const View got = buffer.part({0, sum.size()});
    group.send_recv(even(me - s), next, got, prev);
    add(sum, got);
  }
  for (int s = 0; s < n - 1; ++s) group.send_recv(even(me + 1 - s), next, even(me - s), prev);
  // <<<
}
