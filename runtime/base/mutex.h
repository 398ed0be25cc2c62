/// \file
/// A mutex whose use clang checks at compile time (-Wthread-safety): who may touch what it guards. For other compilers
/// it is a std::mutex, and the annotations are nothing.
#pragma once

#include <mutex>

#if defined(__clang__)
#define SHARDLINGS_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define SHARDLINGS_THREAD_ANNOTATION(x)
#endif

/// \name The usual annotations
/// @{
/// A variable that only the holder of the mutex touches.
#define GUARDED_BY(mutex) SHARDLINGS_THREAD_ANNOTATION(guarded_by(mutex))
/// A function that only the holder of the mutex calls, and one that only others call.
#define REQUIRES(...) SHARDLINGS_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) SHARDLINGS_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
/// A mutex that is locked after another one where both are.
#define ACQUIRED_AFTER(...) SHARDLINGS_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
/// @}

namespace shardlings {

class SHARDLINGS_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() SHARDLINGS_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() SHARDLINGS_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex for the length of a block.
class SHARDLINGS_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SHARDLINGS_THREAD_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() SHARDLINGS_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace shardlings
