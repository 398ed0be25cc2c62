#include "back/kernels/cuda/emulation/blocks.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;  // NOLINT: CUDA's names

namespace shardlings::emulation {
namespace {

constexpr unsigned kWarp = 32;
constexpr std::size_t kStack = 64 * 1024;

[[noreturn]] void fail(const char* sentence) {
  std::fprintf(stderr, "CUDA emulation: %s\n", sentence);
  std::abort();
}

/// Where some threads wait for each other.
struct Barrier {
  unsigned members = 0;  ///< that have not ended
  unsigned arrived = 0;
  unsigned generation = 0;
  bool any = false, any_before = false;

  void release_if_complete() {
    if (arrived == 0 || arrived < members) return;
    arrived = 0;
    ++generation;
    any_before = any;
    any = false;
  }
};

struct Warp {
  Barrier barrier;
  std::array<std::uint64_t, kWarp> slots{};
};

struct Fiber {
  ucontext_t context{};  ///< where it begins
  jmp_buf place;         ///< where it goes on: a jump needs no system call
  bool begun = false;
  void* stack = nullptr;
  unsigned thread = 0;
  const Barrier* waits_at = nullptr;
  unsigned generation = 0;
  bool idle = true;
};

class Block;
thread_local Block* running = nullptr;

/// The threads of one block at a time, on fibers that are kept.
class Block {
 public:
  ~Block() {
    for (const auto& fiber : fibers_) munmap(fiber->stack, kStack);
  }

  void run(unsigned threads, bool backwards, const std::function<void()>& kernel) {
    running = this;
    kernel_ = &kernel;
    threads_ = threads;
    backwards_ = backwards;
    started_ = 0;
    ended_ = 0;
    all_ = {};
    all_.members = threads;
    warps_.assign((threads + kWarp - 1) / kWarp, {});
    for (unsigned t = 0; t < threads; ++t) ++warps_[t / kWarp].barrier.members;
    while (ended_ < threads) {
      if (!step()) fail("threads of a block wait for others that have ended or wait elsewhere");
    }
  }

  void wait_at(Barrier& barrier) {
    const unsigned generation = barrier.generation;
    ++barrier.arrived;
    barrier.release_if_complete();
    if (barrier.generation != generation) return;
    current_->waits_at = &barrier;
    current_->generation = generation;
    suspend();
  }

  Barrier& all() { return all_; }
  Warp& warp() {
    Warp& mine = warps_[threadIdx.x / kWarp];
    const unsigned whole = std::min(kWarp, threads_ - threadIdx.x / kWarp * kWarp);
    if (mine.barrier.members != whole) fail("a thread of a warp has ended before a shuffle or ballot of the others");
    return mine;
  }

 private:
  static void enter() {
    for (;;) running->run_threads();
  }

  /// On a fiber: one thread after another, until none is left to start.
  void run_threads() {
    while (started_ < threads_) {
      Fiber& fiber = *current_;
      const unsigned number = started_++;
      fiber.thread = backwards_ ? threads_ - 1 - number : number;
      threadIdx = dim3(fiber.thread, 0, 0);
      (*kernel_)();
      ++ended_;
      --all_.members;
      all_.release_if_complete();
      Barrier& of_warp = warps_[current_->thread / kWarp].barrier;
      --of_warp.members;
      of_warp.release_if_complete();
    }
    current_->idle = true;
    suspend();
  }

  /// Lets fibers go on that can, then begins a new one. False if nothing could.
  bool step() {
    bool moved = false;
    for (const auto& fiber : fibers_) {
      if (fiber->idle || fiber->waits_at->generation == fiber->generation) continue;
      fiber->waits_at = nullptr;
      resume(*fiber);
      moved = true;
    }
    if (started_ == threads_) return moved;
    Fiber& fresh = idle_fiber();
    fresh.idle = false;
    resume(fresh);
    return true;
  }

  Fiber& idle_fiber() {
    for (const auto& fiber : fibers_) {
      if (fiber->idle) return *fiber;
    }
    fibers_.push_back(std::make_unique<Fiber>());
    Fiber& made = *fibers_.back();
    made.stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made.stack == MAP_FAILED) fail("no memory for a thread's stack");
    getcontext(&made.context);
    made.context.uc_stack.ss_sp = made.stack;
    made.context.uc_stack.ss_size = kStack;
    makecontext(&made.context, enter, 0);
    return made;
  }

  void resume(Fiber& fiber) {
    current_ = &fiber;
    threadIdx = dim3(fiber.thread, 0, 0);
    if (_setjmp(scheduler_) != 0) return;
    if (current_->begun) _longjmp(current_->place, 1);
    current_->begun = true;
    setcontext(&current_->context);
  }
  void suspend() {
    if (_setjmp(current_->place) == 0) _longjmp(scheduler_, 1);
  }

  const std::function<void()>* kernel_ = nullptr;
  unsigned threads_ = 0, started_ = 0, ended_ = 0;
  bool backwards_ = false;
  Barrier all_;
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
  jmp_buf scheduler_;
};

}  // namespace

void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel) {
  static thread_local Block runner;
  if (block.x == 0 || block.x > 1024 || block.y != 1 || block.z != 1 || grid.x == 0 || grid.y == 0 || grid.y > 65535) {
    fail("a launch with a grid or block that no GPU takes");
  }
  gridDim = grid;
  blockDim = block;
  for (unsigned y = 0; y < grid.y; ++y) {
    for (unsigned x = 0; x < grid.x; ++x) {
      blockIdx = dim3(x, y, 0);
      runner.run(block.x, (x + y) % 2 == 1, kernel);
    }
  }
}

void sync_threads() {
  running->wait_at(running->all());
}

bool any_of_block(bool value) {
  Barrier& all = running->all();
  all.any = all.any || value;
  running->wait_at(all);
  const bool any = all.any_before;
  running->wait_at(all);  // nobody begins the next before all have read
  return any;
}

unsigned ballot(bool value) {
  Warp& warp = running->warp();
  warp.slots[threadIdx.x % kWarp] = value ? 1 : 0;
  running->wait_at(warp.barrier);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane) votes |= static_cast<unsigned>(warp.slots[lane]) << lane;
  running->wait_at(warp.barrier);
  return votes;
}

std::uint64_t exchange(std::uint64_t value, unsigned bits) {
  Warp& warp = running->warp();
  const unsigned lane = threadIdx.x % kWarp;
  warp.slots[lane] = value;
  running->wait_at(warp.barrier);
  const std::uint64_t other = warp.slots[lane ^ bits];
  running->wait_at(warp.barrier);
  return other;
}

}  // namespace shardlings::emulation
