// The scripts of docs/cluster, as far as they can be tried without a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/folder.h"
#include "cli/learner.h"
#include "cli/system/program.h"

namespace shardlings::cluster {
namespace {

namespace fs = std::filesystem;
using cli::Answer;
using testing::AllOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

const std::string kScripts = SHARDLINGS_SOURCE "/docs/cluster/";
const Words kUsual = {"PATH=/usr/local/bin:/usr/bin:/bin"};

Answer run_script(const std::string& folder, const Words& command, Words environment = {}) {
  environment.insert(environment.end(), kUsual.begin(), kUsual.end());
  return cli::answer_of(folder, command, environment);
}

class Script : public testing::TestWithParam<const char*> {};

TEST_P(Script, IsGoodBash) {
  const Answer answer = run_script("/", {"/bin/bash", "-n", kScripts + GetParam()});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_NE(fs::status(kScripts + GetParam()).permissions() & fs::perms::owner_exec, fs::perms::none);
}

TEST_P(Script, PassesShellcheck) {
  const std::string shellcheck = cli::system::program_path("shellcheck");
  if (shellcheck.empty()) GTEST_SKIP() << "shellcheck is missing: apt-get install shellcheck";
  const Answer answer = run_script("/", {shellcheck, kScripts + GetParam()});
  EXPECT_EQ(answer.status, 0) << answer.out;
}

INSTANTIATE_TEST_SUITE_P(Cluster, Script,
                         testing::Values("run.sbatch", "grade_array.sbatch", "grade_part", "merge_grades"),
                         [](const auto& script) {
                           std::string name = script.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return std::isalpha(c) == 0; }, '_');
                           return name;
                         });

/// The long options of a script's #SBATCH lines.
std::set<std::string> directives_of(const std::string& script) {
  static const std::regex kDirective(R"(^#SBATCH --([a-z-]+)=(\S+)$)");
  std::set<std::string> found;
  for (const std::string& line : lines_of(read_whole_file(kScripts + script))) {
    std::smatch match;
    if (!line.starts_with("#SBATCH")) continue;
    EXPECT_TRUE(std::regex_match(line, match, kDirective)) << line;
    found.insert(match[1]);
  }
  return found;
}

/// A project whose command writes its arguments and leaves with status 0. The scripts are where they belong.
class FakeProject {
 public:
  FakeProject() {
    folder_.write("shardlings", "#!/bin/sh\nprintf '%s\\n' \"$@\" > arguments.txt\n");
    fs::permissions(folder_ / "shardlings", fs::perms::owner_all);
    fs::create_directories(folder_ / "docs");
    fs::copy(kScripts, folder_ / "docs/cluster");
    // Slurm runs a copy of a batch script.
    fs::create_directories(folder_ / "spool");
    for (const char* script : {"run.sbatch", "grade_array.sbatch"}) {
      fs::copy(kScripts + script, folder_ / (std::string("spool/") + script));
    }
  }
  /// As a job of Slurm.
  Answer batch(const std::string& script, Words arguments, const Words& environment) const {
    arguments.insert(arguments.begin(), {"/bin/bash", folder_ / ("spool/" + script)});
    return run_script("/", arguments, environment);
  }
  std::string submit_dir() const { return "SLURM_SUBMIT_DIR=" + folder_.path(); }
  Words arguments() const { return lines_of(folder_.read("arguments.txt")); }
  const cli::TemporaryFolder& folder() const { return folder_; }

 private:
  cli::TemporaryFolder folder_{"a project"};
};

TEST(RunSbatch, AsksForNodesTasksAndTime) {
  EXPECT_THAT(directives_of("run.sbatch"),
              testing::IsSupersetOf({"job-name", "nodes", "ntasks-per-node", "cpus-per-task", "time", "output"}));
}

TEST(RunSbatch, RunsAPuzzleOverTheJobsTasks) {
  const FakeProject project;
  const Answer answer = project.batch("run.sbatch", {"09", "--json"}, {project.submit_dir(), "SLURM_NTASKS=4"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_EQ(project.arguments(), (Words{"run", "09", "--json", "--backend", "mpi", "-n", "4"}));
}

TEST(RunSbatch, SaysHowItIsStarted) {
  const FakeProject project;
  const Answer answer = project.batch("run.sbatch", {"09"}, {});
  EXPECT_NE(answer.status, 0);
  EXPECT_THAT(answer.err, HasSubstr("this is for sbatch: sbatch docs/cluster/run.sbatch 09"));
}

TEST(GradeArray, AsksForAnArray) {
  EXPECT_THAT(directives_of("grade_array.sbatch"),
              testing::IsSupersetOf({"job-name", "array", "ntasks", "cpus-per-task", "mem", "time", "output"}));
}

TEST(GradeArray, EachJobGradesItsShare) {
  const FakeProject project;
  for (const char* student : {"ada", "ben", "cleo"})
    project.folder().write("class/" + std::string(student) + "/01.cpp", "");
  const Answer answer = project.batch("grade_array.sbatch", {"class", "graded", "--puzzles", "01"},
                                      {project.submit_dir(), "SLURM_ARRAY_TASK_ID=6", "SLURM_ARRAY_TASK_MIN=5",
                                       "SLURM_ARRAY_TASK_COUNT=2", "SLURM_CPUS_PER_TASK=2"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_EQ(project.arguments(), (Words{"grade", "graded/1_of_2/submissions", "--out", "graded/1_of_2/graded", "-j",
                                        "2", "--puzzles", "01"}));
}

TEST(GradePart, RefusesWhatItCannotDivide) {
  const FakeProject project;
  project.folder().write("class/ada/01.cpp", "");
  project.folder().write("loose/01.cpp", "");
  const auto refusal = [&](const Words& arguments) {
    Words command = {"docs/cluster/grade_part"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Answer answer = run_script(project.folder().path(), command);
    EXPECT_EQ(answer.status, 2);
    return answer.err;
  };
  EXPECT_THAT(refusal({"class", "graded"}), HasSubstr("four arguments"));
  EXPECT_THAT(refusal({"nobody", "graded", "0", "2"}), HasSubstr("no folder nobody"));
  EXPECT_THAT(refusal({"class", "graded", "2", "2"}), HasSubstr("no part 2 of 2"));
  EXPECT_THAT(refusal({"class", "graded", "x", "2"}), HasSubstr("no part x of 2"));
  EXPECT_THAT(refusal({"loose", "graded", "0", "1"}), HasSubstr("is no student's folder"));
}

TEST(MergeGrades, SaysWhichPartIsMissingOrDiffers) {
  const FakeProject project;
  const auto merged = [&] { return run_script(project.folder().path(), {"docs/cluster/merge_grades", "graded"}); };
  EXPECT_THAT(merged().err, HasSubstr("no results in graded"));
  project.folder().write("graded/0_of_2/graded/results.csv", "student,01\nada,5\n");
  EXPECT_THAT(merged().err, HasSubstr("part 1 of 2 has not been graded yet"));
  project.folder().write("graded/1_of_2/graded/results.csv", "student,02\nben,5\n");
  EXPECT_THAT(merged().err, HasSubstr("has other puzzles"));
  project.folder().write("graded/1_of_2/graded/results.csv", "student,01\nben,7\n");
  EXPECT_EQ(merged().out, "student,01\nada,5\nben,7\n");
}

/// A class in a learner's copy, with the scripts and the real command beside it.
class GradedInShares : public testing::Test {
 protected:
  GradedInShares() {
    fs::create_directories(folder() / "docs");
    fs::copy(kScripts, folder() / "docs/cluster");
    folder().write("shardlings", "#!/bin/sh\nexec '" + cli::command_path() + "' \"$@\"\n");
    fs::permissions(folder() / "shardlings", fs::perms::owner_all);
    const std::string solution = folder().read(std::string("solutions/") + cli::kFirst + "/solution.cpp");
    folder().write("class/ada/01.cpp", solution);
    folder().write("class/ben/01.cpp", folder().read(cli::Learner::file_of(cli::kFirst)));
    folder().write("class/cleo/01.cpp", "this is no C++");
  }
  const cli::TemporaryFolder& folder() const { return shardlings_.folder(); }
  Answer of_project(const Words& command) const {
    return run_script(folder().path(), command, shardlings_.environment());
  }
  static Words sorted(const std::string& table) {
    Words lines = lines_of(table);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  /// The table of the whole class, graded at once.
  std::string at_once() const {
    EXPECT_EQ(shardlings_({"grade", "class", "--trust", "--puzzles", "01"}).status, 0);
    return folder().read("class.graded/results.csv");
  }

  cli::Learner shardlings_;
};

TEST_F(GradedInShares, IsTheSameTable) {
  for (const char* part : {"0", "1"}) {
    const Answer answer =
        of_project({"docs/cluster/grade_part", "class", "graded", part, "2", "--puzzles", "01", "--trust"});
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  }
  const Answer merged = of_project({"docs/cluster/merge_grades", "graded"});
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(sorted(merged.out), sorted(at_once()));
  EXPECT_FALSE(fs::exists(folder() / "graded/0_of_2/submissions"));
}

TEST_F(GradedInShares, ByGnuParallelToo) {
  const std::string parallel = cli::system::program_path("parallel");
  const bool is_gnu =
      !parallel.empty() && run_script("/", {parallel, "--version"}).out.find("GNU parallel") != std::string::npos;
  if (!is_gnu) GTEST_SKIP() << "GNU parallel is missing: apt-get install parallel";
  const Answer answer = of_project({parallel, "-j", "2", "docs/cluster/grade_part", "class", "graded", "{}", "3",
                                    "--puzzles", "01", "--trust", ":::", "0", "1", "2"});
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  EXPECT_EQ(sorted(of_project({"docs/cluster/merge_grades", "graded"}).out), sorted(at_once()));
}

TEST(MpiJob, IsWhatTheOperatorTakes) {
  const Answer answer = run_script(
      "/", {"/usr/bin/env", "python3", SHARDLINGS_SOURCE "/tests/cluster/check_mpijob.py", kScripts + "mpijob.yaml"});
  if (answer.status == 77 || answer.status == 127) GTEST_SKIP() << answer.out << answer.err;
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
}

TEST(MpiJob, AFaultIsFound) {
  const cli::TemporaryFolder folder;
  const std::string good = read_whole_file(kScripts + "mpijob.yaml");
  const auto checked = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    text.replace(text.find(what), what.size(), by);
    folder.write("job.yaml", text);
    return run_script(
        "/", {"/usr/bin/env", "python3", SHARDLINGS_SOURCE "/tests/cluster/check_mpijob.py", folder / "job.yaml"});
  };
  const Answer answer = checked("runPolicy", "runPolicies");
  if (answer.status == 77 || answer.status == 127) GTEST_SKIP() << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("spec has no field runPolicies"));
  EXPECT_THAT(checked("kubeflow.org/v2beta1", "kubeflow.org/v1").out, HasSubstr("apiVersion"));
  EXPECT_THAT(checked("-n 4", "-n 5").out, HasSubstr("more than the 4 slots"));
  EXPECT_THAT(checked("runLauncherAsWorker: true", "runLauncherAsWorker: false").out, HasSubstr("runLauncherAsWorker"));
}

}  // namespace
}  // namespace shardlings::cluster
