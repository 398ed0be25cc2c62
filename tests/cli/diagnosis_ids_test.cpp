#include "cli/author/diagnosis_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/folder.h"

namespace shardlings::cli::author {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(DiagnosisIds, LiteralsThatStandForAMistake) {
  EXPECT_THAT(diagnosis_ids_in("check.diagnose(\"one\");"), ElementsAre("one"));
  EXPECT_THAT(diagnosis_ids_in("check.diagnose(late ? \"a_late\" : \"b_early\");"), ElementsAre("a_late", "b_early"));
  EXPECT_THAT(diagnosis_ids_in("if (x) return \"two_words\";\nreturn \"\";"), ElementsAre("two_words"));
  EXPECT_THAT(diagnosis_ids_in("{{\"of_all\", all()}, {\"of_none\", {}}}"), ElementsAre("of_all", "of_none"));
  EXPECT_THAT(diagnosis_ids_in("{.diagnosis = \"no_max\", .own = true}"), ElementsAre("no_max"));
  EXPECT_THAT(diagnosis_ids_in("check.equal(\"grad_x\", y); return \"layer\"; kind == \"layer_norm\""), IsEmpty());
}

TEST(DiagnosisIds, WhatASharedFunctionCanNameWhereItIsCalled) {
  const std::string header = "#include \"grading/formulas/gathered_units.h\"\n";
  const auto of_time = diagnosis_ids_in(header + "const std::string mistake = unit_time_mistake(check, rank);");
  EXPECT_THAT(of_time, Contains("reduce_waited_at_once"));
  EXPECT_THAT(of_time, Not(Contains("third_unit"))) << "that is another function's";
  EXPECT_THAT(diagnosis_ids_in(header + "my_unit_time_mistake(check);"), IsEmpty());
  EXPECT_THAT(diagnosis_ids_in("void unit_time_mistake(int);"), IsEmpty()) << "one of the grader's own";
}

TEST(DiagnosisIds, EachOfThemHasASentence) {
  const std::string grader =
      "#include \"grading/formulas/pipeline_checks.h\"\ncheck_calls(check, pipeline); check.diagnose(\"mixed_up\");"
      "check.diagnose(\"not_finite\");";
  cases::Manifest puzzle = small_puzzle(1, "a", "A");
  std::vector<std::string> problems;
  check_diagnoses(grader, puzzle, problems);
  EXPECT_THAT(problems,
              ElementsAre("grader.cpp can name the diagnosis forward_twice, which puzzle.toml does not have"));
  puzzle.diagnoses.push_back({"forward_twice", "Twice."});
  problems.clear();
  check_diagnoses(grader, puzzle, problems);
  EXPECT_THAT(problems, IsEmpty());
}

}  // namespace
}  // namespace shardlings::cli::author
