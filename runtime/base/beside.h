/// \file
/// Work in a thread of its own, where there is one to be had.
#pragma once

#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace shardlings {

/// Does the work beside this thread's. None (not joinable) where the system gives no thread: what is to be done beside
/// can be done in order, too, and is the caller's then.
template <class Work>
std::jthread beside(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error&) {
    return {};
  }
}

/// Calls work(0) to work(count - 1), at most `jobs` of them at a time, and returns when all are done. `work` must not
/// throw.
template <class Work>
void side_by_side(std::size_t count, int jobs, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto series = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> workers;
  for (int i = 1; i < jobs; ++i) workers.push_back(beside(series));
  series();
}

}  // namespace shardlings
