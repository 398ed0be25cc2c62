// A folder of submissions: whose they are, and of which puzzles.
#include "cli/submissions/students.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "cli/error.h"
#include "cli/folder.h"
#include "cli/submissions/class_grading.h"
#include "cli/submissions/gradescope_names.h"
#include "cli/submissions/naming.h"

namespace shardlings::cli::submissions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void expect_entry(const std::string& name, bool is_folder, const EntryName& expected) {
  const EntryName entry = entry_name(name, is_folder);
  EXPECT_EQ(entry.student, expected.student) << name;
  EXPECT_EQ(entry.name, expected.name) << name;
  EXPECT_EQ(entry.file, expected.file) << name;
  EXPECT_EQ(entry.late, expected.late) << name;
}

TEST(EntryNames, AreThoseOfThePlatforms) {
  expect_entry("ada", true, {"ada", "", "", false});
  expect_entry("submission_123456", true, {"123456", "", "", false});
  expect_entry("Ada Lovelace_77_assignsubmission_file_", true, {"77", "Ada Lovelace", "", false});
  expect_entry("Ada Lovelace_77_assignsubmission_file_09.cpp", false, {"77", "Ada Lovelace", "09.cpp", false});
  expect_entry("lovelaceada_12_345_puzzle09.cpp", false, {"12", "lovelaceada", "puzzle09.cpp", false});
  expect_entry("lovelaceada_LATE_12_345_09-1.cpp", false, {"12", "lovelaceada", "09-1.cpp", true});
  expect_entry("anon_x4Fq1_50011_puzzle.cpp", false, {"x4Fq1", "", "puzzle.cpp", false});
  expect_entry("anon_LATE_x4Fq1_50011_puzzle.cpp", false, {"x4Fq1", "", "puzzle.cpp", true});
  expect_entry("09.cpp", false, {"", "", "09.cpp", false});
}

// The form of submission_metadata.yml in what Gradescope exports.
constexpr const char* kMetadata = R"(---
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: '100'
    :email: ada@example.edu
  :created_at: 2026-12-01 17:59:58.230000000 Z
  :score: 10.0
  :results:
    tests:
    - :name: no student's
  :history:
  - :created_at: 2026-11-01 12:00:00.000000000 Z
    :name: nobody
submission_12:
  :submitters:
  - :name: 'Pat O''Hara'
    :email: pat@example.edu
  - :sid: '200'
    :name: "Quinn \"Q\" Doe"
  :created_at: 2026-12-01 10:00:00.5 -08:00
submission_13:
  :submitters: []
  :created_at: yesterday
)";

TEST(Submitters, AreThoseThatGradescopeNames) {
  const auto all = submissions_in(kMetadata);
  ASSERT_EQ(all.size(), 3U);
  ASSERT_EQ(all.at("11").submitters.size(), 1U);
  EXPECT_EQ(all.at("11").submitters[0].name, "Ada Lovelace");
  EXPECT_EQ(all.at("11").submitters[0].id, "100") << "the number comes before the address";
  EXPECT_EQ(all.at("11").submitted, *time_from("2026-12-01T17:59:58Z"));
  ASSERT_EQ(all.at("12").submitters.size(), 2U);
  EXPECT_EQ(all.at("12").submitters[0].name, "Pat O'Hara");
  EXPECT_EQ(all.at("12").submitters[0].id, "pat@example.edu");
  EXPECT_EQ(all.at("12").submitters[1].name, "Quinn \"Q\" Doe");
  EXPECT_EQ(all.at("12").submitters[1].id, "200");
  EXPECT_EQ(all.at("12").submitted, *time_from("2026-12-01T18:00:00Z"));
  EXPECT_TRUE(all.at("13").submitters.empty());
  EXPECT_EQ(all.at("13").submitted, 0);
  EXPECT_TRUE(submissions_in("submission_1\n  :name: x\n").empty());
}

constexpr const char* kNameless = R"(---
submission_15:
  :submitters:
  - :name: Ada Lovelace
  - :name: Quinn Doe
  - :name: Pat O'Hara
    :sid: '300'
  - :name: Bo Li
  :created_at: 2026-12-01 10:00:00 Z
)";

class Exported : public testing::Test {
 protected:
  Exported() {
    folder_.write("in/assignment_777_export/submission_metadata.yml", kMetadata);
    for (const char* number : {"11", "12", "14"}) {
      folder_.write(std::string("in/assignment_777_export/submission_") + number + "/09.cpp",
                    std::string("// ") + number);
    }
  }
  Submissions read(const std::string& folder) const {
    return read_submissions(folder_ / folder, folder_ / "unpacked", puzzles_);
  }
  TemporaryFolder folder_;
  std::vector<cases::Manifest> puzzles_{small_puzzle(9, "data_parallel", "Data parallel")};
};

TEST_F(Exported, NamesStudentsAsTheCourseDoesAndTellsWhenTheyHandedIn) {
  for (const char* folder : {"in/assignment_777_export", "in"}) {
    const Submissions all = read(folder);
    ASSERT_EQ(all.students.size(), 4U) << folder;
    EXPECT_EQ(all.students[0].id, "100");
    EXPECT_EQ(all.students[0].name, "Ada Lovelace");
    EXPECT_EQ(all.students[0].files[0].modified, *time_from("2026-12-01T17:59:58Z"));
    EXPECT_EQ(all.students[1].id, "14") << "of whom it says nothing";
    EXPECT_GT(all.students[1].files[0].modified, *time_from("2026-01-01T00:00:00Z")) << "the file's own time";
  }
}

TEST_F(Exported, GivesEachMemberOfAGroupWhatAllHaveHandedIn) {
  const Submissions all = read("in");
  ASSERT_EQ(all.students.size(), 4U);
  EXPECT_EQ(all.students[2].id, "200");
  EXPECT_EQ(all.students[3].id, "pat@example.edu");
  EXPECT_EQ(all.students[2].group, all.students[3].group);
  EXPECT_EQ(all.students[2].files.at(0).file, all.students[3].files.at(0).file);
  EXPECT_EQ(all.students[0].group, "");
}

// Each has a line, and hidden cases, of their own.
TEST_F(Exported, TellsMembersApartOfWhomItSaysNoNumber) {
  folder_.write("nameless/submission_metadata.yml", kNameless);
  folder_.write("nameless/submission_15/09.cpp", "// theirs");
  std::vector<std::string> found;
  for (const Student& student : read("nameless").students) found.push_back(student.id + ": " + student.name);
  EXPECT_THAT(found,
              testing::UnorderedElementsAre("15: Ada Lovelace", "15-2: Quinn Doe", "300: Pat O'Hara", "15-3: Bo Li"));
}

TEST_F(Exported, IsNotTakenForAStudentWhereMoreLiesBesideIt) {
  folder_.write("in/ada/09.cpp", "");
  try {
    read("in");
    ADD_FAILURE() << "it is no folder of students";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Name that folder"));
  }
}

TEST_F(Exported, TellsOfASecondSubmissionWithOneStudentsId) {
  folder_.write("in/assignment_777_export/100/09.cpp", "another's");
  const Submissions all = read("in");
  ASSERT_EQ(all.students.size(), 5U);
  for (const std::size_t i : {0, 1}) {
    EXPECT_EQ(all.students[i].id, "100");
    EXPECT_THAT(all.students[i].mixed_up, HasSubstr("two submissions have this id: 100 and submission_11."));
  }
  EXPECT_EQ(all.students[2].mixed_up, "");
}

// 12 is somebody else on each platform.
TEST(MixedPlatforms, AreToldAndNeverMadeOneStudent) {
  const TemporaryFolder folder;
  folder.write("in/Jane Doe_12_assignsubmission_file_/09.cpp", "hers");
  folder.write("in/roepat_12_345_puzzle09.cpp", "his");
  folder.write("in/roepat_13_346_puzzle09.cpp", "alone");
  folder.write("in/Ann Lee_14_assignsubmission_file_/09.cpp", "alone");
  folder.write("in/15/09.cpp", "a folder that somebody has made");
  folder.write("in/submission_15/09.cpp", "and Gradescope's");
  const Submissions all = read_submissions(folder / "in", folder / "out", {small_puzzle(9, "parallel", "Parallel")});
  ASSERT_EQ(all.students.size(), 4U);
  EXPECT_THAT(all.students[0].mixed_up, HasSubstr("Jane Doe_12_assignsubmission_file_ (Moodle) and "
                                                  "roepat_12_345_puzzle09.cpp (Canvas)"));
  EXPECT_EQ(all.students[1].mixed_up, "");
  EXPECT_EQ(all.students[2].mixed_up, "");
  EXPECT_THAT(all.students[3].mixed_up, HasSubstr("15 (no platform's) and submission_15 (Gradescope)"));
}

class PuzzleOfPath : public testing::Test {
 protected:
  std::string of(const std::string& path) const {
    const cases::Manifest* puzzle = puzzle_of(path, puzzles_);
    return puzzle == nullptr ? "none" : puzzle->id;
  }
  std::vector<cases::Manifest> puzzles_{small_puzzle(1, "step", "Step"), small_puzzle(9, "parallel", "Parallel")};
};

TEST_F(PuzzleOfPath, IsNamedByTheFileOrByAFolder) {
  for (const char* path :
       {"09.cpp", "9.cpp", "09_parallel.cpp", "puzzle09.cpp", "week 3/puzzle_9.cpp", "09-2.cpp", "puzzle-09.cpp",
        "09.CPP", "09.cc", "09 (1).cpp", "puzzles/09_parallel/puzzle.cpp", "09/src/puzzle.cpp", "09/puzzle-1.cpp"}) {
    EXPECT_EQ(of(path), "09_parallel") << path;
  }
}

TEST_F(PuzzleOfPath, IsNoneForWhatElseLiesThere) {
  for (const char* path : {"puzzle.cpp", "puzzles/09_parallel/grader.cpp", "solutions/09_parallel/solution.cpp",
                           "10.cpp", "9000000000009.cpp", "main.cpp"}) {
    EXPECT_EQ(of(path), "none") << path;
  }
}

/// Paths of what is left out, with the reason.
std::vector<std::string> left_out_of(const std::vector<LeftOut>& left_out, const std::string& folder) {
  std::vector<std::string> words;
  for (const LeftOut& one : left_out) {
    words.push_back(std::filesystem::path(one.path).lexically_relative(folder).string() + ": " + one.why);
  }
  return words;
}

TEST_F(PuzzleOfPath, IsTheOnlyPuzzleForAFileThatNamesNone) {
  const TemporaryFolder folder;
  folder.write("ada/puzzle.cpp", "int x;");
  folder.write("ben/elsewhere/puzzle.cpp", "int x;");
  folder.write("cleo/puzzle.cpp", "// Puzzle 01: a step.");
  puzzles_.erase(puzzles_.begin());
  const Submissions all = read_submissions(folder.path(), folder / "unpacked", puzzles_);
  ASSERT_EQ(all.students.size(), 3U);
  EXPECT_EQ(all.students[0].files.at(0).puzzle, "09_parallel");
  EXPECT_TRUE(all.students[1].files.empty());
  EXPECT_TRUE(all.students[1].left_out.at(0).may_count);
  EXPECT_TRUE(all.students[2].files.empty());
  EXPECT_EQ(all.students[2].left_out.at(0).why, "it is for puzzle 01, which is not graded");
}

// Canvas leaves of a path only the name, which all puzzles share: the stub's first line tells them apart.
TEST_F(PuzzleOfPath, IsSaidInTheFirstCommentWhereNoNameSaysIt) {
  const TemporaryFolder folder;
  folder.write("in/obriensean_1011_50011_puzzle.cpp", "// Sean O'Brien\r\n// Puzzle 09: parallel.\r\nint x;\n");
  folder.write("in/obriensean_1011_50012_puzzle-1.cpp", "// Puzzle 01: step.\n");
  folder.write("in/doejane_1012_50013_puzzle.cpp", "// nothing of it left\n");
  folder.write("in/doejane_1012_50014_notes.cpp", "// of mine\n");
  const Submissions all = read_submissions(folder / "in", folder / "unpacked", puzzles_);
  ASSERT_EQ(all.students.size(), 2U);
  ASSERT_EQ(all.students[0].files.size(), 2U);
  EXPECT_THAT(all.students[0].files[0].file, HasSubstr("50012"));
  EXPECT_EQ(all.students[0].files[1].puzzle, "09_parallel");
  ASSERT_EQ(all.students[1].left_out.size(), 2U);
  EXPECT_TRUE(all.students[1].left_out[0].may_count) << all.students[1].left_out[0].path;
  EXPECT_FALSE(all.students[1].left_out[1].may_count) << "notes are nobody's mark";
}

TEST_F(PuzzleOfPath, IsSaidByTheNameWhereACopyOfTheRepositoryHasMoreOfTheSameText) {
  const TemporaryFolder folder;
  folder.write("in/ada/puzzles/09_parallel/puzzle.cpp", "// Puzzle 09: mine.");
  folder.write("in/ada/solutions/09_parallel/solution.cpp", "// Puzzle 09: the course's.");
  const Submissions all = read_submissions(folder / "in", folder / "unpacked", puzzles_);
  ASSERT_EQ(all.students.at(0).files.size(), 1U);
  EXPECT_THAT(all.students[0].files[0].file, HasSubstr("puzzles/09_parallel"));
}

TEST_F(PuzzleOfPath, OfTwoFilesThatAreAlikeIsOne) {
  const TemporaryFolder folder;
  folder.write("in/ada/09.cpp", "int x;");
  folder.write("in/ada/again/09.cpp", "int x;");
  folder.write("in/ben/09.cpp", "int x;");
  folder.write("in/ben/again/09.cpp", "int y;");
  const Submissions all = read_submissions(folder / "in", folder / "unpacked", puzzles_);
  EXPECT_EQ(all.students.at(0).files.size(), 1U);
  EXPECT_EQ(all.students.at(1).files.size(), 2U);
}

TEST(PuzzleSaid, IsThatOfEveryStub) {
  int stubs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SHARDLINGS_SOURCE "/puzzles")) {
    const auto text = read_file(entry.path().string() + "/puzzle.cpp");
    if (!text) continue;
    EXPECT_EQ(number_said_in(*text), std::stoi(entry.path().filename().string())) << entry.path();
    ++stubs;
  }
  EXPECT_GT(stubs, 40);
  EXPECT_EQ(number_said_in("// Puzzle 09: a\n// Puzzle 08: b\n"), 0);
  EXPECT_EQ(number_said_in("int x;  // Puzzle 09: a\n"), 0);
}

TEST_F(PuzzleOfPath, OfAFolderFollowsNoLinkAndTellsWhatIsLeftOut) {
  const TemporaryFolder folder;
  folder.write("secret/09.cpp", "somebody else's");
  folder.write("all/ada/09.cpp", "");
  folder.write("all/ada/notes.cpp", "");
  folder.write("all/ada/09.cpp.txt", "");
  folder.write("all/ada/repository/build/CMakeCache.txt", "");
  folder.write("all/ada/repository/build/graded/09_parallel/1f/09.cpp", "");
  folder.write("all/ben_LATE_5_6_09.cpp", "");
  folder.write("all/stray.txt", "");
  std::filesystem::create_directory_symlink(folder / "secret", folder / "all/ada/linked");
  std::filesystem::create_directory_symlink(folder / "secret", folder / "all/eve");
  std::filesystem::create_symlink(folder / "secret/09.cpp", folder / "all/ada/01.cpp");
  const Submissions all = read_submissions(folder / "all", folder / "unpacked", puzzles_);
  ASSERT_EQ(all.students.size(), 2U);
  EXPECT_EQ(all.students[0].id, "5");
  EXPECT_TRUE(all.students[0].files.at(0).late);
  EXPECT_EQ(all.students[1].id, "ada");
  ASSERT_EQ(all.students[1].files.size(), 1U);
  EXPECT_EQ(all.students[1].files[0].file, folder / "all/ada/09.cpp");
  EXPECT_THAT(left_out_of(all.students[1].left_out, folder / "all"),
              ElementsAre("ada/01.cpp: it is a link", "ada/09.cpp.txt: its name does not end in .cpp",
                          "ada/notes.cpp: neither its name nor its first comment names a puzzle that is graded"));
  EXPECT_EQ(all.students[1].left_out[1].puzzle, "09_parallel") << "its name says so";
  EXPECT_EQ(all.students[1].left_out[2].puzzle, "");
  EXPECT_THAT(left_out_of(all.left_out, folder / "all"),
              ElementsAre("eve: it is a link", "stray.txt: its name names no student"));
}

TEST(Contents, AreThoseOfFilesThatWereHandedInAndNotOfWhatALinkLeadsTo) {
  const TemporaryFolder folder;
  folder.write("secret", "somebody else's");
  folder.write("09.cpp", "abc");
  std::filesystem::create_symlink(folder / "secret", folder / "10.cpp");
  EXPECT_EQ(content_of(folder / "09.cpp"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(content_of(folder / "10.cpp"), "");
  EXPECT_EQ(content_of(folder / "11.cpp"), "");
}

TEST_F(PuzzleOfPath, NeedsSomebodysWork) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_submissions(folder / "nowhere", folder / "unpacked", puzzles_), UsageError);
  EXPECT_THROW(read_submissions(folder.path(), folder / "unpacked", puzzles_), UsageError);
}

}  // namespace
}  // namespace shardlings::cli::submissions
