// Faults of the machine and of the tool: nobody's solution is wrong for them, and nobody's right one gets no points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/machine_fault.h"
#include "base/sanitizers.h"
#include "base/sha256.h"
#include "base/text.h"
#include "grading/build_fault.h"
#include "grading/grade.h"
#include "grading/judge/secret_seeds.h"
#include "grading/run/submission_folder.h"
#include "support/refusals.h"

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kCannotBeSet = 77;

/// The verdict of a process for which the machine has been let down; nothing where the system does not allow that.
std::optional<verdict::Verdict> graded_when(const std::function<bool()>& let_down, const GradeOptions& options,
                                            const std::string& answer) {
  const pid_t child = fork();
  if (child == 0) {
    syscall(SYS_close_range, 3U, ~0U, 0U);  // what the tests were started with counts against a limit of descriptors
    if (!let_down()) _exit(kCannotBeSet);
    std::ofstream(answer) << to_json(grade_puzzle(options));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotBeSet) return std::nullopt;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return verdict::verdict_from_json(read_whole_file(answer));
}

/// A right solution, on a machine that is let down.
std::optional<verdict::Verdict> right_when(const std::function<bool()>& let_down) {
  const SubmissionFolder folder(kRightSum);
  return graded_when(let_down, folder.graded_anew(), folder.folder() + "/answer");
}

void expect_not_judged(const verdict::Verdict& verdict) {
  EXPECT_EQ(verdict.status, verdict::Status::not_judged) << to_json(verdict);
  EXPECT_NE(verdict.reason, "");
  const nlohmann::json json = nlohmann::json::parse(to_json(verdict));
  EXPECT_TRUE(json["passed"].is_null());
  EXPECT_TRUE(json["points"].is_null());
  EXPECT_EQ(json["max_points"], 100);
  ASSERT_EQ(json["checks"].size(), 3U);
  for (const auto& check : json["checks"]) {
    EXPECT_TRUE(check["passed"].is_null());
    EXPECT_TRUE(check["earned"].is_null());
    EXPECT_NE(check["reason"], "");
  }
}

TEST(MachineFaults, NoProcesses) {
  const auto verdict = right_when(support::refuse_processes);
  if (!verdict) GTEST_SKIP() << "this system allows no filter of system calls";
  expect_not_judged(*verdict);
  EXPECT_THAT(verdict->reason, HasSubstr("ulimit -u"));
}

TEST(MachineFaults, NoAddressSpace) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "a sanitizer reserves more than any limit";
  const SubmissionFolder folder(
      "  Tensor a = rank.zeros({300, 300}, Kind::other);\n  a = matmul(a, a, Trans::nn);\n"
      "  rank.world().all_reduce(data, ReduceOp::sum);");
  const auto verdict =
      graded_when([] { return support::allow_address_space(500); }, folder.graded_anew(), folder.folder() + "/answer");
  ASSERT_TRUE(verdict);
  // Of the two cases the smaller one may have had enough.
  EXPECT_EQ(verdict->status, verdict::Status::not_judged) << to_json(*verdict);
  EXPECT_THAT(verdict->reason, HasSubstr("ulimit -v"));
}

// Whatever step is the first one to find no descriptor, it is not the solution that is wrong.
TEST(MachineFaults, TooFewDescriptorsTakeNoPoints) {
  int judged = 0;
  for (const int most : {5, 7, 9, 12, 16, 64}) {
    const auto verdict = right_when([most] { return support::allow_files(most); });
    if (!verdict) continue;
    judged += verdict->passed ? 1 : 0;
    if (!verdict->passed) expect_not_judged(*verdict);
  }
  EXPECT_GT(judged, 0);
}

// What compiler and linker leave behind on their way lies in the jail, in the build folder.
TEST(MachineFaults, FullFolderForTemporaryFilesIsNotNeeded) {
  const SubmissionFolder folder(kRightSum);
  const fs::path here = fs::path(SHARDLINGS_TEST_BUILD) / "full_disk";
  fs::create_directories(here);
  fs::copy_file(folder.source(), here / "puzzle.cpp", fs::copy_options::overwrite_existing);
  GradeOptions options = folder.graded_anew();
  options.source = (here / "puzzle.cpp").string();
  const auto verdict = graded_when([] { return support::fill_up("/tmp"); }, options, (here / "answer").string());
  if (!verdict) GTEST_SKIP() << "only root may mount a small file system to fill";
  EXPECT_TRUE(verdict->passed) << to_json(*verdict);
}

/// The tests' own build folder, with one thing in its toolchain replaced.
class OtherToolchain {
 public:
  explicit OtherToolchain(const std::function<void(nlohmann::json&, const std::string& folder)>& change) {
    nlohmann::json toolchain =
        nlohmann::json::parse(read_whole_file(std::string(SHARDLINGS_TEST_BUILD) + "/toolchain.json"));
    change(toolchain, folder_.folder());
    std::ofstream(folder_.folder() + "/toolchain.json") << toolchain.dump();
  }
  GradeOptions options_for(const SubmissionFolder& source) const {
    GradeOptions options = source.graded_anew();
    options.build_folder = folder_.folder();
    return options;
  }

 private:
  SubmissionFolder folder_{""};
};

/// A linker that needs no threads of its own.
OtherToolchain with_plain_linker() {
  return OtherToolchain([](nlohmann::json& json, const std::string&) {
    nlohmann::json flags = nlohmann::json::array();
    for (const std::string flag : json["link_flags"]) {
      if (!flag.starts_with("-fuse-ld")) flags.push_back(flag);
    }
    json["link_flags"] = flags;
  });
}

TEST(MachineFaults, NoThreadsForTheRanks) {
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer has a thread of its own";
  const SubmissionFolder folder(kRightSum);
  const OtherToolchain plain = with_plain_linker();
  const auto verdict = graded_when(support::refuse_threads, plain.options_for(folder), folder.folder() + "/answer");
  if (!verdict) GTEST_SKIP() << "this system allows no filter of system calls";
  expect_not_judged(*verdict);
  EXPECT_THAT(verdict->reason, HasSubstr("2 ranks need a thread each, and this machine gives no more than 1."));
  EXPECT_THAT(verdict->reason, HasSubstr("ulimit -u"));
  ASSERT_EQ(verdict->cases.size(), 2U);
  EXPECT_EQ(verdict->cases[0].ending, wire::Ending::machine_fault);
}

TEST(MachineFaults, CompilerThatIsNotThere) {
  const OtherToolchain other([](nlohmann::json& json, const std::string&) { json["compiler"] = "/no/such/c++"; });
  const verdict::Verdict verdict = grade_puzzle(other.options_for(SubmissionFolder(kRightSum)));
  expect_not_judged(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("/no/such/c++"));
  EXPECT_THAT(verdict.reason, HasSubstr("./shardlings doctor"));
}

/// A shell script in the place of the puzzle's grader; REAL stands for the grader.
OtherToolchain with_grader(const std::string& script) {
  return OtherToolchain([&](nlohmann::json& json, const std::string& folder) {
    auto& grader = json["puzzles"]["50_sum"]["grader"];
    std::string text = "#!/bin/sh\n" + script + "\n";
    const std::string real = quoted_for_shell(grader.get<std::string>());
    for (std::size_t at = 0; (at = text.find("REAL", at)) != std::string::npos; at += real.size()) {
      text.replace(at, 4, real);
    }
    std::ofstream(folder + "/grader") << text;
    fs::permissions(folder + "/grader", fs::perms::owner_all);
    grader = folder + "/grader";
  });
}

TEST(MachineFaults, GraderThatBreaks) {
  const SubmissionFolder right(kRightSum);
  for (const auto& [script, how] : {std::pair{"echo bang; kill -SEGV $$", "(signal 11)"},
                                    {"echo bang; exit 4", "(status 4)"},
                                    {"echo '[ RUN ] x'; echo bang; exit 0", "(status 0)"}}) {
    const verdict::Verdict verdict = grade_puzzle(with_grader(script).options_for(right));
    expect_not_judged(verdict);
    EXPECT_THAT(verdict.reason, StartsWith(std::string("the grader of 50_sum broke ") + how));
    EXPECT_THAT(verdict.reason, HasSubstr("not of yours"));
    EXPECT_THAT(verdict.reason, HasSubstr("bang"));
    EXPECT_THAT(verdict.reason, Not(HasSubstr("[ RUN")));
  }
  const verdict::Verdict killed = grade_puzzle(with_grader("kill -KILL $$").options_for(right));
  EXPECT_THAT(killed.reason, HasSubstr("memory has run out"));
  const verdict::Verdict limited = grade_puzzle(with_grader("kill -XFSZ $$").options_for(right));
  EXPECT_THAT(limited.reason, HasSubstr("ulimit -f"));
}

// A verdict is there, and the grader's last word is not.
TEST(MachineFaults, GraderThatBreaksAfterItsVerdictIsNotBelieved) {
  const verdict::Verdict verdict =
      grade_puzzle(with_grader("REAL \"$@\"; kill -SEGV $$").options_for(SubmissionFolder(kRightSum)));
  EXPECT_EQ(verdict.status, verdict::Status::not_judged);
  EXPECT_FALSE(verdict.passed);
  EXPECT_TRUE(nlohmann::json::parse(to_json(verdict))["points"].is_null());
}

TEST(MachineFaults, CasesThatHadEndedStayJudged) {
  const SubmissionFolder folder(
      "  volatile bool on = rank.size() == 3;\n  while (on) {\n  }\n  rank.world().all_reduce(data, ReduceOp::sum);");
  const OtherToolchain other = with_grader(
      "exec 4<&0\nREAL \"$@\" <&4 &\nn=0\nwhile [ ! -s verdict.json ] && [ $n -lt 3000 ]; do n=$((n + 1)); sleep 0.02; "
      "done\n"
      "kill -KILL $!\nkill -KILL $$");
  const verdict::Verdict verdict = grade_puzzle(other.options_for(folder));
  EXPECT_EQ(verdict.status, verdict::Status::not_judged) << to_json(verdict);
  EXPECT_THAT(verdict.reason, HasSubstr("killed the grader"));
  ASSERT_EQ(verdict.cases.size(), 2U);
  EXPECT_EQ(verdict.cases[0].ending, wire::Ending::finished);
  for (const verdict::CheckVerdict& check : verdict.cases[0].checks) EXPECT_EQ(check.passed, true);
  EXPECT_EQ(verdict.cases[1].ending, wire::Ending::not_started);
  for (const verdict::CheckVerdict& check : verdict.cases[1].checks) {
    EXPECT_EQ(check.passed, std::nullopt);
    EXPECT_THAT(check.reason, HasSubstr("before this case had"));
  }
}

TEST(MachineFaults, WhatWasNotJudgedIsJudgedTheNextTime) {
  const SubmissionFolder folder(kRightSum);
  GradeOptions options = folder.graded_anew();
  options.use_cache = true;
  const auto first = graded_when(support::refuse_threads, options, folder.folder() + "/answer");
  if (!first) GTEST_SKIP() << "this system allows no filter of system calls";
  EXPECT_EQ(first->status, verdict::Status::not_judged);
  EXPECT_TRUE(grade_puzzle(options).passed);
}

TEST(Cache, DamagedEntriesAreMadeAnew) {
  const SubmissionFolder folder(kRightSum);
  GradeOptions options = folder.graded_anew();
  options.use_cache = true;
  ASSERT_TRUE(grade_puzzle(options).passed);
  const auto newest = [] {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(std::string(SHARDLINGS_TEST_BUILD) + "/graded/50_sum")) {
      if (!entry.is_directory()) continue;
      if (found.empty() || entry.last_write_time() > fs::last_write_time(found)) found = entry.path();
    }
    return found;
  };
  const fs::path entry = newest();
  for (const char* file : {"verdict.json", "traces.bin"}) {
    for (const char* damage : {"", "{", "{\"puzzle\": 7}", "null"}) {
      std::ofstream(entry / file) << damage;
      const verdict::Verdict verdict = grade_puzzle(options);
      EXPECT_TRUE(verdict.passed) << file << " " << damage;
      EXPECT_EQ(verdict.cases[0].traces.size(), 2U) << file << " " << damage;
    }
  }
}

TEST(Grade, FilesOfUnusualNames) {
  const SubmissionFolder folder(kRightSum);
  for (const std::string name : {"a b.cpp", "-E.cpp", "it's.cpp", "no_ending", "ü.cpp", "$(x).cpp"}) {
    fs::copy_file(folder.source(), folder.folder() + "/" + name);
    GradeOptions options = folder.graded_anew();
    options.source = folder.folder() + "/" + name;
    const verdict::Verdict verdict = grade_puzzle(options);
    EXPECT_TRUE(verdict.passed) << name << ": " << verdict.build_log << verdict.reason;
  }
}

TEST(BuildFault, IsToldFromASourceThatIsWrong) {
  for (const char* fault : {
           "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
           "x86_64-conda-linux-gnu-c++: fatal error: Killed signal terminated program cc1plus\n",
           "aarch64-linux-gnu-g++-12: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\n",
           "Cannot create temporary file in /tmp/: No space left on device\n",
           "/tmp/ccZoS1.s: Fatal error: can't write 37 bytes to section .text of x.o: 'No space left on device'\n",
           "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n",
           "g++-12: fatal error: cannot execute 'cc1plus': posix_spawn: Resource temporarily unavailable\n",
           "c++: internal compiler error: File size limit exceeded signal terminated program cc1plus\n",
           "puzzle.cpp:48:1: fatal error: closing dependency file /a/puzzle.d: No space left on device\n   48 | }\n",
           "puzzle.cpp:1: sorry, unimplemented: PCH allocation failure\n    1 | // Puzzle\n",
           "collect2: fatal error: cannot find 'ld'\ncompilation terminated.\n",
           "c++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\ncompilation terminated.\n",
           "puzzle.cpp:3:1: warning: x\ncc1plus: fatal error: error writing to /tmp/a.s: No space left on device\n",
       }) {
    EXPECT_THAT(build_fault(fault), StartsWith("the compiler could not do its work")) << fault;
  }
  EXPECT_EQ(build_fault("terminate called\n  what():  pthread_create has failed: Resource temporarily unavailable\n"
                        "collect2: fatal error: ld terminated with signal 6 [Aborted]\ncompilation terminated.\n"),
            "the linker broke. " + advice_on(EAGAIN));
  for (const char* broken : {
           "puzzle.cpp:31:5: internal compiler error: in tsubst, at cp/pt.cc:15782\n   31 |   f();\n",
           "c++: internal compiler error: Segmentation fault signal terminated program cc1plus\n",
           "x86_64-conda-linux-gnu-c++: internal compiler error: Segmentation fault signal terminated program "
           "cc1plus\n",
           "\n/usr/bin/c++ was ended by signal 11",
           "\n/opt/conda/bin/x86_64-conda-linux-gnu-c++ was ended by signal 11",
       }) {
    EXPECT_THAT(build_fault(broken), StartsWith("the compiler itself broke (")) << broken;
    EXPECT_THAT(build_fault(broken), HasSubstr("another version of the compiler")) << broken;
  }
  EXPECT_THAT(build_fault("\n/usr/bin/c++ was ended by signal 9"), StartsWith("the system killed the compiler: "));
  for (const char* wrong : {
           "puzzle.cpp:3:2: error: #error p.cpp:1:1: internal compiler error: none\n",
           "    3 | /usr/bin/c++ was ended by signal 9\n",
           "    3 | p.cpp:1:1: internal compiler error: none\n",
           "puzzle.cpp:3:2: error: #error No space left on device\n",
           "puzzle.cpp:3:2: error: #error p.cpp:1: sorry, unimplemented: PCH allocation failure\n",
           "puzzle.cpp:3:2: error: #error collect2: fatal error: cannot find 'ld'\n",
           "puzzle.cpp:3:2: error: #error c++: fatal error: Killed signal terminated program cc1plus\n",
           "    3 | #error Cannot create temporary file in /tmp/: No space left on device\n",
           "puzzle.cpp must define `void sum_up(Rank& rank, View data)`, with exactly this signature.\n",
           "/usr/bin/ld: puzzle.o: undefined reference to `f()'\ncollect2: error: ld returned 1 exit status\n",
           "c++: internal compiler error: CPU time limit exceeded signal terminated program cc1plus\n",
       }) {
    EXPECT_EQ(build_fault(wrong), "") << wrong;
  }
}

// What the numbers of a hidden case are is seen by what a submission prints of them.
TEST(Secrets, SeedHiddenCasesAndAreToldToNobody) {
  const SubmissionFolder folder(
      "  std::printf(\"%g %g\\n\", rank.read(data.part({0, 1})), rank.read(data.part({1, 2})));\n" +
      std::string(kRightSum));
  GradeOptions options = folder.graded_anew();
  const verdict::Verdict open = grade_puzzle(options);
  options.secret = sha256("one");
  const verdict::Verdict one = grade_puzzle(options), again = grade_puzzle(options);
  options.secret = sha256("two");
  const verdict::Verdict two = grade_puzzle(options);
  EXPECT_EQ(one.checks[0].passed, true) << "the grader knows the seed, too";
  // A line for each rank, in whatever order the ranks came to it.
  const auto printed = [](const verdict::Verdict& verdict, std::size_t kase) {
    std::istringstream text(verdict.cases.at(kase).stdout_text);
    std::multiset<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.insert(line);
    return lines;
  };
  EXPECT_EQ(printed(one, 0), printed(two, 0)) << "announced";
  EXPECT_EQ(printed(one, 1), printed(again, 1)) << "one secret, one seed";
  EXPECT_NE(printed(one, 1), printed(two, 1));
  EXPECT_NE(printed(one, 1), printed(open, 1));
  const std::string json = to_json(one);
  EXPECT_THAT(json, Not(HasSubstr(std::to_string(judge::secret_seed(sha256("one"), "50_sum", "3 ranks, hidden")))));
  EXPECT_THAT(json, Not(HasSubstr(sha256("one"))));
  EXPECT_EQ(one.cases[1].reproduce, "");
  EXPECT_TRUE(nlohmann::json::parse(json)["cases"][1]["seed"].is_null());
  EXPECT_TRUE(verdict::verdict_from_json(json).cases[1].secret_seed);
  for (const auto& entry : fs::directory_iterator(std::string(SHARDLINGS_TEST_BUILD) + "/graded/50_sum")) {
    EXPECT_THAT(entry.path().filename().string(), Not(StartsWith("secret"))) << "nothing is left";
  }
}

TEST(Secrets, GiveEachCaseItsOwnSeed) {
  const std::uint64_t seed = judge::secret_seed("s", "50_sum", "a");
  EXPECT_EQ(seed, judge::secret_seed("s", "50_sum", "a"));
  EXPECT_NE(seed, judge::secret_seed("t", "50_sum", "a"));
  EXPECT_NE(seed, judge::secret_seed("s", "51_sum", "a"));
  EXPECT_NE(seed, judge::secret_seed("s", "50_sum", "b"));
}

}  // namespace
}  // namespace shardlings::grading
