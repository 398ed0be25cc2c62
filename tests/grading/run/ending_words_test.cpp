// What is said of processes, from what is known of their end: also of ends that no program can be made to come to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <limits>

#include "grading/run/ending.h"

namespace shardlings::grading {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// What is said of a process that ended so, after main() had begun.
wire::Result described(const run::ProcessEnd& end, const run::ProcessLimits& limits, const std::string& fault = "") {
  run::Evidence evidence{.end = end, .limits = limits};
  evidence.reached_main = true;
  evidence.fault = fault;
  wire::Result result;
  run::describe_ending(evidence, result);
  return result;
}

// The system kills where the machine's memory has run out, whoever has used it up.
TEST(EndingWords, KilledByTheSystem) {
  run::ProcessLimits limits;
  limits.memory_bytes = std::int64_t{1} << 30;
  run::ProcessEnd end;
  end.started = true;
  end.signal = SIGKILL;
  end.peak_memory = 50 << 20;
  const wire::Result small = described(end, limits);
  EXPECT_EQ(small.ending, wire::Ending::machine_fault);
  EXPECT_THAT(small.explanation, StartsWith("the system killed the program when it used 50 MiB: "));
  end.peak_memory = 900 << 20;
  EXPECT_EQ(described(end, limits).ending, wire::Ending::memory_limit);
  end.killed = run::Kill::wall_limit;
  EXPECT_EQ(described(end, limits).ending, wire::Ending::wall_limit) << "by us";
}

// A jail uses memory of its own, beside its broker's.
TEST(EndingWords, OfAJailsMemoryNameTheJailsLimit) {
  run::ProcessLimits limits;
  limits.memory_bytes = std::int64_t{1} << 30;
  run::ProcessEnd end;
  end.started = true;
  end.peak_memory = 50 << 20;
  run::Evidence evidence{.end = end, .limits = limits, .reached_main = true};
  evidence.jail_bytes = 128 << 20;
  const auto told = [&](wire::Ending ending) {
    wire::Result result;
    run::describe_ending(evidence, result);
    EXPECT_EQ(result.ending, ending);
    return result.explanation;
  };
  end.signal = SIGKILL;
  evidence.jail_peak = 20 << 20;
  EXPECT_THAT(told(wire::Ending::machine_fault), StartsWith("the system killed the program when it used 20 MiB: "));
  evidence.jail_peak = 100 << 20;
  EXPECT_THAT(told(wire::Ending::memory_limit),
              StartsWith("the system killed the program when it used 100 MiB of the computer's memory, of 128 MiB that "
                         "the code of a rank may use.\nMost likely the memory of the machine"));
  end.signal = 0;
  end.exited = true;
  evidence.jail_peak = 0;
  evidence.host_memory_exhausted = evidence.jail_exhausted = true;
  EXPECT_THAT(told(wire::Ending::memory_limit), testing::HasSubstr("The code of each rank may use 128 MiB"));
  evidence.jail_exhausted = false;
  EXPECT_THAT(told(wire::Ending::memory_limit), testing::HasSubstr("of 1024 MiB that a case may use"));
}

TEST(EndingWords, ManyCallsUntilTheLimitOfTimeAreNoWaiting) {
  run::ProcessLimits limits;
  limits.wall_seconds = 20;
  run::ProcessEnd end;
  end.started = true;
  end.killed = run::Kill::wall_limit;
  run::Evidence evidence{.end = end, .limits = limits};
  evidence.reached_main = true;
  wire::Result result;
  result.last_words = {{"running", "add", "puzzle.cpp", 3, 2, 0}, {"running", "add", "puzzle.cpp", 3, 17023, 0}};
  run::describe_ending(evidence, result);
  EXPECT_THAT(result.explanation,
              StartsWith("the program took more than 20 s and was stopped. Rank 1 made 17023 calls in "
                         "that time: an endless loop?\n"));
  result.last_words.pop_back();
  run::describe_ending(evidence, result);
  EXPECT_THAT(result.explanation, StartsWith("the program took more than 20 s, most of them waiting: "));
  evidence.jail_bytes = 1 << 30;
  run::describe_ending(evidence, result);
  EXPECT_THAT(result.explanation, StartsWith("the program took more than 20 s and was stopped: an endless loop, or "))
      << "whether a jail computes or waits is not known";
}

TEST(EndingWords, OfRanksNameTheirOwnCallsAlone) {
  wire::Result result;
  result.last_words = {{"running", "", "", 0, 0, 0, true},
                       {"blocked", "add", "puzzle.cpp", 3, 2, 0, true},
                       {"running", "add", "puzzle.cpp", 3, 2, 0, true},
                       {"blocked", "recv", "puzzle.cpp", 7, 3, 0}};
  EXPECT_EQ(run::last_words_text(result),
            "  rank 0 had made no call yet\n"
            "  rank 1 was waiting for other ranks\n"
            "  rank 2 was in or after add at puzzle.cpp:3 (its call 2)\n"
            "  rank 3 was waiting in recv at puzzle.cpp:7");
}

TEST(EndingWords, WhatTheRuntimeCouldNotDoIsNoFaultOfTheProgram) {
  run::ProcessEnd end;
  end.started = true;
  end.exited = true;
  end.status = 1;
  const wire::Result result = described(end, {}, "no OpenBLAS");
  EXPECT_EQ(result.ending, wire::Ending::machine_fault);
  EXPECT_EQ(result.explanation, "the run could not be made: no OpenBLAS.");
  EXPECT_EQ(described(end, {}).ending, wire::Ending::early_exit);
}

TEST(EndingWords, AnAddressIsToldWhereItWasNoted) {
  run::ProcessEnd end;
  end.started = true;
  end.signal = SIGSEGV;
  const run::ProcessLimits limits;
  run::Evidence evidence{.end = end, .limits = limits};
  evidence.reached_main = true;
  wire::Result result;
  run::describe_ending(evidence, result);
  EXPECT_THAT(result.explanation, testing::Not(HasSubstr("0x0"))) << "its handler may not have been there, or stack";
  evidence.crash_signal = SIGSEGV;
  evidence.crash_address = 0;
  run::describe_ending(evidence, result);
  EXPECT_THAT(result.explanation, HasSubstr("The address was 0x0, where nothing is: an index into an empty vector"));
}

// Over several processes the others may stand where they wait for the one that could not go on.
TEST(EndingWords, WhatWasNotedBeforeTheRunStoodIsTheReason) {
  run::ProcessEnd end;
  end.started = true;
  end.killed = run::Kill::wall_limit;
  const run::ProcessLimits limits;
  run::Evidence evidence{.end = end, .limits = limits};
  const auto ending = [&] {
    wire::Result result;
    run::describe_ending(evidence, result);
    return result.ending;
  };
  EXPECT_EQ(ending(), wire::Ending::wall_limit);
  evidence.host_memory_exhausted = true;
  EXPECT_EQ(ending(), wire::Ending::memory_limit);
  evidence.fault = "the disk is full";
  EXPECT_EQ(ending(), wire::Ending::machine_fault);
}

TEST(EndingWords, WhatFillsTheMemoryIsToldByWhatTensorsHadOfIt) {
  run::ProcessEnd end;
  end.started = true;
  end.exited = true;
  end.peak_memory = 990 << 20;
  run::ProcessLimits limits;
  limits.memory_bytes = 1000 << 20;
  const run::Evidence evidence{.end = end, .limits = limits, .reached_main = true, .host_memory_exhausted = true};
  wire::Result result;
  result.last_words.resize(3);
  const auto told = [&](std::int64_t each) {
    for (wire::LastWords& words : result.last_words) words.tensors = each;
    run::describe_ending(evidence, result);
    EXPECT_EQ(result.ending, wire::Ending::memory_limit);
    return result.explanation;
  };
  EXPECT_THAT(told(300 << 20), HasSubstr("Its tensors had 900 MiB of it, rank 0 alone 300 MiB"));
  EXPECT_THAT(told(10 << 20), HasSubstr("Its tensors had no more than 30 MiB: something else grows"));
  EXPECT_THAT(told(-1), HasSubstr("no more than 0 MiB")) << "what a program says of itself";
  EXPECT_THAT(told(std::numeric_limits<std::int64_t>::max()), HasSubstr("Its tensors had 3145728 MiB of it"));
}

}  // namespace
}  // namespace shardlings::grading
