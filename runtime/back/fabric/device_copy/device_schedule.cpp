#include "back/fabric/device_copy/device_schedule.h"

#include <algorithm>

#include "back/fabric/copy_kernel.h"
#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings::back {
namespace {

constexpr int kMost = Kernel::kInputs;    // inputs of one reduction kernel
constexpr std::int64_t kPartialSize = 4;  // of an element of a partial result: f32 or i32

class Scheduler {
 public:
  Scheduler(const Signature& signature, std::span<const Buffers> buffers, std::span<void* const> scratch)
      : signature_(signature), buffers_(buffers), scratch_(scratch) {}

  DeviceSchedule make() {
    if (signature_.kind == Collective::barrier || signature_.kind == Collective::split || signature_.count == 0)
      return {};
    phase(0).resize(static_cast<std::size_t>(signature_.members));
    for (int r = 0; r < signature_.members; ++r) first_phase(r);
    if (signature_.kind == Collective::all_reduce && signature_.members > 1) {
      phase(1).resize(static_cast<std::size_t>(signature_.members));
      for (int r = 0; r < signature_.members; ++r) collect_results(r);
    }
    return std::move(schedule_);
  }

 private:
  std::vector<std::vector<Kernel>>& phase(int i) { return schedule_.of_member[i]; }
  const Buffers& of(int member) const { return buffers_[static_cast<std::size_t>(member)]; }
  Range part(int member) const { return part_of(signature_.count, signature_.members, member); }

  const char* input(int member, Count first) const {
    return static_cast<const char*>(of(member).in) + first * size_of(signature_.dtype);
  }
  char* output(int member, Count first) const {
    return static_cast<char*>(of(member).out) + first * size_of(signature_.dtype);
  }

  void first_phase(int r) {
    const Range mine = part(r);
    switch (signature_.kind) {
      // Each member reduces its part of everybody's input. Nobody else reads that part of any input, so that it may
      // be overwritten in place.
      case Collective::all_reduce: reduce(r, mine, output(r, mine.begin)); break;
      case Collective::reduce_scatter: reduce(r, mine, output(r, 0)); break;
      case Collective::reduce: reduce(r, mine, output(signature_.root, mine.begin)); break;
      // In place, a member's input is the part of its output that it does not write.
      case Collective::all_gather:
        for (int j = 0; j < signature_.members; ++j) copy(r, output(r, part(j).begin), input(j, 0), part(j).size());
        break;
      case Collective::broadcast: copy(r, output(r, 0), input(signature_.root, 0), signature_.count); break;
      case Collective::gather: copy(r, output(signature_.root, mine.begin), input(r, 0), mine.size()); break;
      case Collective::scatter: copy(r, output(r, 0), input(signature_.root, mine.begin), mine.size()); break;
      case Collective::all_to_all:
        for (int j = 0; j < signature_.members; ++j) {
          copy(r, output(r, j * mine.size()), input(j, mine.begin), mine.size());
        }
        break;
      case Collective::send_recv:
        if (r == 1) copy(r, output(r, 0), input(0, 0), signature_.count);
        break;
      case Collective::barrier:
      case Collective::split: break;
    }
  }

  /// Second half of all_reduce: the parts that the others have reduced.
  void collect_results(int r) {
    for (int j = 0; j < signature_.members; ++j) {
      if (j == r) continue;
      const Range theirs = part(j);
      add_copy(1, r, output(r, theirs.begin), output(j, theirs.begin), theirs.size());
    }
  }

  void copy(int member, void* to, const void* from, Count count) { add_copy(0, member, to, from, count); }

  void add_copy(int in_phase, int member, void* to, const void* from, Count count) {
    if (count == 0 || to == from) return;
    phase(in_phase)[static_cast<std::size_t>(member)].push_back(copy_kernel(to, from, count, signature_.dtype));
  }

  /// Inputs in the members' order. With more of them than a kernel takes, through partial results in scratch memory:
  /// `to` may be an input that has not been read yet, and a partial result must not be rounded.
  void reduce(int member, Range range, void* to) {
    if (range.size() == 0) return;
    void* const partial = scratch_[static_cast<std::size_t>(member)];
    int next = 0;
    while (next < signature_.members) {
      Kernel kernel;
      int inputs = 0;
      const bool continues = next > 0;
      if (continues) kernel.in[inputs++] = partial;
      while (inputs < kMost && next < signature_.members) kernel.in[inputs++] = input(next++, range.begin);
      const bool last = next == signature_.members;
      kernel.id = KernelId::reduce;
      kernel.dtype = signature_.dtype;
      kernel.out[0] = last ? to : partial;
      kernel.n[0] = range.size();
      kernel.n[1] = inputs;
      kernel.n[2] = static_cast<Count>(signature_.reduce);
      kernel.n[3] = signature_.members;
      kernel.n[4] = continues ? 1 : 0;
      kernel.n[5] = last ? 0 : 1;
      phase(0)[static_cast<std::size_t>(member)].push_back(kernel);
    }
  }

  const Signature& signature_;
  std::span<const Buffers> buffers_;
  std::span<void* const> scratch_;
  DeviceSchedule schedule_;
};

}  // namespace

DeviceSchedule make_device_schedule(const Signature& signature, std::span<const Buffers> buffers,
                                    std::span<void* const> scratch) {
  return Scheduler(signature, buffers, scratch).make();
}

Bytes scratch_size(const Signature& signature, int member) {
  const bool reduces = signature.kind == Collective::all_reduce || signature.kind == Collective::reduce_scatter ||
                       signature.kind == Collective::reduce;
  if (!reduces || signature.members <= kMost) return Bytes(0);
  return Bytes(part_of(signature.count, signature.members, member).size() * kPartialSize);
}

}  // namespace shardlings::back
