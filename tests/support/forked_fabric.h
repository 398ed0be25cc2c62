/// \file
/// A fabric between processes, for tests: inputs are copied to memory that all share, everybody combines them alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "back/fabric/fabric.h"

namespace shardlings::support {

/// Memory shared by a process and those it forks. Given out once, never taken back.
class SharedArena {
 public:
  SharedArena();
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  /// Position of `size` fresh bytes. Throws std::bad_alloc.
  std::uint64_t take(std::size_t size);
  std::byte* at(std::uint64_t position) const { return base_ + position; }
  /// Set once the run has failed, seen by all processes.
  std::atomic<bool>& aborted() const { return head().aborted; }

 private:
  struct Head {
    std::atomic<std::uint64_t> next;
    std::atomic<bool> aborted;
  };
  Head& head() const { return *reinterpret_cast<Head*>(base_); }
  std::byte* base_;
};

/// The side of a rank: the handle of its data is the position of its input.
std::unique_ptr<back::Fabric> make_forked_fabric(std::shared_ptr<SharedArena> arena);

}  // namespace shardlings::support
