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
  // Reduce-scatter. In step s the part that I added to in step s-1 goes on to my neighbour, and the one before it comes
  // in from behind. It left its own rank s+1 hops ago and has collected all ranks on its way.
  for (int s = 0; s < ranks - 1; ++s) {
    const View sum = part(me - s - 1);
    const View got = buffer.part({0, sum.size()});
    group.send_recv(part(me - s), next, got, prev);
    add(sum, got);
  }
  // All-gather. part(me + 1) is the one that I added to last: it is complete, and I am the only one who has it. The
  // same ring again, without adding: what comes in is finished and goes where it belongs.
  for (int s = 0; s < ranks - 1; ++s) group.send_recv(part(me + 1 - s), next, part(me - s), prev);
  // <<<
}

// Parts without elements (n < N) are sent like the others: a message of zero elements still is a meeting of two ranks,
// and leaving it out on one side only would make the ring stumble.
//
// What it costs: every rank sends all parts but one in each half, 2(N-1)/N size, and no all-reduce can do with less
// (Patarasuk and Yuan 2009). The price is 2(N-1) latencies: for small n a tree with about 2 log2(N) of them is faster.
//
// What production does differently: NCCL runs many rings at once, one for each channel, laid so that all links of a
// node are busy. It cuts parts into slices, so that adding one slice overlaps with receiving the next; it sends small
// messages by a protocol that gives up half the bandwidth for a lower latency, takes a double binary tree across many
// nodes, and lets switches add where they can (NVLink SHARP). Each part of a ring is added up in another order of
// ranks, so floating-point sums differ in the last bits from those in rank order, which group.all_reduce makes.
