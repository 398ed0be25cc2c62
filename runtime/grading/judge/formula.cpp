#include "grading/judge/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace shardlings::grading::judge {

/// An exact number, in lowest terms.
struct Fraction {
  std::int64_t above = 0;
  std::int64_t below = 1;

  static Fraction of(std::int64_t above, std::int64_t below) {
    if (below == 0) throw std::logic_error("a formula divides by zero");
    const std::int64_t common = std::gcd(above, below) * (below < 0 ? -1 : 1);
    return {above / common, below / common};
  }
  friend Fraction operator+(Fraction a, Fraction b) {
    return of(a.above * b.below + b.above * a.below, a.below * b.below);
  }
  friend Fraction operator-(Fraction a, Fraction b) { return a + Fraction{-b.above, b.below}; }
  friend Fraction operator*(Fraction a, Fraction b) { return of(a.above * b.above, a.below * b.below); }
  friend Fraction operator/(Fraction a, Fraction b) { return of(a.above * b.below, a.below * b.above); }
  friend bool operator<(Fraction a, Fraction b) { return a.above * b.below < b.above * a.below; }
  bool operator==(const Fraction&) const = default;
};

namespace {

/// How tightly a text holds together: what is looser than its surroundings needs parentheses.
enum class Binding : std::uint8_t { sum, product, quotient, whole };

/// One side of a formula, in symbols or in numbers.
struct Side {
  std::string text;
  Binding binding = Binding::whole;
  bool has_words = false;  ///< "weights": a product with it is written with an x
};

/// "1.25 ms", with all its digits: a formula's numbers are exact.
std::string exact_time(std::int64_t ns) {
  const auto time = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{} us", time / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{} ms", time / 1e6);
  return fmt::format("{} s", time / 1e9);
}

/// "weights", but not "W", "s b h" or "A_l".
bool has_word(const std::string& name) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  return std::adjacent_find(name.begin(), name.end(), [&](char a, char b) { return is_letter(a) && is_letter(b); }) !=
         name.end();
}

std::string literal(Fraction value, Unit unit) {
  if (value.below != 1) return fmt::format("{}/{}", value.above, value.below);
  return unit == Unit::ns ? exact_time(value.above) : std::to_string(value.above);
}

std::string within(const Side& side, Binding surroundings) {
  return side.binding < surroundings ? "(" + side.text + ")" : side.text;
}

/// "(N-1)" above or below a line of division, where "(N - 1)" would fall apart.
std::string tight(const Side& side, Binding surroundings) {
  if (side.has_words) return within(side, surroundings);
  Side close = side;
  for (const char* loose : {" - ", " + "}) {
    for (std::size_t at = close.text.find(loose); at != std::string::npos; at = close.text.find(loose)) {
      close.text.replace(at, 3, 1, loose[1]);
    }
  }
  return within(close, surroundings);
}

/// "3 W", "(N - 1) (F + B)"; "3 x weights", "3 x 4096".
std::string product(const Side& a, const Side& b) {
  const std::string left = within(a, Binding::product), right = within(b, Binding::product);
  const bool is_symbol = right.front() == '(' || std::isdigit(static_cast<unsigned char>(right.front())) == 0;
  const bool is_adjacent = is_symbol && !a.has_words && !b.has_words;
  return left + (is_adjacent ? " " : " x ") + right;
}

}  // namespace

struct Expression::Node {
  Kind kind = Kind::number;
  Unit unit = Unit::count;
  Fraction value;
  std::string name{};
  std::vector<std::shared_ptr<const Node>> parts{};

  static Fraction combine(Kind kind, Fraction a, Fraction b) {
    switch (kind) {
      case Kind::sum: return a + b;
      case Kind::difference: return a - b;
      case Kind::product: return a * b;
      case Kind::quotient: return a / b;
      case Kind::max: return a < b ? b : a;
      case Kind::min: return b < a ? b : a;
      default: throw std::logic_error("not an operation on two expressions");
    }
  }

  Side side(bool in_symbols) const {
    switch (kind) {
      case Kind::number: return plain_number(in_symbols);
      case Kind::named: return in_symbols ? named() : plain_number(false);
      case Kind::called: return in_symbols ? named() : parts[0]->side(false);
      case Kind::folded: return in_symbols ? parts[0]->side(true) : plain_number(false);
      default: return operation(parts[0]->side(in_symbols), parts[1]->side(in_symbols));
    }
  }
  /// Its numbers are a single one, which is shown before the formula.
  bool is_one_number() const {
    if (kind == Kind::called) return parts[0]->is_one_number();
    return kind == Kind::number || kind == Kind::named || kind == Kind::folded;
  }

 private:
  /// Between numbers there is always an x, between symbols only where one of them is a word.
  Side plain_number(bool in_symbols) const {
    return {literal(value, unit), value.below == 1 ? Binding::whole : Binding::quotient, !in_symbols};
  }
  Side named() const { return {name, Binding::whole, has_word(name)}; }

  Side operation(const Side& a, const Side& b) const {
    const bool words = a.has_words || b.has_words;
    switch (kind) {
      case Kind::sum: return {a.text + " + " + b.text, Binding::sum, words};
      case Kind::difference: return {a.text + " - " + within(b, Binding::product), Binding::sum, words};
      case Kind::product: return {product(a, b), Binding::product, words};
      case Kind::quotient:
        return {tight(a, Binding::product) + "/" + tight(b, Binding::whole), Binding::quotient, words};
      default:
        return {fmt::format("{}({}, {})", kind == Kind::max ? "max" : "min", a.text, b.text), Binding::whole, words};
    }
  }
};

Expression Expression::number(std::int64_t value, Unit unit) {
  return Expression(std::make_shared<Node>(Node{Kind::number, unit, {value}}));
}

Expression Expression::named(std::string name, std::int64_t value, Unit unit) {
  return Expression(std::make_shared<Node>(Node{Kind::named, unit, {value}, std::move(name)}));
}

Expression Expression::of(Kind kind, const Expression& a, const Expression& b) {
  const bool counts = a.node_->unit == Unit::count;  // times something, which has the unit
  return Expression(std::make_shared<Node>(Node{kind,
                                                counts ? b.node_->unit : a.node_->unit,
                                                Node::combine(kind, a.node_->value, b.node_->value),
                                                "",
                                                {a.node_, b.node_}}));
}

Expression Expression::called(std::string name, const Expression& a) {
  return Expression(
      std::make_shared<Node>(Node{Kind::called, a.node_->unit, a.node_->value, std::move(name), {a.node_}}));
}

Expression Expression::folded(const Expression& a) {
  return Expression(std::make_shared<Node>(Node{Kind::folded, a.node_->unit, a.node_->value, "", {a.node_}}));
}

std::int64_t Expression::value() const {
  if (node_->value.below != 1) throw std::logic_error("a formula is no whole number: " + text());
  return node_->value.above;
}

std::string Expression::text() const {
  const std::string symbols = node_->side(true).text, numbers = node_->side(false).text;
  return node_->is_one_number() || symbols == numbers ? symbols : symbols + " = " + numbers;
}

bool Expression::equals(const Expression& other) const {
  return node_->value == other.node_->value;
}

Formula<Bytes> named(std::string name, Bytes value) {
  return Formula<Bytes>(Expression::named(std::move(name), value.value(), Unit::bytes));
}

Formula<Nanos> named(std::string name, Nanos value) {
  return Formula<Nanos>(Expression::named(std::move(name), value.value(), Unit::ns));
}

Formula<Flops> named(std::string name, Flops value) {
  return Formula<Flops>(Expression::named(std::move(name), value.value(), Unit::flops));
}

Formula<Count> named(std::string name, Count value) {
  return Formula<Count>(Expression::named(std::move(name), value, Unit::count));
}

}  // namespace shardlings::grading::judge
