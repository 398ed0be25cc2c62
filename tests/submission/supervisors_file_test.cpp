// Whose file it is in which a process of a crew leaves its notes.
#include "submission/supervisors_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/socket_transport.h"

namespace shardlings::submission {
namespace {

/// What a supervisor has, and a process of the crew, which is this one and tells nobody.
class NotesFileTest : public testing::Test {
 protected:
  NotesFileTest() : supervisors_(memfd_create("case", MFD_CLOEXEC)) {
    EXPECT_TRUE(wire::write_case(supervisors_.get(), "the case", 3, 7));
    of_ = supervisors_file(path_of(supervisors_.get()));
  }
  static std::string path_of(int file) { return fmt::format("/proc/{}/fd/{}", getpid(), file); }
  /// Whether what is noted comes into the supervisor's file.
  bool is_supervisors(const SupervisorsFile& of) {
    NotesFile notes(of, pulse_, progress_);
    EXPECT_EQ(notes.mapped().case_text(), of.text);
    EXPECT_EQ(notes.mapped().black_box().ranks, of.ranks);
    EXPECT_EQ(notes.mapped().header().number, 7U);
    notes.mapped().black_box().entries[1].order = 4711;
    wire::MappedFile file(supervisors_.get());
    const bool is_noted = std::exchange(file.black_box().entries[1].order, 0) == 4711;
    EXPECT_EQ(notes.is_supervisors(), is_noted);
    return is_noted;
  }

  Descriptor supervisors_;
  SupervisorsFile of_;
  CrewPulse pulse_;
  back::Progress progress_{support::make_socket_transport(support::make_sockets(1), 0)};
};

TEST_F(NotesFileTest, IsTheSupervisorsOnItsMachine) {
  EXPECT_EQ(of_.text, "the case");
  EXPECT_EQ(of_.ranks, 3);
  EXPECT_TRUE(is_supervisors(file_from(to_bytes(of_))));
}

TEST_F(NotesFileTest, IsItsOwnWhereThePathLeadsNowhere) {
  of_.path = "/proc/1/fd/4711";
  EXPECT_FALSE(is_supervisors(of_));
}

// The same numbers may stand for something else on another machine, or where processes are numbered anew.
TEST_F(NotesFileTest, IsItsOwnWhereThePathLeadsToSomethingElse) {
  const Descriptor other(memfd_create("other", MFD_CLOEXEC)), empty(memfd_create("empty", MFD_CLOEXEC));
  ASSERT_TRUE(wire::write_case(other.get(), "another case", 3, 7));
  for (const int file : {other.get(), empty.get()}) {
    of_.path = path_of(file);
    EXPECT_FALSE(is_supervisors(of_));
  }
  of_.path = path_of(supervisors_.get());
  of_.machine = "another one";
  EXPECT_FALSE(is_supervisors(of_));
}

TEST_F(NotesFileTest, ThereIsNoneAtAPathThatCannotBeOpened) {
  EXPECT_EQ(supervisors_file("/proc/self/fd/4711").path, "");
}

}  // namespace
}  // namespace shardlings::submission
