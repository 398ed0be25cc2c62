// Completion and man page, as the shells and man take them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/text.h"
#include "cli/learner.h"
#include "cli/system/program.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Completion : public testing::Test {
 protected:
  Completion() {
    for (const char* shell : {"bash", "zsh", "fish"}) {
      shardlings_.folder().write(std::string("completion.") + shell, shardlings_({"completion", shell}).out);
    }
  }

  /// Where there is such a program, what it says.
  Answer run(std::vector<std::string> command) const {
    command[0] = system::program_path(command[0]);
    return answer_of(shardlings_.folder().path(), command, {path_variable()});
  }

  /// What bash offers for the last of these words.
  std::vector<std::string> offered(const std::string& words) const {
    const std::string script = "source completion.bash; COMP_WORDS=(" + words +
                               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _shardlings; "
                               "printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Answer answer = run({"bash", "-c", script});
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_EQ(answer.err, "");
    std::vector<std::string> lines = lines_of(answer.out);
    std::erase(lines, "");
    return lines;
  }

  const Learner shardlings_;
};

TEST_F(Completion, IsWhatItsShellCanRead) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (system::program_path(shell).empty()) continue;
    const Answer answer = run({shell, "-n", "completion." + shell});
    EXPECT_EQ(answer.status, 0) << shell << ": " << answer.err;
  }
}

TEST_F(Completion, OffersVerbsOptionsAndPuzzles) {
  EXPECT_THAT(offered("./shardlings ex"), Contains("explain"));
  EXPECT_THAT(offered("./shardlings ''"), AllOf(Contains("run"), Contains("completion")));
  EXPECT_THAT(offered("./shardlings run --see"), ElementsAre("--seed", "--seed-file"));
  EXPECT_THAT(offered("./shardlings --as"), ElementsAre("--ascii"));
  EXPECT_THAT(offered("./shardlings run 09"), ElementsAre("09_data_parallel"));
  EXPECT_THAT(offered("./shardlings --ascii explain 1"), AllOf(Not(IsEmpty()), Each(StartsWith("1"))));
}

TEST_F(Completion, LeavesOtherWordsToTheShell) {
  EXPECT_THAT(offered("./shardlings run --file pu"), IsEmpty()) << "names of files are the shell's own";
  EXPECT_THAT(offered("./shardlings doctor 0"), IsEmpty()) << "doctor takes no puzzle";
}

TEST_F(Completion, KnowsEveryVerb) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = shardlings_.folder().read(std::string("completion.") + shell);
    for (const char* word : {"explain", "predict", "simulate", "completion", "man"}) {
      EXPECT_THAT(script, HasSubstr(word)) << shell;
    }
  }
}

TEST_F(Completion, NamesTheShellsThatItKnows) {
  const Answer answer = shardlings_({"completion", "zhs"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("Did you mean zsh?"), HasSubstr("bash, zsh, fish")));
}

TEST_F(Completion, HasAManPageOfTheSameTable) {
  const Answer page = shardlings_({"man"});
  EXPECT_EQ(page.status, 0);
  EXPECT_THAT(page.out, AllOf(StartsWith(".TH SHARDLINGS 1"), HasSubstr(".SS run [PUZZLE] [options]"),
                              HasSubstr("\\fB\\-\\-seed\\-file\\fR")));
  for (const char c : page.out) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  shardlings_.folder().write("shardlings.1", page.out);
  if (!system::program_path("mandoc").empty()) {
    const Answer checked = run({"mandoc", "-T", "lint", "shardlings.1"});
    EXPECT_EQ(checked.out, "");
  }
  if (!system::program_path("groff").empty()) {
    const Answer set = run({"groff", "-ww", "-man", "-T", "ascii", "-P-cbou", "shardlings.1"});
    EXPECT_EQ(set.err, "");
    EXPECT_THAT(set.out, AllOf(HasSubstr("build and grade one puzzle"), HasSubstr("--seed-file")));
  }
}

}  // namespace
}  // namespace shardlings::cli
