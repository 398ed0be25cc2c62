/// \file
/// The members of a plain struct, in their order, without anybody having listed them: so that the data of a question
/// cross to the learner's function and back as they are declared.
///
/// A struct is plain if it is an aggregate of at most kMostMembers members, none of them an array, without a base
/// class.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace shardlings::boundary {

inline constexpr std::size_t kMostMembers = 16;

/// Initialises whatever it is put in the place of. Never defined: it stands in expressions that nobody evaluates.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(*explicit*): that is what it is for
};

/// How many initialisers T takes.
template <class T, class... Members>
consteval std::size_t num_members() {
  if constexpr (requires { T{Members{}..., Anything{}}; }) {
    return num_members<T, Members..., Anything>();
  } else {
    return sizeof...(Members);
  }
}

template <class T>
concept PlainStruct = std::is_aggregate_v<T> && std::is_class_v<T>;

/// Calls `f` once, with references to all members of `value`.
template <PlainStruct T, class F>
void with_members(T& value, F f) {
  constexpr std::size_t n = num_members<std::remove_const_t<T>>();
  static_assert(n >= 1 && n <= kMostMembers, "a struct that crosses has 1 to 16 members: put some of them together");
  if constexpr (n == 1) {
    auto& [a] = value;
    f(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = value;
    f(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = value;
    f(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = value;
    f(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = value;
    f(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, g] = value;
    f(a, b, c, d, e, g);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, g, h] = value;
    f(a, b, c, d, e, g, h);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, g, h, i] = value;
    f(a, b, c, d, e, g, h, i);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, g, h, i, j] = value;
    f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = value;
    f(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = value;
    f(a, b, c, d, e, g, h, i, j, k, l);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = value;
    f(a, b, c, d, e, g, h, i, j, k, l, m);
  } else if constexpr (n == 13) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o] = value;
    f(a, b, c, d, e, g, h, i, j, k, l, m, o);
  } else if constexpr (n == 14) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p] = value;
    f(a, b, c, d, e, g, h, i, j, k, l, m, o, p);
  } else if constexpr (n == 15) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q] = value;
    f(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q);
  } else {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r] = value;
    f(a, b, c, d, e, g, h, i, j, k, l, m, o, p, q, r);
  }
}

}  // namespace shardlings::boundary
