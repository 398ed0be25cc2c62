// Correct programs, many of them, with random delays: no alarm, the right values, the same counters and times.
//
// SHARDLINGS_RANDOM_PROGRAMS sets how many run on each kind of world; the test `random_programs_long` runs ten thousand
// in all.
#include <gtest/gtest.h>

#include <string>

#include "contract/on_every_world.h"
#include "contract/random_program.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

class RandomPrograms : public OnEveryWorld {
 protected:
  void check(std::uint64_t seed) const {
    const int ranks = least(1) + static_cast<int>(seed % static_cast<std::uint64_t>(most(9) - least(1) + 1));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(ranks) + " ranks");
    const RandomProgram program = make_random_program(seed, ranks);
    const world::Options options = support::options_for(ranks);
    const front::RunReport report =
        support::run_well(GetParam(), options, {seed, 30}, [&](Rank& rank) { run_program(rank, program, seed); });
    if (report.failure) return;
    const auto expected = simulate(program);
    for (int r = 0; r < ranks; ++r) {
      for (int i = 0; i < kRegisters; ++i) {
        support::expect_values(support::published(report, r, std::to_string(i)),
                               expected[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)],
                               "rank " + std::to_string(r) + ", register " + std::to_string(i));
      }
    }
    const front::RunReport undisturbed = support::run_well(support::world_kinds().front(), options, {},
                                                           [&](Rank& rank) { run_program(rank, program, 0); });
    support::expect_same(report, undisturbed);
  }
};

TEST_P(RandomPrograms, RunWithoutAlarmAndGiveTheRightValues) {
  for (int i = 0; i < number_of_programs() && !HasFailure(); ++i) check(static_cast<std::uint64_t>(i) + 1);
}

INSTANTIATE_TEST_SUITE_P(World, RandomPrograms, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
