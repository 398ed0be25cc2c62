/// \file
/// The functions of a learner's file, as its harness calls them: directly where both are in one process, in the rank's
/// jail where they are not. The harness reads the same either way.
///
/// A harness.cpp is compiled twice. As the harness, where SHARDLINGS_LEARNER_FUNCTION makes an object that is called
/// like the function; and with SHARDLINGS_BESIDE_LEARNER defined, as what stands beside the learner's code wherever
/// that is: there the same line declares the function and registers it.
#pragma once

#include <optional>
#include <utility>

#include "boundary/broker/jailed_rank.h"
#include "boundary/carried.h"
#include "boundary/registered.h"
#include "boundary/thrown.h"

namespace shardlings::boundary {

template <class F>
class LearnerFunction;

template <class R, class... A>
class LearnerFunction<R(A...)> {
 public:
  constexpr explicit LearnerFunction(const char* name) : name_(name) {}

  R operator()(A... given) const {
    if (const Registered* here = Registered::find(name_)) return here->as<R(A...)>()(std::forward<A>(given)...);
    JailedRank& jail = JailedRank::of_this_thread();
    Sender out(&jail.known_models());
    out(name_, given...);
    const Returned returned = jail.invoke(out.take());
    Receiver back = jail.receiver(returned);
    std::optional<Thrown> thrown;
    if (returned.threw) thrown = receive_thrown(back);
    (take_back<A>(back, given), ...);
    if (thrown) throw_again(*thrown, jail.files());
    if constexpr (!std::is_void_v<R>) {
      R result{};
      back(result);
      return result;
    }
  }

 private:
  template <class Parameter, class T>
  static void take_back(Receiver& back, T& given) {
    if constexpr (kComesBack<Parameter>) {
      Forgetter()(changeable(given));
      back(changeable(given));
    }
  }

  const char* name_;
};

/// Calls a function of the learner's that computes, outside of what is measured: there the runtime lets the learner's
/// calls in, and neither counts nor times them. Elsewhere it refuses them, so that no work is done where it costs
/// nothing: ask like this only when all that is judged of the measured run has been put.
template <class F, class... A>
decltype(auto) beside_the_run(const F& function, A&&... given) {
#ifndef SHARDLINGS_BESIDE_LEARNER
  const LetsCallsIn lets;
#endif
  return function(std::forward<A>(given)...);
}

}  // namespace shardlings::boundary

/// `SHARDLINGS_LEARNER_FUNCTION(train_step, void(Rank& rank, View loss));` for a function that the learner writes, or
/// one that stands beside it.
#ifdef SHARDLINGS_BESIDE_LEARNER
#define SHARDLINGS_LEARNER_FUNCTION(name, ...) \
  using name##_type = __VA_ARGS__;             \
  name##_type name;                            \
  static const ::shardlings::boundary::Registered name##_registered(#name, &name)
#else
#define SHARDLINGS_LEARNER_FUNCTION(name, ...) \
  static constexpr ::shardlings::boundary::LearnerFunction<__VA_ARGS__> name(#name)
#endif
