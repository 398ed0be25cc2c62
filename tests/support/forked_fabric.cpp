#include "support/forked_fabric.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <vector>

#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings::support {
namespace {

using back::Buffers;
using back::Collective;
using back::HelpResult;
using back::Signature;

constexpr std::size_t kArenaSize = std::size_t{8} << 30U;  // of addresses; only what is touched takes memory
constexpr std::uint64_t kLine = 64;

std::size_t to_bytes(Count n, DType dtype) {
  return static_cast<std::size_t>(bytes_of(n, dtype).value());
}

/// Elements that a member puts in. `signature` is as that member called it: a root of gather or scatter knows the
/// whole, the others give minus their own part.
Count input_size(const Signature& signature, int member) {
  switch (signature.kind) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::reduce:
    case Collective::all_to_all: return signature.count;
    case Collective::all_gather: return part_of(signature.count, signature.members, member).size();
    case Collective::gather:
      return signature.count < 0 ? -signature.count : part_of(signature.count, signature.members, member).size();
    case Collective::broadcast:
    case Collective::scatter: return member == signature.root ? signature.count : 0;
    case Collective::send_recv: return member == 0 ? signature.count : 0;
    case Collective::barrier:
    case Collective::split: return 0;
  }
  return 0;
}

class ForkedExchange final : public back::Exchange {
 public:
  explicit ForkedExchange(std::shared_ptr<SharedArena> arena) : arena_(std::move(arena)) {}

  void begin(int) override { buffers_ = {}; }

  back::DataHandle post(int member, const Signature& signature, const Buffers& buffers) override {
    buffers_ = buffers;
    const std::size_t size = to_bytes(input_size(signature, member), signature.dtype);
    if (size == 0) return 0;
    const std::uint64_t position = arena_->take(size);
    std::memcpy(arena_->at(position), buffers.in, size);
    return position;
  }

  bool launch(const Signature& signature, std::span<const back::DataHandle> handles) override {
    signature_ = signature;
    handles_.assign(handles.begin(), handles.end());
    return false;
  }

  HelpResult help(int member) override {
    const Range mine = part_of(signature_.count, signature_.members, member);
    switch (signature_.kind) {
      case Collective::all_reduce: reduce({0, signature_.count}); break;
      case Collective::reduce_scatter: reduce(mine); break;
      case Collective::reduce:
        if (member == signature_.root) reduce({0, signature_.count});
        break;
      case Collective::gather:
        if (member == signature_.root) collect();
        break;
      case Collective::all_gather: collect(); break;
      case Collective::broadcast:
        if (member != signature_.root) copy(signature_.root, {0, signature_.count}, 0);
        break;
      case Collective::scatter: copy(signature_.root, mine, 0); break;
      case Collective::all_to_all:
        for (int j = 0; j < signature_.members; ++j) copy(j, mine, j * mine.size());
        break;
      case Collective::send_recv:
        if (member == 1) copy(0, {0, signature_.count}, 0);
        break;
      case Collective::barrier:
      case Collective::split: break;
    }
    return HelpResult::complete;
  }

  void finish(int) override {}

 private:
  const std::byte* input(int member, Count first) const {
    return arena_->at(handles_[static_cast<std::size_t>(member)]) + to_bytes(first, signature_.dtype);
  }
  std::byte* output(Count first) const {
    return static_cast<std::byte*>(buffers_.out) + to_bytes(first, signature_.dtype);
  }

  void copy(int from, Range range, Count to) const {
    if (range.size() > 0) std::memcpy(output(to), input(from, range.begin), to_bytes(range.size(), signature_.dtype));
  }

  void collect() const {
    for (int j = 0; j < signature_.members; ++j) {
      const Range theirs = part_of(signature_.count, signature_.members, j);
      copy(j, {0, theirs.size()}, theirs.begin);
    }
  }

  void reduce(Range range) const {
    back::Kernel kernel;
    kernel.id = back::KernelId::reduce;
    kernel.dtype = signature_.dtype;
    kernel.out[0] = output(0);
    for (int j = 0; j < signature_.members; ++j) kernel.in[j] = input(j, range.begin);
    kernel.n[0] = range.size();
    kernel.n[1] = signature_.members;
    kernel.n[2] = static_cast<Count>(signature_.reduce);
    kernel.n[3] = signature_.members;
    if (range.size() > 0) buffers_.device->launch(kernel);
  }

  std::shared_ptr<SharedArena> arena_;
  Signature signature_;
  std::vector<back::DataHandle> handles_;
  Buffers buffers_;  ///< of the one member in this process
};

class ForkedFabric final : public back::Fabric {
 public:
  explicit ForkedFabric(std::shared_ptr<SharedArena> arena) : arena_(std::move(arena)) {}
  std::unique_ptr<back::Exchange> make_exchange() override { return std::make_unique<ForkedExchange>(arena_); }
  void abort() noexcept override { arena_->aborted() = true; }

 private:
  std::shared_ptr<SharedArena> arena_;
};

}  // namespace

SharedArena::SharedArena() {
  void* memory = mmap(nullptr, kArenaSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(memory);
  new (base_) Head{{kLine}, {false}};
}

SharedArena::~SharedArena() {
  munmap(base_, kArenaSize);
}

std::uint64_t SharedArena::take(std::size_t size) {
  const std::uint64_t position = head().next.fetch_add((size + kLine - 1) / kLine * kLine);
  if (position + size > kArenaSize) throw std::bad_alloc();
  return position;
}

std::unique_ptr<back::Fabric> make_forked_fabric(std::shared_ptr<SharedArena> arena) {
  return std::make_unique<ForkedFabric>(std::move(arena));
}

}  // namespace shardlings::support
