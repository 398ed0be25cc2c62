// Puzzle 08: all-to-all by pairwise exchange, and a broadcast in chunks.
//
// Each link should carry one message at a time, and always one that is needed.
// The lesson is README.md beside this file; `./shardlings explain 08` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <cmath>

using namespace shardlings;

/// Two collectives, made of messages, on the N = group.size() ranks of `group`. It may be a part of the world: ranks
/// count as group.rank() does.
///
/// in     (n)        f32; the same n on every rank. Part r of it, group.part(n, r), is for rank r. N need not divide n,
///                   and n may be smaller than N
/// out    (N mine)   room for a part from each rank, in the order of the ranks; mine is the length of part group.rank()
/// data   (n)        f32; the root's numbers, and room for as many on the others
/// alpha, bw         of a message: latency in ns, bytes per ns
///
/// Calls that you need: group.send_recv(out, to, in, from), which sends and receives at once, and copy(y, x). kNobody
/// in the place of a rank sends or receives nothing, and View() is no data. Other messages are as good. Built-in
/// collectives are not for use here: split and barrier are two of them.

// >>> your code (about 24 lines)
/// Sends part r of `in` to each rank r. Part r of `out` is afterwards what rank r has sent to this rank, and what this
/// rank has for itself is at its place, too.
///
/// Wire    each rank sends its parts for the others, each of them once, and nothing else
/// Time    N-1 steps, in each of which a rank sends one part and receives one: no link carries two at a time
/// Memory  nothing beside `in` and `out`, on the host neither
void all_to_all(Rank& rank, Group& group, ConstView in, View out) {
  not_implemented();
}

/// Replaces `data` on every rank by that of rank `root`.
///
/// Wire    each rank sends the data at most once
/// Time    at most 3 % more than a chain of all ranks takes that passes on the best number of chunks: in each step a
///         rank sends one chunk while it receives the next one
/// Memory  nothing beside `data`, on the host neither
void broadcast(Rank& rank, Group& group, View data, int root, double alpha, double bw) {
  not_implemented();
}
// <<<
