/// \file
/// How N ranks run, and the one place where a rank sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace shardlings::back {

class Engine {
 public:
  virtual ~Engine() = default;

  /// Runs body(0) … body(ranks-1) at the same time; returns when all have returned. Bodies do not throw.
  virtual void run(int ranks, const std::function<void(int rank)>& body) = 0;

  /// Before sleeping: gives the others a chance to make `word` differ from `expected`. True if it does.
  /// Spins only if all ranks fit the processor's cores.
  virtual bool spin(const std::atomic<std::uint32_t>& word, std::uint32_t expected) = 0;
  /// Sleeps while `word` is `expected`; may return early.
  virtual void park(const std::atomic<std::uint32_t>& word, std::uint32_t expected) = 0;
  /// Wakes all that sleep on `word`.
  virtual void wake(const std::atomic<std::uint32_t>& word) = 0;
};

/// A thread for each rank: what every run has, unless a test chooses otherwise.
std::unique_ptr<Engine> make_threads_engine();

/// Fibers of the calling thread: one rank runs until it sleeps. wake() must come from a rank. With seed 0 the rank that
/// was woken last goes next; else a random one, and ranks give way at random where they could sleep: another schedule
/// for each seed, and the same one in every run.
std::unique_ptr<Engine> make_fibers_engine(std::uint64_t seed = 0);

}  // namespace shardlings::back
