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
  const int n = group.size(), me = group.rank();
  const Count mine = group.mine(in.size()).size();
  const auto part_for = [&](int r) { return in.part(group.part(in.size(), r)); };
  const auto part_from = [&](int r) { return out.part({r * mine, (r + 1) * mine}); };
  if (mine > 0) copy(part_from(me), part_for(me));
  // In step s everybody looks s ranks ahead and receives from s ranks behind: no two ranks look at the same one.
  for (int s = 1; s < n; ++s) {
    const int ahead = (me + s) % n, behind = (me + n - s) % n;
    group.send_recv(part_for(ahead), ahead, part_from(behind), behind);
  }
}

/// Replaces `data` on every rank by that of rank `root`.
///
/// Wire    each rank sends the data at most once
/// Time    at most 3 % more than a chain of all ranks takes that passes on the best number of chunks: in each step a
///         rank sends one chunk while it receives the next one
/// Memory  nothing beside `data`, on the host neither
void broadcast(Rank& rank, Group& group, View data, int root, double alpha, double bw) {
  const int n = group.size(), place = (group.rank() + n - root) % n;  // in the chain that begins at the root
  const int next = place + 1 < n ? (group.rank() + 1) % n : kNobody;
  const int prev = place > 0 ? (group.rank() + n - 1) % n : kNobody;
  // The last rank has the last chunk after N-2+q steps of alpha + size/(q bw). Two summands of that depend on q: q
  // alpha and (N-2) size/(q bw). Their sum is least where they are equal.
  const double best = std::sqrt(std::max(n - 2, 0) * 4.0 * static_cast<double>(data.size()) / bw / alpha);
  const Count q = std::clamp<Count>(std::lround(best), 1, data.size());
  const auto chunk = [&](Count i) { return data.part({data.size() * i / q, data.size() * (i + 1) / q}); };
  for (Count i = 0; i <= q; ++i) {
    // The chunk that came in the step before goes on while the next one comes in.
    const int to = i > 0 ? next : kNobody, from = i < q ? prev : kNobody;
    group.send_recv(to == kNobody ? View() : chunk(i - 1), to, from == kNobody ? View() : chunk(i), from);
  }
}
// <<<

// Any order of steps is as good in which all ranks address different ones: with N a power of two, rank r may exchange
// with rank r ^ s in step s. If all ranks address rank 0 first, then rank 1, and so on, they wait for one another at
// one link.
//
// What production does differently: NCCL starts all sends and receives at once. Each rank begins with another peer, and
// the network sorts the rest out. Across nodes libraries for mixtures of experts send to the rank with the same number
// in the other node, which hands on inside its node (DeepEP). NCCL's broadcast is this chain: a ring that is open in
// front of the root, with chunks of fixed sizes.
