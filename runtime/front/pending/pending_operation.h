/// \file
/// An operation from its call to its wait: one of several ranks (front/group) or one of the host (front/host).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "back/kernels/kernels.h"
#include "front/memory/operand.h"

namespace shardlings::front {

/// When an operation ran, in virtual time.
struct Times {
  Nanos start;
  Nanos end;
};

class PendingOperation {
 public:
  /// An argument that it uses until it is over; only operations that the program does not wait for at once need any.
  struct Use {
    Operand operand;
    bool writes = false;
  };

  virtual ~PendingOperation() = default;

  /// Waits, on behalf of the program or of an operation that comes after this one; the program's clock stays (see
  /// pass_time()). Then the operation is complete on this rank as far as the host can tell, its times are known, and
  /// everything that it comes after is so, too. The first call may block until other ranks have posted; later ones
  /// repeat the answer.
  virtual Times settle(Location at) = 0;
  virtual bool settled() const = 0;
  /// settle() would not have to wait for another rank's call.
  virtual bool can_settle() const = 0;
  /// Another rank has died, and nobody will wait for this: it never happens.
  virtual void revoke() = 0;
  /// A point of a device's lane at which a settled operation is over.
  virtual back::DeviceEvent event() = 0;
  /// The program waits for it: the clock moves, time is accounted and the events are recorded. At most once.
  virtual void pass_time(Location at) = 0;
  /// For a run that failed before anybody waited for it: records when it ran, or if that is not known, that it was in
  /// flight from its call until now.
  virtual void trace_in_flight() = 0;
  /// "all_reduce": for reports of races.
  virtual const char* name() const = 0;
  /// "all_reduce (group world, 8 f32)": for reports of leaks.
  virtual std::string describe() const = 0;

  Location at;
  std::uint64_t order = 0;  ///< number of the call on its rank
  Nanos posted;
  std::vector<Use> uses;
  std::vector<detail::Ref> kept;  ///< tensors to free when it has been waited for
  std::uint64_t after = 0;        ///< the Work that it comes after; 0: none
  bool revoked = false;           ///< it never happens
  bool forgiven = false;          ///< a rank has died meanwhile: nobody need wait for it
  bool followed = false;          ///< another one comes after it: waiting for that one will do
};

}  // namespace shardlings::front
