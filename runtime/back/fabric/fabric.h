/// \file
/// How bytes move between ranks. A fabric moves and reduces data; matching of calls, counting and time are the front's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "back/kernels/kernels.h"
#include "shardlings/group.h"

namespace shardlings::back {

/// What ranks do together.
enum class Collective : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all,
  barrier,
  split,
  send_recv
};
inline constexpr int kCollectives = 11;
const char* name_of(Collective kind);

/// One operation, the same for every member. Parts of `count` elements are those of part_of() (base/parts.h).
/// `send_recv` has two members: 0 sends, 1 receives. `barrier` and `split` move nothing.
struct Signature {
  Collective kind = Collective::barrier;
  DType dtype = DType::f32;
  ReduceOp reduce = ReduceOp::sum;
  int root = 0;
  int members = 1;
  Count count = 0;  ///< elements of the whole: all_gather: of the result, reduce_scatter and all_to_all: of the input
};

/// One member's memory. In-place operations have in == out; members without an input or output have nullptr.
struct Buffers {
  Device* device = nullptr;
  const void* in = nullptr;
  void* out = nullptr;
};

/// Where a member's data are, for the data planes of the others: what the number means is the fabric's.
using DataHandle = std::uint64_t;

/// What a member's help has come to.
enum class HelpResult : std::uint8_t {
  complete,  ///< said exactly once, to the caller who moved the last piece
  none_left  ///< nothing more to claim here; others may still be moving theirs
};

/// The data side of one operation; objects are reused for many. In one address space it is shared by the members.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Starts over for a new operation of so many members; no member is active in the old one any more.
  virtual void begin(int members) = 0;
  /// A member's buffers are ready (for devices: at this point of its compute lane). Never blocks. `signature` is as the
  /// member called it: of gather and scatter only the root knows the count; the others' is minus their own part's.
  /// Returns the handle by which the other members' exchanges find these buffers; launch() gets those of all members.
  virtual DataHandle post(int member, const Signature& signature, const Buffers& buffers) = 0;
  /// All members have posted and agree on the signature; called once in each address space. True if the data are in
  /// place (or, for devices, enqueued) on return. Never blocks.
  virtual bool launch(const Signature& signature, std::span<const DataHandle> handles) = 0;
  /// Moves pieces until none is left to claim. Any number of members may call at once, after launch() said false.
  virtual HelpResult help(int member) = 0;
  /// After completion: from here on the member's compute lane may use the result.
  virtual void finish(int member) = 0;
  /// Instead of launch() and finish(): the operation never happens, and the member wants its memory back.
  virtual void revoke(int) {}
  /// After launch(): where the operation begins and ends on a lane of this member's device, if that measures.
  virtual Marks marks(int) { return {}; }
};

class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual std::unique_ptr<Exchange> make_exchange() = 0;
  /// Makes pending operations fail, so that no rank hangs in them.
  virtual void abort() noexcept = 0;
  /// Of a run that has failed: returns when nothing moves any more, so that the ranks' memory can go. Operations
  /// that nobody has waited for may have been launched.
  virtual void rest() noexcept {}

  /// Told that a launched operation will never be complete (`exchange` is nullptr if it is about none in particular),
  /// and how that is known.
  using Stuck = std::function<void(const Exchange* exchange, const std::string& why)>;
  /// Whom to tell, from a thread of the fabric's own; an empty function from then on nobody. Only fabrics whose
  /// operations are out of this program's hands tell anything.
  virtual void watch(Stuck) {}  // NOLINT(performance-unnecessary-value-param): others keep it
};

/// Ranks are threads whose devices' memory is the host's: a rank that waits claims pieces of the operation.
std::unique_ptr<Fabric> make_in_process_fabric();
/// Moves nothing: for devices that compute nothing.
std::unique_ptr<Fabric> make_dry_fabric();
/// Several ranks on devices of one kind: ordered reduction and copy kernels on their communication lanes.
std::unique_ptr<Fabric> make_device_copy_fabric();

}  // namespace shardlings::back
