// Puzzle 06: ring all-reduce.
//
// Every rank has n numbers; afterwards every rank has their sums. No rank may carry more than its share.
// The lesson is README.md beside this file; `./shardlings explain 06` shows it in the terminal.

#include <shardlings/puzzle.h>

using namespace shardlings;

/// Replaces `data` on every rank of `group` by its sum over these N = group.size() ranks, element by element. The group
/// may be a part of the world: ranks count as group.rank() does.
///
/// data     (n)              f32; the same n on every rank. N need not divide n, and n may be smaller than N
/// part(i)  (about n / N)    part i of data. Parts count round the ring: part(-1) is part(N - 1), part(N) is part(0)
/// buffer   (longest part)   room for one part that arrives; b.part({0, k}) are the first k elements of a tensor b
///
/// Wire    no rank sends more than a reduce-scatter and an all-gather round the ring make necessary, nor more than the
///         others, but for parts that are an element longer. A part is one message
/// Time    no more steps than these two have; in each a rank sends one part and receives one at once, and none takes
///         longer than the longest part does
/// Memory  nothing beside `data` and `buffer`, on the host neither
///
/// Calls that you need: group.send_recv(out, to, in, from), which sends and receives at once, and add(y, x): y += x.
/// send, recv and the _async forms are as good. The built-in collectives (group.all_reduce and its like, split
/// and barrier too) are what you are building, and not for use here.
void ring_all_reduce(Rank& rank, Group& group, View data) {
  const int ranks = group.size();
  const int me = group.rank();
  const int next = (me + 1) % ranks;
  const int prev = (me + ranks - 1) % ranks;
  const auto part = [&](int i) { return data.part(group.part(data.size(), ((i % ranks) + ranks) % ranks)); };
  Tensor buffer = rank.empty(part(0).size(), Kind::buffer);  // part 0 is the longest

  // >>> your code (about 8 lines)
  not_implemented();
  // <<<
}
