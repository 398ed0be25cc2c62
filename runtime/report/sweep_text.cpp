#include "report/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "report/summary.h"

namespace shardlings::report {
namespace {

using simulation::SweepPoint;
using simulation::SweepResult;
using simulation::SweepVariable;

/// "13.5 s", with + where the device's memory is too small for it, - where there is no such layout.
std::string cell(const SweepPoint& point, const SweepResult& result) {
  if (!point.refusal.empty()) return "-";
  if (!result.finished) return "failed";
  return to_text(result.end) + (result.fits ? "" : " +");
}

constexpr int kColumnWidth = 12;
constexpr std::size_t kMostTables = 4;

/// A heat map: the faster, the darker; white space where nothing fits.
std::string shade(const SweepResult& result, Nanos shortest, Nanos longest, const Style& style) {
  if (!result.finished || !result.fits) return "  ";
  constexpr std::size_t kShades = 4;
  const double part = longest == shortest ? 0 : (result.end - shortest) / (longest - shortest);
  const auto which = std::min(kShades - 1, static_cast<std::size_t>(part * kShades));
  static constexpr std::array<const char*, kShades> kBlocks = {"██", "▓▓", "▒▒", "░░"};
  static constexpr std::array<const char*, kShades> kLetters = {"##", "++", "--", ".."};
  return style.charset() == Charset::unicode ? kBlocks.at(which) : kLetters.at(which);
}

/// The variables that a table has rows and columns for, and those that there is a table of its own for each value of.
void add_table(const std::vector<SweepVariable>& variables, const std::vector<SweepPoint>& points,
               const std::vector<SweepResult>& results, int fastest, const Style& style,
               std::vector<std::string>& lines) {
  Nanos shortest(std::numeric_limits<std::int64_t>::max()), longest;
  for (const SweepResult& result : results) {
    if (!result.finished || !result.fits) continue;
    shortest = std::min(shortest, result.end);
    longest = std::max(longest, result.end);
  }
  const std::size_t rows = variables[0].values.size(), columns = variables[1].values.size();
  const std::size_t tables = points.size() / (rows * columns);
  for (std::size_t table = 0; table < tables; ++table) {
    if (tables > 1)
      lines.push_back(fmt::format("{} {}", variables[2].name, variables[2].text_of(variables[2].values[table])));
    std::string head = fmt::format("{:>{}}", variables[0].name + " \\ " + variables[1].name, kColumnWidth);
    for (const double value : variables[1].values)
      head += fmt::format("{:>{}}   ", variables[1].text_of(value), kColumnWidth);
    lines.push_back(style(Role::dim, head.substr(0, head.find_last_not_of(' ') + 1)));
    for (std::size_t row = 0; row < rows; ++row) {
      std::string line = fmt::format("{:>{}}", variables[0].text_of(variables[0].values[row]), kColumnWidth);
      for (std::size_t column = 0; column < columns; ++column) {
        const std::size_t i = (row * columns + column) * tables + table;
        const std::string text = fmt::format("{:>{}}", cell(points[i], results[i]), kColumnWidth);
        line += static_cast<int>(i) == fastest ? style(Role::good, text) : text;
        line += " " + shade(results[i], shortest, longest, style);
      }
      lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    }
  }
}

/// Time as a bar, and what the fullest rank needs and what the busiest one sends beside it.
void add_list(const std::vector<SweepVariable>& variables, const std::vector<SweepPoint>& points,
              const std::vector<SweepResult>& results, std::vector<std::string>& lines) {
  constexpr int kBar = 24;
  Nanos longest(1);
  for (const SweepResult& result : results) longest = std::max(longest, result.end);
  lines.push_back(fmt::format("  {:<20} {:>11}  {:>10}  {:>10}", "", "time", "peak", "sent"));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const SweepResult& result = results[i];
    const auto bar = static_cast<std::size_t>(kBar * result.end.value() / longest.value());
    const std::string line = fmt::format(
        "  {:<20} {:>11}  {:>10}  {:>10}  {}", combination_text(variables, points[i].values), cell(points[i], result),
        result.finished ? brief(result.peak) : "", result.finished ? brief(result.sent) : "", std::string(bar, '#'));
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

/// Why none is the fastest: they failed, or are too large: the one that needs least, and how much that is too much.
std::string why_none(const std::vector<SweepVariable>& variables, const std::vector<SweepPoint>& points,
                     const std::vector<SweepResult>& results) {
  const SweepResult *smallest = nullptr, *failed = nullptr;
  std::size_t failures = 0;
  for (const SweepResult& result : results) {
    const bool possible = points[static_cast<std::size_t>(&result - results.data())].refusal.empty();
    if (result.finished && (smallest == nullptr || result.peak < smallest->peak)) smallest = &result;
    if (result.finished || !possible) continue;
    if (failed == nullptr) failed = &result;
    ++failures;
  }
  std::string failure;
  if (failed != nullptr) {
    const SweepPoint& point = points[static_cast<std::size_t>(failed - results.data())];
    failure = fmt::format("{} of them failed, {} first: {}", failures, combination_text(variables, point.values),
                          failed->ending);
  }
  // How much memory one takes that did not come to its end is not known.
  if (smallest == nullptr) return "None of them came to its end. " + failure;
  std::string text = failed == nullptr ? "None of them fits into the devices' memory."
                                       : failure + "\nNone of the others fits into the devices' memory.";
  const SweepPoint& point = points[static_cast<std::size_t>(smallest - results.data())];
  return text + fmt::format(" The nearest is {}: {} on the fullest rank, {} too much.",
                            combination_text(variables, point.values), brief(smallest->peak),
                            brief(smallest->peak - point.kase.capacity));
}

/// The combinations of which none is both faster and smaller, if there are several; those that are alike in one line.
void add_frontier(const std::vector<SweepVariable>& variables, const std::vector<SweepPoint>& points,
                  const std::vector<SweepResult>& results, std::vector<std::string>& lines) {
  std::map<std::pair<Nanos, Bytes>, std::vector<std::size_t>> alike;
  std::size_t all = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].on_frontier) continue;
    alike[{results[i].end, results[i].peak}].push_back(i);
    ++all;
  }
  if (all < 2) return;
  lines.emplace_back("none is both faster and smaller than these:");
  for (const auto& [of, which] : alike) {
    const std::string more = which.size() > 1 ? fmt::format("; likewise {} more", which.size() - 1) : "";
    lines.push_back(fmt::format("  {}: {}, {}{}", combination_text(variables, points[which.front()].values),
                                to_text(of.first), brief(of.second), more));
  }
}

}  // namespace

std::string combination_text(const std::vector<SweepVariable>& variables, const std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", variables[i].name, variables[i].text_of(values[i]));
  }
  return text;
}

std::vector<std::string> sweep_lines(const std::vector<SweepVariable>& variables, const std::vector<SweepPoint>& points,
                                     const std::vector<SweepResult>& results, int fastest, const Style& style) {
  std::vector<std::string> lines;
  if (variables.size() == 2 || (variables.size() == 3 && variables[2].values.size() <= kMostTables)) {
    add_table(variables, points, results, fastest, style, lines);
  } else {
    add_list(variables, points, results, lines);
  }
  const auto is_full = [](const SweepResult& r) { return r.finished && !r.fits; };
  if (std::any_of(results.begin(), results.end(), is_full)) {
    lines.emplace_back("+: the fullest rank needs more than its device has; the time is that of a device with enough");
  }
  if (fastest < 0) {
    lines.push_back(why_none(variables, points, results));
    return lines;
  }
  const auto best = static_cast<std::size_t>(fastest);
  lines.push_back(fmt::format("fastest that fits: {}: {}, {}", combination_text(variables, points[best].values),
                              to_text(results[best].end), brief(results[best].peak)));
  add_frontier(variables, points, results, lines);
  return lines;
}

std::string sweep_json(const std::vector<SweepVariable>& variables, const std::vector<SweepPoint>& points,
                       const std::vector<SweepResult>& results) {
  nlohmann::json json = nlohmann::json::array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    nlohmann::json one;
    for (std::size_t s = 0; s < variables.size(); ++s) {
      nlohmann::json& variable = one["sizes"][variables[s].name];
      if (variables[s].words.empty()) {
        variable = points[i].values[s];
      } else {
        variable = variables[s].text_of(points[i].values[s]);
      }
    }
    one["possible"] = points[i].refusal.empty();
    if (!results[i].folding.empty()) one["folding"] = results[i].folding;
    if (!points[i].refusal.empty()) one["why"] = points[i].refusal;
    if (points[i].refusal.empty()) {
      one["finished"] = results[i].finished;
      if (!results[i].finished) one["why"] = results[i].ending;
      one["ranks"] = points[i].kase.ranks;
      one["end"] = results[i].end.value();
      one["peak"] = results[i].peak.value();
      one["sent"] = results[i].sent.value();
      one["fits"] = results[i].fits;
      one["on_frontier"] = results[i].on_frontier;
    }
    json.push_back(std::move(one));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace shardlings::report
