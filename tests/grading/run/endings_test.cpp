// Submissions that go wrong in every way there is, each in a process of its own: how the run ended and what is said.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "grading/build/build_submission.h"
#include "grading/build/call_lines.h"
#include "grading/build/toolchain.h"
#include "grading/run/case_of_sum.h"
#include "grading/run/ending.h"
#include "grading/run/submission_folder.h"
#include "grading/run/supervisor.h"

namespace shardlings::grading {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

cases::Case two_ranks() {
  return case_of_sum("2 ranks", 6);
}

/// Memory that a machine has not used yet may take a second of processor time to be filled.
constexpr int kSecondsToFillMemory = 10;

/// Sanitizers fill the address space, and put data of their own into every object.
bool is_sanitized() {
  return run::default_limits(1).memory_bytes == 0;
}

wire::Result run(const std::string& body, const std::string& before = "", int cpu_seconds = 1) {
  run::ProcessLimits limits = run::default_limits(2);
  limits.cpu_seconds = cpu_seconds;
  limits.output_bytes = 1 << 20;
  if (limits.memory_bytes > 0) limits.memory_bytes = 200 << 20;
  return run::run_case(SubmissionFolder(body, before).build(), two_ranks(), limits);
}

TEST(Endings, FinishedRunBringsOutputsCountersAndTrace) {
  const wire::Result result = run("  rank.world().all_reduce(data, ReduceOp::sum);");
  ASSERT_EQ(result.ending, wire::Ending::finished) << result.explanation << result.stdout_text;
  EXPECT_EQ(result.explanation, "");
  ASSERT_EQ(result.report.ranks.size(), 2U);
  EXPECT_EQ(result.report.ranks[1].counters.calls(front::Collective::all_reduce), 1);
  EXPECT_FALSE(result.report.ranks[1].trace.events.empty());
  const wire::Output& data = result.outputs.at("data");
  EXPECT_EQ(data.values.size(), 6U);
  EXPECT_TRUE(data.complete);
  EXPECT_EQ(data.conflict, "");
  EXPECT_TRUE(data.replicas.empty());
}

// Each thread that multiplies takes a large workspace of the BLAS library's, which must fit the limit of memory.
TEST(Endings, ManyRanksMultiplyAtOnce) {
  cases::Case kase = two_ranks();
  kase.ranks = 16;
  const SubmissionFolder folder(
      "  Tensor a = rank.zeros({300, 300}, Kind::other);\n  rank.world().barrier();\n"
      "  for (int i = 0; i < 40; ++i) a = matmul(a, a, Trans::nn);");
  const wire::Result result = run::run_case(folder.build(), kase, run::default_limits(kase.ranks));
  EXPECT_EQ(result.ending, wire::Ending::finished) << result.explanation;
}

TEST(Endings, ReplicasThatDifferAreKeptApart) {
  const wire::Result result = run("  if (rank.id() == 1) fill(data, 3.F);");
  ASSERT_EQ(result.ending, wire::Ending::finished) << result.explanation;
  const wire::Output& data = result.outputs.at("data");
  EXPECT_EQ(data.conflict, "rank 1 ended with other values than rank 0");
  ASSERT_EQ(data.replicas.size(), 2U);
  EXPECT_EQ(data.replicas[1], std::vector<float>(6, 3.F));
}

TEST(Endings, SegmentationFault) {
  const wire::Result result =
      run("  rank.world().barrier();\n  if (rank.id() == 1) *reinterpret_cast<volatile int*>(rank.id()) = 1;");
  EXPECT_EQ(result.ending, wire::Ending::crashed);
  EXPECT_THAT(
      result.explanation,
      StartsWith("rank 1 crashed at puzzle.cpp:12 with a segmentation fault: it touched memory that is not its own.\n"
                 "The address was 0x1, where nothing is: an index into an empty vector, one that is outside of its "
                 "vector, or something used after it was moved away are the usual reasons.\nAt that moment:\n"));
  EXPECT_THAT(result.explanation, HasSubstr("\n  rank 1 was in or after barrier at puzzle.cpp:11"));
}

// What the harness has called before is none of the learner's.
TEST(Endings, CrashBeforeAnyCall) {
  const wire::Result result = run("  if (rank.id() == 1) *reinterpret_cast<volatile int*>(data.size()) = 1;");
  EXPECT_EQ(result.ending, wire::Ending::crashed);
  EXPECT_THAT(result.explanation, HasSubstr("\n  rank 1 had made no call yet"));
}

TEST(Endings, StackOverflow) {
  const wire::Result result =
      run("  if (rank.id() == 0) std::printf(\"%d\", deeper(data.size()));",
          "int deeper(Count n) { volatile char big[1000] = {}; return n < 0 ? 0 : deeper(n + 1) + big[n % 7]; }");
  EXPECT_EQ(result.ending, wire::Ending::crashed);
  EXPECT_THAT(result.explanation, StartsWith("rank 0 crashed at puzzle.cpp:9 with a segmentation fault"));
  EXPECT_THAT(result.explanation, HasSubstr("endless recursion"));
}

TEST(Endings, Abort) {
  const wire::Result result =
      run("  rank.world().barrier();\n  if (rank.id() == 0) std::puts(\"so far\"), std::abort();");
  EXPECT_EQ(result.ending, wire::Ending::crashed);
  EXPECT_THAT(result.stdout_text, HasSubstr("so far\n"));
  EXPECT_THAT(result.explanation, StartsWith("rank 0 crashed at puzzle.cpp:12 with abort().\n"));
}

TEST(Endings, IndexOutsideOfItsVector) {
  const wire::Result result =
      run("  std::vector<int> some(3);\n  if (rank.id() == 1) std::printf(\"%d\", some[data.size()]);");
  EXPECT_EQ(result.ending, wire::Ending::crashed);
  EXPECT_THAT(result.explanation, StartsWith("rank 1 crashed at puzzle.cpp:12 with abort().\n"
                                             "An index there is outside of its std::vector"));
  EXPECT_THAT(result.stdout_text, HasSubstr("__n < this->size()"));
}

TEST(Endings, LastElementOfAVectorThatHasNone) {
  const wire::Result result = run("  std::vector<int> none;\n  if (rank.id() == 0) std::printf(\"%d\", none.back());");
  EXPECT_THAT(result.explanation, StartsWith("rank 0 crashed at puzzle.cpp:12 with abort().\n"
                                             "A std::vector there is empty"));
}

TEST(Endings, NoPlaceIsInAFileThatIsNotTheLearners) {
  const SubmissionFolder folder("  data.part({0, data.size() + 1}, Location{\"grader.cpp\", 7});");
  run::Submission submission = folder.build();
  submission.source = "puzzle.cpp";
  const wire::Result result = run::run_case(submission, two_ranks(), run::default_limits(2));
  ASSERT_EQ(result.ending, wire::Ending::failed) << result.explanation;
  EXPECT_THAT(result.explanation, StartsWith("somewhere: part [0, 7) leaves a view of 6 elements\n"));
  EXPECT_EQ(result.report.failure->file, "");
  EXPECT_EQ(result.report.failure->line, 0);
  const std::string known = "The line is not known: the code gives its calls a Location of its own, and ";
  EXPECT_THAT(result.explanation, AnyOf(HasSubstr(known + "grader.cpp is not the file that is judged."),
                                        HasSubstr(known + "that is no line of puzzle.cpp.")))
      << "in jails the broker does not let the file's name in";
}

TEST(Endings, NoPlaceIsInALineOfTheLearnersWhereNoCallCanStand) {
  const SubmissionFolder folder("  // no call\n  data.part({0, data.size() + 1}, Location{\"puzzle.cpp\", LINE});",
                                "constexpr int LINE = 11;");
  run::Submission submission = folder.build();
  submission.source = "puzzle.cpp";
  submission.call_lines = build::call_lines(read_whole_file(folder.source()));
  const wire::Result result = run::run_case(submission, two_ranks(), run::default_limits(2));
  ASSERT_EQ(result.ending, wire::Ending::failed) << result.explanation;
  EXPECT_THAT(result.explanation, StartsWith("somewhere: part [0, 7) leaves a view of 6 elements\n"));
  EXPECT_EQ(result.report.failure->line, 0);
  EXPECT_THAT(result.explanation,
              HasSubstr("The line is not known: the code gives its calls a Location of its own, and in puzzle.cpp no "
                        "call stands there."));
}

TEST(Endings, ExceptionIsAFailureWithItsPlace) {
  const wire::Result result =
      run("  rank.world().barrier();\n  if (rank.id() == 1) throw std::runtime_error(\"no idea\");\n"
          "  rank.world().barrier();");
  ASSERT_EQ(result.ending, wire::Ending::failed);
  EXPECT_EQ(result.report.failure->kind, front::FailureKind::exception);
  EXPECT_EQ(result.report.failure->rank, 1);
  EXPECT_THAT(result.explanation,
              HasSubstr("rank 1, after barrier at puzzle.cpp:11, threw a std::runtime_error: no idea"));
}

TEST(Endings, WhatIsNoExceptionIsNamedByItsTypeAndValue) {
  const auto told = [](const std::string& thrown, const std::string& before = "") {
    const wire::Result result = run("  rank.world().barrier();\n  if (rank.id() == 1) throw " + thrown + ";", before);
    EXPECT_EQ(result.ending, wire::Ending::failed);
    return result.explanation;
  };
  const std::string who = "an exception that nothing caught: rank 1, after barrier at puzzle.cpp:11, threw ";
  EXPECT_EQ(told("42"), who + "the int 42");
  EXPECT_EQ(told("\"no idea\""), who + "the text 'no idea'");
  EXPECT_EQ(told("Mine{}", "struct Mine {};"), who + "a value of type Mine");
}

// It is the code that throws it here, and nothing has used up any memory: neither is claimed.
TEST(Endings, ThrownLackOfMemoryIsNoUseOfMemory) {
  const wire::Result result = run("  rank.world().barrier();\n  if (rank.id() == 1) throw std::bad_alloc();");
  EXPECT_EQ(result.ending, wire::Ending::memory_limit);
  EXPECT_THAT(
      result.explanation,
      StartsWith("rank 1, after barrier at puzzle.cpp:11, threw std::bad_alloc, and nothing caught it: there was "
                 "no memory for what was asked for.\n"));
  EXPECT_THAT(result.explanation, HasSubstr("Or the code throws std::bad_alloc itself."));
  EXPECT_THAT(result.explanation, testing::Not(HasSubstr("more of the computer's memory than")));
}

TEST(Endings, ExceptionThatNobodyCanCatch) {
  const wire::Result result = run("  never(rank.id());", "void never(int id) noexcept { if (id == 0) throw 1; }");
  EXPECT_EQ(result.ending, wire::Ending::crashed);
  EXPECT_THAT(result.explanation,
              StartsWith("rank 0 crashed at puzzle.cpp:9 with abort().\nAn exception had nobody to catch it"));
  EXPECT_THAT(result.stdout_text, HasSubstr("terminate called"));
}

TEST(Endings, WhatTheCodeItselfCallsIsNotTakenForAnAssert) {
  EXPECT_THAT(run("  std::abort();").explanation, HasSubstr("with abort().\nThe code itself called it"));
  EXPECT_THAT(run("  std::terminate();").explanation, HasSubstr("with abort().\nstd::terminate() was called"));
}

TEST(Endings, EndlessLoop) {
  const wire::Result result =
      run("  rank.world().barrier();\n  volatile bool on = true;\n  while (rank.id() == 0 && on) {\n  }\n"
          "  rank.world().barrier();");
  EXPECT_EQ(result.ending, wire::Ending::cpu_limit);
  EXPECT_EQ(result.explanation,
            "the program computed for more than 1 s and was stopped: an endless loop?\n"
            "rank 0 was computing at puzzle.cpp:13 when it was stopped.\nAt that moment:\n"
            "  rank 0 was in or after barrier at puzzle.cpp:11 (its call 1)\n"
            "  rank 1 was waiting in barrier at puzzle.cpp:15");
}

TEST(Endings, ExitInTheMiddle) {
  const auto told = [](const std::string& call) {
    const wire::Result result =
        run("  rank.world().barrier();\n  if (rank.id() == 1) " + call + ";\n  rank.world().barrier();");
    EXPECT_EQ(result.ending, wire::Ending::early_exit);
    EXPECT_THAT(result.explanation, HasSubstr("\n  rank 1 was in or after barrier at puzzle.cpp:11"));
    return result.explanation;
  };
  EXPECT_THAT(told("std::exit(0)"),
              StartsWith("rank 1 called exit() at puzzle.cpp:12, which ended the program with status 0 before the run "
                         "was over.\nReturn from the function instead; "));
  EXPECT_THAT(told("std::quick_exit(3)"),
              StartsWith("rank 1 called quick_exit() at puzzle.cpp:12, which ended the program with status 3 before"));
  EXPECT_THAT(told("std::_Exit(0)"), StartsWith("the program ended with status 0, most likely by _Exit(), before"));
}

TEST(Endings, ExitBeforeMain) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer starts before the submission does: needs a build without";
  const SubmissionFolder folder("", "struct Early { Early() { std::_Exit(0); } } early;");
  const build::BuildOutcome refused =
      build::build_submission(build::load_toolchain(SHARDLINGS_TEST_BUILD), "50_sum", folder.source(),
                              SHARDLINGS_TEST_PUZZLE "/harness.cpp", folder.folder());
  EXPECT_FALSE(refused.built);
  EXPECT_THAT(refused.log, HasSubstr(": 'early' is a global or static variable."));
}

TEST(Endings, OutputIsKeptUpToALimit) {
  const wire::Result result = run("  for (int i = 0; i < 20000; ++i) std::puts(\"abcdefghi\");");
  EXPECT_EQ(result.ending, wire::Ending::finished);
  EXPECT_EQ(result.stdout_text.size(), 64U * 1024);
  EXPECT_TRUE(result.stdout_truncated);
  EXPECT_THAT(result.stdout_text, StartsWith("abcdefghi\nabcdefghi\n"));
}

TEST(Endings, OutputFlood) {
  const wire::Result result = run("  for (;;) std::puts(\"still alive\");");
  EXPECT_EQ(result.ending, wire::Ending::output_limit);
  EXPECT_THAT(result.explanation, StartsWith("the program wrote more than 1 MiB of output and was stopped.\n"));
}

// The two loop in step, as all ranks do whose loop has the wrong condition.
TEST(Endings, EndlessLoopOfCalls) {
  if (in_jails())
    GTEST_SKIP() << "where a call crosses to another process, the limit of time comes before that of calls";
  const wire::Result result =
      run("  int turn = 0;\n  while (turn < 1) {\n    rank.world().all_reduce(data, ReduceOp::sum);\n  }");
  ASSERT_EQ(result.ending, wire::Ending::failed) << result.explanation;
  EXPECT_EQ(result.report.failure->kind, front::FailureKind::endless_loop);
  EXPECT_THAT(result.explanation, StartsWith("endless loop: rank 0 repeats puzzle.cpp:13 for ever.\n"));
}

TEST(Endings, DivisionByZero) {
  const wire::Result result =
      run("  if (rank.id() == 1) std::printf(\"%d\", 7 / (rank.size() - 2));\n  rank.world().barrier();");
  EXPECT_EQ(result.ending, wire::Ending::crashed);
  EXPECT_THAT(result.explanation, StartsWith("rank 1 crashed at puzzle.cpp:11 with an arithmetic error: most likely an "
                                             "integer division by zero.\n"));
  EXPECT_THAT(result.explanation, testing::Not(HasSubstr("index")));
}

// Tensors live in the computer's memory, too, so all ranks together may find it full before any device is.
TEST(Endings, TensorsOfAllRanksFillTheMemory) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more memory than any limit: needs a build without";
  const wire::Result result =
      run("  std::vector<Tensor> all;\n"
          "  for (int i = 0; i < 20; ++i) all.push_back(rank.zeros(Count{5} << 20, Kind::gradient));",
          "", kSecondsToFillMemory);
  ASSERT_EQ(result.ending, wire::Ending::failed) << result.explanation;
  EXPECT_EQ(result.report.failure->kind, front::FailureKind::out_of_memory);
  EXPECT_THAT(result.explanation, testing::ContainsRegex("puzzle.cpp:12: out of memory on rank [01]: 20 MiB"));
  EXPECT_THAT(result.explanation, testing::ContainsRegex("gradient   [0-9]+ tensors? from puzzle.cpp:12"));
  EXPECT_THAT(result.explanation, HasSubstr("the machine has no memory left, which all ranks of a run share"));
}

TEST(Endings, MemoryHog) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more memory than any limit: needs a build without";
  const wire::Result result =
      run("  std::vector<std::vector<char>> all;\n  for (;;) all.emplace_back(4 << 20);", "", kSecondsToFillMemory);
  EXPECT_EQ(result.ending, wire::Ending::memory_limit);
  if (in_jails()) {
    EXPECT_THAT(result.explanation, HasSubstr("The code of each rank may use 512 MiB, and its tensors do not count."));
  } else {
    EXPECT_THAT(result.explanation,
                StartsWith("the program asked for more of the computer's memory than a case may use (200 MiB)"));
  }
}

TEST(Endings, Deadlock) {
  const wire::Result result = run("  rank.world().recv(data, 1 - rank.id());");
  ASSERT_EQ(result.ending, wire::Ending::failed);
  EXPECT_EQ(result.report.failure->kind, front::FailureKind::deadlock);
  EXPECT_THAT(result.explanation, HasSubstr("puzzle.cpp:11"));
}

TEST(Endings, NotImplemented) {
  const wire::Result result = run("  not_implemented();");
  ASSERT_EQ(result.ending, wire::Ending::failed);
  EXPECT_EQ(result.report.failure->kind, front::FailureKind::not_implemented);
}

/// `program` with so much address space, of which the judge knows nothing: as on another host.
std::string limited(const SubmissionFolder& folder, const std::string& program, int kibibytes) {
  std::string script = folder.folder() + "/limited";
  std::ofstream(script) << fmt::format("#!/bin/sh\nulimit -v {}\nexec {} \"$@\"\n", kibibytes, program);
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

TEST(Endings, ATighterLimitOfMemoryWhereTheProgramRunsIsNotItsDoing) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more than any limit";
  const SubmissionFolder folder(
      "  std::vector<std::vector<char>> all;\n  for (;;) all.emplace_back(std::size_t{1} << 22, 'x');");
  run::Submission submission = folder.build();
  run::ProcessLimits limits = run::default_limits(2);
  limits.cpu_seconds = kSecondsToFillMemory;
  EXPECT_EQ(run::run_case(submission, two_ranks(), limits).ending, wire::Ending::memory_limit);
  submission.program = limited(folder, submission.program, 600'000);
  const wire::Result result = run::run_case(submission, two_ranks(), limits);
  EXPECT_EQ(result.ending, wire::Ending::machine_fault);
  EXPECT_THAT(result.explanation, StartsWith("the limit of memory that is in force where the program ran (585 MiB)"));
}

TEST(Endings, NotStarted) {
  const wire::Result result = run::run_case("/does/not/exist", two_ranks(), run::default_limits(2));
  EXPECT_EQ(result.ending, wire::Ending::not_started);
  EXPECT_EQ(result.explanation, "the program could not be started: No such file or directory.");
}

TEST(Endings, LoaderThatFails) {
  run::ProcessEnd end;
  end.started = true;
  end.exited = true;
  end.status = 127;
  end.output = "submission: error while loading shared libraries: libshardlings.so\n";
  run::Evidence evidence{.end = end, .limits = {}};
  wire::Result result;
  run::describe_ending(evidence, result);
  EXPECT_EQ(result.ending, wire::Ending::machine_fault);
  EXPECT_THAT(result.explanation, HasSubstr("(status 127: submission: error while loading"));
}

TEST(Endings, ProgramThatIsNoSubmission) {
  const wire::Result result = run::run_case("/bin/true", two_ranks(), run::default_limits(2));
  EXPECT_EQ(result.ending, wire::Ending::early_exit);
  EXPECT_THAT(result.explanation, StartsWith("the program ended with status 0 before main() began"));
}

}  // namespace
}  // namespace shardlings::grading
