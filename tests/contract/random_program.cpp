#include "contract/random_program.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "base/parts.h"

namespace shardlings::contract {
namespace {

using back::Collective;
using StepKind = RandomStep::Kind;

class Generator {
 public:
  Generator(std::uint64_t seed, int ranks) : random_(seed) {
    program_.ranks = ranks;
    program_.size = ranks * pick(1, 9) + pick(0, ranks);
    in_flight_.resize(static_cast<std::size_t>(ranks));
  }

  RandomProgram make() {
    make_groups();
    const int length = pick(10, 40);
    for (int i = 0; i < length; ++i) add_step();
    for (int rank = 0; rank < program_.ranks; ++rank) {
      while (!flying(rank).empty()) add_wait(rank, pick(0, static_cast<int>(flying(rank).size()) - 1));
    }
    return std::move(program_);
  }

 private:
  /// A step that a rank has started and not waited for, and the registers that it must not touch until then.
  struct Flight {
    int step;
    std::vector<int> registers;
  };

  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  std::vector<Flight>& flying(int rank) { return in_flight_[static_cast<std::size_t>(rank)]; }
  int next_step() const { return static_cast<int>(program_.steps.size()); }

  void make_groups() {
    std::vector<int> world(static_cast<std::size_t>(program_.ranks));
    std::iota(world.begin(), world.end(), 0);
    program_.groups.push_back(world);
    const int more = pick(0, 3);
    for (int i = 0; i < more; ++i) {
      std::vector<int> members = world;
      std::shuffle(members.begin(), members.end(), random_);
      members.resize(static_cast<std::size_t>(pick(1, program_.ranks)));
      program_.groups.push_back(std::move(members));
    }
  }

  void add_step() {
    const int dice = pick(1, 100);
    if (dice <= 45) return add_collective();
    if (dice <= 70) return add_message();
    const int rank = pick(0, program_.ranks - 1);
    if (dice <= 85 && !flying(rank).empty()) return add_wait(rank, pick(0, static_cast<int>(flying(rank).size()) - 1));
    add_computation(rank);
  }

  /// A register of the rank that nothing in flight uses, other than `not_this`; waits if there is none.
  int free_register(int rank, int not_this = -1) {
    for (;;) {
      std::vector<int> free;
      for (int i = 0; i < kRegisters; ++i) {
        const bool taken = std::any_of(flying(rank).begin(), flying(rank).end(), [&](const Flight& flight) {
          return std::count(flight.registers.begin(), flight.registers.end(), i) > 0;
        });
        if (!taken && i != not_this) free.push_back(i);
      }
      if (!free.empty()) return free[static_cast<std::size_t>(pick(0, static_cast<int>(free.size()) - 1))];
      add_wait(rank, 0);
    }
  }

  void add_wait(int rank, int index) {
    RandomStep step;
    step.kind = StepKind::wait;
    step.rank = rank;
    step.step = flying(rank)[static_cast<std::size_t>(index)].step;
    flying(rank).erase(flying(rank).begin() + index);
    program_.steps.push_back(step);
  }

  void add_computation(int rank) {
    RandomStep step;
    step.kind = std::array{StepKind::scale, StepKind::add, StepKind::copy}[static_cast<std::size_t>(pick(0, 2))];
    step.rank = rank;
    step.out = {free_register(rank)};
    step.in = {free_register(rank, step.out[0])};
    step.out = {free_register(rank, step.in[0])};  // the first may have been taken while waiting for the second
    step.count = pick(0, static_cast<int>(program_.size));
    program_.steps.push_back(step);
  }

  void add_collective() {
    RandomStep step;
    step.kind = StepKind::collective;
    step.group = pick(0, static_cast<int>(program_.groups.size()) - 1);
    const std::vector<int> members = program_.groups[static_cast<std::size_t>(step.group)];
    const int size = static_cast<int>(members.size());
    step.collective = static_cast<Collective>(pick(0, static_cast<int>(Collective::barrier)));
    step.reduce =
        std::array{ReduceOp::mean, ReduceOp::max, ReduceOp::min, ReduceOp::sum}[static_cast<std::size_t>(pick(0, 3))];
    step.root = pick(0, size - 1);
    step.count = pick(0, static_cast<int>(program_.size));
    if (step.collective == Collective::all_to_all) step.count = step.count / size * size;
    const bool async = chance(60) && step.collective != Collective::barrier;
    for (const int rank : members) {
      step.in.push_back(free_register(rank));
      step.out.push_back(free_register(rank, step.in.back()));
      step.in.back() = free_register(rank, step.out.back());
      step.async.push_back(async && chance(80));
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (step.async[m]) flying(members[m]).push_back({next_step(), {step.in[m], step.out[m]}});
    }
    program_.steps.push_back(step);
  }

  void add_message() {
    RandomStep step;
    step.kind = StepKind::message;
    step.group = pick(0, static_cast<int>(program_.groups.size()) - 1);
    const std::vector<int> members = program_.groups[static_cast<std::size_t>(step.group)];
    const int size = static_cast<int>(members.size());
    if (size < 2) return;
    step.from = pick(0, size - 1);
    step.to = (step.from + pick(1, size - 1)) % size;
    step.count = pick(0, static_cast<int>(program_.size));
    const int sender = members[static_cast<std::size_t>(step.from)];
    const int receiver = members[static_cast<std::size_t>(step.to)];
    step.in = {free_register(sender)};
    step.out = {free_register(receiver)};
    step.async = {chance(60), chance(60)};
    if (step.async[0]) flying(sender).push_back({next_step(), step.in});
    if (step.async[1]) flying(receiver).push_back({next_step(), step.out});
    program_.steps.push_back(step);
  }

  std::mt19937_64 random_;
  RandomProgram program_;
  std::vector<std::vector<Flight>> in_flight_;  ///< by rank
};

}  // namespace

int number_of_programs() {
  const char* given = std::getenv("SHARDLINGS_RANDOM_PROGRAMS");
  return given ? std::atoi(given) : 100;
}

RandomProgram make_random_program(std::uint64_t seed, int ranks) {
  return Generator(seed, ranks).make();
}

std::vector<float> first_values(const RandomProgram& program, int rank, int index) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank * kRegisters + index));
  std::vector<float> values;
  for (Count i = 0; i < program.size; ++i) values.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
  return values;
}

}  // namespace shardlings::contract
