// What a learner sees in a terminal: the timeline as wide as it is, progress that leaves no trace.
#include "cli/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/terminal_text.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDataParallel = "09_data_parallel";

TEST(InATerminal, TheTimelineIsAsWideAsTheTerminal) {
  const Learner learner;
  learner.solve(kDataParallel);
  for (const int columns : {60, 80, 120}) {
    Terminal terminal(learner, {"run", "09"}, {}, columns);
    EXPECT_EQ(terminal.finish(), 0) << terminal.everything();
    const auto lines = terminal.lines();
    EXPECT_THAT(lines, Contains(HasSubstr("Where the time went")));
    EXPECT_THAT(lines, Contains(HasSubstr("ranks 0-3 │0")));
    EXPECT_THAT(lines, Contains(HasSubstr("  comm    │")));
    EXPECT_THAT(lines, Contains(HasSubstr("  mem     │")));
    int widest = 0;
    for (const std::string& line : lines) {
      if (line.find("│") != std::string::npos) widest = std::max(widest, columns_of(line));
    }
    EXPECT_LE(widest, columns);
    EXPECT_GT(widest, columns - 20) << "the room is used";
    EXPECT_THAT(terminal.everything(), HasSubstr("\x1b[30;104m0")) << "a colour for layer 0";
  }
}

TEST(InATerminal, NothingButAsciiIsWrittenWhereItIsNotWanted) {
  const Learner learner;
  learner.solve(kDataParallel);
  const auto shown = [&](const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
    Terminal terminal(learner, arguments, environment);
    EXPECT_EQ(terminal.finish(), 0) << terminal.everything();
    std::string text;
    for (const std::string& line : terminal.lines()) text += line + "\n";
    return text;
  };
  for (const std::string& text :
       {shown({"run", "09", "--ascii"}, {}), shown({"run", "09"}, {"LC_ALL=en_US.ISO-8859-1"}),
        shown({"run", "09"}, {"LANG=C"})}) {
    EXPECT_THAT(text, HasSubstr("ranks 0-3 |"));
    for (const char c : text) EXPECT_GE(c, 0) << "beyond ASCII";
  }
  EXPECT_THAT(shown({"run", "09"}, {"LANG=de_DE.UTF-8"}), HasSubstr("ranks 0-3 │")) << "that locale has it all";
}

TEST(InATerminal, ProgressIsShownAndLeavesNoTrace) {
  const Learner learner;
  learner.solve(kDataParallel);
  Terminal run(learner, {"run", "09"});
  EXPECT_EQ(run.finish(), 0);
  EXPECT_THAT(run.everything(),
              AllOf(HasSubstr("\r\x1b[Kbuilding"), ContainsRegex("\r\x1b\\[Krunning: 1 of [0-9]+ cases")));
  EXPECT_THAT(run.lines(), Each(Not(HasSubstr("running"))));
  EXPECT_THAT(run.lines(), Each(Not(HasSubstr("building"))));

  Terminal verify(learner, {"verify", "01"});
  EXPECT_EQ(verify.finish(), 0) << verify.everything();
  EXPECT_THAT(verify.everything(), ContainsRegex("\r\x1b\\[Kverifying: 3 of [0-9]+ files"));
  EXPECT_THAT(verify.lines(), Each(Not(HasSubstr("verifying"))));
  EXPECT_THAT(verify.lines(), Contains(ContainsRegex("[1-9][0-9]* of [0-9]+ mutants caught")));
}

TEST(InAPipe, ShortWorkShowsNoProgress) {
  const Learner learner;
  learner.solve(kDataParallel);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "09"}, {"run", "09", "--json"}, {"check", "09", "output"}, {"trace", "09"}}) {
    const Answer answer = learner(arguments);
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_EQ(answer.err.find('\r'), std::string::npos) << answer.err;
    EXPECT_EQ(answer.out.find('\x1b'), std::string::npos) << answer.out;
    EXPECT_EQ(answer.out.find("running"), std::string::npos);
  }
}

}  // namespace
}  // namespace shardlings::cli
