// A folder of submissions: whose they are, of which puzzles, and the table that comes of it.
#include "cli/submissions/students.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/error.h"
#include "cli/folder.h"
#include "cli/submissions/changes.h"
#include "cli/submissions/class_grading.h"
#include "cli/submissions/gradebook.h"
#include "cli/submissions/gradescope_names.h"

namespace shardlings::cli::submissions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  const auto all = submitters_in(kMetadata);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.at("11").names, "Ada Lovelace");
  EXPECT_EQ(all.at("11").submitted, *time_from("2026-12-01T17:59:58Z"));
  EXPECT_EQ(all.at("12").names, "Pat O'Hara, Quinn \"Q\" Doe");
  EXPECT_EQ(all.at("12").submitted, *time_from("2026-12-01T18:00:00Z"));
  EXPECT_EQ(all.at("13").names, "");
  EXPECT_EQ(all.at("13").submitted, 0);
  EXPECT_TRUE(submitters_in("submission_1\n  :name: x\n").empty());
}

TEST(Submitters, NameStudentsAndTellWhenTheyHandedIn) {
  const TemporaryFolder folder;
  folder.write("in/submission_metadata.yml", kMetadata);
  for (const char* student : {"11", "12", "14"})
    folder.write(std::string("in/submission_") + student + "/09.cpp", "int a;");
  const std::vector<cases::Manifest> puzzles = {small_puzzle(9, "data_parallel", "Data parallel")};
  const Submissions all = read_submissions(folder / "in", folder / "unpacked", puzzles);
  ASSERT_EQ(all.students.size(), 3U);
  EXPECT_EQ(all.students[0].name, "Ada Lovelace");
  EXPECT_EQ(all.students[0].files[0].modified, *time_from("2026-12-01T17:59:58Z"));
  EXPECT_EQ(all.students[2].name, "") << "of whom it says nothing";
  EXPECT_GT(all.students[2].files[0].modified, *time_from("2026-01-01T00:00:00Z")) << "the file's own time";
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
  for (const char* path : {"09.cpp", "9.cpp", "09_parallel.cpp", "puzzle09.cpp", "week 3/puzzle_9.cpp", "09-2.cpp",
                           "puzzle-09.cpp", "puzzles/09_parallel/puzzle.cpp", "09/src/puzzle.cpp", "09/puzzle-1.cpp"}) {
    EXPECT_EQ(of(path), "09_parallel") << path;
  }
}

TEST_F(PuzzleOfPath, IsNoneForWhatElseLiesThere) {
  for (const char* path : {"puzzle.cpp", "puzzles/09_parallel/grader.cpp", "solutions/09_parallel/solution.cpp",
                           "10.cpp", "9000000000009.cpp", "main.cpp"}) {
    EXPECT_EQ(of(path), "none") << path;
  }
}

TEST_F(PuzzleOfPath, IsTheOnlyPuzzleForAFileThatNamesNone) {
  puzzles_.erase(puzzles_.begin());
  EXPECT_EQ(of("puzzle.cpp"), "09_parallel");
  EXPECT_EQ(of("elsewhere/puzzle.cpp"), "none");
  EXPECT_EQ(of("puzzle-01.cpp"), "none");
}

TEST_F(PuzzleOfPath, OfAFolderFollowsNoLinkAndTellsWhatIsLeftOut) {
  const TemporaryFolder folder;
  folder.write("secret/09.cpp", "somebody else's");
  folder.write("all/ada/09.cpp", "");
  folder.write("all/ada/notes.cpp", "");
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
  EXPECT_THAT(all.students[1].left_out, ElementsAre(folder / "all/ada/01.cpp is a link, and these are not followed",
                                                    folder / "all/ada/notes.cpp names no puzzle that is graded"));
  EXPECT_THAT(all.left_out, ElementsAre(folder / "all/eve is a link, and these are not followed",
                                        folder / "all/stray.txt names no student"));
}

TEST_F(PuzzleOfPath, OfOtherSuffixesIsTakenOrTold) {
  const TemporaryFolder folder;
  folder.write("all/ada/09.CPP", "");
  folder.write("all/ada/01.cc", "");
  folder.write("all/ada/01.cpp.txt", "");
  folder.write("all/ada/readme.txt", "");
  folder.write("all/.ben/09.cpp", "");
  folder.write("all/.git/HEAD", "");
  const Submissions all = read_submissions(folder / "all", folder / "unpacked", puzzles_);
  ASSERT_EQ(all.students.size(), 1U);
  ASSERT_EQ(all.students[0].files.size(), 1U);
  EXPECT_EQ(all.students[0].files[0].file, folder / "all/ada/09.CPP");
  EXPECT_THAT(all.students[0].left_out, ElementsAre(folder / "all/ada/01.cc does not end in .cpp",
                                                    folder / "all/ada/01.cpp.txt does not end in .cpp"));
  EXPECT_THAT(all.left_out, ElementsAre(folder / "all/.ben begins with a dot, as what systems leave there"));
}

/// Number 5 of Gradescope and number 5 of Moodle are two people, who must not get each other's points.
TEST_F(PuzzleOfPath, OfTwoPlatformsWithOneNumberIsKnownToBeNobodys) {
  const TemporaryFolder folder;
  folder.write("all/submission_5/01.cpp", "");
  folder.write("all/Eve Doe_5_assignsubmission_file_/09.cpp", "");
  folder.write("all/6/01.cpp", "");
  folder.write("all/doecleo_6_1_09.cpp", "");
  folder.write("all/submission_7/01.cpp", "");
  const Submissions all = read_submissions(folder / "all", folder / "unpacked", puzzles_);
  ASSERT_EQ(all.students.size(), 3U);
  EXPECT_THAT(all.students[0].mixed, testing::HasSubstr("entries of Gradescope and of Moodle for 5"));
  EXPECT_THAT(all.students[1].mixed, testing::HasSubstr("entries by that name and of Canvas for 6"));
  EXPECT_EQ(all.students[2].mixed, "");
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

Mark mark(Outcome outcome, int points) {
  Mark mark;
  mark.puzzle = "09_parallel";
  mark.outcome = outcome;
  mark.points = points;
  mark.max_points = 50;
  return mark;
}

TEST(Gradebooks, AddPointsUpButForWhatWasNotJudged) {
  Gradebook book{{"01_step", "09_parallel"}, {}, "", {}};
  const Row judged{"1", "Ada", {mark(Outcome::passed, 50), mark(Outcome::failed, 25)}};
  const Row faulty{"2", "Ben", {mark(Outcome::passed, 50), mark(Outcome::not_judged, 0)}};
  EXPECT_EQ(total_of(book, judged), 75);
  EXPECT_EQ(total_of(book, faulty), std::nullopt);
  book.weights = {10, 4};
  EXPECT_EQ(total_of(book, judged), 12);
  EXPECT_EQ(most_of(book, judged), 14);
}

TEST(Gradebooks, AsCsvAreCellsThatASpreadsheetDoesNotCompute) {
  const Gradebook book{
      {"09_parallel"},
      {},
      "",
      {{"1", "=HYPERLINK(\"x\"),", {mark(Outcome::failed, 25)}}, {"2", "Ben", {mark(Outcome::not_judged, 0)}}}};
  EXPECT_EQ(to_csv(book),
            "student,name,total,most,late,09_parallel,09_parallel outcome\n"
            "1,\"'=HYPERLINK(\"\"x\"\"),\",25,50,,25,failed\n"
            "2,Ben,,50,,,not_judged\n");
}

std::string change_of(Mark old, Mark now) {
  const Gradebook before{{"09_parallel"}, {}, "", {{"1", "Ada", {std::move(old)}}}};
  const Gradebook after{{"09_parallel"}, {}, "", {{"1", "Ada", {std::move(now)}}}};
  const std::vector<Change> changes = changes_between(gradebook_from_json(to_json(before)), after);
  return changes.empty() ? "none" : changes.at(0).before + " -> " + changes.at(0).now + ": " + changes.at(0).why;
}

TEST(Changes, SayWhatIsOtherwiseAndWhy) {
  Mark failed = mark(Outcome::failed, 25);
  failed.failed = {"wire"};
  failed.content = "a";
  Mark passed = mark(Outcome::passed, 50);
  passed.content = "a";
  EXPECT_EQ(change_of(failed, failed), "none");
  EXPECT_EQ(change_of(failed, passed),
            "failed, 25 of 50 -> passed, 50 of 50: the same file; does not fail any more: wire");
  passed.content = "b";
  EXPECT_EQ(change_of(passed, failed), "passed, 50 of 50 -> failed, 25 of 50: another file; fails now: wire");
  EXPECT_EQ(change_of(mark(Outcome::missing, 0), passed), "missing, 0 of 50 -> passed, 50 of 50: a file was handed in");
  Mark faulty = mark(Outcome::not_judged, 0);
  faulty.reason = "no disk";
  EXPECT_EQ(change_of(passed, faulty), "passed, 50 of 50 -> not judged: it could not be judged now: no disk");
  faulty.content = "b";
  EXPECT_EQ(change_of(faulty, passed),
            "not judged -> passed, 50 of 50: it could not be judged before: no disk; the same file");
}

TEST(Changes, AreAlsoWhoCameAndWhoWent) {
  const Gradebook before{{"09_parallel"}, {}, "", {{"1", "Ada", {mark(Outcome::passed, 50)}}}};
  const Gradebook after{{"09_parallel"}, {}, "", {{"0", "Ben", {mark(Outcome::passed, 50)}}}};
  const std::vector<Change> changes = changes_between(before, after);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].student, "0");
  EXPECT_EQ(changes[0].before, "");
  EXPECT_EQ(changes[1].student, "1");
  EXPECT_EQ(changes[1].now, "");
  EXPECT_THROW(gradebook_from_json("{}"), std::runtime_error);
  EXPECT_THROW(gradebook_from_json("no JSON"), std::runtime_error);
}

TEST(ClassProgress, EstimatesFromWhatIsGradedNow) {
  using std::chrono::seconds;
  EXPECT_EQ(to_text(Progress{0, 30, 0, seconds(0)}), "graded 0 of 30");
  EXPECT_EQ(to_text(Progress{12, 30, 6, seconds(12)}), "graded 12 of 30, 6 of them before; about 36 s left");
  EXPECT_EQ(to_text(Progress{10, 110, 0, seconds(60)}), "graded 10 of 110; about 10 min left");
  EXPECT_EQ(to_text(Progress{30, 30, 0, seconds(60)}), "graded 30 of 30");
  EXPECT_EQ(pace_of(Progress{30, 30, 0, seconds(12)}, 10),
            "12.0 s for 30; at this pace 500 such students take 10.0 min");
  EXPECT_THAT(pace_of(Progress{30, 30, 30, seconds(0)}, 10), IsEmpty());
}

TEST(DueTimes, HaveAZone) {
  EXPECT_EQ(time_from("1970-01-02T00:00:00Z"), 86400);
  EXPECT_EQ(time_from("1970-01-02T01:00:00+01:00"), 86400);
  for (const char* text :
       {"1970-01-02T00:00:00", "1970-01-02", "tomorrow", "1970-01-02T00:00:00Z and more", "1971-02-29T00:00:00Z", ""}) {
    EXPECT_EQ(time_from(text), std::nullopt) << text;
  }
}

TEST(StudentsSecrets, AreEachTheirOwn) {
  EXPECT_EQ(students_secret("words", "ada"), students_secret("words", "ada"));
  EXPECT_NE(students_secret("words", "ada"), students_secret("words", "ben"));
  EXPECT_NE(students_secret("words", "ada"), students_secret("others", "ada"));
  EXPECT_THAT(students_secret("words", "ada"), testing::Not(HasSubstr("words")));
}

}  // namespace
}  // namespace shardlings::cli::submissions
