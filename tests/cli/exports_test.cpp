// `--export`: verdicts in the forms of other programs.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/learner.h"
#include "cli/system/program.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST(Exports, GoIntoFilesOrToStandardOutput) {
  const Learner shardlings;
  shardlings.blunder(kFirst, "padding_counted");
  const std::string xml = shardlings.folder() / "results.xml", points = shardlings.folder() / "results.json";
  const Answer both = shardlings({"run", "01", "--export", "junit=" + xml, "--export", "gradescope=" + points});
  EXPECT_EQ(both.status, 1);
  EXPECT_THAT(both.out, HasSubstr("padding")) << "the report is there as ever";
  EXPECT_THAT(read_file(xml).value_or(""), AllOf(HasSubstr("<testsuite"), HasSubstr("<failure")));
  EXPECT_EQ(json::parse(read_file(points).value_or(""))["tests"][0]["status"], "failed");

  const Answer alone = shardlings({"run", "01", "--export", "gradescope"});
  EXPECT_EQ(json::parse(alone.out)["tests"][0]["status"], "failed") << "and nothing else on standard output";

  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"run", "01", "--export", "pdf"},
                                                {"run", "01", "--export", "junit="},
                                                {"run", "01", "--export", "junit", "--json"},
                                                {"run", "01", "--export", "junit", "--export", "gradescope"}}) {
    const Answer answer = shardlings(wrong);
    EXPECT_EQ(answer.status, 2);
    EXPECT_THAT(answer.err, HasSubstr("junit=results.xml"));
  }
  EXPECT_EQ(shardlings({"run", "01", "--export", "junit=/no/such/folder/results.xml"}).status, 2);
}

TEST(Exports, SayToClassroom50WhatItsRunnerSays) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const std::string file = shardlings.folder() / "result.json";
  const std::vector<std::string> grade = {"run", "01", "--export", "classroom50=" + file};
  const Answer unknown = shardlings(grade, {"CLASSROOM=course"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("the variable ASSIGNMENT is not set"));
  EXPECT_FALSE(read_file(file)) << "nothing has been graded";

  const Answer known = shardlings(grade, {"CLASSROOM=course", "ASSIGNMENT=first", "OWNER=ada",
                                          "SUBMISSION_TAG=submit/1", "COMMIT_URL=https://c", "RELEASE_URL=https://r"});
  EXPECT_EQ(known.status, 0) << known.err;
  const json result = json::parse(read_file(file).value_or(""));
  EXPECT_EQ(result["score"], 100);
  EXPECT_EQ(result["review"], "https://c") << "where there is no other";
  EXPECT_EQ(result["datetime"].get<std::string>().size(), std::string("2026-06-01T14:32:01Z").size());
}

// Who grades again must not make anybody late.
TEST(Exports, SayToClassroom50WhenTheFileWasCommittedOrElseWritten) {
  const Learner shardlings;
  const TemporaryFolder students;
  students.write("puzzle.cpp", "this is no C++");
  const std::string path = students / "puzzle.cpp", file = students / "result.json";
  const auto graded_at = [&] {
    shardlings({"grade", "01", path, "--trust", "--export", "classroom50=" + file},
               {"CLASSROOM=course", "ASSIGNMENT=first", "OWNER=ada", "SUBMISSION_TAG=submit/1", "COMMIT_URL=https://c",
                "RELEASE_URL=https://r"});
    return json::parse(read_file(file).value_or("{}")).value("datetime", "none");
  };
  const timespec time = {1'000'000'000, 0}, both[] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), both, 0), 0);
  EXPECT_EQ(graded_at(), "2001-09-09T01:46:40Z");
  const std::string commit =
      "git init -q && git add puzzle.cpp && GIT_COMMITTER_DATE=2020-02-02T02:02:02Z git -c user.name=a -c "
      "user.email=a@b "
      "commit -qm a";
  if (system::program_path("git").empty()) GTEST_SKIP() << "there is no git here: apt install git";
  ASSERT_EQ(
      answer_of(students.path(), {"/bin/bash", "-c", commit}, {path_variable(), "HOME=" + students.path()}).status, 0);
  EXPECT_EQ(graded_at(), "2020-02-02T02:02:02Z");
}

}  // namespace
}  // namespace shardlings::cli
