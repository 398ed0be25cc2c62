// Random programs of servers that receive from anybody: no alarm, and counters, traces, times and values that are the
// same on every kind of world and in every run.
//
// Some ranks serve, the others ask them: one server and wait, or two at a time. A server answers, and after some
// messages sends one to the next server. Servers wait for nothing but messages, and every question has its answer, so
// no such program can deadlock. SHARDLINGS_RANDOM_PROGRAMS sets how many run on each kind of world.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "contract/on_every_world.h"
#include "contract/random_program.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;
using support::load;
using support::publish;

std::size_t place(int i) {
  return static_cast<std::size_t>(i);
}

/// What a rank that asks does in one round.
struct Question {
  Count computing = 0;
  int first = 0, second = kNobody;  ///< the servers
  bool answers_backwards = false;   ///< it waits for the second server's answer before the first one's
  bool sums = false;                ///< then all that ask sum up something
};

struct ServersProgram {
  int ranks = 2, servers = 1;
  Count size = 1;
  std::vector<std::vector<Question>> asked;  ///< by rank that asks
  std::vector<int> questions;                ///< by server: how many it gets
  std::vector<std::vector<bool>> passes_on;  ///< by server and message
};

ServersProgram make_servers(std::uint64_t seed, int ranks) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  ServersProgram program;
  program.ranks = ranks;
  program.servers = pick(1, std::max(1, ranks - 1));
  program.size = pick(0, 40);
  program.questions.assign(place(program.servers), 0);
  const int rounds = pick(1, 6);
  for (int r = program.servers; r < ranks; ++r) {
    std::vector<Question>& asked = program.asked.emplace_back();
    for (int i = 0; i < rounds; ++i) {
      Question question{pick(0, 3) == 0 ? 1 : pick(1, 50'000), pick(0, program.servers - 1)};
      if (pick(0, 2) == 0) question.second = pick(0, program.servers - 1);
      question.answers_backwards = pick(0, 1) == 0 && question.second != question.first;
      question.sums = i % 3 == 2;
      for (const int server : {question.first, question.second}) {
        if (server != kNobody) ++program.questions[place(server)];
      }
      asked.push_back(question);
    }
  }
  for (int s = 0; s < program.servers; ++s) {
    std::vector<bool>& passes = program.passes_on.emplace_back();
    const auto of_last =
        s == 0 ? 0 : std::count(program.passes_on[place(s - 1)].begin(), program.passes_on[place(s - 1)].end(), true);
    for (int i = 0; i < program.questions[place(s)] + of_last; ++i) {
      passes.push_back(s + 1 < program.servers && pick(0, 2) == 0);
    }
  }
  return program;
}

class ServingOrAsking {
 public:
  ServingOrAsking(Rank& rank, const ServersProgram& program, std::uint64_t delays)
      : rank_(rank),
        program_(program),
        delays_(delays),
        random_(delays * 1000 + static_cast<std::uint64_t>(rank.id())),
        asking_(rank.world().split(rank.id() < program.servers ? 0 : 1, rank.id())) {}

  void run() {
    if (rank_.id() < program_.servers) {
      serve();
    } else {
      for (const Question& question : program_.asked[place(rank_.id() - program_.servers)]) ask(question);
    }
  }

 private:
  void compute(Count elements) {
    Tensor x = rank_.zeros(elements, Kind::buffer);
    scale(x, 1);
    if (delays_ == 0) return;
    const std::uint64_t dice = random_() % 16;
    if (dice == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 60));
    if (dice < 4) std::this_thread::yield();
  }

  // What it holds at the end depends on the order of what came.
  void serve() {
    std::vector<float> senders;
    std::vector<Work> works;
    Tensor state = load(rank_, std::vector<float>(place(static_cast<int>(program_.size)), 1.F / 3));
    Tensor question = rank_.empty(program_.size, Kind::buffer);
    for (const bool passes_on : program_.passes_on[place(rank_.id())]) {
      const int from = rank_.world().recv_any(question);
      senders.push_back(static_cast<float>(from));
      scale(state, 0.75F);
      add(state, question);
      compute(1 + from * 500);
      if (passes_on) send(works, rank_.id() + 1, state);
      if (from >= program_.servers) send(works, from, state);
    }
    for (Work& work : works) work.wait();
    publish(rank_, "senders", load(rank_, senders));
    publish(rank_, "state", state);
  }

  void send(std::vector<Work>& works, int to, const Tensor& what) {
    Tensor copied = clone(what);
    Work work = rank_.world().send_async(copied, to);
    works.push_back(std::move(work).keep(std::move(copied)));
  }

  void ask(const Question& question) {
    Group& world = rank_.world();
    compute(question.computing);
    Tensor mine =
        load(rank_, std::vector<float>(place(static_cast<int>(program_.size)), static_cast<float>(rank_.id())));
    Tensor answer = rank_.empty(program_.size, Kind::buffer);
    if (question.second == kNobody) {
      world.send(mine, question.first);
      world.recv(answer, question.first);
    } else {
      Work one = world.send_async(mine, question.first), two = world.send_async(mine, question.second);
      world.recv(answer, question.answers_backwards ? question.second : question.first);
      world.recv(answer, question.answers_backwards ? question.first : question.second);
      one.wait();
      two.wait();
    }
    if (question.sums) asking_.all_reduce(answer, ReduceOp::sum);
    publish(rank_, "answer " + std::to_string(answers_++), answer);
  }

  Rank& rank_;
  const ServersProgram& program_;
  std::uint64_t delays_;
  std::mt19937_64 random_;
  Group asking_;
  int answers_ = 0;
};

class RandomServers : public OnEveryWorld {};

TEST_P(RandomServers, AreTheSameInEveryRun) {
  for (int i = 1; i <= number_of_programs() && !HasFailure(); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const int ranks = least(2) + i % (most(9) - least(2) + 1);
    SCOPED_TRACE("seed " + std::to_string(i) + ", " + std::to_string(ranks) + " ranks");
    const ServersProgram program = make_servers(seed, ranks);
    const world::Options options = support::options_for(ranks);
    const RunReport report = support::run_well(GetParam(), options, {seed, 30},
                                               [&](Rank& rank) { ServingOrAsking(rank, program, seed).run(); });
    if (report.failure) return;
    const RunReport undisturbed = support::run_well(support::world_kinds().front(), options, {},
                                                    [&](Rank& rank) { ServingOrAsking(rank, program, 0).run(); });
    support::expect_same(report, undisturbed, GetParam().own_arithmetic ? kCloseF32 : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(World, RandomServers, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
