#include "support/fake_gpu_lane.h"

namespace shardlings::support {

void LaneProgress::completed_one() {
  {
    const std::lock_guard guard(lock_);
    ++done_;
  }
  changed_.notify_all();
}

void LaneProgress::await(std::uint64_t done) {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return done_ >= done; });
}

bool LaneProgress::reached(std::uint64_t done) const {
  const std::lock_guard guard(lock_);
  return done_ >= done;
}

FakeLane::FakeLane() : thread_([this] { run(); }) {}

FakeLane::~FakeLane() {
  {
    const std::lock_guard guard(lock_);
    closing_ = true;
  }
  more_.notify_all();
  thread_.join();
}

std::uint64_t FakeLane::enqueue(std::function<void()> task) {
  std::uint64_t number;
  {
    const std::lock_guard guard(lock_);
    tasks_.push_back(std::move(task));
    number = ++enqueued_;
  }
  more_.notify_one();
  return number;
}

std::uint64_t FakeLane::enqueued() const {
  const std::lock_guard guard(lock_);
  return enqueued_;
}

void FakeLane::drain() {
  progress_->await(enqueued());
}

void FakeLane::run() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock guard(lock_);
      more_.wait(guard, [&] { return closing_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    progress_->completed_one();
  }
}

}  // namespace shardlings::support
