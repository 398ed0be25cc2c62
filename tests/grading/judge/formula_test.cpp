#include "grading/judge/formula.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>
#include <string>

namespace shardlings::grading::judge {
namespace {

/// Reads what a formula shows, with nothing in common with how it was written.
class Evaluator {
 public:
  Evaluator(std::string text, const std::map<std::string, double>& names) : text_(std::move(text)), names_(names) {}

  double result() {
    const double value = sum();
    if (at_ != text_.size()) throw std::runtime_error("cannot read \"" + text_.substr(at_) + "\" of " + text_);
    return value;
  }

 private:
  bool take(const std::string& token) {
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }

  double sum() {
    double value = product();
    while (true) {
      if (take(" + ") || take("+")) {
        value += product();
      } else if (take(" - ") || take("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = quotient();
    while (take(" x ") || (text_.compare(at_, 2, " +") != 0 && text_.compare(at_, 2, " -") != 0 && take(" "))) {
      value *= quotient();
    }
    return value;
  }

  double quotient() {
    double value = atom();
    while (take("/")) value /= atom();
    return value;
  }

  double pair(const std::function<double(double, double)>& choice) {
    const double a = sum();
    expect(", ");
    const double b = sum();
    expect(")");
    return choice(a, b);
  }

  double atom() {
    if (take("max(")) return pair([](double a, double b) { return std::max(a, b); });
    if (take("min(")) return pair([](double a, double b) { return std::min(a, b); });
    if (take("(")) {
      const double value = sum();
      expect(")");
      return value;
    }
    for (auto name = names_.rbegin(); name != names_.rend(); ++name) {  // longer ones first
      if (take(name->first)) return name->second;
    }
    return number();
  }

  double number() {
    std::size_t length = 0;
    const double value = std::stod(text_.substr(at_), &length);
    at_ += length;
    const std::pair<const char*, double> times[] = {{" ns", 1}, {" us", 1e3}, {" ms", 1e6}, {" s", 1e9}};
    for (const auto& [unit, factor] : times) {
      if (take(unit)) return value * factor;
    }
    return value;
  }

  void expect(const std::string& token) {
    if (!take(token)) throw std::runtime_error("no \"" + token + "\" at \"" + text_.substr(at_) + "\" of " + text_);
  }

  std::string text_;
  const std::map<std::string, double>& names_;
  std::size_t at_ = 0;
};

/// Random formulas whose terms are known by name.
template <class Amount>
class RandomFormulas {
 public:
  explicit RandomFormulas(unsigned seed) : random_(seed) {}

  Formula<Amount> next(int depth) {
    const int choice = depth == 0 ? below(2) : below(9);
    switch (choice) {
      case 0: return Formula<Amount>(Amount(1 + below(5000)));
      case 1: return with_name<Amount>({"W", "A_l", "weights", "batch and loss"});
      case 2: return next(depth - 1) + next(depth - 1);
      case 3: return next(depth - 1) - next(depth - 1);
      case 4: return count(depth - 1) * next(depth - 1);
      case 5: return next(depth - 1) / count(0);
      case 6: return max(next(depth - 1), next(depth - 1));
      case 7: return min(next(depth - 1), next(depth - 1));
      default: return renamed(next(depth - 1));
    }
  }
  std::map<std::string, double> names;  ///< with their values

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  template <class A>
  Formula<A> with_name(const std::vector<std::string>& choices) {
    const std::string& name = choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
    const auto known = names.try_emplace(name, 1 + below(99)).first;
    return named(name, A(static_cast<std::int64_t>(known->second)));
  }

  Formula<Count> count(int depth) {
    const int choice = depth <= 0 ? below(2) : below(5);
    switch (choice) {
      case 0: return 1 + below(9);
      case 1: return with_name<Count>({"N", "m", "steps"});
      case 2: return count(depth - 1) + count(depth - 1);
      case 3: return count(depth - 1) * count(depth - 1);
      default: return count(depth - 1) / count(0);
    }
  }

  Formula<Amount> renamed(const Formula<Amount>& formula) {
    if (below(2) == 0) return folded(formula);
    try {
      const std::string name = "sum number " + std::string(1, static_cast<char>('a' + names.size()));
      const auto value = formula.value();
      names[name] = static_cast<double>(raw(value));
      return called(name, formula);
    } catch (const std::logic_error&) {
      return formula;
    }
  }

 public:
  static std::int64_t raw(Amount amount) {
    if constexpr (std::is_same_v<Amount, Count>) {
      return amount;
    } else {
      return amount.value();
    }
  }

 private:
  std::mt19937 random_;
};

double evaluate(const std::string& text, const std::map<std::string, double>& names) {
  return Evaluator(text, names).result();
}

/// Both sides of what many random formulas show are their value.
template <class Amount>
void expect_texts_and_values_agree() {
  int whole = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    RandomFormulas<Amount> random(seed);
    const Formula<Amount> formula = random.next(1 + static_cast<int>(seed % 4));
    const std::string text = formula.text();
    const std::size_t equals = text.find(" = ");
    const double symbols = evaluate(text.substr(0, equals), random.names);
    const double scale = 1e-9 * std::max(1.0, std::abs(symbols));
    if (equals != std::string::npos) {
      ASSERT_NEAR(evaluate(text.substr(equals + 3), {}), symbols, scale) << text;
    }
    try {
      ASSERT_NEAR(static_cast<double>(RandomFormulas<Amount>::raw(formula.value())), symbols, scale) << text;
      ++whole;
    } catch (const std::logic_error&) {
      ASSERT_GT(std::abs(symbols - std::round(symbols)), 1e-9) << text;
    }
  }
  EXPECT_GT(whole, 2000);
}

TEST(Formula, ShowsSymbolsAndNumbers) {
  const Formula<Bytes> w = named("W", Bytes(4096)), a = named("A", Bytes(512));
  EXPECT_EQ((3 * w + a).text(), "3 W + A = 3 x 4096 + 512");
  EXPECT_EQ((3 * w + a).value(), Bytes(3 * 4096 + 512));
}

TEST(Formula, TextAndValueAgree) {
  expect_texts_and_values_agree<Bytes>();
  expect_texts_and_values_agree<Nanos>();
  expect_texts_and_values_agree<Count>();
}

TEST(Formula, WordsAreMultipliedWithAnX) {
  const Formula<Bytes> weights = named("weights", Bytes(10));
  const Formula<Count> m = named("m", 4);
  EXPECT_EQ((m * weights).text(), "m x weights = 4 x 10");
  EXPECT_EQ((2 * weights).text(), "2 x weights = 2 x 10");
  EXPECT_EQ(((m + 1) * weights).text(), "(m + 1) x weights = (4 + 1) x 10");
}

TEST(Formula, ParenthesesStandOnlyWhereTheyAreNeeded) {
  const Formula<Nanos> f = named("F", Nanos(2)), b = named("B", Nanos(3)), c = named("C", Nanos(1));
  const Formula<Count> m = named("m", 4), p = named("p", 3);
  EXPECT_EQ(((m + p - 1) * (f + b)).text(), "(m + p - 1) (F + B) = (4 + 3 - 1) x (2 ns + 3 ns)");
  EXPECT_EQ((f + (b + c)).text(), "F + B + C = 2 ns + 3 ns + 1 ns");
  EXPECT_EQ((f - (b - c)).text(), "F - (B - C) = 2 ns - (3 ns - 1 ns)");
  EXPECT_EQ((f - b + c).text(), "F - B + C = 2 ns - 3 ns + 1 ns");
  EXPECT_EQ((m * f + c).text(), "m F + C = 4 x 2 ns + 1 ns");
  EXPECT_EQ(max(f + b, m * c).text(), "max(F + B, m C) = max(2 ns + 3 ns, 4 x 1 ns)");
  EXPECT_EQ((2 * (m * p)).text(), "2 m p = 2 x 4 x 3");
}

TEST(Formula, FractionsAreExact) {
  const Formula<Count> n = named("N", 3);
  const Formula<Bytes> grads = named("gradients", Bytes(100)), even = named("gradients", Bytes(99));
  const Formula<Bytes> sent = 2 * (folded(n - 1) / n) * even;
  EXPECT_EQ(sent.text(), "2 (N-1)/N x gradients = 2 x 2/3 x 99");
  EXPECT_EQ(sent.value(), Bytes(132));
  EXPECT_THROW((folded(n - 1) / n * grads).value(), std::logic_error);
  EXPECT_EQ((3 * (folded(n - 1) / n * grads)).value(), Bytes(200)) << "no rounding on the way";
}

TEST(Formula, TheSimplerTextIsShownWhereItIsTheSameNumber) {
  const Formula<Count> n = named("N", 3);
  const auto sent = [&](std::int64_t whole, std::int64_t part) {
    const Formula<Bytes> data = named("data", Bytes(whole));
    return simplest(folded(n - 1) / n * data, data - named("own part", Bytes(part)));
  };
  EXPECT_EQ(sent(99, 33).text(), "(N-1)/N x data = 2/3 x 99");
  EXPECT_EQ(sent(100, 34).text(), "data - own part = 100 - 34");
  EXPECT_EQ(sent(100, 34).value(), Bytes(66));
}

TEST(Formula, ASingleNumberIsNotRepeated) {
  EXPECT_EQ(named("L", 3).text(), "L");
  EXPECT_EQ(named("the best of all plans", Flops(77)).text(), "the best of all plans");
  EXPECT_EQ(folded(2 * named("L", 3)).text(), "2 L");
  EXPECT_EQ((Formula<Count>(2) * 3).text(), "2 x 3");
  EXPECT_EQ(Formula<Bytes>(Bytes(12)).text(), "12");
}

TEST(Formula, LongOnesAreShortened) {
  const Formula<Count> s = named("s", 8), h = named("h", 16);
  const Formula<Bytes> x = 4 * s * h * Formula<Bytes>(Bytes(1));
  EXPECT_EQ((2 * folded(x)).value(), Bytes(1024));
  const Formula<Bytes> layers = sum<Bytes>({named("a", Bytes(96)), named("b", Bytes(120))});
  EXPECT_EQ(called("2 (d-1)/d of each layer", layers).text(), "2 (d-1)/d of each layer = 96 + 120");
  EXPECT_EQ((2 * folded(called("layers", layers))).text(), "2 x layers = 2 x 216");
  EXPECT_EQ(sum<Bytes>({}).value(), Bytes(0));
}

TEST(Formula, ALittleMoreIsSaidBehindTheFormula) {
  const Formula<Nanos> step = named("a", Nanos(30)) + named("b", Nanos(71));
  EXPECT_EQ(and_percent(step, 3).value(), Nanos(104)) << "104.03, rounded down";
  EXPECT_EQ(and_percent(step, 3).text(), "a + b = 30 ns + 71 ns, and 3 %");
  EXPECT_EQ(and_percent(named("W", Bytes(200)), 50, "best q: ").text(), "best q: W, and 50 %");
}

TEST(Formula, TimesAreShownWithAllTheirDigits) {
  const Formula<Nanos> a = named("a", Nanos(1'234'567)), b = named("b", Nanos(5'000)), c = named("c", Nanos(300));
  EXPECT_EQ((a + b + c).text(), "a + b + c = 1.234567 ms + 5 us + 300 ns");
  EXPECT_EQ((2 * named("d", Nanos(2'500'000'001))).text(), "2 d = 2 x 2.500000001 s");
}

}  // namespace
}  // namespace shardlings::grading::judge
