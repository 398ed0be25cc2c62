// Ranks as fibers: one thread runs them all, and changes from one to the next only where a rank sleeps. So the schedule
// is the same in every run, thousands of ranks are cheap, and nothing here happens at the same time.
#include <bit>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "back/engine/engine.h"
#include "back/engine/fibers/context.h"
#include "back/engine/fibers/exceptions.h"
#include "back/engine/fibers/sanitizers.h"
#include "back/engine/fibers/stack.h"
#include "base/rank_local.h"

namespace shardlings::back {
namespace {

/// A rank's life on a stack of its own.
struct Fiber {
  explicit Fiber(int of_rank) : rank(of_rank) {}

  int rank;
  bool finished = false;
  const void* sleeps_on = nullptr;  ///< a word
  Fiber* next_sleeper = nullptr;    ///< of the same place in the table of sleepers
  Stack stack;
  Context context;
  ExceptionState exceptions;  ///< while it does not run
  void* local = nullptr;      ///< its rank_local(), likewise
  sanitizers::Fiber sanitizer;
};

class FibersEngine final : public Engine {
 public:
  explicit FibersEngine(std::uint64_t seed) : shuffles_(seed != 0), random_(seed) {}

  void run(int ranks, const std::function<void(int)>& body) override {
    body_ = &body;
    exceptions_ = abi::__cxa_get_globals();
    local_ = &rank_local();
    // A run that ended by an exception has left fibers behind, and what refers to them.
    runnable_.clear();
    sleepers_.assign(std::bit_ceil(2 * static_cast<std::size_t>(ranks)), nullptr);
    fibers_.clear();
    for (int rank = ranks - 1; rank >= 0; --rank) {
      fibers_.push_back(std::make_unique<Fiber>(rank));
      start(*fibers_.back());
      runnable_.push_back(fibers_.back().get());
    }
    while (Fiber* next = take_runnable()) switch_to(*next);
    for (const auto& fiber : fibers_) {
      if (!fiber->finished) throw std::logic_error("ranks sleep, and none is left that could wake them");
    }
    fibers_.clear();
  }

  /// Nobody runs meanwhile, so looking again is of no use. A shuffled schedule lets others go first, now and then.
  bool spin(const std::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    if (shuffles_ && random_() % 2 == 0) {
      runnable_.push_back(running_);
      switch_back();
    }
    return word.load(std::memory_order_relaxed) != expected;
  }

  void park(const std::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    if (word.load(std::memory_order_relaxed) != expected) return;
    running_->sleeps_on = &word;
    running_->next_sleeper = std::exchange(sleepers_at(&word), running_);
    switch_back();
  }

  void wake(const std::atomic<std::uint32_t>& word) override {
    Fiber** next = &sleepers_at(&word);
    while (Fiber* fiber = *next) {
      if (fiber->sleeps_on != &word) {
        next = &fiber->next_sleeper;
        continue;
      }
      *next = std::exchange(fiber->next_sleeper, nullptr);
      runnable_.push_back(fiber);
    }
  }

 private:
  /// The last one to lie down of those whose words share a place. Words lie in objects of some hundred bytes.
  Fiber*& sleepers_at(const void* word) {
    constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio (Knuth, vol. 3, 6.4)
    constexpr int kBits = 64;
    const int places = std::countr_zero(sleepers_.size());
    return sleepers_[reinterpret_cast<std::uintptr_t>(word) * kMix >> (kBits - places)];
  }

  /// The one that was woken last: what it and its group last used is still in the cache. Shuffled: any.
  Fiber* take_runnable() {
    if (runnable_.empty()) return nullptr;
    if (shuffles_) std::swap(runnable_[random_() % runnable_.size()], runnable_.back());
    Fiber* next = runnable_.back();
    runnable_.pop_back();
    return next;
  }

  void start(Fiber& fiber) {
    fiber.context.begin_at(fiber.stack.bottom(), fiber.stack.size(), &FibersEngine::enter, this);
  }

  static void enter(void* self) {
    auto* engine = static_cast<FibersEngine*>(self);
    sanitizers::arrived(engine->running_->sanitizer);
    (*engine->body_)(engine->running_->rank);
    engine->running_->finished = true;
    engine->switch_back();
  }

  /// From the scheduler to a fiber, until that or another one calls switch_back() with nobody to go on.
  void switch_to(Fiber& fiber) {
    running_ = &fiber;
    const ExceptionState own = exchange_exceptions(exceptions_, fiber.exceptions);
    void* const own_local = std::exchange(*local_, fiber.local);
    sanitizers::leave_thread(fiber.sanitizer, fiber.stack.bottom(), fiber.stack.size());
    fiber.context.go(scheduler_);
    sanitizers::back_on_thread(fiber.sanitizer);
    running_->exceptions = exchange_exceptions(exceptions_, own);
    running_->local = std::exchange(*local_, own_local);
    running_ = nullptr;
  }

  /// From the running fiber to the scheduler, or straight to the one that the scheduler would choose.
  void switch_back() {
    Fiber& self = *running_;
    if (!sanitizers::kListen && !self.finished) {
      if (Fiber* next = take_runnable()) return switch_over(self, *next);
    }
    sanitizers::leave_fiber(self.sanitizer, self.finished);
    scheduler_.go(self.context);
    sanitizers::arrived(self.sanitizer);
  }

  /// From the running fiber to another one.
  void switch_over(Fiber& self, Fiber& next) {
    if (&next == &self) return;
    self.exceptions = exchange_exceptions(exceptions_, next.exceptions);
    self.local = std::exchange(*local_, next.local);
    running_ = &next;
    next.context.go(self.context);
  }

  bool shuffles_;
  std::mt19937_64 random_;
  const std::function<void(int)>* body_ = nullptr;
  // Of the thread that runs the fibers: to ask for them takes longer than the change from one fiber to the next.
  void* exceptions_ = nullptr;
  void** local_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> runnable_;
  std::vector<Fiber*> sleepers_;  ///< a power of two of places: see sleepers_at()
  Fiber* running_ = nullptr;
  Context scheduler_;
};

}  // namespace

std::unique_ptr<Engine> make_fibers_engine(std::uint64_t seed) {
  return std::make_unique<FibersEngine>(seed);
}

}  // namespace shardlings::back
