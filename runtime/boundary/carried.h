/// \file
/// The arguments of a learner's function, as they cross to the jail that has it and back.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "boundary/archive.h"

namespace shardlings::boundary {

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

}  // namespace shardlings::boundary
