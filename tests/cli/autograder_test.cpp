// `autograder`: the zip for Gradescope, run as Gradescope runs it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/learner.h"
#include "support/mutants.h"

namespace shardlings::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "words that nobody guesses";
constexpr const char* kHidden = "GPT, 3 blocks, padding";

/// An assignment of two puzzles, unpacked as Gradescope does it, and set up.
class Autograder : public testing::Test {
 protected:
  Autograder() {
    for (const char* part : {"runtime/include", "runtime/cli/kit/template"}) {
      fs::create_directories(fs::path(course_.folder() / part).parent_path());
      fs::copy(std::string(SHARDLINGS_SOURCE "/") + part, course_.folder() / part, fs::copy_options::recursive);
    }
    course_.folder().write("secret", kSecret);
  }
  Answer make(std::vector<std::string> words) const {
    words.insert(words.begin(), {"autograder", "--out", course_.folder() / "a.zip"});
    return course_(words);
  }
  /// As a Gradescope container has it.
  void unpack() const {
    fs::create_directories(base_ / "source");
    const Answer answer = in_base({SHARDLINGS_CMAKE, "-E", "tar", "xf", course_.folder() / "a.zip"}, "source");
    ASSERT_EQ(answer.status, 0) << answer.err;
    fs::copy_file(base_ / "source/run_autograder", base_ / "run_autograder");
    const Answer set_up = in_base({"/bin/bash", "source/setup.sh"});
    ASSERT_EQ(set_up.status, 0) << set_up.out << set_up.err;
  }
  Answer in_base(const std::vector<std::string>& command, const std::string& folder = "") const {
    return answer_of(base_ / folder, command, {path_variable(), "AUTOGRADER=" + base_.path(), "LANG=C.UTF-8"});
  }
  Answer judge() const { return in_base({"/bin/bash", "run_autograder"}); }
  json results() const { return json::parse(base_.read("results/results.json")); }
  std::string solution() const { return course_.folder().read(std::string("solutions/") + kFirst + "/solution.cpp"); }
  std::string mutant(const std::string& name) const {
    return support::text_of_mutant(course_.folder() / "solutions", kFirst, name);
  }

  Learner course_;
  TemporaryFolder base_{"autograder"};
};

TEST_F(Autograder, GivesPointsForEachPuzzleOfTheAssignment) {
  ASSERT_EQ(make({"--puzzles", "01", "--puzzles", "06", "--seed-file", course_.folder() / "secret", "--trust"}).status,
            0);
  unpack();
  base_.write("submission/work/01_training_step/puzzle.cpp", solution());
  base_.write("submission/work/01_training_step/notes.cpp", "int a;");
  base_.write("submission_metadata.json", R"({"users": [{"id": 7, "email": "a@b.c", "name": "Ada"}]})");
  const Answer answer = judge();
  EXPECT_EQ(answer.status, 0) << answer.err;
  const json all = results();
  EXPECT_EQ(all["score"], 100) << answer.out << answer.err;
  EXPECT_EQ(all["stdout_visibility"], "hidden");
  EXPECT_EQ(all["tests"].back()["status"], "failed");
  EXPECT_THAT(all["tests"].back()["output"].get<std::string>(), HasSubstr("06.cpp"));
  EXPECT_THAT(answer.out, AllOf(HasSubstr("tier"), HasSubstr("100 of 100")));
  EXPECT_THAT(all.dump() + answer.out, Not(HasSubstr(kSecret)));
}

TEST_F(Autograder, TellsStudentsWhatTheCourseAllowsAndTheStaffAllOfIt) {
  ASSERT_EQ(make({"--puzzles", "01", "--feedback", "none", "--trust"}).status, 0);
  unpack();
  base_.write("submission/01.cpp", mutant("padding_counted"));
  const Answer answer = judge();
  const json all = results();
  EXPECT_LT(all["score"], 100) << answer.err;
  EXPECT_THAT(all.dump(), AllOf(HasSubstr("padding"), Not(HasSubstr(kHidden)), Not(HasSubstr(base_.path()))));
  EXPECT_THAT(answer.out, HasSubstr("output: "));
  base_.write("submission/01.cpp", "this is no C++");
  judge();
  EXPECT_EQ(results()["score"], 0);
  EXPECT_THAT(results()["output"].get<std::string>(), HasSubstr("does not compile"));
}

TEST_F(Autograder, HasAnAnswerWithoutAScoreWhereNothingCouldBeJudged) {
  ASSERT_EQ(make({"--puzzles", "01", "--trust"}).status, 0);
  unpack();
  base_.write("submission/01.cpp", solution());
  const std::string grader = base_ / "source/shardlings/prebuilt";
  for (const auto& platform : fs::directory_iterator(grader)) {
    base_.write(
        "source/shardlings/prebuilt/" + platform.path().filename().string() + "/graders/grader_01_training_step",
        "#!/bin/sh\nexit 1\n");
  }
  const Answer broken = judge();
  EXPECT_FALSE(results().contains("score")) << results();
  EXPECT_FALSE(results().contains("tests"));
  EXPECT_THAT(results()["output"].get<std::string>(), HasSubstr("no fault of the submission"));
  EXPECT_THAT(broken.out, HasSubstr("not judged")) << "the staff reads why";

  fs::remove_all(grader);
  judge();
  EXPECT_FALSE(results().contains("score"));
  EXPECT_THAT(results()["output"].get<std::string>(), HasSubstr("no fault of yours"));
}

TEST_F(Autograder, RunsAsRootInAContainerOf768Megabytes) {
  ASSERT_EQ(make({"--puzzles", "01", "--seed-file", course_.folder() / "secret"}).status, 0);
  fs::create_directories(base_ / "source");
  ASSERT_EQ(in_base({SHARDLINGS_CMAKE, "-E", "tar", "xf", course_.folder() / "a.zip"}, "source").status, 0);
  fs::copy_file(base_ / "source/run_autograder", base_ / "run_autograder");
  const auto inside = [&](const std::string& program) {
    return in_base({SHARDLINGS_SOURCE "/tests/cli/small_root", base_.path(), "/bin/bash", program});
  };
  const Answer set_up = inside("/autograder/source/setup.sh");
  if (set_up.status == 77) GTEST_SKIP() << set_up.out << set_up.err;
  ASSERT_EQ(set_up.status, 0) << set_up.out << set_up.err;
  base_.write("hungry", "set -o pipefail; head -c 900M /dev/zero | tail > /dev/null\n");
  EXPECT_NE(inside("/autograder/hungry").status, 0) << "nothing limits memory";
  base_.write("submission/01.cpp", solution());
  const Answer answer = inside("/autograder/run_autograder");
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_EQ(results()["score"], 100) << results() << answer.out;
  EXPECT_THAT(answer.out, HasSubstr("tier 1"));
  EXPECT_THAT(answer.err, HasSubstr("MB of 768 MiB"));
  std::cout << "setup.sh: " << set_up.err << "run_autograder: " << answer.err;
}

TEST_F(Autograder, SaysWhatIsMissing) {
  EXPECT_THAT(make({}).err, HasSubstr("--puzzles"));
  EXPECT_THAT(course_({"autograder", "--puzzles", "01"}).err, HasSubstr("autograder.zip"));
  EXPECT_THAT(make({"--puzzles", "01", "--feedback", "much"}).err, HasSubstr("full, law or none"));
  EXPECT_THAT(make({"--puzzles", "01", "--seed-file", "/no/such/file"}).err, HasSubstr("/no/such/file"));
  EXPECT_FALSE(fs::exists(course_.folder() / "a.zip"));
}

}  // namespace
}  // namespace shardlings::cli
