/// \file
/// The functions of a learner's file, in the process that has them: found by their names, called with what has crossed.
#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "boundary/carried.h"
#include "boundary/mailbox.h"
#include "boundary/thrown.h"

namespace shardlings::boundary {

/// What a call leaves in the mailbox.
struct Answer {
  Topic topic = Topic::returned;
  std::string bytes;
};

/// Calls a function in the process that has it.
template <class R, class... A>
Answer serve(void (*function)(), Receiver& in) {
  std::tuple<Carried<std::remove_cvref_t<A>>...> given;
  const auto with_each = [&](auto action) {
    std::apply([&](auto&... one) { (action.template operator()<A>(one), ...); }, given);
  };
  with_each([&]<class Parameter>(auto& one) { one.receive(in); });
  Sender out;
  const auto send_back = [&] {
    with_each([&]<class Parameter>(auto& one) {
      if constexpr (kComesBack<Parameter>) out(changeable(one.get()));
    });
    with_each([&]<class Parameter>(auto& one) {
      if constexpr (!kOwnsNothing<std::remove_cvref_t<Parameter>>) Forgetter()(changeable(one.get()));
    });
  };
  const auto call = [&] {
    return std::apply(
        [&](auto&... one) { return reinterpret_cast<R (*)(A...)>(function)(static_cast<A>(one.get())...); }, given);
  };
  try {
    if constexpr (std::is_void_v<R>) {
      call();
      send_back();
    } else {
      R result = call();
      send_back();
      out(result);
      Forgetter()(result);
    }
  } catch (...) {
    send(out, thrown_now());
    send_back();
    return {Topic::threw, out.take()};
  }
  return {Topic::returned, out.take()};
}

/// A function of the learner's file, for as long as the program runs.
class Registered {
 public:
  template <class R, class... A>
  Registered(const char* name, R (*function)(A...))
      : Registered(name, reinterpret_cast<void (*)()>(function), &serve<R, A...>) {}
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  /// nullptr: the learner's code is not in this process, or has no such function.
  SHARDLINGS_API static const Registered* find(std::string_view name);

  template <class F>
  F* as() const {
    return reinterpret_cast<F*>(function_);
  }
  Answer call(Receiver& in) const { return serve_(function_, in); }

 private:
  using Serve = Answer (*)(void (*)(), Receiver&);
  SHARDLINGS_API Registered(const char* name, void (*function)(), Serve serve);

  const char* name_;
  void (*function_)();
  Serve serve_;
  const Registered* next_;
};

}  // namespace shardlings::boundary
