#include "grading/formulas/beyond_plan.h"

#include "grading/formulas/shared_diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace shardlings::grading::formulas {

wire::Place place_beyond(const judge::CheckContext& check, int rank, front::EventKind kind, std::int64_t planned) {
  const std::vector<front::Event> calls = check.events(rank, kind);
  if (calls.empty()) return {};
  const auto last = static_cast<std::int64_t>(calls.size()) - 1;
  return judge::place_of(calls[static_cast<std::size_t>(std::clamp(planned, std::int64_t{0}, last))]);
}

bool messages_only(judge::CheckContext& check, const std::string& of_harness) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const front::RankTrace& trace = check.trace(rank);
    for (const front::Event& event : check.events(rank, front::EventKind::collective)) {
      const std::string& name = trace.names.at(event.name);
      const bool harness = event.group >= 0 && trace.groups.at(static_cast<std::size_t>(event.group)) == of_harness;
      if (harness || name == "barrier") continue;
      check.fail("send, recv, send_recv and their _async forms only",
                 fmt::format("{} called {}", check.name_of(rank), name), judge::place_of(event));
      check.diagnose(SharedId("messages_only", "built_in_collective"));
      return false;
    }
  }
  return true;
}

bool nothing_on_host(judge::CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const front::MemoryUse& host = check.counters(rank).host;
    if (host.peak == Bytes(0)) continue;
    check.at_most("host memory of " + check.name_of(rank), host.peak, judge::named("nothing", Bytes(0)),
                  {host.peak_file, host.peak_line});
    check.diagnose(SharedId("nothing_on_host", "parked_on_host"));
    return false;
  }
  return true;
}

}  // namespace shardlings::grading::formulas
