// Puzzle 07: an all-reduce by trees, one by levels, and the choice between them.
//
// Small data want few steps, large data want every link busy; and nodes are joined by slower links than their ranks.
// The lesson is README.md beside this file; `./shardlings explain 07` shows it in the terminal.

#include <shardlings/puzzle.h>

using namespace shardlings;

/// The first half of puzzle 06: afterwards rank r of the group has part r of the sum, group.part(data.size(), r), at
/// its place in `data`. The other parts of `data` hold unfinished sums. `buffer` has room for the longest part.
void ring_reduce_scatter(Group& group, View data, View buffer) {
  const int n = group.size(), me = group.rank();
  const auto part = [&](int i) { return data.part(group.part(data.size(), (i % n + n) % n)); };
  for (int s = 1; s < n; ++s) {
    const View sum = part(me - s - 1), got = buffer.part({0, sum.size()});
    group.send_recv(part(me - s), (me + 1) % n, got, (me + n - 1) % n);
    add(sum, got);
  }
}

/// The second half: rank r brings part r, and afterwards every rank has all parts.
void ring_all_gather(Group& group, View data) {
  const int n = group.size(), me = group.rank();
  const auto part = [&](int i) { return data.part(group.part(data.size(), (i % n + n) % n)); };
  for (int s = 0; s < n - 1; ++s) group.send_recv(part(me - s), (me + 1) % n, part(me - s - 1), (me + n - 1) % n);
}

/// Three functions that replace `data` on every rank by its sum over all N ranks of all R nodes, element by element.
///
/// data       (n)  f32; the same n on every rank; size is the bytes of all n elements
/// node            the k ranks of this rank's node; rank 0 of it is the node's leader
/// across          of each node the rank with the same number as this one. The leaders' `across` is the group of all
///                 leaders, R ranks
/// alpha, bw       [0] inside a node, [1] between nodes: latency in ns, bytes per ns
///
/// Calls that you need: group.send(view, to), group.recv(view, from) and add(y, x) for the tree; the two halves above
/// for the levels. Other messages are as good. Built-in collectives are not for use here: split and barrier are two of
/// them.

// >>> your code (about 36 lines)
/// By trees: of each node's ranks to its leader, of the leaders to rank 0 of the world, and back the same way. Nodes
/// may have different numbers of ranks.
///
/// Wire    every rank but rank 0 sends its sum once and gets the result once: all ranks together send no more than
///         that. Between nodes there is only what the leaders send one another
/// Time    as few rounds as it takes until one rank has heard of all others, and as many back: inside, those of the
///         largest node, and between nodes those of the leaders. A round takes one message of the whole data
/// Memory  `data` and a buffer as long, nothing on the host
void tree_all_reduce(Rank& rank, Group& node, Group& across, View data) {
  not_implemented();
}

/// By levels: a reduce-scatter inside the node, an all-reduce of this rank's part between nodes, an all-gather inside.
/// All nodes have k ranks.
///
/// Wire    each rank sends what a rank of a ring sends: inside its node of a ring of k ranks that adds up the whole
///         data, between nodes of a ring of R ranks that adds up its part. No rank sends for another one
/// Time    the steps of these rings, one after another: inside with parts of the data, between nodes with an R-th of a
///         part, where all parts are as long as the longest
/// Memory  `data` and the longest part of a node, nothing on the host
void hierarchical_all_reduce(Rank& rank, Group& node, Group& across, View data) {
  not_implemented();
}

/// One of the two, on nodes of k ranks.
///
/// Time    at most the shorter one of the two times, for every size
/// Memory  that of the shorter one
void all_reduce(Rank& rank, Group& node, Group& across, const std::vector<double>& alpha, const std::vector<double>& bw,
                View data) {
  not_implemented();
}
// <<<
