// `grade FOLDER`: a class, through the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/error.h"
#include "cli/learner.h"
#include "support/mutants.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ClassOfStudents : public testing::Test {
 protected:
  ClassOfStudents() {
    const TemporaryFolder& folder = shardlings_.folder();
    const std::string solution = folder.read(std::string("solutions/") + kFirst + "/solution.cpp");
    folder.write("class/ada/01.cpp", solution);
    folder.write("class/ben/01_training_step/puzzle.cpp", folder.read(Learner::file_of(kFirst)));
    folder.write("class/doecleo_LATE_31_7_01.cpp", "this is no C++");
    folder.write("class/dan/readme.txt", "I have nothing yet.");
  }
  Answer grade(std::vector<std::string> options) const {
    options.insert(options.begin(), {"grade", shardlings_.folder() / "class", "--trust"});
    return shardlings_(options);
  }
  json results() const { return json::parse(shardlings_.folder().read("class.graded/results.json")); }
  /// The only mark of a student.
  static json mark_of(const json& book, const std::string& student) {
    for (const json& row : book["students"]) {
      if (row["student"] == student) return row["marks"].at(0);
    }
    return {};
  }

  Learner shardlings_;
};

TEST_F(ClassOfStudents, GetsATableWithAnOutcomeForEach) {
  const Answer answer = grade({"-j", "2", "--weights", "01=10", "--due", "2001-01-01T00:00:00Z"});
  EXPECT_EQ(answer.status, kPassed) << answer.out << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("4 students, 1 puzzle\n"), HasSubstr("500 such students")));
  const json book = results();
  EXPECT_EQ(book["students"].size(), 4U);
  EXPECT_EQ(mark_of(book, "ada")["outcome"], "passed");
  EXPECT_EQ(mark_of(book, "ada")["late"], true);
  EXPECT_EQ(mark_of(book, "ben")["outcome"], "not_implemented");
  EXPECT_EQ(mark_of(book, "31")["outcome"], "did_not_build");
  EXPECT_EQ(mark_of(book, "dan")["outcome"], "missing");
  EXPECT_EQ(mark_of(book, "dan")["late"], false);
  EXPECT_THAT(shardlings_.folder().read("class.graded/results.csv"),
              AllOf(HasSubstr("ada,,10,10,"), HasSubstr("dan,,0,10,,0,100,missing")));
}

TEST_F(ClassOfStudents, IsGradedOnFromWhereItWasAndAnewWhatHasChanged) {
  ASSERT_EQ(grade({}).status, kPassed);
  const json first = results();
  EXPECT_THAT(grade({}).out, Not(HasSubstr("at this pace")));  // nothing was left to grade
  EXPECT_EQ(results(), first);
  shardlings_.folder().write("class/ben/01_training_step/puzzle.cpp", shardlings_.folder().read("class/ada/01.cpp"));
  EXPECT_THAT(grade({}).out, HasSubstr("s for 1;"));
  EXPECT_EQ(mark_of(results(), "ben")["outcome"], "passed");
}

// Of two that made the same mistake the page says that it is the most frequent one, and whose.
TEST_F(ClassOfStudents, HasAPageThatSaysWhereItFails) {
  const TemporaryFolder& folder = shardlings_.folder();
  const std::string wrong = support::text_of_mutant(SHARDLINGS_SOURCE "/solutions", kFirst, "never_updated");
  folder.write("class/<b>eve/01.cpp", wrong);
  folder.write("class/fay/01.cpp", wrong);
  ASSERT_EQ(grade({}).status, kPassed);
  const std::string page = folder.read("class.graded/class.html");
  EXPECT_THAT(page, AllOf(HasSubstr("6 students, 1 puzzle<"), HasSubstr("1 passed, 2 failed, 1 not implemented, "),
                          HasSubstr("2 of 6: Weights after the step"), HasSubstr("&lt;b&gt;eve, fay"),
                          HasSubstr("<td class=\"passed\" title=\"passed\">100</td>")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<b>eve")), Not(HasSubstr("<script"))));
  const std::size_t picture = page.find("kept/");
  ASSERT_NE(picture, std::string::npos);
  EXPECT_THAT(folder.read("class.graded/" + page.substr(picture, page.find('"', picture) - picture)),
              AllOf(HasSubstr("<svg"), HasSubstr("eve: perceptron, 4 layers"), Not(HasSubstr("<b>eve"))));
}

TEST_F(ClassOfStudents, IsComparedWithAnEarlierGrading) {
  ASSERT_EQ(grade({}).status, kPassed);
  const std::string results_file = shardlings_.folder() / "class.graded/results.json";
  EXPECT_THAT(grade({"--diff", results_file}).out, HasSubstr("0 marks have changed"));
  shardlings_.folder().write("class/ben/01_training_step/puzzle.cpp", shardlings_.folder().read("class/ada/01.cpp"));
  const Answer answer = grade({"--diff", results_file});
  EXPECT_THAT(answer.out, AllOf(HasSubstr("1 mark has changed"), HasSubstr("ben 01_training_step: not implemented, 0"),
                                HasSubstr("another file")));
  EXPECT_EQ(results()["changes"].at(0)["student"], "ben");
  shardlings_.folder().write("no results.json", "{}");
  EXPECT_EQ(grade({"--diff", shardlings_.folder() / "no results.json"}).status, kWrongUse);
}

TEST_F(ClassOfStudents, HasHiddenSeedsThatNobodyIsTold) {
  shardlings_.folder().write("secret", "seven words that nobody would ever guess");
  const Answer answer = grade({"--seed-file", shardlings_.folder() / "secret"});
  EXPECT_EQ(answer.status, kPassed) << answer.err;
  EXPECT_EQ(mark_of(results(), "ada")["outcome"], "passed");
  std::string whole = answer.out + answer.err + results().dump();
  int kept = 0;
  for (const auto& file : std::filesystem::directory_iterator(shardlings_.folder() / "class.graded/kept")) {
    const std::string verdict = shardlings_.folder().read("class.graded/kept/" + file.path().filename().string());
    whole += verdict;
    if (file.path().extension() != ".json") continue;  // a picture
    for (const json& kase : json::parse(verdict)["cases"]) {
      EXPECT_EQ(kase["seed"].is_null(), kase["case"].value("hidden", false)) << kase["name"];
    }
    ++kept;
  }
  EXPECT_EQ(kept, 3);
  EXPECT_THAT(whole, Not(HasSubstr("seven words")));
}

TEST_F(ClassOfStudents, LosesNoPointsByTwoFilesOrByTheMachine) {
  shardlings_.folder().write("class/ada/puzzle01.cpp", "another");
  const Answer answer = grade({"--json"});
  EXPECT_EQ(answer.status, kNotJudged);
  const json book = json::parse(answer.out);
  EXPECT_EQ(mark_of(book, "ada")["outcome"], "not_judged");
  EXPECT_TRUE(mark_of(book, "ada")["points"].is_null());
  EXPECT_THAT(mark_of(book, "ada")["reason"].get<std::string>(), HasSubstr("puzzle01.cpp"));
  EXPECT_EQ(mark_of(book, "31")["outcome"], "did_not_build");
}

TEST_F(ClassOfStudents, LosesNoPointsByANumberThatTwoPlatformsHaveGiven) {
  const TemporaryFolder& folder = shardlings_.folder();
  folder.write("class/Jane Doe_31_assignsubmission_file_/puzzle01.cpp", "another student's");
  folder.write("class/doejane_44_50013_puzzle.cpp", "int x;");
  folder.write("class/44/notes.cpp", "which puzzle are these of?");
  const Answer answer = grade({"--json", "--puzzles", "01", "02"});
  EXPECT_EQ(answer.status, kNotJudged);
  const json book = json::parse(answer.out);
  EXPECT_EQ(mark_of(book, "31")["outcome"], "not_judged");
  EXPECT_TRUE(mark_of(book, "31")["points"].is_null());
  EXPECT_THAT(mark_of(book, "31")["reason"].get<std::string>(), HasSubstr("(Moodle)"));
  EXPECT_THAT(mark_of(book, "44")["reason"].get<std::string>(), HasSubstr("(Canvas)"))
      << "nobody finds out of that file whose it is";
}

// What the machine could not read may hold anything, and a copy of the repository holds all stubs.
TEST_F(ClassOfStudents, LosesNoPointsByADamagedArchiveOrByPuzzlesThatNobodySet) {
  const TemporaryFolder& folder = shardlings_.folder();
  folder.write("class/gus.zip", "PK and nothing more");
  folder.write("class/dan/puzzles/09_data_parallel/puzzle.cpp", folder.read(Learner::file_of("09_data_parallel")));
  EXPECT_EQ(grade({}).status, kNotJudged);
  const json book = results();
  EXPECT_EQ(book["puzzles"], json({kFirst}));
  EXPECT_EQ(mark_of(book, "gus")["outcome"], "not_judged");
  EXPECT_THAT(mark_of(book, "gus")["reason"].get<std::string>(), HasSubstr("gus.zip: "));
  EXPECT_EQ(mark_of(book, "dan")["outcome"], "missing");
}

// What names no puzzle may be anything: no zero comes of it without a word.
TEST_F(ClassOfStudents, LosesNoPointsByANameThatSaysNothing) {
  const TemporaryFolder& folder = shardlings_.folder();
  folder.write("class/obriensean_1011_50011_puzzle.cpp", folder.read("class/ada/01.cpp"));
  folder.write("class/doejane_1012_50013_puzzle.cpp", "int x;");
  const Answer answer = grade({"--puzzles", "01", "02"});
  EXPECT_EQ(answer.status, kNotJudged);
  const json book = results();
  EXPECT_EQ(mark_of(book, "1011")["outcome"], "passed") << "its first line says that it is 01";
  EXPECT_EQ(mark_of(book, "1012")["outcome"], "not_judged");
  EXPECT_THAT(mark_of(book, "1012")["reason"].get<std::string>(), HasSubstr("50013_puzzle.cpp was left out: neither"));
  EXPECT_EQ(mark_of(book, "dan")["outcome"], "missing") << "a text is no file that could be judged";
  EXPECT_THAT(answer.out, HasSubstr("1 student has handed in a file that was left out"));
  EXPECT_THAT(answer.err, HasSubstr("doejane_1012_50013_puzzle.cpp: neither its name"));
}

TEST_F(ClassOfStudents, TakesSeveralValuesBehindAnOption) {
  const std::string class_folder = shardlings_.folder() / "class";
  EXPECT_EQ(grade({"--puzzles", "01", "02", "--weights", "01=10", "02=20"}).status, kPassed);
  EXPECT_EQ(shardlings_({"grade", "--trust", "--weights", "01=10", "02=20", "--puzzles", "01-02", class_folder}).status,
            kPassed);
  EXPECT_THAT(shardlings_.folder().read("class.graded/results.csv"), HasSubstr("ada,,10,30,"));
}

TEST_F(ClassOfStudents, HasALineForEverybodyOnItsRoster) {
  shardlings_.folder().write("list.csv", "id,name\nada,Ada Lovelace\nzoe,Zo\u00eb\nben,Ben\n");
  const Answer answer = grade({"--roster", shardlings_.folder() / "list.csv", "--bom"});
  EXPECT_EQ(answer.status, kPassed) << answer.err;
  EXPECT_EQ(mark_of(results(), "zoe")["outcome"], "missing");
  EXPECT_THAT(answer.err, AllOf(HasSubstr("list.csv: dan"), Not(HasSubstr("list.csv: ada"))));
  const std::string csv = shardlings_.folder().read("class.graded/results.csv");
  EXPECT_THAT(csv, AllOf(testing::StartsWith("\xEF\xBB\xBFstudent,"), HasSubstr("ada,Ada Lovelace,100,100,")));
}

TEST_F(ClassOfStudents, IsToldWhoseFilesAreAlike) {
  shardlings_.folder().write("class/eve/01.cpp", shardlings_.folder().read("class/ada/01.cpp"));
  EXPECT_THAT(grade({}).out, HasSubstr("the same file, byte for byte: 01_training_step of ada, eve"));
  EXPECT_EQ(results()["alike"].at(0)["students"], json({"ada", "eve"}));
  EXPECT_THAT(shardlings_.folder().read("class.graded/class.html"), HasSubstr("01_training_step: ada, eve"));
}

TEST_F(ClassOfStudents, CountsABonusOrDoesNot) {
  const std::string cheapest = shardlings_.folder().read("solutions/04_checkpoint_budget/solution.cpp");
  shardlings_.folder().write("class/ada/04.cpp", cheapest);
  ASSERT_EQ(grade({"--puzzles", "04"}).status, kPassed);
  const json with = mark_of(results(), "ada");
  EXPECT_GT(with["bonus"], 0);
  EXPECT_EQ(with["points"].get<int>(), with["max_points"].get<int>() + with["bonus"].get<int>());
  ASSERT_EQ(grade({"--puzzles", "04", "--no-bonus"}).status, kPassed);
  EXPECT_EQ(mark_of(results(), "ada")["points"], with["max_points"]);
}

// Among them are a student's second entry, one who has handed in nothing, and more parts than students.
TEST_F(ClassOfStudents, InPartsHasTheSameTable) {
  const TemporaryFolder& folder = shardlings_.folder();
  folder.write("list.csv", "ada\nzoe\n");
  folder.write("class/Dee_9_assignsubmission_file_/01.cpp", folder.read("class/ada/01.cpp"));
  folder.write("class/Dee_9_assignsubmission_onlinetext_/onlinetext.html", "see my file");
  folder.write("class/Jane Doe_31_assignsubmission_file_/01.cpp", "another 31");
  const std::vector<std::string> options = {"--puzzles", "01", "--roster", folder / "list.csv", "--out"};
  const auto graded_to = [&](const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = options;
    all.push_back(folder / out);
    all.insert(all.end(), more.begin(), more.end());
    return grade(all);
  };
  int not_judged = 0, empty = 0;
  for (int part = 1; part <= 9; ++part) {
    const Answer answer = graded_to("parts", {"--part", "0" + std::to_string(part) + "/9"});
    EXPECT_THAT(answer.out, AllOf(HasSubstr("of 9: "), HasSubstr("the same command without --part")));
    EXPECT_THAT(answer.status, testing::AnyOf(kPassed, kNotJudged)) << answer.err;
    not_judged += answer.status == kNotJudged ? 1 : 0;
    empty += answer.out.find(": 0 students") == std::string::npos ? 0 : 1;
  }
  EXPECT_EQ(not_judged, 1) << "31, of whom two platforms have work";
  EXPECT_GE(empty, 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "parts/results.csv"));
  const Answer whole = graded_to("parts");
  EXPECT_EQ(whole.status, kNotJudged) << whole.err;
  EXPECT_THAT(whole.out, Not(HasSubstr("at this pace"))) << "all was graded before";
  EXPECT_EQ(graded_to("at once").status, kNotJudged);
  EXPECT_EQ(folder.read("parts/results.csv"), folder.read("at once/results.csv"));
  EXPECT_THAT(folder.read("parts/results.csv"), AllOf(HasSubstr("zoe,,0,"), HasSubstr("9,Dee,100,")));
}

// Old marks are there until the new table is, to be compared with; and never said to be the part's.
TEST_F(ClassOfStudents, InPartsIsComparedWithTheTableThatItReplaces) {
  ASSERT_EQ(grade({}).status, kPassed);
  const std::string earlier = shardlings_.folder() / "class.graded/results.json";
  shardlings_.folder().write("class/ben/01_training_step/puzzle.cpp", shardlings_.folder().read("class/ada/01.cpp"));
  for (const char* part : {"1/2", "2/2"}) ASSERT_EQ(grade({"--diff", earlier, "--part", part}).status, kPassed);
  EXPECT_THAT(grade({"--diff", earlier}).out,
              AllOf(HasSubstr("1 mark has changed"), HasSubstr("another file"), Not(HasSubstr("at this pace"))));
}

TEST_F(ClassOfStudents, InPartsLeavesNothingOfArchivesBehind) {
  const TemporaryFolder& folder = shardlings_.folder();
  folder.write("class/gus.zip", "PK and nothing more");
  ASSERT_EQ(grade({"--puzzles", "01", "--part", "1/1"}).status, kNotJudged);
  EXPECT_FALSE(std::filesystem::exists(folder / "class.graded/unpacked_1_of_1"));
}

// Said once and whole, before anybody has waited.
TEST_F(ClassOfStudents, IsNotGradedWithoutWallsUnlessSomebodyAnswersForIt) {
  if (geteuid() == 0) GTEST_SKIP() << "root can put walls up";
  const Answer answer = shardlings_({"grade", shardlings_.folder() / "class"});
  EXPECT_EQ(answer.status, kNotJudged);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("add --trust."));
  EXPECT_FALSE(std::filesystem::exists(shardlings_.folder() / "class.graded"));
}

TEST_F(ClassOfStudents, IsAskedForWithOptionsOfAClass) {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--due", "tomorrow"},
                                             {"--weights", "01"},
                                             {"--weights", "01=many"},
                                             {"--weights", "01=-1"},
                                             {"--weights", "01=1e308"},
                                             {"--weights", "02=5"},
                                             {"--puzzles", "02-01"},
                                             {"--case", "1 rank"},
                                             {"--seed-file", "nowhere"},
                                             {"--diff", "nowhere"},
                                             {"--roster", "nowhere"},
                                             {"--part", "0/16"},
                                             {"--part", "17/16"},
                                             {"--out", shardlings_.folder() / "class/out"},
                                             {"--export", "junit"}}) {
    const Answer answer = grade(options);
    EXPECT_EQ(answer.status, kWrongUse) << options[0] << " " << options[1];
    EXPECT_THAT(answer.err, HasSubstr(options[0])) << options[1];
  }
  const Answer unknown = grade({"--puzzles", "nothing"});
  EXPECT_EQ(unknown.status, kWrongUse);
  EXPECT_THAT(unknown.err, HasSubstr("no puzzle \"nothing\""));
  EXPECT_EQ(shardlings_({"grade", "01", "class/ada/01.cpp", "--due", "2001-01-01T00:00:00Z"}).status, kWrongUse);
  EXPECT_EQ(shardlings_({"grade", "01", "class/ada/01.cpp", "--part", "1/2"}).status, kWrongUse);
  EXPECT_EQ(grade({"--part", "1/2", "--json"}).status, kWrongUse);
  EXPECT_FALSE(std::filesystem::exists(shardlings_.folder() / "class.graded"));
}

}  // namespace
}  // namespace shardlings::cli
