#include "grading/judge/host_reads.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace shardlings::grading::judge {

void refuse_host_reads(CheckContext& check) {
  for (int rank = 0; rank < check.ranks() && !check.failed(); ++rank) {
    const auto events = check.events(rank, front::EventKind::operation);
    const auto& names = check.trace(rank).names;
    const auto is_read = [&](const front::Event& event) { return names.at(event.name) == "read"; };
    const auto first = std::find_if(events.begin(), events.end(), is_read);
    if (first == events.end()) continue;
    const auto count = std::count_if(events.begin(), events.end(), is_read);
    check.fail(
        "right results without read()",
        fmt::format("{} called read() {}", check.name_of(rank), count == 1 ? "once" : fmt::format("{} times", count)),
        {std::string(base_name(first->at.file)), first->at.line});
    check.diagnose("host_reads");
  }
}

}  // namespace shardlings::grading::judge
