// The processes of a crew, forked here and started by no MPI, and who watches over them.
#include "grading/run/crew_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>

#include "base/descriptor.h"
#include "base/pack.h"
#include "submission/crash_notes.h"
#include "submission/crew_pulse.h"
#include "submission/wire/process_words.h"
#include "support/waits.h"

namespace shardlings::grading::run {
namespace {

using namespace std::chrono_literals;
using support::comes_true;
using support::status_of;
using testing::AllOf;
using testing::HasSubstr;
using world::pulse::Loss;
using world::pulse::Pace;

constexpr Pace kQuick{.beat = 10ms, .silent_beats = 50, .arrival_beats = 1000};
constexpr int kRanks = 4;

/// A file in memory as the supervisor prepares it, with an empty case.
int new_file() {
  const int file = memfd_create("case", MFD_CLOEXEC);
  const wire::FileLayout layout(0, kRanks);
  wire::FileHeader header;
  header.ranks = kRanks;
  if (ftruncate(file, static_cast<off_t>(layout.result_begin)) != 0 || pwrite(file, &header, sizeof header, 0) < 0)
    return -1;
  return file;
}

/// A process of a crew of two, as Open MPI would have started it.
pid_t crew_process(const CrewWatch& watch, int number, const std::function<void(submission::CrewPulse&)>& life) {
  const pid_t child = fork();
  if (child != 0) return child;
  const std::string variable = watch.variable();
  const auto equals = variable.find('=');
  setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  setenv("OMPI_COMM_WORLD_RANK", std::to_string(number).c_str(), 1);
  try {
    submission::CrewPulse pulse;
    try {
      life(pulse);
    } catch (const std::exception& error) {
      pulse.tell_fault(error.what());
      throw;
    }
    pulse.farewell();
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

/// What a rank of a case does on another host: its process has a file of its own.
void work_far_away(submission::CrewPulse& pulse, int rank, const std::function<void(wire::MappedFile&)>& more) {
  wire::MappedFile file(new_file());
  front::BlackBoxEntry& entry = file.black_box().entries[rank];
  entry.line = 31;
  entry.order = 7;
  std::strcpy(entry.file, "puzzle.cpp");
  std::strcpy(entry.verb, "all_reduce");
  pulse.tell_of(file, rank, 1);
  more(file);
  for (;;) pause();
}

std::vector<wire::LastWords> words_in(wire::MappedFile& file) {
  std::vector<wire::LastWords> words;
  for (int rank = 0; rank < kRanks; ++rank) {
    const front::BlackBoxEntry& entry = file.black_box().entries[rank];
    words.push_back({entry.state == static_cast<std::uint32_t>(front::RankState::blocked) ? "blocked" : "running",
                     entry.verb, entry.file, entry.line, entry.order, 0});
  }
  return words;
}

TEST(CrewWatch, NamesAProcessThatWasKilledWithItsHostRankAndLastCall) {
  const Descriptor descriptor(new_file());
  wire::MappedFile file(dup(descriptor.get()));
  CrewWatch watch(2, kQuick);
  // Which rank is blocked is known here, where the control plane is, and not there.
  file.black_box().entries[3].state = static_cast<std::uint32_t>(front::RankState::blocked);
  watch.watch(descriptor.get(), kRanks);
  const pid_t first = crew_process(watch, 0, [](auto&) { pause(); });
  const pid_t second = crew_process(watch, 1, [](auto& pulse) { work_far_away(pulse, 3, [](auto&) {}); });
  ASSERT_TRUE(comes_true([&] { return file.black_box().entries[3].order == 7; }));
  kill(second, SIGKILL);
  ASSERT_TRUE(comes_true([&] { return watch.lost().has_value(); }));
  EXPECT_EQ(watch.lost()->process, 1);
  EXPECT_EQ(watch.lost()->loss, Loss::closed);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  EXPECT_THAT(
      loss_text(*watch.lost(), 2, kRanks, words_in(file)),
      AllOf(HasSubstr("on host " + std::string(host)), HasSubstr("with ranks 2 to 3"), HasSubstr("has died"),
            HasSubstr("rank 2 had made no call yet"), HasSubstr("rank 3 was waiting in all_reduce at puzzle.cpp:31")));
  watch.end_all();
  EXPECT_NE(status_of(first), 0);
  status_of(second);
}

TEST(CrewWatch, NamesAProcessThatWasStopped) {
  const Descriptor descriptor(new_file());
  wire::MappedFile file(dup(descriptor.get()));
  CrewWatch watch(1, kQuick);
  watch.watch(descriptor.get(), kRanks);
  const pid_t child = crew_process(watch, 0, [](auto& pulse) { work_far_away(pulse, 0, [](auto&) {}); });
  ASSERT_TRUE(comes_true([&] { return file.black_box().entries[0].order == 7; }));
  kill(child, SIGSTOP);
  EXPECT_TRUE(comes_true([&] { return watch.lost().has_value(); }));
  EXPECT_EQ(watch.lost()->loss, Loss::silent);
  watch.kill_if_stopped("/bin/sh");
  EXPECT_EQ(kill(child, 0), 0) << "which is another program";
  watch.kill_if_stopped("/proc/self/exe");
  EXPECT_EQ(status_of(child), 128 + SIGKILL);
}

TEST(CrewWatch, AllEndWhereItDoes) {
  auto watch = std::make_unique<CrewWatch>(2, kQuick);
  const auto waits = [](auto&) {
    for (;;) pause();
  };
  const pid_t first = crew_process(*watch, 0, waits), second = crew_process(*watch, 1, waits);
  watch.reset();
  EXPECT_NE(status_of(first), 0);
  EXPECT_NE(status_of(second), 0);
}

TEST(CrewWatch, LaunchersThatTidyUpDoNotKill) {
  CrewWatch watch(1, kQuick);
  const pid_t child = crew_process(watch, 0, [](auto&) { raise(SIGTERM); });
  EXPECT_EQ(status_of(child), 0);
  EXPECT_FALSE(watch.lost());
}

// A crash far away is noted here before the process is gone.
TEST(CrewWatch, ACrashOnAnotherHostIsNoted) {
  const Descriptor descriptor(new_file());
  wire::MappedFile file(dup(descriptor.get()));
  CrewWatch watch(1, kQuick);
  watch.watch(descriptor.get(), kRanks);
  const pid_t child = crew_process(watch, 0, [](auto& pulse) {
    work_far_away(pulse, 2, [](wire::MappedFile& own) {
      submission::CrashNotes notes(own.header().crash, own.black_box(), nullptr);
      notes.watch_this_thread(2);
      raise(SIGSEGV);
    });
  });
  EXPECT_EQ(status_of(child), 128 + SIGSEGV);
  EXPECT_TRUE(comes_true([&] { return watch.lost().has_value(); }));
  EXPECT_EQ(file.header().crash.signal.load(), SIGSEGV);
  EXPECT_EQ(file.header().crash.rank, 2);
}

TEST(CrewWatch, WhatAMachineLackedOnAnotherHostIsNoted) {
  const Descriptor descriptor(new_file());
  wire::MappedFile file(dup(descriptor.get()));
  CrewWatch watch(1, kQuick);
  watch.watch(descriptor.get(), kRanks);
  const pid_t child = crew_process(watch, 0, [](auto& pulse) {
    work_far_away(pulse, 2, [](wire::MappedFile& own) {
      own.header().note_exhausted(wire::FileHeader::kExhausted, {.address_space = 4711, .data = 4712});
      own.header().note_fault("no threads on ada");
    });
  });
  EXPECT_TRUE(comes_true([&] { return file.header().fault == wire::FileHeader::kFault; }));
  EXPECT_STREQ(file.header().fault_text, "no threads on ada");
  EXPECT_TRUE(comes_true([&] { return file.header().exhausted == wire::FileHeader::kExhausted; }));
  EXPECT_EQ(file.header().memory_limits.address_space, 4711) << "those of that host";
  EXPECT_EQ(file.header().memory_limits.data, 4712);
  kill(child, SIGKILL);
  status_of(child);
}

// It has not been killed, and it is missed all the same; why it could not go on comes before that is seen.
TEST(CrewWatch, AProcessThatEndsByAnExceptionIsLost) {
  const Descriptor descriptor(new_file());
  wire::MappedFile file(dup(descriptor.get()));
  CrewWatch watch(2, kQuick);
  watch.watch(descriptor.get(), kRanks);
  const pid_t first = crew_process(watch, 0, [](auto&) { pause(); });
  const pid_t second = crew_process(watch, 1, [](auto&) { throw std::runtime_error("no room for a case"); });
  EXPECT_EQ(status_of(second), 1);
  ASSERT_TRUE(comes_true([&] { return watch.lost().has_value(); }));
  EXPECT_EQ(watch.lost()->process, 1);
  EXPECT_STREQ(file.header().fault_text, "no room for a case");
  watch.end_all();
  EXPECT_NE(status_of(first), 0);
}

TEST(ProcessWords, WhatDoesNotFitIsNotWritten) {
  const Descriptor descriptor(new_file());
  wire::MappedFile file(dup(descriptor.get())), own(new_file());
  own.black_box().entries[0].order = 5;
  wire::ProcessWords words = wire::unpack_words(wire::pack_words(wire::words_of("ada", own, 0, kRanks)));
  words.first = 1;
  write_words(words, file, kRanks);
  EXPECT_EQ(file.black_box().entries[1].order, 0U);
  words.first = 0;
  words.box.pop_back();
  write_words(words, file, kRanks);
  EXPECT_EQ(file.black_box().entries[0].order, 0U);
  EXPECT_THROW(wire::unpack_words("evil"), BadPack);
}

// A process on another host may speak of a case until it has heard that the case is over.
TEST(ProcessWords, WhatIsOfTheCaseBeforeIsNotWritten) {
  const Descriptor descriptor(new_file());
  wire::MappedFile file(dup(descriptor.get())), own(new_file());
  own.header().note_exhausted(wire::FileHeader::kExhausted, {});
  own.header().note_fault("no threads");
  own.black_box().entries[0].order = 5;
  file.header().number = own.header().number + 1;
  write_words(wire::words_of("ada", own, 0, kRanks), file, kRanks);
  EXPECT_EQ(file.header().exhausted, 0U);
  EXPECT_EQ(file.header().fault, 0U);
  EXPECT_EQ(file.black_box().entries[0].order, 0U);
  file.header().number = own.header().number;
  write_words(wire::words_of("ada", own, 0, kRanks), file, kRanks);
  EXPECT_EQ(file.header().exhausted, wire::FileHeader::kExhausted);
  EXPECT_STREQ(file.header().fault_text, "no threads");
  EXPECT_EQ(file.black_box().entries[0].order, 5U);
}

}  // namespace
}  // namespace shardlings::grading::run
