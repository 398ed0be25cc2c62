/// \file
/// Groups of ranks and what they do together: collectives and point-to-point, blocking and asynchronous.
///
/// Nothing here allocates: results go to views that the caller provides. Sums are made in rank order, so results are
/// bit-identical on all ranks and from run to run. "n" below is a number of elements, "size" bytes of all n of them,
/// N the size of the group. Misuse (mismatch, deadlock, desertion) ends the whole run with a report that names ranks,
/// calls and source lines. Parts of n elements are those of Group::part: the first n % N parts hold one element more.
///
/// Every call but rank() and size() throws InvalidArgument if it makes no sense on this rank alone (an empty Group or
/// view, sizes or types that do not fit, a rank that the group does not have), MisuseError(race) for a tensor that is
/// in flight, and Aborted if the run has failed on another rank. A rank whose part has no element gives a tensor of
/// size 0; no tensor at all may be given only where the call says so, and to or from kNobody. What is started by an
/// ..._async call has the same bytes and the same sums as the blocking one, in the same order among the group's calls.
#pragma once

#include <vector>

#include "shardlings/tensor.h"

namespace shardlings {

/// How a reduction combines the ranks' elements. `mean` divides the sum by the group's size. Codes of 8 bits (e4m3)
/// cannot be combined; of their scales (e8m0) there is `max`, in which NaN is the largest.
enum class ReduceOp : std::uint8_t { sum, mean, max, min };

/// The rank that is nobody: sending to it or receiving from it does nothing, splitting with it joins no group.
inline constexpr int kNobody = -1;

/// An operation that was started and has to be waited for; move-only.
///
/// Until then its tensors are in flight: an input may be read but not written, an output neither.
/// A Work that is dropped without wait() is a leak, unless another one comes after it (see host.h): waiting for that
/// one is waiting for both. A default-constructed Work waits for nothing.
class [[nodiscard]] SHARDLINGS_API Work {
 public:
  Work() = default;
  /// `other` waits for nothing afterwards.
  Work(Work&& other) noexcept;
  /// As if what was there were dropped; `other` waits for nothing afterwards.
  Work& operator=(Work&& other) noexcept;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work();

  /// Returns when the operation's result is in place; the virtual clock moves to its end. Again: does nothing.
  /// throws: Aborted if the run has failed on another rank, MisuseError if no rank can go on any more.
  void wait(Location at = Location::current());

  /// Holds a tensor until wait(), so that it may be "dropped" while in flight: `f(t).keep(std::move(t))`. A Work that
  /// waits for nothing, a default one or one to kNobody, drops it at once.
  [[nodiscard]] Work keep(Tensor&& tensor) &&;

 private:
  friend struct detail::Access;
  detail::Port* port_ = nullptr;
  std::uint64_t id_ = 0;
};

/// Some ranks, in a fixed order. A light handle: copy it freely.
class SHARDLINGS_API Group {
 public:
  Group() = default;

  /// This rank's number inside the group, 0 to size()-1.
  int rank() const { return rank_; }
  /// How many ranks it has, N; 0 for an empty Group.
  int size() const { return size_; }
  /// It is not empty.
  explicit operator bool() const { return size_ > 0; }

  /// Which of n elements belong to rank r: consecutive parts, the first n % N of them one element longer.
  /// Empty for an empty Group. throws: InvalidArgument for a negative n, or a rank that the group does not have.
  Range part(Count n, int r, Location at = Location::current()) const;
  /// part(n, rank()).
  Range mine(Count n, Location at = Location::current()) const { return part(n, rank_, at); }

  /// Combines `data` (n elements on every rank) over all ranks, in place.
  /// wire: 2(N-1)/N size sent per rank (Patarasuk and Yuan 2009).
  void all_reduce(View data, ReduceOp op, Location at = Location::current());
  /// Starts all_reduce().
  Work all_reduce_async(View data, ReduceOp op, Location at = Location::current());

  /// Combines `in` (n elements) over all ranks; rank r keeps part(n, r) of the result in `out`.
  /// wire: (N-1)/N size. `out` may be `in.part(mine(n))` or apart from `in`.
  void reduce_scatter(ConstView in, View out, ReduceOp op, Location at = Location::current());
  /// Starts reduce_scatter().
  Work reduce_scatter_async(ConstView in, View out, ReduceOp op, Location at = Location::current());

  /// Collects part(n, r) from every rank r (`in`) into all n elements (`out`) on all ranks.
  /// wire: (N-1)/N size. `in` may be `out.part(mine(n))` or apart from `out`.
  void all_gather(ConstView in, View out, Location at = Location::current());
  /// Starts all_gather().
  Work all_gather_async(ConstView in, View out, Location at = Location::current());

  /// Copies `data` (n elements on every rank) of rank `root` to all ranks. wire: ring, each rank but the last passes
  /// size on.
  void broadcast(View data, int root, Location at = Location::current());
  /// Starts broadcast().
  Work broadcast_async(View data, int root, Location at = Location::current());

  /// Combines `data` over all ranks into `data` of rank `root`; the others' `data` stay as they are. wire: ring, each
  /// rank but the root passes size on.
  void reduce(View data, ReduceOp op, int root, Location at = Location::current());
  /// Starts reduce().
  Work reduce_async(View data, ReduceOp op, int root, Location at = Location::current());

  /// Collects part(n, r) from every rank r (`in`) into `out` (n elements) of rank `root`; elsewhere `out` is `{}`.
  /// wire: each rank but the root sends its part.
  void gather(ConstView in, View out, int root, Location at = Location::current());
  /// Starts gather().
  Work gather_async(ConstView in, View out, int root, Location at = Location::current());

  /// Hands part(n, r) of `in` (n elements) of rank `root` to every rank r (`out`); elsewhere `in` is `{}`.
  /// wire: the root sends all parts but its own.
  void scatter(ConstView in, View out, int root, Location at = Location::current());
  /// Starts scatter().
  Work scatter_async(ConstView in, View out, int root, Location at = Location::current());

  /// Sends part(n, r) of `in` (n elements, the same n everywhere) to every rank r. Rank r receives N parts of
  /// part(n, r).size() elements into `out`, in the order of the senders. wire: (N-1)/N size.
  void all_to_all(ConstView in, View out, Location at = Location::current());
  /// Starts all_to_all().
  Work all_to_all_async(ConstView in, View out, Location at = Location::current());

  /// Sends sends[0] rows of `in` (Shape::rows()) to rank 0, the next sends[1] to rank 1, and so on; receives
  /// receives[r] rows from every rank r into `out`, in the order of the senders. Both sides have to know each number: a
  /// message of another size than the one that is expected is a mismatch. All rows are there on return. It is a send
  /// and a receive for every other rank, all started at once, and a copy of what stays: so no two ranks need to agree
  /// on more than the numbers between them. wire: what is sent to others. throws: InvalidArgument also if there are not
  /// N numbers, one is negative, they do not add up to the rows of `in` and of `out`, or sends and receives of this
  /// rank to itself differ.
  void all_to_all_rows(ConstView in, const std::vector<Count>& sends, View out, const std::vector<Count>& receives,
                       Location at = Location::current());

  /// Sends to rank `to` of the group. Rendezvous: complete only when the receiver has posted its receive and the data
  /// have arrived there, latency included.
  /// Messages between the same two ranks of the same group in the same direction stay in order. wire: size.
  void send(ConstView data, int to, Location at = Location::current());
  /// Starts send().
  Work send_async(ConstView data, int to, Location at = Location::current());
  /// Receives from rank `from` of the group, as many elements as that sends. wire: nothing is sent.
  void recv(View data, int from, Location at = Location::current());
  /// Starts recv().
  Work recv_async(View data, int from, Location at = Location::current());
  /// Receives the earliest message that any other rank of the group sends here, and returns the rank in the group of
  /// its sender. The earliest is the one that could be here first in virtual time, whenever this is called: its start
  /// at the sender, latency and bytes / bandwidth; of equal ones that of the lowest rank. Nothing is decided before no
  /// other rank can still send an earlier one, so it is the same one in every run. It must have as many elements as
  /// `data`, and of one sender it is the next message. wire: nothing is sent. throws: InvalidArgument also if the group
  /// has no other rank.
  int recv_any(View data, Location at = Location::current());
  /// Sends and receives at once, so that a ring of ranks that all do it does not deadlock. wire: size of `out`.
  void send_recv(ConstView out, int to, View in, int from, Location at = Location::current());

  /// Returns when every rank of the group has called it. wire: nothing.
  void barrier(Location at = Location::current());

  /// Divides this group: ranks with the same color form a group, ordered by key (then by rank here).
  /// Collective over this group; color kNobody joins none and gets an empty Group. `name` is for reports.
  /// wire: nothing.
  Group split(int color, int key, const char* name = "", Location at = Location::current());

 private:
  friend struct detail::Access;
  detail::Port* port_ = nullptr;
  std::uint32_t id_ = 0;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace shardlings
