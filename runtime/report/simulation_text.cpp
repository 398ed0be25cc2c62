#include "report/simulation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/summary.h"
#include "simulation/kinds.h"

namespace shardlings::report {
namespace {

using front::Counters;
using simulation::KindOfRanks;
using simulation::Summary;

/// "16,384".
std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string percent(double part) {
  return fmt::format("{:.{}f} %", 100 * part, part < 0.0995 ? 1 : 0);
}

/// "386 T": three digits and a unit of thousands.
std::string with_unit(double value) {
  constexpr std::array<const char*, 6> kUnits = {"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.3g}{}", value, kUnits[unit]);
}

std::string step_line(const cases::Case& kase, const Summary& summary) {
  const double seconds = static_cast<double>(summary.end.value()) / 1e9;
  std::string line =
      fmt::format("{} {}", kase.steps == 1 ? "step" : fmt::format("{} steps", kase.steps), to_text(summary.end));
  if (seconds <= 0) return line;
  const double each = summary.flops / seconds / kase.ranks;
  if (summary.peak_part > 0) {
    line += fmt::format("; {}FLOP/s on each device, {} of its {} peak", with_unit(each), percent(summary.peak_part),
                        kase.cluster.mixed ? "bf16" : "f32");
  }
  if (summary.tokens > 0) line += fmt::format("; {} tokens/s", with_unit(summary.tokens / seconds));
  return line;
}

std::string time_line(const Summary& summary) {
  std::string line;
  const auto add = [&line](const char* what, double part) {
    if (part >= 0.0005) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", what, percent(part));
  };
  add("computing", summary.time.computing);
  add("waiting for peers", summary.time.waiting_for_peers);
  add("exposed transfer", summary.time.exposed_transfer);
  add("waiting for the host", summary.time.waiting_for_host);
  add("waiting for the store", summary.time.waiting_for_store);
  add("done before the last rank", summary.time.after_the_end);
  return "where the ranks' time goes: " + line;
}

/// "weights 6.3 GiB, gradients 12.6 GiB", the largest first.
std::string by_kind(const Counters& counters) {
  std::vector<std::pair<Bytes, std::size_t>> kinds;
  for (std::size_t kind = 0; kind < counters.peak_by_kind.size(); ++kind) {
    if (counters.peak_by_kind[kind] > Bytes(0)) kinds.emplace_back(counters.peak_by_kind[kind], kind);
  }
  std::sort(kinds.rbegin(), kinds.rend());
  std::string text;
  for (const auto& [bytes, kind] : kinds) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(static_cast<Kind>(kind)), brief(bytes));
  }
  return text;
}

const Counters& of(const front::RunReport& report, int rank) {
  return report.ranks[static_cast<std::size_t>(rank)].counters;
}

void add_memory(const cases::Case& kase, const front::RunReport& report, const Summary& summary,
                std::vector<std::string>& lines) {
  const Counters& fullest = of(report, summary.fullest);
  const Counters& emptiest = of(report, summary.emptiest);
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 40;
  const std::string limit = kase.capacity.value() < kNoLimit ? fmt::format(" of {}", brief(kase.capacity)) : "";
  lines.push_back(
      fmt::format("memory: {}{} on rank {} ({})", brief(fullest.peak), limit, summary.fullest, by_kind(fullest)));
  if (emptiest.peak != fullest.peak) {
    lines.push_back(fmt::format("  least: {} on rank {}", brief(emptiest.peak), summary.emptiest));
  }
}

/// "0-7, 64-71 and 112 more ranks".
std::string some_ranks(const std::vector<int>& ranks) {
  constexpr std::size_t kShown = 8;
  if (list_of_ranks(ranks).size() <= 40) return ranks_text(ranks);
  const std::vector<int> first(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(kShown));
  return fmt::format("{}, and {} more", ranks_text(first), grouped(static_cast<std::int64_t>(ranks.size() - kShown)));
}

void add_kinds(const front::RunReport& report, std::vector<std::string>& lines) {
  constexpr std::size_t kShown = 8;
  const std::vector<KindOfRanks> kinds = simulation::kinds_of(report);
  lines.push_back(fmt::format("{} of ranks: those of one kind have counted the same",
                              kinds.size() == 1 ? "1 kind" : fmt::format("{} kinds", kinds.size())));
  for (std::size_t i = 0; i < std::min(kinds.size(), kShown); ++i) {
    const Counters& c = *kinds[i].counters;
    lines.push_back(fmt::format("  {}: peak {}, sent {}, computing {}, end {}", some_ranks(kinds[i].ranks),
                                brief(c.peak), brief(c.bytes_sent()),
                                to_text(c.busy[static_cast<std::size_t>(front::Lane::compute)]), to_text(c.end)));
  }
  if (kinds.size() > kShown) lines.push_back(fmt::format("  and {} kinds more", kinds.size() - kShown));
}

}  // namespace

std::vector<std::string> simulation_lines(const cases::Case& kase, const front::RunReport& report,
                                          const SimulationCost& cost, const Style& style) {
  const Summary summary = simulation::summary_of(kase, report);
  std::vector<std::string> lines = {step_line(kase, summary), time_line(summary)};
  add_memory(kase, report, summary, lines);
  add_kinds(report, lines);
  lines.push_back(style(Role::dim, fmt::format("simulated in {:.{}f} s: {} operations and calls, none of them computed",
                                               cost.seconds, cost.seconds < 10 ? 1 : 0, grouped(summary.operations))));
  return lines;
}

std::string simulation_json(const cases::Case& kase, const front::RunReport& report, const SimulationCost& cost) {
  const Summary summary = simulation::summary_of(kase, report);
  const simulation::TimeShares& time = summary.time;
  nlohmann::json json = {{"puzzle", kase.puzzle},
                         {"case", kase.name},
                         {"ranks", kase.ranks},
                         {"folded", kase.folded},
                         {"cluster", kase.cluster.name},
                         {"precision", simulation::precision_word(kase.cluster)},
                         {"stack", simulation::stack_of(kase)},
                         {"recompute", model::kRecomputeWords.of(kase.execution.recompute)},
                         {"measured_speeds", kase.cluster.efficiency.matmul.has_value()},
                         {"end", summary.end.value()},
                         {"time",
                          {{"computing", time.computing},
                           {"waiting_for_peers", time.waiting_for_peers},
                           {"exposed_transfer", time.exposed_transfer},
                           {"waiting_for_host", time.waiting_for_host},
                           {"waiting_for_store", time.waiting_for_store},
                           {"after_the_end", time.after_the_end}}},
                         {"flops", summary.flops},
                         {"tokens", summary.tokens},
                         {"operations", summary.operations},
                         {"capacity", kase.capacity.value()},
                         {"peak", of(report, summary.fullest).peak.value()},
                         {"peak_rank", summary.fullest},
                         {"seconds", cost.seconds}};
  const Counters& fullest = of(report, summary.fullest);
  for (std::size_t kind = 0; kind < fullest.peak_by_kind.size(); ++kind) {
    json["peak_by_kind"][name_of(static_cast<Kind>(kind))] = fullest.peak_by_kind[kind].value();
  }
  for (const KindOfRanks& kind : simulation::kinds_of(report)) {
    const Counters& c = *kind.counters;
    json["kinds"].push_back({{"ranks", list_of_ranks(kind.ranks)},
                             {"number", kind.ranks.size()},
                             {"peak", c.peak.value()},
                             {"sent", c.bytes_sent().value()},
                             {"computing", c.busy[static_cast<std::size_t>(front::Lane::compute)].value()},
                             {"end", c.end.value()}});
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace shardlings::report
