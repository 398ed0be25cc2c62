#include "grading/judge/needless_calls.h"

#include <fmt/format.h>

#include <algorithm>

namespace shardlings::grading::judge {
namespace {

/// Fails if a rank has an event of that kind and name; says which rank has how many, and the line of the first.
void refuse(CheckContext& check, front::EventKind kind, const std::string& name, const std::string& expected,
            const std::string& diagnosis) {
  for (int rank = 0; rank < check.ranks() && !check.failed(); ++rank) {
    const auto events = check.events(rank, kind);
    const auto& names = check.trace(rank).names;
    const auto is_meant = [&](const front::Event& event) { return names.at(event.name) == name; };
    const auto first = std::find_if(events.begin(), events.end(), is_meant);
    if (first == events.end()) continue;
    const auto count = std::count_if(events.begin(), events.end(), is_meant);
    check.fail(expected,
               fmt::format("{} called {}() {}", check.name_of(rank), name,
                           count == 1 ? "once" : fmt::format("{} times", count)),
               place_of(*first));
    check.diagnose(diagnosis);
  }
}

}  // namespace

void refuse_host_reads(CheckContext& check) {
  refuse(check, front::EventKind::operation, "read", "right results without read()", "host_reads");
}

void refuse_barriers(CheckContext& check) {
  refuse(check, front::EventKind::collective, "barrier", "no call but those of the lesson", "barrier");
}

}  // namespace shardlings::grading::judge
