// Whatever comes through a door, the front answers it: with a result or with an error of ours. This is what stands
// between a jail and its broker.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iostream>
#include <map>
#include <vector>

#include "api/harness_calls.h"
#include "api/port_server.h"
#include "fuzz/fuzz.h"
#include "fuzz/random_call.h"
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

/// How calls ended.
struct Tally {
  std::map<Verb, std::int64_t> answered;
  std::int64_t refused = 0;
  bool aborted = false;

  std::int64_t calls() const {
    std::int64_t sum = refused;
    for (const auto& [verb, count] : answered) sum += count;
    return sum;
  }
};

/// Texts cross in messages of their own: asks for one, and for one that may have no number.
void talk_about_texts(Port& port, RandomCalls& random) {
  const std::string text = random.text();
  const TextId id = PortServer::define(port, text);
  if (id != 0) {
    EXPECT_EQ(PortServer::text_of(port, id), text.c_str());  // up to a zero
  }
  PortServer::text_of(port, random.text_id());
}

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
    if (i % 64 == 0) talk_about_texts(port, random);
    if (call.verb == Verb::begin_measuring) continue;  // from then on the first wrong call would be the last one
    Port& door = i % 8 == 0 ? *port.harness() : port;
    try {
      random.learn(door.call(call));
      ++tally.answered[call.verb];
    } catch (const Aborted&) {
      tally.aborted = true;
      ++tally.refused;
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

/// A world is made for so many calls: what they leave in it grows.
constexpr std::int64_t kCallsOfAWorld = 100'000;

TEST(FuzzCalls, OfOneRankLeaveItUsable) {
  std::int64_t refused = 0, made = 0;
  std::map<Verb, std::int64_t> answered;
  std::uint64_t seed = fuzz::seed(1);
  for (std::int64_t left = fuzz::tries(kCallsOfAWorld); left > 0; left -= kCallsOfAWorld, ++seed) {
    Tally tally;
    bool usable = false;
    world::run(options(1), [&](Rank& rank) {
      tally = make_calls(rank, seed, static_cast<int>(std::min(left, kCallsOfAWorld)));
      usable = is_usable(rank);
    });
    EXPECT_TRUE(usable) << "seed " << seed;
    EXPECT_FALSE(tally.aborted) << "seed " << seed;
    refused += tally.refused;
    made += tally.calls();
    for (const auto& [verb, count] : tally.answered) answered[verb] += count;
  }
  std::cout << made << " calls, " << refused << " of them refused\n";
  EXPECT_GT(refused, made / 10);
  EXPECT_GT(made - refused, made / 10);
  EXPECT_GT(answered.size(), 50U) << "verbs that were asked for rightly";
}

TEST(FuzzCalls, OfSeveralRanksEndTheRunAndNothingElse) {
  constexpr int kRanks = 3, kCalls = 400;
  std::atomic<std::int64_t> made = 0;
  const std::int64_t wanted = fuzz::tries(10'000);
  for (std::uint64_t seed = fuzz::seed(1); made < wanted; ++seed) {
    world::run(options(kRanks), [&](Rank& rank) {
      made += make_calls(rank, 100 * seed + static_cast<std::uint64_t>(rank.id()), kCalls).calls();
    });
  }
  std::cout << made << " calls of " << kRanks << " ranks\n";
}

}  // namespace
}  // namespace shardlings::detail
