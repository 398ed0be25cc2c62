// The table of a class: what counts, who is in it, and what changes from one grading to the next.
#include "cli/submissions/gradebook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cli/error.h"
#include "cli/submissions/changes.h"
#include "cli/submissions/class_grading.h"
#include "cli/submissions/part.h"
#include "cli/submissions/roster.h"

namespace shardlings::cli::submissions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
            "student,name,total,max,late,09_parallel,09_parallel max,09_parallel outcome\n"
            "1,\"'=HYPERLINK(\"\"x\"\"),\",25,50,,25,50,failed\n"
            "2,Ben,,50,,,50,not_judged\n");
}

TEST(Gradebooks, NameFilesThatAreAlike) {
  const auto with = [](const std::string& content, Outcome outcome) {
    Mark one = mark(outcome, 25);
    one.content = content;
    return one;
  };
  const Gradebook book{{"09_parallel"},
                       {},
                       "",
                       {{"1", "Ada", {with("a", Outcome::passed)}},
                        {"2", "Ben", {with("a", Outcome::passed)}},
                        {"3", "Cleo", {with("b", Outcome::failed)}, "3+4"},
                        {"4", "Dan", {with("b", Outcome::failed)}, "3+4"},
                        {"5", "Eve", {with("c", Outcome::not_implemented)}},
                        {"6", "Fay", {with("c", Outcome::not_implemented)}},
                        {"7", "Gus", {mark(Outcome::missing, 0)}},
                        {"8", "Hal", {mark(Outcome::missing, 0)}}}};
  const std::vector<Alike> alike = alike_in(book);
  ASSERT_EQ(alike.size(), 1U);
  EXPECT_EQ(alike[0].puzzle, "09_parallel");
  EXPECT_THAT(alike[0].students, ElementsAre("1", "2"));
}

TEST(Rosters, AreTablesOfIdsAndNames) {
  const std::vector<Enrolled> all =
      roster_from("\xEF\xBB\xBFSID,Name\r\n7,\"Doe, Jane\"\r\n\r\n8;Ben\r\n9\r\n", "list");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].id, "7");
  EXPECT_EQ(all[0].name, "Doe, Jane");
  EXPECT_EQ(all[1].name, "Ben");
  EXPECT_EQ(all[2].id, "9");
  for (const char* wrong : {"", "id,name\n", "7,a\n7,b\n", ",a\n"})
    EXPECT_THROW(roster_from(wrong, "list"), UsageError) << wrong;
}

TEST(Rosters, AddWhoHasHandedInNothing) {
  Submissions all;
  all.students.resize(2);
  all.students[0].id = "7";
  all.students[1].id = "stranger";
  EXPECT_THAT(enrol(all, {{"8", "Ben"}, {"7", "Jane"}}), ElementsAre("stranger"));
  ASSERT_EQ(all.students.size(), 3U);
  EXPECT_EQ(all.students[0].name, "Jane");
  EXPECT_EQ(all.students[1].id, "8");
  EXPECT_TRUE(all.students[1].files.empty());
}

std::string change_of(Mark old, Mark now) {
  const Gradebook before{{"09_parallel"}, {}, "", {{"1", "Ada", {std::move(old)}}}};
  const Gradebook after{{"09_parallel"}, {}, "", {{"1", "Ada", {std::move(now)}}}};
  const std::vector<Change> changes = changes_between(gradebook_from_json(to_json(before)), after);
  return changes.empty() ? "none" : changes.at(0).before + " -> " + changes.at(0).now + ": " + changes.at(0).why;
}

/// A class of that many; of a group the last two.
Submissions class_of(int students) {
  Submissions all;
  for (int i = 0; i < students; ++i) all.students.emplace_back().id = std::to_string(i);
  for (int i = students - 2; i < students; ++i) all.students[static_cast<std::size_t>(i)].group = "pair";
  return all;
}

std::vector<std::string> ids_in(Submissions all, const std::string& part) {
  keep_part(all, part_from(part));
  std::vector<std::string> ids;
  for (const Student& student : all.students) ids.push_back(student.id);
  return ids;
}

TEST(Parts, HaveEachStudentOnceAndAGroupWhole) {
  std::vector<std::string> together;
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    const std::vector<std::string> ids = ids_in(class_of(30), part);
    EXPECT_GE(ids.size(), 3U) << part;
    EXPECT_EQ(std::count(ids.begin(), ids.end(), "28"), std::count(ids.begin(), ids.end(), "29"));
    together.insert(together.end(), ids.begin(), ids.end());
  }
  EXPECT_EQ(together.size(), 30U);
  EXPECT_EQ(std::set<std::string>(together.begin(), together.end()).size(), 30U);
}

TEST(Parts, ChangeByNobodyWhoComesLater) {
  const std::vector<std::string> before = ids_in(class_of(30), "2/3");
  std::vector<std::string> after = ids_in(class_of(60), "2/3");
  std::erase_if(after, [](const std::string& id) { return std::stoi(id) >= 28; });
  for (const std::string& id : after) EXPECT_THAT(before, testing::Contains(id));
  EXPECT_GE(before.size(), after.size());
  EXPECT_LE(before.size(), after.size() + 2) << "but for the two who were a group";
}

TEST(Parts, AreDecimalNumbersFromOne) {
  EXPECT_EQ(part_from("08/16").number, 8);
  EXPECT_EQ(part_from("010/0016").number, 10);
  EXPECT_EQ(part_from("16/16").count, 16);
  for (const char* text :
       {"", "3", "3/", "/16", "0/16", "17/16", "-1/16", "+1/16", "1/16/2", "x/16", "1/ 16", "0x1/2", "1/99999999999"}) {
    EXPECT_THROW(part_from(text), UsageError) << text;
  }
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
  Mark other_points = mark(Outcome::missing, 0);
  other_points.max_points = 60;
  EXPECT_EQ(change_of(mark(Outcome::missing, 0), other_points),
            "missing, 0 of 50 -> missing, 0 of 60: the puzzle has other points");
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
