#include "gpu/alike.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "submission/wire/counters_json.h"

namespace shardlings::gpu_tests {
namespace {

using grading::verdict::CaseVerdict;
using grading::verdict::Verdict;
using nlohmann::json;
using wire::counters_to_json;

/// "counters /busy/0: 12 is 13".
std::string first_difference(const json& reference, const json& other) {
  const json patch = json::diff(reference, other);
  if (patch.empty()) return "";
  const auto path = patch[0].at("path").get<std::string>();
  const json::json_pointer place(path);
  const auto text = [&](const json& all) { return all.contains(place) ? all.at(place).dump() : "nothing"; };
  return fmt::format("counters {}: {} is {}", path, text(reference), text(other));
}

/// All that does not depend on a clock of the machine.
auto counted(const front::RankTrace& trace, const front::Event& e) {
  const std::string group = e.group < 0 ? "" : trace.groups.at(static_cast<std::size_t>(e.group));
  return fmt::format(
      "{} {} on lane {} depth {} group '{}' peer {} micro {} layer {} {}:{} #{} [{}, {}] posted {} {} B {} "
      "flops, {} B live",
      static_cast<int>(e.kind), trace.names.at(e.name), static_cast<int>(e.lane), e.depth, group, e.peer, e.label.micro,
      e.label.layer, e.at.file ? e.at.file : "", e.at.line, e.order, e.begin.value(), e.end.value(), e.posted.value(),
      e.bytes.value(), e.flops.value(), e.live_after.value());
}

bool same_curve(const std::vector<front::MemoryPoint>& a, const std::vector<front::MemoryPoint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.time == y.time && x.live == y.live; });
}

std::string difference_of(const front::RankTrace& a, const front::RankTrace& b) {
  if (a.events.size() != b.events.size()) return fmt::format("{} events are {}", a.events.size(), b.events.size());
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    const std::string left = counted(a, a.events[i]), right = counted(b, b.events[i]);
    if (left != right) return fmt::format("event {}:\n    {}\n    {}", i, left, right);
  }
  if (!same_curve(a.memory, b.memory)) return "the curves of device memory differ";
  if (!same_curve(a.host_memory, b.host_memory)) return "the curves of host memory differ";
  return "";
}

std::string difference_of(const CaseVerdict& a, const CaseVerdict& b, std::size_t rank) {
  if (!(a.counters[rank] == b.counters[rank])) {
    return first_difference(counters_to_json(a.counters[rank]), counters_to_json(b.counters[rank]));
  }
  return rank < a.traces.size() ? difference_of(a.traces[rank], b.traces[rank]) : "";
}

}  // namespace

std::vector<std::string> differences(const Verdict& reference, const Verdict& other) {
  if (reference.cases.size() != other.cases.size()) return {"the cases are others"};
  std::vector<std::string> list;
  for (std::size_t i = 0; i < reference.cases.size(); ++i) {
    const CaseVerdict& a = reference.cases[i];
    const CaseVerdict& b = other.cases[i];
    if (to_json(a.kase) != to_json(b.kase)) {
      list.push_back("the cases are others");
    } else if (a.ending != b.ending) {
      list.push_back(fmt::format("{}: {} is {}", a.kase.name, name_of(a.ending), name_of(b.ending)));
    } else if (a.counters.size() != b.counters.size() || a.traces.size() != b.traces.size()) {
      list.push_back(fmt::format("{}: ranks are missing", a.kase.name));
    } else {
      for (std::size_t rank = 0; rank < a.counters.size(); ++rank) {
        const std::string text = difference_of(a, b, rank);
        if (!text.empty()) list.push_back(fmt::format("{}, rank {}: {}", a.kase.name, rank, text));
      }
    }
  }
  return list;
}

}  // namespace shardlings::gpu_tests
