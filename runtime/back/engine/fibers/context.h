/// \file
/// A place in a program's execution, with a stack of its own, at which it can be left and gone on from.
#pragma once

#include <cstddef>

#if SHARDLINGS_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#else
#include <ucontext.h>
#endif

namespace shardlings::back {

/// With Boost.Context a switch takes some nanoseconds. Without it POSIX's swapcontext does it, which asks the system
/// twice for signal masks that nobody needs: about 300 ns.
class Context {
 public:
  /// The calling thread's, once it is left.
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  using Entry = void (*)(void* argument);
  /// One that calls `entry` on this stack when it is first gone to. `entry` never returns: it leaves.
  void begin_at(void* stack, std::size_t size, Entry entry, void* argument);
  /// Leaves the running one, which is `from`, for this one; returns when somebody goes to `from`.
  void go(Context& from);

 private:
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
#if SHARDLINGS_BOOST_CONTEXT
  struct Jump;
  static void enter(boost::context::detail::transfer_t transfer);
  boost::context::detail::fcontext_t at_ = nullptr;
#else
  static void enter(unsigned high, unsigned low);
  ucontext_t at_{};
#endif
};

}  // namespace shardlings::back
