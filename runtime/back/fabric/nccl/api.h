/// \file
/// What the fabric needs of NCCL and of the CUDA runtime: so little that tests can stand in for both, and so that
/// nothing but one file needs their headers.
///
/// No function waits for a GPU. Calls are made under the fabric's lock, those on queues and events from any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "back/fabric/nccl/schedule.h"

namespace shardlings::back::nccl {

using Comm = void*;   ///< ncclComm_t: one member's end of a communicator
using Queue = void*;  ///< cudaStream_t
using Event = void*;  ///< cudaEvent_t

/// One member's part of a group of calls.
struct Issue {
  int gpu = 0;
  Comm comm = nullptr;
  Queue queue = nullptr;
  std::span<const Call> calls;
};

/// All functions but those that say so throw std::runtime_error with NCCL's or CUDA's words.
class Api {
 public:
  virtual ~Api() = default;
  /// "2.28.9"
  virtual std::string version() = 0;

  virtual Queue make_queue(int gpu) = 0;
  virtual void free_queue(int gpu, Queue queue) noexcept = 0;
  virtual Event make_event(int gpu) = 0;
  virtual void free_event(int gpu, Event event) noexcept = 0;
  virtual void record(int gpu, Event event, Queue queue) = 0;
  /// `queue` goes on only after what was last recorded in `event`.
  virtual void wait(int gpu, Queue queue, Event event) = 0;
  /// Whether the queue has got to what was last recorded.
  virtual bool reached(Event event) = 0;

  /// \name Communicators. Making and issuing may still be in progress on return: ask state().
  /// @{
  /// One of all GPUs 0 … gpus-1; its ends by GPU.
  virtual std::vector<Comm> make_root(int gpus) = 0;
  /// One of `members` (GPUs), made from the root's ends; its ends by member. At most `channels` of NCCL's channels,
  /// each of which occupies a multiprocessor; 0: as NCCL likes.
  virtual std::vector<Comm> split(std::span<const Comm> root, std::span<const int> members, int channels) = 0;
  /// Everything in one group.
  virtual void issue(std::span<const Issue> issues) = 0;
  enum class State : std::uint8_t { ready, in_progress, failed };
  /// `error` says what has failed.
  virtual State state(Comm comm, std::string& error) = 0;
  /// Ends what is under way on this end, and frees it.
  virtual void abort(Comm comm) noexcept = 0;
  /// Frees all ends of a communicator that has nothing under way.
  virtual void destroy(std::span<const Comm> ends) noexcept = 0;
  /// @}
};

/// The real one: what the entry point `shardlings_nccl_api` of libshardlings_nccl.so returns.
inline constexpr const char* kLibrary = "libshardlings_nccl.so";
inline constexpr const char* kEntry = "shardlings_nccl_api";
using EntryFunction = Api* (*)();

/// Ranks 0 … ranks-1 with devices on GPUs of the same numbers. Operations that take longer than `timeout` seconds are
/// stuck.
std::unique_ptr<Fabric> make_fabric(Api& api, int ranks, double timeout);

}  // namespace shardlings::back::nccl
