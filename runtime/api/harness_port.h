/// \file
/// What a harness has beside the learner's Port. A harness runs on the runtime's side of the cut, so data and
/// structures are handed over here as they are, and no call carries them: `load` and `add_model` name what was lent by
/// a number.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "api/port.h"
#include "base/units.h"
#include "shardlings/location.h"

namespace shardlings::model {
struct ModelStructure;
}

namespace shardlings::detail {

/// A Port whose calls have the harness's right.
class HarnessPort : public Port {
 public:
  /// Lends values to the next call, which names them by the number returned. They are not copied.
  virtual std::uint64_t lend(std::span<const std::byte> values) = 0;
  virtual std::uint64_t lend(std::shared_ptr<const model::ModelStructure> structure) = 0;

  /// False: the rank's device computes nothing, so values that are lent are not looked at.
  virtual bool computes() const { return true; }

  /// The elements of a tensor of the device, as f32. Costs no virtual time, and is not counted.
  virtual std::vector<float> values_of(const Ref& ref) = 0;
  /// Throws InvalidArgument unless the rank has these elements of a tensor: for what others say is one.
  virtual void check(const Ref& ref) const = 0;
  /// Between begin_measuring and end_measuring.
  virtual bool measures() const = 0;
  /// The rank's virtual clock.
  virtual Nanos now() const = 0;
  /// Where the learner's code made its last call; nowhere if it has made none, or nobody has noted it.
  virtual Location last_place() const { return {}; }

 protected:
  ~HarnessPort() = default;
};

}  // namespace shardlings::detail
