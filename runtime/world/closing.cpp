#include "world/closing.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

namespace shardlings::world {

using front::Event;
using front::Failure;
using front::RankFront;
using front::RankReport;
using front::RunReport;

void align_measured_times(RunReport& report) {
  std::optional<Nanos> first;
  const auto for_measured = [&](auto f) {
    for (RankReport& rank : report.ranks) {
      for (Event& event : rank.trace.events) {
        if (event.measured_begin >= Nanos(0)) f(event);
      }
    }
  };
  for_measured(
      [&](const Event& event) { first = std::min(first.value_or(event.measured_begin), event.measured_begin); });
  for_measured([&](Event& event) {
    event.measured_begin -= *first;
    event.measured_end -= *first;
  });
}

void await_devices(const std::vector<std::unique_ptr<RankFront>>& fronts, RunReport& report) {
  for (const auto& front : fronts) {
    if (!front) continue;
    try {
      front->rank().device().synchronize();
    } catch (const std::exception& error) {
      if (report.failure) continue;
      const std::string message = fmt::format("the device of rank {} failed in something that it was still doing: {}",
                                              front->rank().id(), error.what());
      report.failure = Failure{front::FailureKind::exception, front->rank().id(), message, "", 0, front->rank().now()};
    }
  }
}

}  // namespace shardlings::world
