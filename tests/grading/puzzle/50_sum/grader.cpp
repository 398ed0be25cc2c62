// The grader of a puzzle that exists for the tests of grading.
#include <gtest/gtest.h>

#include "case/data.h"
#include "grading/judge/grader.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

std::vector<float> sum_of(const Case& kase) {
  std::vector<float> sum(static_cast<std::size_t>(kase.integer("count")));
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const std::vector<float> part = integers_of(kase, rank, kase.integer("count"));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  return sum;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  if (check.identical("data", sum_of(check.kase()))) return;
  if (check.counters(0).calls(front::Collective::all_reduce) == 2) check.diagnose("twice");
}

SHARDLINGS_CHECK(communication) {
  check.exactly("all_reduce", check.counters(0).calls(front::Collective::all_reduce), 1, "calls");
}

SHARDLINGS_CHECK(memory) {
  if (check.peaks_at_most(4 * named("count", Bytes(check.kase().integer("count"))))) {
    EXPECT_EQ(check.counters(0).host_reads, 0) << "a plain expectation of GoogleTest counts, too";
  }
}
