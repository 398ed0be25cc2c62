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

INSTANTIATE_TEST_SUITE_P(Cluster, Script, testing::Values("run.sbatch", "grade_array.sbatch"), [](const auto& script) {
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

/// A job of an array, with the arguments of its script.
Answer array_job(const FakeProject& project, const std::string& id, const Words& arguments) {
  return project.batch("grade_array.sbatch", arguments,
                       {project.submit_dir(), "SLURM_ARRAY_TASK_ID=" + id, "SLURM_CPUS_PER_TASK=2"});
}

TEST(GradeArray, AsksForTasksMemoryAndTime) {
  EXPECT_THAT(directives_of("grade_array.sbatch"),
              testing::IsSupersetOf({"job-name", "ntasks", "cpus-per-task", "mem", "time", "output"}));
}

TEST(GradeArray, EachJobGradesItsPart) {
  const FakeProject project;
  const Answer answer = array_job(project, "3", {"16", "a class", "--out", "the results"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_EQ(project.arguments(), (Words{"grade", "a class", "--part", "3/16", "-j", "2", "--out", "the results"}));
}

// However many jobs the array has: one that is repeated alone has the same students.
TEST(GradeArray, AJobThatIsRepeatedGradesItsPart) {
  const FakeProject project;
  const Answer answer = project.batch("grade_array.sbatch", {"16", "class"},
                                      {project.submit_dir(), "SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN=3",
                                       "SLURM_ARRAY_TASK_MAX=3", "SLURM_ARRAY_TASK_COUNT=1"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_EQ(project.arguments(), (Words{"grade", "class", "--part", "3/16", "-j", "1"}));
}

TEST(GradeArray, SaysHowItIsStarted) {
  const FakeProject project;
  const std::string usage = "sbatch --array=1-16 docs/cluster/grade_array.sbatch 16 submissions";
  const auto refusal = [&](const Words& arguments, const Words& environment) {
    const Answer answer = project.batch("grade_array.sbatch", arguments, environment);
    EXPECT_NE(answer.status, 0);
    return answer.err;
  };
  const std::string job = "SLURM_ARRAY_TASK_ID=1";
  EXPECT_THAT(refusal({"16", "class"}, {}), AllOf(HasSubstr("for sbatch"), HasSubstr(usage)));
  EXPECT_THAT(refusal({"16", "class"}, {project.submit_dir()}), AllOf(HasSubstr("for an array"), HasSubstr(usage)));
  EXPECT_THAT(refusal({}, {project.submit_dir(), job}), AllOf(HasSubstr("number of parts"), HasSubstr(usage)));
  EXPECT_THAT(refusal({"16"}, {project.submit_dir(), job}),
              AllOf(HasSubstr("folder of submissions"), HasSubstr(usage)));
}

/// A class in a learner's copy, with the scripts and the real command beside it.
class GradedInParts : public testing::Test {
 protected:
  GradedInParts() {
    fs::create_directories(folder() / "docs");
    fs::copy(kScripts, folder() / "docs/cluster");
    folder().write("shardlings", "#!/bin/sh\nexec '" + cli::command_path() + "' \"$@\"\n");
    fs::permissions(folder() / "shardlings", fs::perms::owner_all);
    const std::string solution = folder().read(std::string("solutions/") + cli::kFirst + "/solution.cpp");
    folder().write("class/ada/01.cpp", solution);
    folder().write("class/ben/01.cpp", folder().read(cli::Learner::file_of(cli::kFirst)));
    folder().write("class/cleo/01.cpp", "this is no C++");
    folder().write("list.csv", "ada\nben\ncleo\nzoe\n");
  }
  const cli::TemporaryFolder& folder() const { return shardlings_.folder(); }
  Answer of_project(const Words& command, Words environment = {}) const {
    const Words copy = shardlings_.environment();
    environment.insert(environment.end(), copy.begin(), copy.end());
    return run_script(folder().path(), command, environment);
  }
  /// The last command: nothing is left for it to grade, and its table is the one of a class that was graded at once.
  void expect_the_same_table() const {
    const Answer merged = of_project({"./shardlings", "grade", "class", "--trust", "--roster", "list.csv"});
    EXPECT_EQ(merged.status, 0) << merged.err;
    EXPECT_THAT(merged.out, testing::Not(HasSubstr("at this pace")));
    const Answer at_once =
        of_project({"./shardlings", "grade", "class", "--trust", "--roster", "list.csv", "--out", "at once"});
    EXPECT_EQ(at_once.status, 0) << at_once.err;
    EXPECT_EQ(folder().read("class.graded/results.csv"), folder().read("at once/results.csv"));
  }

  cli::Learner shardlings_;
};

// More jobs than students, and one of them twice.
TEST_F(GradedInParts, ByAnArrayOfJobs) {
  for (const char* job : {"1", "2", "3", "4", "5", "2"}) {
    const Answer answer =
        of_project({"/bin/bash", "docs/cluster/grade_array.sbatch", "5", "class", "--trust"},
                   {"SLURM_SUBMIT_DIR=" + folder().path(), std::string("SLURM_ARRAY_TASK_ID=") + job});
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  }
  expect_the_same_table();
}

TEST_F(GradedInParts, ByNoArrayWithOtherNumbers) {
  for (const char* job : {"0", "6"}) {
    const Answer answer =
        of_project({"/bin/bash", "docs/cluster/grade_array.sbatch", "5", "class", "--trust"},
                   {"SLURM_SUBMIT_DIR=" + folder().path(), std::string("SLURM_ARRAY_TASK_ID=") + job});
    EXPECT_EQ(answer.status, 2);
    EXPECT_THAT(answer.err, HasSubstr(std::string("--part ") + job +
                                      "/5: write which part and of how many, as in 3/16. Parts count from 1."));
  }
}

TEST_F(GradedInParts, ByGnuParallel) {
  const std::string parallel = cli::system::program_path("parallel");
  const bool is_gnu =
      !parallel.empty() && run_script("/", {parallel, "--version"}).out.find("GNU parallel") != std::string::npos;
  if (!is_gnu) GTEST_SKIP() << "GNU parallel is missing: apt-get install parallel";
  const Answer answer = of_project(
      {parallel, "-j", "2", "./shardlings", "grade", "class", "--trust", "--part", "{}/3", ":::", "01", "02", "03"});
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  expect_the_same_table();
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
