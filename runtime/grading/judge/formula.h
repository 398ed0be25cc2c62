/// \file
/// A number of a budget and the way to it as one object, so that what is demanded and what is shown cannot disagree.
///
/// \code
/// const Formula<Bytes> w = named("W", Bytes(4096)), a = named("A", Bytes(512));
/// const Formula<Count> n = named("N", 4);
/// (3 * w + a).text();              // "3 W + A = 3 x 4096 + 512"
/// (folded(n - 1) / n * w).text();  // "(N-1)/N W = 3/4 x 4096"
/// \endcode
///
/// Sums stay in their unit, and only counts multiply: bytes and nanoseconds cannot be added. Values are exact fractions
/// on the way and whole numbers at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/units.h"
#include "grading/verdict/unit.h"
#include "shardlings/tensor.h"

namespace shardlings::grading::judge {

using verdict::Unit;
using verdict::unit_of;

/// An expression of any unit: what Formula gives a type to. Cheap to copy.
class Expression {
 public:
  enum class Kind : std::uint8_t { number, named, sum, difference, product, quotient, max, min, called, folded };

  static Expression number(std::int64_t value, Unit unit);
  static Expression named(std::string name, std::int64_t value, Unit unit);
  static Expression of(Kind kind, const Expression& a, const Expression& b);
  static Expression called(std::string name, const Expression& a);
  static Expression folded(const Expression& a);

  /// Throws std::logic_error if it is no whole number.
  std::int64_t value() const;
  std::string text() const;
  bool equals(const Expression& other) const;

 private:
  struct Node;
  explicit Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

/// Amount is Bytes, Nanos, Flops, or Count for plain numbers.
template <class Amount>
class Formula {
 public:
  /// A number without a name.
  Formula(Amount amount) : Formula(Expression::number(raw(amount), unit_of(Amount{}))) {}  // NOLINT(*explicit*)
  explicit Formula(Expression expression) : expression_(std::move(expression)) {}

  /// Throws std::logic_error if it is no whole number.
  Amount value() const { return Amount(expression_.value()); }
  /// "2 (p - 1) x weights = 2 x (4 - 1) x 512": the formula in symbols, then in numbers, if there is more than one.
  std::string text() const { return expression_.text(); }
  const Expression& expression() const { return expression_; }

  friend Formula operator+(const Formula& a, const Formula& b) { return join(Expression::Kind::sum, a, b); }
  friend Formula operator-(const Formula& a, const Formula& b) { return join(Expression::Kind::difference, a, b); }
  friend Formula operator*(const Formula<Count>& n, const Formula& a) {
    return Formula(Expression::of(Expression::Kind::product, n.expression(), a.expression()));
  }
  friend Formula operator/(const Formula& a, const Formula<Count>& n) {
    return Formula(Expression::of(Expression::Kind::quotient, a.expression(), n.expression()));
  }
  friend Formula max(const Formula& a, const Formula& b) { return join(Expression::Kind::max, a, b); }
  friend Formula min(const Formula& a, const Formula& b) { return join(Expression::Kind::min, a, b); }
  Formula& operator+=(const Formula& other) { return *this = *this + other; }

  /// Another text for the same, where a formula would become too long: `name` in place of its symbols.
  friend Formula called(std::string name, const Formula& a) {
    return Formula(Expression::called(std::move(name), a.expression()));
  }
  /// And a single number in place of its numbers.
  friend Formula folded(const Formula& a) { return Formula(Expression::folded(a.expression())); }
  /// So many percent more than `a`, rounded down: "a + b = 30 + 71, and 3 %". `remark` stands in front.
  friend Formula and_percent(const Formula& a, std::int64_t percent, const std::string& remark = {}) {
    const std::int64_t more = raw(a.value()) * (100 + percent) / 100;
    return called(remark + a.text() + ", and " + std::to_string(percent) + " %", Formula(Amount(more)));
  }
  /// The same number, as `simple` says it where that is the same: "(N-1)/N x weights" where all parts are equal.
  friend Formula simplest(const Formula& simple, const Formula& exact) {
    return simple.expression_.equals(exact.expression_) ? simple : exact;
  }

 private:
  static constexpr std::int64_t raw(Amount amount) {
    if constexpr (std::is_same_v<Amount, Count>) {
      return amount;
    } else {
      return amount.value();
    }
  }
  static Formula join(Expression::Kind kind, const Formula& a, const Formula& b) {
    return Formula(Expression::of(kind, a.expression_, b.expression_));
  }

  Expression expression_;
};

/// \name Named numbers
/// A number with the name that stands for it: a letter of the glossary, a word, or some words that stand by themselves.
/// @{
Formula<Bytes> named(std::string name, Bytes value);
Formula<Nanos> named(std::string name, Nanos value);
Formula<Flops> named(std::string name, Flops value);
Formula<Count> named(std::string name, Count value);
/// @}

/// All of them together, from left to right; 0 if there are none.
template <class Amount>
Formula<Amount> sum(const std::vector<Formula<Amount>>& formulas) {
  if (formulas.empty()) return Formula<Amount>(Amount{});
  Formula<Amount> all = formulas.front();
  for (std::size_t i = 1; i < formulas.size(); ++i) all += formulas[i];
  return all;
}

}  // namespace shardlings::grading::judge
