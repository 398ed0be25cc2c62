// Whatever comes through a door, the front answers it: with a result or with an error of ours.
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <map>
#include <vector>

#include "api/harness_calls.h"
#include "api/random_call.h"
#include "model/structure.h"
#include "world/world.h"

namespace shardlings::detail {
namespace {

world::Options options(int ranks) {
  world::Options options;
  options.ranks = ranks;
  options.capacity = Bytes(1 << 18);
  options.host_capacity = Bytes(1 << 18);
  return options;
}

/// A small model of each family.
std::vector<RankModel> models() {
  model::ModelSpec mlp;
  mlp.hidden = 3;
  mlp.outputs = 9;
  model::ModelSpec gpt;
  gpt.family = model::ModelSpec::Family::gpt;
  gpt.hidden = 6;
  gpt.heads = 3;
  gpt.optimizer = model::ModelSpec::Optimizer::adam;
  std::vector<RankModel> all;
  for (const model::ModelSpec& spec : {mlp, gpt})
    all.push_back({std::make_shared<const model::ModelStructure>(model::make_structure(spec)), {}});
  return all;
}

/// SHARDLINGS_FUZZ_SEED=7 makes other calls than those of every day.
std::uint64_t first_seed() {
  const char* seed = std::getenv("SHARDLINGS_FUZZ_SEED");
  return seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1;
}

/// How calls ended.
struct Tally {
  std::map<Verb, int> answered;
  int refused = 0;
  bool aborted = false;
};

/// Makes so many calls, or fewer if the run ends before: another rank's calls are as bad.
Tally make_calls(Rank& rank, std::uint64_t seed, int calls) {
  Port& port = *Access::port(rank);
  RandomCalls random(seed);
  const auto free_all = [&] {
    for (const Call& drop : random.releases()) port.release(drop);
  };
  for (RankModel& model : models()) {
    harness::add_model(rank, model);
    random.learn_model(model.id);
  }
  Tally tally;
  for (int i = 0; i < calls && !tally.aborted; ++i) {
    const Call call = random.next();
    if (call.verb == Verb::begin_measuring) continue;  // from then on the first wrong call would be the last one
    Port& door = i % 8 == 0 ? *port.harness() : port;
    try {
      random.learn(door.call(call));
      ++tally.answered[call.verb];
    } catch (const Aborted&) {
      tally.aborted = true;
    } catch (const OutOfMemory&) {
      ++tally.refused;
      free_all();
    } catch (const InvalidArgument&) {
      ++tally.refused;
    } catch (const MisuseError&) {
      ++tally.refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "call " << i << " of seed " << seed << " (" << name_of(call.verb) << "): " << error.what();
    }
  }
  free_all();
  return tally;
}

/// Whether the front still does what it is asked for. What is wrong about the calls before is said by the next ones.
bool is_usable(Rank& rank) {
  for (int attempts = 0; attempts < 10'000; ++attempts) {
    try {
      Tensor x = rank.empty(1, Kind::other);
      fill(x, 3);
      return rank.read(x) == 3;
    } catch (const MisuseError&) {
      continue;
    }
  }
  return false;
}

TEST(Fuzz, OfOneRankLeavesItUsable) {
  Tally tally;
  bool usable = false;
  world::run(options(1), [&](Rank& rank) {
    tally = make_calls(rank, first_seed(), 100'000);
    usable = is_usable(rank);
  });
  EXPECT_TRUE(usable);
  EXPECT_FALSE(tally.aborted);
  EXPECT_GT(tally.refused, 10'000);
  int answered = 0;
  for (const auto& [verb, count] : tally.answered) answered += count;
  EXPECT_GT(answered, 10'000);
  EXPECT_GT(tally.answered.size(), 50U) << "verbs that were asked for rightly";
}

TEST(Fuzz, OfSeveralRanksEndsTheRunAndNothingElse) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 40; ++seed) {
    world::run(options(3),
               [&](Rank& rank) { make_calls(rank, 100 * seed + static_cast<std::uint64_t>(rank.id()), 400); });
  }
}

}  // namespace
}  // namespace shardlings::detail
