#include "grading/formulas/standstill.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace shardlings::grading::formulas {
namespace {

struct Heaviest {
  wire::Place place;
  std::int64_t sum = 0;
};

Heaviest heaviest(const std::vector<front::Event>& events,
                  const std::function<std::int64_t(const front::Event&)>& weight) {
  std::map<std::pair<std::string_view, int>, std::int64_t> sums;
  Heaviest most;
  for (const front::Event& event : events) {
    const std::string_view file = base_name(event.at.file);
    const std::int64_t sum = sums[{file, event.at.line}] += weight(event);
    if (sum > most.sum) most = {{std::string(file), event.at.line}, sum};
  }
  return most;
}

}  // namespace

wire::Place heaviest_line(const std::vector<front::Event>& events,
                          const std::function<std::int64_t(const front::Event&)>& weight) {
  return heaviest(events, weight).place;
}

Standstill longest_standstill(const judge::CheckContext& check, int rank, Nanos from, Nanos to) {
  const Heaviest most = heaviest(check.events(rank, front::EventKind::wait), [&](const front::Event& wait) {
    return from <= wait.begin && wait.begin <= to ? (wait.end - wait.begin).value() : 0;
  });
  return {most.place, Nanos(most.sum)};
}

}  // namespace shardlings::grading::formulas
