/// \file
/// The functions of a learner's file, as its harness calls them: directly where both are in one process, in the rank's
/// jail where they are not. The harness reads the same either way.
///
/// A harness.cpp is compiled twice. As the harness, where SHARDLINGS_LEARNER_FUNCTION makes an object that is called
/// like the function; and with SHARDLINGS_BESIDE_LEARNER defined, as what stands beside the learner's code wherever
/// that is: there the same line declares the function and registers it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <tuple>

#include "boundary/archive.h"
#include "boundary/broker/jailed_rank.h"
#include "boundary/mailbox.h"
#include "boundary/thrown.h"

namespace shardlings::boundary {

/// What a call leaves in the mailbox.
struct Answer {
  Topic topic = Topic::returned;
  std::string bytes;
};

/// An argument in the jail: what it is received into, and what the function is given.
template <class T>
struct Carried {
  T value{};
  void receive(Receiver& in) { in(value); }
  T& get() { return value; }
};
template <>
struct Carried<Rank> {
  std::unique_ptr<Rank> rank;
  void receive(Receiver& in) {
    Group world;
    in(world);
    rank.reset(new Rank(detail::Access::rank(detail::Access::port(world), world)));
  }
  Rank& get() { return *rank; }
};
template <>
struct Carried<GridShare> {
  std::vector<Stage> chunks;
  TrainState state;
  Group down, up, dp, ends;
  std::optional<GridShare> share{};
  void receive(Receiver& in) {
    in(chunks, state, down, up, dp, ends);
    share.emplace(GridShare{chunks, state, down, up, dp, ends});
  }
  GridShare& get() { return *share; }
};

/// What of an argument the function may change, so that it comes back.
template <class T>
T& changeable(T& value) {
  return value;
}
inline TrainState& changeable(GridShare& share) {
  return share.state;
}
inline TrainState& changeable(const GridShare& share) {
  return share.state;
}

template <class Parameter>
inline constexpr bool kComesBack = [] {
  using Plain = std::remove_cvref_t<Parameter>;
  static_assert(!std::is_same_v<Parameter, Tensor> && !std::is_rvalue_reference_v<Parameter>,
                "tensors cross by reference: as long as the call lasts, they are the learner's");
  if (std::is_same_v<Plain, Rank> || std::is_same_v<Plain, Group>) return false;
  if (std::is_same_v<Plain, GridShare>) return true;
  return std::is_lvalue_reference_v<Parameter> && !std::is_const_v<std::remove_reference_t<Parameter>>;
}();

/// Whether an object of this type owns tensors, which are another process's.
template <class T>
inline constexpr bool kOwnsNothing = Number<T> || SomeView<T> || std::is_same_v<T, Rank> || std::is_same_v<T, Group> ||
                                     std::is_same_v<T, Model> || std::is_same_v<T, Shape>;

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
