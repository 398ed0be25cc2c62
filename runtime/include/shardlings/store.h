/// \file
/// A storage that all ranks of a run share, and that outlives them: what checkpoints lie in.
///
/// It has folders, and folders have items: the elements of one tensor, or one number. Whoever writes an item writes all
/// of it; who reads it may read a part. What is read or asked for is what is there at that virtual time, whoever has
/// written it, and so the same in every run: as with Group::recv_any, the answer is given when no rank can still do
/// anything earlier.
/// Each rank has a lane of its own to the store, where its writes and reads are done one after another, in the order
/// of the calls; each takes latency + bytes / bandwidth, and at least a nanosecond. The lanes of the ranks share
/// nothing. Names of folders and items have letters, digits, '-' and '_' only, up to 64 of them. All calls throw
/// InvalidArgument for a name that is none and for tensors that are none, MisuseError(race) for a tensor in flight,
/// Aborted if the run has failed on another rank. What two ranks write to one item at the same time is a race, which
/// ends the run.
#pragma once

#include "shardlings/group.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// The name of an item inside its folder: {"weights", 3, 1} is weights.3.1, and {"step"} is step. What the numbers say
/// is the program's affair, such as a layer and a part of it; negative ones are not there, so {"w", -1, 3} is w.3, too.
struct Item {
  const char* what = "";  ///< its first word
  int first = -1;         ///< its first number
  int second = -1;        ///< its second number
};

/// What Store::size() and Store::read_number() say where there is no such item.
inline constexpr Count kNoItem = -1;

/// The store, as one rank uses it. A light handle: copy it freely.
class SHARDLINGS_API Store {
 public:
  /// Writes `data` (n elements, 0 or more, of either memory) as an item. From the moment at which the write begins,
  /// what had this name is gone, and until it ends the item is torn: nobody can read it. If this rank dies meanwhile,
  /// it stays torn. `after` is as in host.h, but for what takes other ranks: wait() for that first, since what others
  /// find here at a time must be known by then. Until wait() `data` are in flight, and may be read but not written.
  /// store: size. throws: InvalidArgument also for such an `after`, PeerFailed if it was revoked.
  Work write_async(const char* folder, Item item, ConstView data, const Work& after = {},
                   Location at = Location::current());
  /// write_async() and wait().
  void write(const char* folder, Item item, ConstView data, Location at = Location::current());
  /// Elements [first, first + n) of an item as it is when this is called, into `data` (n elements of its type).
  /// store: size of `data`. throws: InvalidArgument also if there is no such item, if it is torn, is a number, has
  /// another type, or too few elements.
  Work read_async(const char* folder, Item item, Count first, View data, Location at = Location::current());
  /// read_async() and wait().
  void read(const char* folder, Item item, Count first, View data, Location at = Location::current());
  /// How many elements an item has; kNoItem if there is none, or it is torn or a number. Takes the latency.
  Count size(const char* folder, Item item, Location at = Location::current());

  /// write() of one number, 8 bytes. kNoItem itself reads as if there were none.
  void write_number(const char* folder, Item item, Count value, Location at = Location::current());
  /// The number that an item is; kNoItem if there is none, or it is torn or a tensor. Takes the latency.
  Count read_number(const char* folder, Item item, Location at = Location::current());

  /// Renames a folder with all its items at once, after what this rank has started on its lane: when this returns, `as`
  /// is what `folder` was, `folder` is gone, and so is what `as` was. If this rank dies meanwhile, nothing has
  /// happened. What others are still writing to the folder goes with it, torn. Takes the latency. throws:
  /// InvalidArgument also if there is no such folder.
  void publish(const char* folder, const char* as, Location at = Location::current());

 private:
  friend struct detail::Access;
  detail::Port* port_ = nullptr;
};

}  // namespace shardlings
