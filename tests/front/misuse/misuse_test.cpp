// Every kind of misuse at two, three and eight ranks, with the whole report as a learner reads it.
//
// The reports are in golden/; SHARDLINGS_REGENERATE_GOLDEN=1 writes them anew from the first kind of world.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "front/misuse/programs.h"
#include "support/test_device.h"
#include "support/worlds.h"
#include "world/use_backend.h"

namespace shardlings::misuse {
namespace {

using support::WorldKind;

world::Options options_of(const WrongProgram& program, int ranks) {
  world::Options options = support::options_for(ranks);
  if (program.deaths != nullptr) options.deaths = program.deaths(ranks);
  return options;
}

std::string report_of(const WorldKind& kind, const WrongProgram& program, int ranks, std::uint64_t seed) {
  const world::Options options = options_of(program, ranks);
  const front::RunReport report = kind.run(options, {seed, seed == 0 ? 0 : 100}, [&](Rank& rank) {
    Pauses pause(seed, rank.id());
    program.body(rank, pause);
  });
  if (!report.failure) return "nothing was reported\n";
  const front::Failure& f = *report.failure;
  std::ostringstream text;
  text << name_of(f.kind) << " on rank " << f.rank << " at " << f.file << ":" << f.line << ", virtual time "
       << to_text(f.time) << "\n\n"
       << f.message << "\n";
  return text.str();
}

std::string golden_path(const WrongProgram& program, int ranks) {
  return std::string(SHARDLINGS_GOLDEN) + "/" + program.name + "." + std::to_string(ranks) + ".txt";
}

std::string golden_of(const WrongProgram& program, int ranks) {
  std::ifstream file(golden_path(program, ranks));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool regenerates() {
  return std::getenv("SHARDLINGS_REGENERATE_GOLDEN") != nullptr;
}

class Misuse : public testing::TestWithParam<std::tuple<WorldKind, WrongProgram>> {
 protected:
  void SetUp() override {
    const std::string missing = kind().missing();
    if (!missing.empty()) GTEST_SKIP() << support::no_cuda_device(missing);
  }
  const WorldKind& kind() const { return std::get<0>(GetParam()); }
  const WrongProgram& program() const { return std::get<1>(GetParam()); }
};

TEST_P(Misuse, IsReportedInTheseWords) {
  for (const int ranks : {2, 3, 8}) {
    if (ranks < kind().min_ranks || ranks > kind().max_ranks) continue;
    const std::string report = report_of(kind(), program(), ranks, 0);
    if (regenerates() && std::string(kind().name) == "threads") std::ofstream(golden_path(program(), ranks)) << report;
    EXPECT_EQ(report, golden_of(program(), ranks)) << ranks << " ranks: " << program().mistake;
    EXPECT_EQ(report.substr(0, report.find(' ')), program().type) << ranks << " ranks: " << program().mistake;
  }
}

// Fewer runs where a world takes longer to start, or to compute.
TEST_P(Misuse, IsReportedAlikeInEveryRun) {
  const int runs = std::string(kind().name) == "threads" ? 50 : 10;
  for (const int ranks : {3, 8}) {
    if (ranks < kind().min_ranks || ranks > kind().max_ranks) continue;
    const std::string expected = golden_of(program(), ranks);
    for (int i = 1; i <= runs && !HasFailure(); ++i) {
      EXPECT_EQ(report_of(kind(), program(), ranks, static_cast<std::uint64_t>(i)), expected) << "seed " << i;
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<WorldKind, WrongProgram>>& info) {
  return std::string(std::get<1>(info.param).name) + "_on_" + std::get<0>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(World, Misuse,
                         testing::Combine(testing::ValuesIn(support::world_kinds()), testing::ValuesIn(all_programs())),
                         name_of_case);

// Of many ranks a report is as long as a screen, and says the same.
TEST(MisuseOfMany, IsReportedInFewWordsWhereThereAreManyRanks) {
  for (const WrongProgram& program : all_programs()) {
    SCOPED_TRACE(program.name);
    world::Options options = options_of(program, 90);
    options.trace = false;
    use_backend(options, world::Backend::dry);
    const front::RunReport report = world::run(options, [&](Rank& rank) {
      Pauses pause(0, rank.id());
      program.body(rank, pause);
    });
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(name_of(report.failure->kind), std::string(program.type));
    EXPECT_LT(report.failure->message.size(), 3000U) << report.failure->message;
  }
}

// The eight mistakes by which message-passing libraries were compared: all named, with ranks, lines and cause.
TEST(ClassicMistakes, AreAllNamed) {
  std::set<int> named;
  for (const WrongProgram& program : all_programs()) {
    if (program.classic == 0) continue;
    const std::string report = report_of(support::world_kinds().front(), program, 2, 0);
    EXPECT_EQ(report.rfind(program.type, 0), 0U) << program.mistake << ":\n" << report;
    EXPECT_NE(report.find("rank 1"), std::string::npos) << program.mistake << ":\n" << report;
    EXPECT_NE(report.find("puzzle.cpp:1"), std::string::npos) << program.mistake << ":\n" << report;
    named.insert(program.classic);
  }
  EXPECT_EQ(named, std::set<int>({1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const WrongProgram& program);
std::ostream& operator<<(std::ostream& out, const WrongProgram& program) {
  return out << program.name;
}

}  // namespace shardlings::misuse
