#include "simulation/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "model/execution.h"

namespace shardlings::simulation {
namespace {

[[noreturn]] void refuse_range(const std::string& text) {
  throw std::runtime_error(fmt::format(
      "--sweep takes NAME=FROM..TO (each twice the one before) or NAME=FROM:TO[:STEP], as in tp=1..8, not '{}'", text));
}

double number_in(std::string_view text, const std::string& whole) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || !(value > 0)) refuse_range(whole);
  return value;
}

bool is_whole(double value) {
  return value == std::floor(value);
}

/// A step that makes about twenty numbers of it.
double usual_step(double first, double last) {
  constexpr double kNumbers = 20;
  const double step = (last - first) / kNumbers;
  return is_whole(first) && is_whole(last) ? std::max(1.0, std::ceil(step)) : step;
}

std::vector<double> in_equal_steps(double first, double last, double step) {
  constexpr double kMost = 1000;
  std::vector<double> values;
  if (step <= 0 || (last - first) / step > kMost) throw std::runtime_error("--sweep: too many steps");
  // Multiples, so that roundings do not add up.
  for (int i = 0; first + i * step <= last * (1 + 1e-12); ++i) values.push_back(first + i * step);
  return values;
}

SweepVariable variable_in(const std::string& text) {
  const auto equals = text.find('='), dots = text.find(".."), colon = text.find(':');
  const bool doubles = dots != std::string::npos;
  const auto between = doubles ? dots : colon;
  if (equals == std::string::npos || equals == 0 || between == std::string::npos || between < equals) {
    refuse_range(text);
  }
  const std::string_view all = text;
  const auto second = between + (doubles ? 2 : 1), step_at = doubles ? std::string::npos : text.find(':', second);
  const double first = number_in(all.substr(equals + 1, between - equals - 1), text);
  const double last = number_in(all.substr(second, step_at == std::string::npos ? step_at : step_at - second), text);
  if (last < first) throw std::runtime_error(fmt::format("--sweep {}: the second number is the smaller one", text));
  SweepVariable variable{text.substr(0, equals), {}, {}};
  if (!doubles) {
    const double step =
        step_at == std::string::npos ? usual_step(first, last) : number_in(all.substr(step_at + 1), text);
    variable.values = first == last ? std::vector{first} : in_equal_steps(first, last, step);
    return variable;
  }
  for (double value = first; value <= last; value *= 2) variable.values.push_back(value);
  return variable;
}

constexpr const char* kRecompute = "recompute";

/// The texts between commas; "off,full" behind "recompute=" belongs together.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const bool is_word = model::kRecomputeWords.find(part).has_value();
    if (is_word && !parts.empty() && parts.back().starts_with(kRecompute)) {
      parts.back() += "," + part;
    } else {
      parts.push_back(part);
    }
    begin = end + 1;
  }
  return parts;
}

SweepVariable recompute_in(const std::string& text) {
  SweepVariable variable{kRecompute, {}, {}};
  for (std::size_t begin = text.find('=') + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    variable.values.push_back(static_cast<double>(variable.words.size()));
    variable.words.push_back(text.substr(begin, end - begin));
    if (!model::kRecomputeWords.find(variable.words.back())) {
      throw std::runtime_error(fmt::format("--sweep {}: recompute is off, full or selective", text));
    }
    begin = end + 1;
  }
  return variable;
}

bool is_axis(const cases::Manifest& puzzle, const std::string& name) {
  return std::any_of(puzzle.axes.begin(), puzzle.axes.end(), [&](const cases::Axis& a) { return a.name == name; });
}

/// The wish with these values in it; ranks that are wished for fix the number of replicas.
Wish with_values(const cases::Manifest& puzzle, Wish wish, const std::vector<SweepVariable>& variables,
                 const std::vector<double>& values) {
  double others = 1;
  bool has_replicas = wish.parallel.find("dp=") != std::string::npos;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].words.empty()) {
      wish.recompute = variables[i].text_of(values[i]);
      continue;
    }
    // What cannot be a batch goes the way of other numbers, where it is refused.
    constexpr double kMost = 1e15;
    if (variables[i].name == "batch" && is_whole(values[i]) && values[i] >= 1 && values[i] <= kMost) {
      wish.batch = static_cast<Count>(values[i]);  // before --global-batch is divided by it
      continue;
    }
    const std::string text = fmt::format("{}={}", variables[i].name, values[i]);
    if (!is_axis(puzzle, variables[i].name)) {
      wish.set.push_back(text);
      continue;
    }
    wish.parallel += (wish.parallel.empty() ? "" : ",") + text;
    has_replicas = has_replicas || variables[i].name == "dp";
    if (variables[i].name != "v") others *= values[i];
  }
  if (wish.ranks > 0 && !wish.parallel.empty() && !has_replicas && is_axis(puzzle, "dp")) {
    const int each = static_cast<int>(others);
    if (wish.ranks % each != 0) {
      throw std::runtime_error(fmt::format("{} ranks are no multiple of {}", wish.ranks, each));
    }
    wish.parallel += fmt::format(",dp={}", wish.ranks / each);
  }
  return wish;
}

}  // namespace

std::string SweepVariable::text_of(double value) const {
  return words.empty() ? fmt::format("{}", value) : words.at(static_cast<std::size_t>(value));
}

std::vector<SweepVariable> parse_sweep(const std::string& text) {
  std::vector<SweepVariable> variables;
  for (const std::string& part : parts_of(text)) {
    variables.push_back(part.starts_with(fmt::format("{}=", kRecompute)) ? recompute_in(part) : variable_in(part));
  }
  constexpr std::size_t kMost = 1000;
  std::size_t all = 1;
  for (const SweepVariable& variable : variables) all *= variable.values.size();
  if (all > kMost) throw std::runtime_error(fmt::format("--sweep {}: more than {} combinations", text, kMost));
  return variables;
}

std::vector<SweepPoint> points_of(const cases::Manifest& puzzle, const Wish& wish,
                                  const std::vector<SweepVariable>& variables, const Files& files) {
  std::size_t all = 1;
  for (const SweepVariable& variable : variables) all *= variable.values.size();
  std::vector<SweepPoint> points(all);
  for (std::size_t i = 0; i < all; ++i) {
    std::size_t rest = i;
    points[i].values.resize(variables.size());
    for (std::size_t s = variables.size(); s-- > 0; rest /= variables[s].values.size()) {
      points[i].values[s] = variables[s].values[rest % variables[s].values.size()];
    }
    try {
      points[i].kase = case_of(puzzle, with_values(puzzle, wish, variables, points[i].values), files);
    } catch (const std::exception& error) {
      points[i].refusal = error.what();
    }
  }
  const bool any = std::any_of(points.begin(), points.end(), [](const SweepPoint& p) { return p.refusal.empty(); });
  if (!any) throw std::runtime_error(points.front().refusal);
  return points;
}

int mark_frontier(std::vector<SweepResult>& results) {
  int best = -1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    SweepResult& one = results[i];
    if (!one.finished || !one.fits) continue;
    one.on_frontier = std::none_of(results.begin(), results.end(), [&](const SweepResult& other) {
      return other.finished && other.fits && other.end <= one.end && other.peak <= one.peak &&
             (other.end < one.end || other.peak < one.peak);
    });
    if (best < 0 || one.end < results[static_cast<std::size_t>(best)].end) best = static_cast<int>(i);
  }
  return best;
}

}  // namespace shardlings::simulation
