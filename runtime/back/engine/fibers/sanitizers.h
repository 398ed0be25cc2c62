/// \file
/// Tells the address and thread sanitizers of changes between fibers, which they would else take for a broken stack or
/// for one thread's orderly doings. Nothing without them.
#pragma once

#include <cstddef>

#include "base/sanitizers.h"

#if SHARDLINGS_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#elif SHARDLINGS_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace shardlings::back::sanitizers {

/// They hear of changes between the thread and a fiber, and know of no others.
inline constexpr bool kListen = kAddressSanitizer || kThreadSanitizer;

#if SHARDLINGS_ADDRESS_SANITIZER

/// Each side keeps its frames for variables that live longer than their block ("fake stack") while the other runs.
struct Fiber {
  void* own_frames = nullptr;
  void* thread_frames = nullptr;
  const void* thread_stack = nullptr;
  std::size_t thread_size = 0;
};
inline void leave_thread(Fiber& fiber, const void* stack, std::size_t size) {
  __sanitizer_start_switch_fiber(&fiber.thread_frames, stack, size);
}
inline void back_on_thread(Fiber& fiber) {
  __sanitizer_finish_switch_fiber(fiber.thread_frames, nullptr, nullptr);
}
inline void leave_fiber(Fiber& fiber, bool finished) {
  __sanitizer_start_switch_fiber(finished ? nullptr : &fiber.own_frames, fiber.thread_stack, fiber.thread_size);
}
inline void arrived(Fiber& fiber) {
  __sanitizer_finish_switch_fiber(fiber.own_frames, &fiber.thread_stack, &fiber.thread_size);
}

#elif SHARDLINGS_THREAD_SANITIZER

/// Each fiber is a thread to it, and every change orders what came before it. So it finds no races here, as there are
/// none; those of the same code are found with threads.
struct Fiber {
  void* self = __tsan_create_fiber(0);
  void* thread = nullptr;
  Fiber() = default;
  ~Fiber() { __tsan_destroy_fiber(self); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
};
inline void leave_thread(Fiber& fiber, const void*, std::size_t) {
  fiber.thread = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber.self, 0);
}
inline void back_on_thread(Fiber&) {}
inline void leave_fiber(Fiber& fiber, bool) {
  __tsan_switch_to_fiber(fiber.thread, 0);
}
inline void arrived(Fiber&) {}

#else

struct Fiber {};
inline void leave_thread(Fiber&, const void*, std::size_t) {}
inline void back_on_thread(Fiber&) {}
inline void leave_fiber(Fiber&, bool) {}
inline void arrived(Fiber&) {}

#endif

}  // namespace shardlings::back::sanitizers
