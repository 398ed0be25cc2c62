// A learner looks at what the code does: show(), in the command and in jails, and a debugger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/learner.h"
#include "cli/system/program.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// The solution, which looks at the loss and at the last layer's input, which is not there yet.
void solve_with_shows(const Learner& shardlings) {
  shardlings.solve(kFirst);
  std::string text = shardlings.folder().read(Learner::file_of(kFirst));
  const std::size_t hole = text.find("// >>>");
  ASSERT_NE(hole, std::string::npos);
  text.insert(text.find('\n', hole), "\n  show(loss, \"the loss\"), show(x[layers - 1]);");
  shardlings.folder().write(Learner::file_of(kFirst), text);
}

TEST(Looking, ShowsWhatTheCodeLooksAt) {
  const Learner shardlings;
  solve_with_shows(shardlings);
  const Answer plain = shardlings({"run", "01"});
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.out,
              AllOf(HasSubstr("100 of 100 points"), HasSubstr("What was shown: "), HasSubstr("rank 0, puzzle.cpp:"),
                    HasSubstr(": the loss\n    (1) f32 other: 0\n"),
                    HasSubstr("    empty: moved from, used up, or never allocated\n"), Not(HasSubstr("printed"))));
  const json here = json::parse(shardlings({"run", "01", "--json"}).out);
  ASSERT_EQ(here["cases"][0]["shown"].size(), 2U);
  EXPECT_EQ(here["cases"][0]["stdout"], "");
  const json jailed = json::parse(shardlings({"run", "01", "--jail", "--json"}).out);
  EXPECT_EQ(jailed["passed"], true) << jailed["reason"];
  EXPECT_EQ(jailed["cases"][0]["shown"], here["cases"][0]["shown"]);
  const json law = json::parse(shardlings({"run", "01", "--feedback", "law", "--json"}).out);
  for (const json& kase : law["cases"]) {
    EXPECT_EQ(kase["shown"].empty(), kase["case"]["hidden"] == true) << kase["name"];
  }
}

/// gdb, where it may look into another process; containers can forbid that.
class Debugging : public testing::Test {
 protected:
  void SetUp() override {
    if (system::program_path("gdb").empty()) GTEST_SKIP() << "there is no gdb here: apt install gdb";
    shardlings.solve(kDataParallel);
    answer = shardlings(
        {"debug", "09", "--case", "4 ranks", "--rank", "2", "--command", "backtrace", "--command", "info breakpoints"});
    if ((answer.out + answer.err).find("Operation not permitted") != std::string::npos) {
      GTEST_SKIP() << "gdb may not look into processes here:\n" << answer.out;
    }
  }

  static constexpr const char* kDataParallel = "09_data_parallel";
  Learner shardlings;
  Answer answer;
};

TEST_F(Debugging, StopsTheRankAtTheLearnersFunction) {
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_THAT(answer.out, AllOf(ContainsRegex("Thread [0-9.]+ \"rank 2\" hit Breakpoint 1, train_step \\(rank="),
                                ContainsRegex("#0 +train_step \\(rank=.*loss=\\.\\.\\.\\) at .*puzzle.cpp:[0-9]+")));
  EXPECT_THAT(answer.out, HasSubstr("breakpoint already hit 1 time")) << "no other rank has stopped";
}

TEST_F(Debugging, StopsAnyRankAndPrintsWhereItIs) {
  const Answer any = shardlings({"debug", "09"});
  EXPECT_EQ(any.status, 0) << any.err;
  EXPECT_THAT(any.out, ContainsRegex("#0 +train_step \\(rank=.*puzzle.cpp:[0-9]+"));
}

TEST(Debug, SaysWhatIsWrong) {
  const Learner shardlings;
  const Answer unknown = shardlings({"debug", "09", "--case", "none"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("4 ranks")) << "it says which there are";
  const Answer outside = shardlings({"debug", "09", "--case", "4 ranks", "--rank", "4"});
  EXPECT_EQ(outside.status, 2);
  EXPECT_THAT(outside.err, HasSubstr("has ranks 0 to 3"));
  const Answer missing = shardlings({"debug", "09"}, {"PATH=/nowhere"});
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.err, HasSubstr("apt install gdb"));
}

}  // namespace
}  // namespace shardlings::cli
