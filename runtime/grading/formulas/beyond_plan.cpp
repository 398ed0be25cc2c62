#include "grading/formulas/beyond_plan.h"

#include "grading/formulas/shared_diagnosis.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace shardlings::grading::formulas {

wire::Place place_beyond(const judge::CheckContext& check, int rank, front::EventKind kind, std::int64_t planned) {
  const std::vector<front::Event> calls = check.events(rank, kind);
  if (calls.empty()) return {};
  const auto last = static_cast<std::int64_t>(calls.size()) - 1;
  return judge::place_of(calls[static_cast<std::size_t>(std::clamp(planned, std::int64_t{0}, last))]);
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
