#include "cli/author/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/author/variants.h"
#include "cli/author/verification.h"
#include "cli/folder.h"

namespace shardlings::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kStubWithLabels =
    "/// One step of training.\n"
    "/// x    (n)   what comes in\n"
    "///\n"
    "/// Result  weights as if one device\n"
    "///         had trained\n"
    "/// Wire    one call, and nothing else\n"
    "///\n"
    "/// Calls that you need: all_reduce.\n"
    "void f() {\n  // >>> your code (about 1 line)\n  not_implemented();\n  // <<<\n}\n";
constexpr const char* kOneMutant = "== two -> mixed_up\nCalls twice.\n-  g();\n+  h();\n";
constexpr const char* kBothPromises =
    "[[contract]]\nsentence = \"as if one device had trained\"\ncheck = \"output\"\nmutants = [\"two\"]\n"
    "[[contract]]\nsentence = \"one call, and nothing else\"\ncheck = \"output\"\nmutants = [\"two\"]\n";

class ContractFile : public testing::Test {
 protected:
  author::Contract load(const std::string& text) {
    folder_.write("solutions/01_a/mutants.txt", kOneMutant);
    folder_.write("solutions/01_a/contract.toml", text);
    const auto mutants = author::load_variants(project_, puzzle_, author::VariantKind::mutant);
    return author::load_contract(project_, puzzle_, kStubWithLabels, mutants);
  }

  TemporaryFolder folder_;
  system::Project project_{folder_.path(), folder_ / "build"};
  cases::Manifest puzzle_ = small_puzzle(1, "a", "A");
};

TEST_F(ContractFile, LabelsHavePromises) {
  EXPECT_THAT(author::labelled_promises(kStubWithLabels),
              ElementsAre("weights as if one device had trained", "one call, and nothing else"));
  EXPECT_THAT(author::labelled_promises("// Wire    no comment of the documentation\n/// two  names\n"), IsEmpty());
}

TEST_F(ContractFile, QuotesGoOverLinesOfTheStub) {
  const author::Contract contract = load(kBothPromises);
  EXPECT_THAT(contract.problems, IsEmpty());
  ASSERT_EQ(contract.promises.size(), 2U);
  EXPECT_EQ(contract.promises[0].sentence, "as if one device had trained");
  EXPECT_EQ(contract.promises[0].check, "output");
  EXPECT_THAT(contract.promises[0].mutants, ElementsAre("two"));
}

TEST_F(ContractFile, APromiseWithoutProofIsNamed) {
  const author::Contract contract =
      load("[[contract]]\nsentence = \"weights as if\"\ncheck = \"output\"\nmutants = [\"two\"]\n");
  EXPECT_THAT(contract.problems, ElementsAre("contract.toml has nothing that proves \"one call, and nothing else\""));
  EXPECT_EQ(load("").problems.size(), 2U);
}

TEST_F(ContractFile, WhatDoesNotFitIsNamed) {
  const std::string unknown = "[[contract]]\nsentence = \"two calls\"\ncheck = \"outputs\"\nmutants = [\"too\"]\n";
  EXPECT_THAT(load(kBothPromises + unknown).problems,
              ElementsAre("contract.toml: \"two calls\": the stub does not say that",
                          HasSubstr("there is no check outputs. Did you mean output?"),
                          HasSubstr("there is no mutant too. Did you mean two?")));
}

TEST_F(ContractFile, WhatCannotBeReadIsNamedWithItsLine) {
  EXPECT_THAT(load("[[contract]]\nsentence = \n").problems, Contains(HasSubstr("contract.toml:2: ")));
  EXPECT_THAT(load("[[contract]]\nsentence = \"x\"\ncheck = \"output\"\nmutants = []\n").problems,
              Contains(HasSubstr("at least one mutant has to break the sentence")));
  EXPECT_THAT(load("[[contract]]\nphrase = \"x\"\n").problems, Contains(HasSubstr("phrase")));
}

TEST_F(ContractFile, AProblemIsNamedOnce) {
  folder_.write("puzzles/01_a/puzzle.cpp", kStubWithLabels);
  load("[[contract]]\nsentence = \"two calls\"\ncheck = \"output\"\nmutants = [\"two\"]\n");
  const auto grade = [](const cases::Manifest&, const std::string&) { return grading::verdict::Verdict(); };
  const auto outcomes = author::verify_puzzles(project_, {puzzle_}, {1, author::Goals::check}, grade,
                                               [](int, int, const std::string&) {});
  const std::string problem = "contract.toml: \"two calls\": the stub does not say that";
  EXPECT_EQ(std::count(outcomes[0].problems.begin(), outcomes[0].problems.end(), problem), 1);
}

TEST_F(ContractFile, AMutantMayDeclareThatNoCauseIsNamed) {
  folder_.write("puzzles/01_a/puzzle.cpp", kStubWithLabels);
  folder_.write("solutions/01_a/solution.cpp", "void f() {\n  g();\n}\n");
  folder_.write("solutions/01_a/mutants.txt", "== vague -> nothing\nCalls h.\n-  g();\n+  h();\n");
  const auto caught = [&](const std::vector<std::string>& diagnoses) {
    const auto grade = [&](const cases::Manifest&, const std::string&) {
      grading::verdict::Verdict verdict;
      verdict.status = grading::verdict::Status::graded;
      verdict.diagnoses = diagnoses;
      return verdict;
    };
    return author::verify_puzzles(project_, {puzzle_}, {1, author::Goals::check}, grade,
                                  [](int, int, const std::string&) {})[0]
        .caught();
  };
  EXPECT_EQ(caught({}), 1);
  EXPECT_EQ(caught({"mixed_up"}), 0);
}

TEST_F(ContractFile, AMutantThatDoesNotFailItsCheckIsAProblem) {
  folder_.write("puzzles/01_a/puzzle.cpp", kStubWithLabels);
  folder_.write("solutions/01_a/solution.cpp", "void f() {\n  g();\n}\n");
  load(kBothPromises);
  const auto problems_with = [&](bool passes) {
    const auto grade = [&](const cases::Manifest& puzzle, const std::string&) {
      grading::verdict::Verdict verdict;
      verdict.puzzle = puzzle.id;
      verdict.status = grading::verdict::Status::graded;
      verdict.checks.push_back({puzzle.checks[0], passes, 0, ""});
      return verdict;
    };
    return author::verify_puzzles(project_, {puzzle_}, {1, author::Goals::check}, grade,
                                  [](int, int, const std::string&) {})[0]
        .problems;
  };
  const auto problem = HasSubstr("contract.toml: \"one call, and nothing else\": the mutant two does not fail");
  EXPECT_THAT(problems_with(true), Contains(problem));
  EXPECT_THAT(problems_with(false), testing::Not(Contains(problem)));
}

}  // namespace
}  // namespace shardlings::cli
