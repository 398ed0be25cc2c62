// `handout`: what students get, what they do not get, and that an update meets none of their files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/learner.h"
#include "cli/system/program.h"

namespace shardlings::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kSixth = "06_ring_all_reduce";
constexpr const char* kCourse = R"(name = "A \"course\""
contact = "the forum"
puzzles = ["01", "06"]
due = { 06 = "1 December" }
)";

/// Who commits, for a git that knows nobody.
const std::string kStudent =
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; ";

/// The line of the README that a student types to have an update.
std::string pull_of(const std::string& readme) {
  for (const std::string& line : lines_of(readme)) {
    if (line.starts_with("git pull")) return line;
  }
  return "false";
}

/// A course's own copy of the repository, and the folder of its handout with a repository of git's in it.
class Handout : public testing::Test {
 protected:
  Handout() {
    for (const char* part : {"docs", "runtime/include", "runtime/cli/kit/template", "runtime/train/text.txt",
                             ".devcontainer", "LICENSE"}) {
      fs::create_directories(fs::path(course_.folder() / part).parent_path());
      fs::copy(std::string(SHARDLINGS_SOURCE "/") + part, course_.folder() / part, fs::copy_options::recursive);
    }
    course_.folder().write("course.toml", kCourse);
  }
  Answer hand_out(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"handout", "--course", course_.folder() / "course.toml", "--out", out_.path()};
    words.insert(words.end(), more.begin(), more.end());
    return course_(words);
  }
  /// A program in a folder, with this machine's PATH.
  static Answer in(const std::string& folder, const std::vector<std::string>& command) {
    return answer_of(folder, command,
                     {path_variable(), "HOME=" + folder, "GIT_CONFIG_NOSYSTEM=1", "COLUMNS=100", "LANG=C.UTF-8"});
  }
  static Answer git(const std::string& folder, std::vector<std::string> words) {
    words.insert(words.begin(), {system::program_path("git"), "-c", "user.name=a", "-c", "user.email=a@b", "-c",
                                 "init.defaultBranch=main", "-c", "protocol.file.allow=always"});
    const Answer answer = in(folder, words);
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
    return answer;
  }
  static bool has_git() { return !system::program_path("git").empty(); }
  /// Since 2.33 a pull of branches that have parted is an error unless one says what to do; before that it was merged.
  static bool git_refuses_to_guess() {
    int major = 0, minor = 0;
    const Answer answer = git("/", {"--version"});
    EXPECT_EQ(std::sscanf(answer.out.c_str(), "git version %d.%d", &major, &minor), 2) << answer.out;
    return std::pair(major, minor) >= std::pair(2, 33);
  }
  /// As somebody gets it who does not clone it.
  void copy_to(const TemporaryFolder& students) const {
    fs::copy(out_.path(), students.path(), fs::copy_options::recursive);
  }
  void commit(const std::string& folder, const std::string& what) const {
    git(folder, {"add", "-A"});
    git(folder, {"commit", "-q", "-m", what});
  }
  /// A new comment in the stub: the solution's text has it, too.
  void change_stub(const std::string& id) const {
    for (const std::string& file : {"solutions/" + id + "/solution.cpp", Learner::file_of(id)}) {
      course_.folder().write(file, "// A remark that was added later.\n" + course_.folder().read(file));
    }
  }
  std::string solution(const std::string& id) const {
    return course_.folder().read("solutions/" + id + "/solution.cpp");
  }

  Learner course_;
  TemporaryFolder out_{"a hand out"};
};

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(folder).string());
  }
  return files;
}

TEST_F(Handout, HasNoSolutionNoGradersSourceAndNoHiddenCase) {
  const Answer answer = hand_out();
  ASSERT_EQ(answer.status, 0) << answer.err;
  const std::string hidden = "GPT, 3 blocks, padding", mutant = "padding_counted";
  ASSERT_THAT(course_.folder().read(std::string("puzzles/") + kFirst + "/puzzle.toml"), HasSubstr(hidden));
  for (const std::string& file : files_below(out_.path())) {
    EXPECT_THAT(file, Not(testing::AnyOf(HasSubstr("grader.cpp"), HasSubstr("solution"), HasSubstr("mutants"),
                                         HasSubstr("questions.cpp"), HasSubstr("contract.toml"), HasSubstr("02_"))));
    const std::string text = out_.read(file);
    EXPECT_THAT(text, Not(HasSubstr(hidden))) << file;
    EXPECT_EQ(text.find(course_.folder().path()), std::string::npos) << file << " names the course's folder";
  }
  EXPECT_THAT(out_.read("README.md"),
              AllOf(HasSubstr("A \"course\""), HasSubstr("the forum"), HasSubstr("1 December")));
  EXPECT_THAT(out_.read("AGENTS.md"), HasSubstr("Never write the answer"));
}

TEST_F(Handout, HasLinksThatLeadSomewhere) {
  ASSERT_EQ(hand_out().status, 0);
  static const std::regex kLink(R"(\]\(([^)\s#]+))");
  for (const std::string& file : files_below(out_.path())) {
    if (fs::path(file).extension() != ".md") continue;
    bool fenced = false;
    for (const std::string& line : lines_of(out_.read(file))) {
      if (line.starts_with("```")) fenced = !fenced;
      std::smatch link;
      if (fenced || !std::regex_search(line, link, kLink) || link[1].str().find(':') != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(fs::path(out_ / file).parent_path() / link[1].str())) << file << ": " << line;
    }
  }
}

TEST_F(Handout, JudgesHintsPredictsAndResetsByItself) {
  ASSERT_EQ(hand_out().status, 0);
  const TemporaryFolder students;
  copy_to(students);
  const auto shardlings = [&](std::vector<std::string> words) {
    words.insert(words.begin(), students / "shardlings");
    return in(students.path(), words);
  };
  EXPECT_THAT(shardlings({}).out, HasSubstr("work/01_training_step/puzzle.cpp"));
  EXPECT_EQ(shardlings({"run", "01"}).status, 1);
  students.write("work/01_training_step/puzzle.cpp", solution(kFirst));
  const Answer passed = shardlings({"run", "01"});
  EXPECT_EQ(passed.status, 0) << passed.out << passed.err;
  EXPECT_THAT(passed.out, Not(HasSubstr("shardlings solution")));
  const json result = json::parse(shardlings({"run", "01", "--json"}).out);
  EXPECT_EQ(result["points"], 100);
  EXPECT_EQ(result["hidden_cases_not_shown"], 0);
  EXPECT_EQ(result["cases"].size(), 2U) << "those that the lesson announces";
  EXPECT_EQ(shardlings({"run", "01", "--jail"}).status, 0);
  EXPECT_THAT(shardlings({"hint", "06"}).out, HasSubstr("Hint 1 of 4"));
  EXPECT_THAT(shardlings({"explain", "06"}).out, HasSubstr("all-reduce"));
  EXPECT_EQ(shardlings({"predict", "06", "--reveal"}).status, 0);
  EXPECT_EQ(shardlings({"reset", "01"}).status, 0);
  EXPECT_EQ(students.read("work/01_training_step/puzzle.cpp"), students.read("puzzles/01_training_step/stub.cpp"));
  for (const std::vector<std::string>& authors :
       {std::vector<std::string>{"verify", "01"}, {"new", "42_a"}, {"solution", "01"}}) {
    EXPECT_EQ(shardlings(authors).status, 2);
  }
}

TEST_F(Handout, HasNoHintsWhereTheCourseGivesNone) {
  course_.folder().write("course.toml", "name = \"a\"\npuzzles = [\"06\"]\nhints = false\n");
  ASSERT_EQ(hand_out().status, 0);
  const std::string texts = out_.read("puzzles/06_ring_all_reduce/puzzle.toml");
  EXPECT_THAT(texts, AllOf(HasSubstr("[[diagnoses]]"), Not(HasSubstr("hint"))));
  const TemporaryFolder students;
  copy_to(students);
  EXPECT_EQ(in(students.path(), {students / "shardlings", "run", "06"}).status, 1) << "the file is whole";
  const Answer hint = in(students.path(), {students / "shardlings", "hint", "06"});
  EXPECT_THAT(hint.out, HasSubstr("has handed out no hints")) << hint.err;
}

// A command must not send students to what they do not have.
TEST_F(Handout, OffersNoSolution) {
  ASSERT_EQ(hand_out().status, 0);
  const TemporaryFolder students;
  copy_to(students);
  const Answer stub = in(students.path(), {students / "shardlings", "simulate", "01"});
  EXPECT_THAT(stub.out, AllOf(HasSubstr("Fill the hole first."), Not(HasSubstr("--solution")))) << stub.err;
  const Answer wish = in(students.path(), {students / "shardlings", "simulate", "01", "--solution"});
  EXPECT_EQ(wish.status, 2);
  EXPECT_THAT(wish.err, HasSubstr("your course's to give"));
}

TEST_F(Handout, ChecksWhatSomebodyHasBegun) {
  ASSERT_EQ(hand_out().status, 0);
  const TemporaryFolder students;
  copy_to(students);
  const auto check = [&] { return in(students.path(), {students / "check", "reports"}); };
  EXPECT_EQ(check().status, 0) << "nobody has begun anything";
  students.write("work/01_training_step/puzzle.cpp", solution(kFirst));
  const Answer good = check();
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("01_training_step: passed"));
  EXPECT_THAT(students.read("reports/01_training_step.xml"), HasSubstr("<testsuite"));
  students.write("work/06_ring_all_reduce/puzzle.cpp", "// nothing yet\n");
  const Answer bad = check();
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.out, HasSubstr("06_ring_all_reduce: not passed"));
}

// The files of CI are read by others; here they are at least YAML that has what it must have, and shell that parses.
TEST_F(Handout, HasFilesOfCiThatParse) {
  ASSERT_EQ(hand_out().status, 0);
  for (const char* script : {"shardlings", "check"}) {
    EXPECT_EQ(in(out_.path(), {"/bin/bash", "-n", out_ / script}).status, 0) << script;
  }
  if (in(out_.path(), {"/usr/bin/env", "python3", "-c", "import yaml"}).status != 0) {
    GTEST_SKIP() << "reading YAML takes python3-yaml";
  }
  const auto as_json = [&](const std::string& file) {
    return json::parse(in(out_.path(), {"/usr/bin/env", "python3", "-c",
                                        "import json, sys, yaml\n"
                                        "print(json.dumps(yaml.load(open(sys.argv[1]), Loader=yaml.BaseLoader)))",
                                        out_ / file})
                           .out);
  };
  const json github = as_json(".github/workflows/shardlings.yml"), gitlab = as_json(".gitlab-ci.yml");
  EXPECT_TRUE(github.contains("on"));
  EXPECT_EQ(github["jobs"]["check"]["steps"][2]["run"], "./check reports");
  EXPECT_EQ(gitlab["check"]["script"][0], "./check reports");
  EXPECT_EQ(gitlab["check"]["artifacts"]["reports"]["junit"], "reports/*.xml");
  for (const json& step : github["jobs"]["check"]["steps"]) {
    if (step.contains("run")) {
      EXPECT_EQ(in(out_.path(), {"/bin/bash", "-nc", step["run"].get<std::string>()}).status, 0) << step;
    }
  }
}

TEST_F(Handout, IsPulledWithoutAWordFromGitWhateverTheStudentHasChanged) {
  if (!has_git()) GTEST_SKIP() << "there is no git here: apt install git";
  ASSERT_EQ(hand_out().status, 0);
  git(out_.path(), {"init", "-q"});
  commit(out_.path(), "The course");
  const TemporaryFolder students;
  git(students.path(), {"clone", "-q", out_.path(), "mine"});
  const std::string mine = students / "mine", first = mine + "/work/01_training_step/puzzle.cpp",
                    sixth = mine + "/work/06_ring_all_reduce/puzzle.cpp";
  ASSERT_EQ(in(mine, {mine + "/shardlings", "list"}).status, 0);
  students.write("mine/work/01_training_step/puzzle.cpp", solution(kFirst));
  EXPECT_THAT(git(mine, {"status", "--porcelain"}).out, HasSubstr("work/")) << "theirs is not ignored";
  commit(mine, "My work");

  change_stub(kFirst);
  change_stub(kSixth);
  const Answer update = hand_out();
  EXPECT_THAT(update.out, AllOf(HasSubstr(kFirst), HasSubstr(kSixth))) << "the course is told that stubs are others";
  commit(out_.path(), "Remarks");
  if (git_refuses_to_guess()) {
    EXPECT_NE(in(mine, {system::program_path("git"), "pull"}).status, 0) << "what the README has more is needed";
  }
  EXPECT_EQ(in(mine, {"/bin/bash", "-c", kStudent + pull_of(students.read("mine/README.md"))}).status, 0);
  EXPECT_EQ(students.read("mine/work/01_training_step/puzzle.cpp"),
            solution(kFirst).substr(solution(kFirst).find('\n') + 1))
      << "what was changed stays";
  const Answer run = in(mine, {mine + "/shardlings", "run", "01"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("has changed the stub of 01_training_step"));
  const json list = json::parse(in(mine, {mine + "/shardlings", "list", "--json"}).out);
  EXPECT_EQ(list["puzzles"][0]["newer_stub"], true);
  EXPECT_THAT(read_file(sixth).value_or(""), HasSubstr("added later")) << "what nobody has begun is the new stub";
  EXPECT_THAT(read_file(first).value_or(""), Not(HasSubstr("added later")));
  EXPECT_EQ(in(mine, {mine + "/shardlings", "reset", "01"}).status, 0);
  EXPECT_THAT(read_file(first).value_or(""), HasSubstr("added later"));
  EXPECT_THAT(in(mine, {mine + "/shardlings", "run", "01"}).err, Not(HasSubstr("has changed the stub")));
}

// Whoever writes a handout looks at it in its folder, and commits all that lies there.
TEST_F(Handout, IsPulledAlsoWhereTheCourseHasTriedItBeforeItCommitted) {
  if (!has_git()) GTEST_SKIP() << "there is no git here: apt install git";
  ASSERT_EQ(hand_out().status, 0);
  git(out_.path(), {"init", "-q"});
  EXPECT_THAT(in(out_.path(), {out_ / "shardlings"}).out, HasSubstr(".shardlings/look/01_training_step/puzzle.cpp"));
  EXPECT_EQ(in(out_.path(), {out_ / "shardlings", "run", "01"}).status, 1);
  EXPECT_FALSE(fs::exists(out_ / "work"));
  commit(out_.path(), "The course");
  const TemporaryFolder students;
  git(students.path(), {"clone", "-q", out_.path(), "mine"});
  const std::string mine = students / "mine";
  EXPECT_THAT(in(mine, {mine + "/shardlings"}).out, HasSubstr("work/01_training_step/puzzle.cpp"));
  EXPECT_EQ(in(out_.path(), {out_ / "shardlings", "run", "06"}).status, 1);
  out_.write("news.md", "an update");
  commit(out_.path(), "An update");
  git(mine, {"pull", "-q"});
  EXPECT_TRUE(fs::exists(mine + "/news.md"));
}

TEST_F(Handout, IsNotBroughtUpToDateWhereTheStudentsFolderIsCommitted) {
  if (!has_git()) GTEST_SKIP() << "there is no git here: apt install git";
  ASSERT_EQ(hand_out().status, 0);
  git(out_.path(), {"init", "-q"});
  out_.write("work/06_ring_all_reduce/puzzle.cpp", "// mine");
  EXPECT_THAT(hand_out().out, HasSubstr("There are files in its work/")) << "nothing is lost yet";
  commit(out_.path(), "All of it");
  const Answer refused = hand_out();
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("git pull would fail"));
  git(out_.path(), {"rm", "-r", "-q", "work"});
  commit(out_.path(), "work/ is the students'");
  EXPECT_EQ(hand_out().status, 0);
}

TEST_F(Handout, IsBroughtUpToDateAndTouchesNothingElse) {
  ASSERT_EQ(hand_out().status, 0);
  out_.write("notes.md", "of the course's own");
  out_.write("work/06_ring_all_reduce/puzzle.cpp", "// mine");
  out_.write("prebuilt/plan9-vax/bin/shardlings", "from another machine");
  ASSERT_EQ(hand_out({"--puzzles", "01"}).status, 0);
  EXPECT_FALSE(fs::exists(out_ / "puzzles/06_ring_all_reduce"));
  EXPECT_EQ(out_.read("notes.md"), "of the course's own");
  EXPECT_EQ(out_.read("work/06_ring_all_reduce/puzzle.cpp"), "// mine");
  EXPECT_EQ(out_.read("prebuilt/plan9-vax/bin/shardlings"), "from another machine");
}

TEST_F(Handout, OverwritesNobodysFolder) {
  out_.write("thesis.tex", "mine");
  const Answer answer = hand_out();
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("thesis.tex"), HasSubstr("no handout")));
  EXPECT_EQ(files_below(out_.path()).size(), 1U);
}

TEST_F(Handout, SaysWhatIsWrongWithACourse) {
  course_.folder().write("course.toml", "name = \"a\"\npuzles = []\n");
  EXPECT_THAT(hand_out().err, AllOf(HasSubstr("course.toml:2"), HasSubstr("puzzles")));
  course_.folder().write("course.toml", "name = \"a\"\npuzzles = [\"77\"]\n");
  EXPECT_THAT(hand_out().err, HasSubstr("77"));
  course_.folder().write("course.toml", "name = \"a\"\npuzzles = [\"01\"]\ndue = { 06 = \"soon\" }\n");
  EXPECT_THAT(hand_out().err, HasSubstr("06_ring_all_reduce is none of the course's puzzles"));
  EXPECT_THAT(files_below(out_.path()), IsEmpty());
}

}  // namespace
}  // namespace shardlings::cli
