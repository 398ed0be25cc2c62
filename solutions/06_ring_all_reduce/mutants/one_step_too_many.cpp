// diagnosis: one_step_too_many
// The second half goes all the way round: everybody gets its own part back.

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
  for (int s = 0; s < n - 1; ++s) {
    const View sum = part(me - s - 1);
    const View got = buffer.part({0, sum.size()});
    group.send_recv(part(me - s), next, got, prev);
    add(sum, got);
  }
  for (int s = 0; n > 1 && s < n; ++s) group.send_recv(part(me + 1 - s), next, part(me - s), prev);
  // <<<
}
