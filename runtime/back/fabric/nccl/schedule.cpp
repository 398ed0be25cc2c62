#include "back/fabric/nccl/schedule.h"

#include <algorithm>

#include "back/fabric/copy_kernel.h"
#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings::back::nccl {
namespace {

using What = Call::What;

class Scheduler {
 public:
  Scheduler(const Signature& signature, std::span<const Buffers> buffers) : signature_(signature), buffers_(buffers) {
    schedule_.members.resize(buffers.size());
  }

  Schedule make() {
    if (signature_.kind == Collective::barrier || signature_.kind == Collective::split || signature_.count == 0)
      return {};
    for (int r = 0; r < signature_.members; ++r) add(r);
    return std::move(schedule_);
  }

 private:
  Schedule::Member& of(int member) { return schedule_.members[static_cast<std::size_t>(member)]; }
  Range part(int member) const { return part_of(signature_.count, signature_.members, member); }
  bool equal_parts() const { return signature_.count % signature_.members == 0; }
  bool alone() const { return signature_.members == 1; }

  const char* in(int member, Count first) const {
    return static_cast<const char*>(buffers_[static_cast<std::size_t>(member)].in) + first * size_of(signature_.dtype);
  }
  char* out(int member, Count first) const {
    return static_cast<char*>(buffers_[static_cast<std::size_t>(member)].out) + first * size_of(signature_.dtype);
  }

  void add(int r) {
    const Range mine = part(r);
    const bool is_root = r == signature_.root;
    switch (signature_.kind) {
      case Collective::all_reduce:
        call(r, What::all_reduce, in(r, 0), out(r, 0), signature_.count, 0);
        divide(r, out(r, 0), signature_.count);
        break;
      case Collective::reduce_scatter: reduce_scatter(r); break;
      case Collective::all_gather: all_gather(r); break;
      case Collective::broadcast:
        call(r, What::broadcast, in(r, 0), out(r, 0), signature_.count, signature_.root);
        break;
      case Collective::reduce:
        call(r, What::reduce, in(r, 0), is_root ? out(r, 0) : nullptr, signature_.count, signature_.root);
        if (is_root) divide(r, out(r, 0), signature_.count);
        break;
      case Collective::gather:
        give(r, signature_.root, in(r, 0), mine.size());
        for (int j = 0; is_root && j < signature_.members; ++j)
          take(r, j, out(r, part(j).begin), in(r, 0), part(j).size());
        break;
      case Collective::scatter:
        for (int j = 0; is_root && j < signature_.members; ++j) give(r, j, in(r, part(j).begin), part(j).size());
        take(r, signature_.root, out(r, 0), is_root ? in(r, mine.begin) : nullptr, mine.size());
        break;
      case Collective::all_to_all:
        for (int j = 0; j < signature_.members; ++j) {
          give(r, j, in(r, part(j).begin), part(j).size());
          take(r, j, out(r, j * mine.size()), in(r, mine.begin), mine.size());
        }
        break;
      case Collective::send_recv:
        r == 0 ? give(0, 1, in(0, 0), signature_.count) : take(1, 0, out(1, 0), nullptr, signature_.count);
        break;
      case Collective::barrier:
      case Collective::split: break;
    }
  }

  void reduce_scatter(int r) {
    if (equal_parts()) {
      call(r, What::reduce_scatter, in(r, 0), out(r, 0), part(r).size(), 0);
    } else {
      for (int root = 0; root < signature_.members; ++root) {
        call(r, What::reduce, in(r, part(root).begin), r == root ? out(r, 0) : nullptr, part(root).size(), root);
      }
    }
    divide(r, out(r, 0), part(r).size());
  }

  void all_gather(int r) {
    if (equal_parts()) {
      call(r, What::all_gather, in(r, 0), out(r, 0), part(r).size(), 0);
      return;
    }
    for (int root = 0; root < signature_.members; ++root) {
      call(r, What::broadcast, r == root ? in(r, 0) : nullptr, out(r, part(root).begin), part(root).size(), root);
    }
  }

  /// A member alone has nobody to talk to: what it gives is what it gets.
  void call(int r, What what, const void* from, void* to, Count count, int root) {
    if (count == 0) return;
    if (alone()) {
      copy(r, to, from, count);
    } else {
      of(r).calls.push_back({what, from, to, count, signature_.dtype, op(), root});
    }
  }

  void give(int r, int to, const void* from, Count count) {
    if (count == 0 || to == r) return;  // take() copies
    of(r).calls.push_back({What::send, from, nullptr, count, signature_.dtype, ReduceOp::sum, to});
  }

  /// `own` is where a member that takes from itself has the data.
  void take(int r, int from, void* to, const void* own, Count count) {
    if (count == 0) return;
    if (from == r) {
      copy(r, to, own, count);
    } else {
      of(r).calls.push_back({What::recv, nullptr, to, count, signature_.dtype, ReduceOp::sum, from});
    }
  }

  void copy(int r, void* to, const void* from, Count count) {
    if (to == from) return;
    of(r).before.push_back(copy_kernel(to, from, count, signature_.dtype));
  }

  ReduceOp op() const { return signature_.reduce == ReduceOp::mean ? ReduceOp::sum : signature_.reduce; }

  /// NCCL's own mean multiplies by 1/N before it adds; here a sum is divided once, so that means of small integers are
  /// exact.
  void divide(int r, void* data, Count count) {
    if (signature_.reduce != ReduceOp::mean || count == 0 || alone()) return;
    Kernel kernel;
    kernel.id = KernelId::reduce;
    kernel.dtype = signature_.dtype;
    kernel.out[0] = data;
    kernel.in[0] = data;
    kernel.n[0] = count;
    kernel.n[1] = 1;
    kernel.n[2] = static_cast<Count>(ReduceOp::mean);
    kernel.n[3] = signature_.members;
    of(r).after.push_back(kernel);
  }

  const Signature& signature_;
  std::span<const Buffers> buffers_;
  Schedule schedule_;
};

}  // namespace

bool Schedule::communicates() const {
  return std::any_of(members.begin(), members.end(), [](const Member& member) { return !member.calls.empty(); });
}

Schedule make_schedule(const Signature& signature, std::span<const Buffers> buffers) {
  return Scheduler(signature, buffers).make();
}

}  // namespace shardlings::back::nccl
