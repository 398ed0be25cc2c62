/// \file
/// A lane of a fake GPU: a thread that does one thing after another.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace shardlings::support {

/// How far a lane is. Outlives the lane, so that others may wait for events of devices that are gone.
class LaneProgress {
 public:
  void completed_one();
  void await(std::uint64_t done);
  bool reached(std::uint64_t done) const;

 private:
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::uint64_t done_ = 0;
};

class FakeLane {
 public:
  FakeLane();
  /// Does what is left first.
  ~FakeLane();
  FakeLane(const FakeLane&) = delete;
  FakeLane& operator=(const FakeLane&) = delete;

  /// Any thread may enqueue. Returns the number of things enqueued so far.
  std::uint64_t enqueue(std::function<void()> task);
  std::uint64_t enqueued() const;
  void drain();
  std::shared_ptr<LaneProgress> progress() const { return progress_; }

 private:
  void run();

  std::shared_ptr<LaneProgress> progress_ = std::make_shared<LaneProgress>();
  mutable std::mutex lock_;
  std::condition_variable more_;
  std::deque<std::function<void()>> tasks_;
  std::uint64_t enqueued_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace shardlings::support
