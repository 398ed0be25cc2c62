// A thread for each rank; sleeping is the kernel's futex.
#include "back/engine/engine.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/machine_fault.h"

namespace shardlings::back {
namespace {

// Measured on two cores: waking a thread that sleeps on a halted core costs 20 to 30 us, so ranks that have a core each
// look for about that long before they sleep. They yield now and then all the same: other programs may have put two
// ranks on one core, and then the awaited one needs it. With more ranks than cores a spin would burn what the awaited
// rank needs: a few glances, a few yields, then sleep.
constexpr int kGlances = 16;
constexpr int kGlancesWithCores = 100;
constexpr int kYields = 6;
constexpr int kYieldsWithCores = 60;

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return static_cast<int>(std::thread::hardware_concurrency());
  return CPU_COUNT(&set);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

enum class Start : std::uint8_t { undecided, together, not_at_all };

class ThreadsEngine final : public Engine {
 public:
  void run(int ranks, const std::function<void(int)>& body) override {
    ranks_fit_ = ranks <= usable_cores();
    // No rank begins before there is a thread for each: those that had begun would wait for the missing ones for ever.
    std::atomic<Start> start{Start::undecided};
    const auto decide = [&](Start decision) {
      start = decision;
      start.notify_all();
    };
    std::vector<std::jthread> threads;  // joined wherever this is left
    threads.reserve(static_cast<std::size_t>(ranks - 1));
    try {
      for (int rank = 1; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
          start.wait(Start::undecided);
          if (start == Start::together) body(rank);
        });
      }
    } catch (const std::exception&) {
      decide(Start::not_at_all);
      throw MachineFault(fmt::format("{} ranks need a thread each, and this machine gives no more than {}. {}", ranks,
                                     threads.size() + 1, advice_on(EAGAIN)));
    }
    decide(Start::together);
    body(0);
  }

  bool spin(const std::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    const auto changed = [&] { return word.load(std::memory_order_acquire) != expected; };
    const int glances = ranks_fit_ ? kGlancesWithCores : kGlances;
    for (int i = 0; i < glances; ++i) {
      if (changed()) return true;
      pause();
    }
    const int yields = ranks_fit_ ? kYieldsWithCores : kYields;
    for (int i = 0; i < yields; ++i) {
      sched_yield();
      if (changed()) return true;
    }
    return false;
  }

  void park(const std::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
  }

  void wake(const std::atomic<std::uint32_t>& word) override {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(), nullptr, nullptr, 0);
  }

 private:
  bool ranks_fit_ = true;
};

}  // namespace

std::unique_ptr<Engine> make_threads_engine() {
  return std::make_unique<ThreadsEngine>();
}

}  // namespace shardlings::back
