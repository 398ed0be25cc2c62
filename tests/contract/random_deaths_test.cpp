// Random programs some of whose ranks die at random moments: whatever happens before and after a death is the same on
// every kind of world and in every run. SHARDLINGS_RANDOM_PROGRAMS sets how many run on each kind of world.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "contract/mortal.h"
#include "contract/on_every_world.h"
#include "contract/random_program.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::Death;
using front::RunReport;
using support::load;
using support::publish;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

 private:
  std::mt19937_64 random_;
};

/// At most all ranks but one die.
std::vector<Death> make_deaths(std::uint64_t seed, int ranks) {
  Dice dice(seed);
  std::vector<Death> deaths;
  std::set<int> chosen;
  for (int i = dice.pick(1, ranks - 1); i > 0; --i) {
    const int rank = dice.pick(0, ranks - 1);
    if (!chosen.insert(rank).second) continue;
    Death death{rank};
    switch (dice.pick(0, 2)) {
      case 0: death.call = dice.pick(1, 60); break;
      case 1: death.write = dice.pick(1, 4); break;
      default: death.at = Nanos(dice.pick(0, 400'000)); break;
    }
    deaths.push_back(death);
  }
  return deaths;
}

/// A random program, and behind it rounds of those that live: they agree, compute, sum up, pass something on, and store
/// something, until all rounds are made.
class Mortal {
 public:
  Mortal(Rank& rank, const RandomProgram& program, std::uint64_t seed, std::uint64_t delays)
      : rank_(rank), program_(program), delays_(delays), dice_(seed * 100 + static_cast<std::uint64_t>(rank.id())) {}

  void run() {
    begin_measured(rank_);
    group_ = rank_.world();
    try {
      run_program(rank_, program_, delays_);
    } catch (const PeerFailed&) {
      agree();
    }
    while (round_ < kRounds) {
      try {
        make_round();
        ++round_;
      } catch (const PeerFailed&) {
        agree();
      }
    }
    publish(rank_, "log", load(rank_, log_));
  }

 private:
  static constexpr int kRounds = 4;

  void agree() {
    const Survivors alive = rank_.survivors(round_);
    group_ = alive.group;
    for (const int rank : alive.ranks) note(rank);
    for (const Count said : alive.said) note(said);
    round_ = static_cast<int>(*std::min_element(alive.said.begin(), alive.said.end()));  // who was told last is behind
  }

  void note(Count number) { log_.push_back(static_cast<float>(number)); }

  void make_round() {
    Store store = rank_.store();
    pass_time(rank_, dice_.pick(1, 30'000));
    Tensor x = load(rank_, {1, static_cast<float>(rank_.id())}), y = load(rank_, {7, 8}),
           z = rank_.empty(2, Kind::other);
    Work sum = group_.all_reduce_async(x, ReduceOp::sum);
    Work written = store.write_async("new", {"part", rank_.id(), round_}, y);
    note(store.size("new", {"part", dice_.pick(0, 3), round_}));
    note(store.size("latest", {"part", dice_.pick(0, 3), round_}));
    if (group_.size() > 1) {
      group_.send_recv(y, (group_.rank() + 1) % group_.size(), z, (group_.rank() + group_.size() - 1) % group_.size());
    }
    written.wait();
    group_.barrier();
    if (group_.rank() == 0) store.publish("new", "latest");
    if (dice_.pick(0, 1) == 0) store.write_number("numbers", {"of", rank_.id()}, round_);
    note(store.read_number("numbers", {"of", dice_.pick(0, 3)}));
    sum.wait();
    publish(rank_, "sum " + std::to_string(round_), x);
  }

  Rank& rank_;
  const RandomProgram& program_;
  std::uint64_t delays_;
  Dice dice_;
  Group group_;
  int round_ = 0;
  std::vector<float> log_;
};

class RandomDeaths : public OnEveryWorld {};

TEST_P(RandomDeaths, AreTheSameInEveryRun) {
  for (int i = 1; i <= number_of_programs() && !HasFailure(); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const int ranks = least(2) + i % (most(9) - least(2) + 1);
    SCOPED_TRACE("seed " + std::to_string(i) + ", " + std::to_string(ranks) + " ranks");
    const RandomProgram program = make_random_program(seed, ranks);
    world::Options options = support::options_for(ranks);
    options.deaths = make_deaths(seed, ranks);
    options.detection = Nanos(20'000 * (i % 3));
    const RunReport report = support::run_well(GetParam(), options, {seed, 30},
                                               [&](Rank& rank) { Mortal(rank, program, seed, seed).run(); });
    if (report.failure) return;
    const RunReport undisturbed = support::run_well(support::world_kinds().front(), options, {},
                                                    [&](Rank& rank) { Mortal(rank, program, seed, 0).run(); });
    support::expect_same(report, undisturbed, GetParam().own_arithmetic ? kCloseF32 : 0, GetParam().equality);
  }
}

INSTANTIATE_TEST_SUITE_P(World, RandomDeaths, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
