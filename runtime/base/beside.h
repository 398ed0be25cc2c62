/// \file
/// Work in a thread of its own, where there is one to be had.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

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

}  // namespace shardlings
