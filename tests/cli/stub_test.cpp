#include "cli/author/stub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kSolutionText = R"(// Puzzle.
void f(int n) {
  int a = n;

  // >>> your code (about 2 lines)
  a += 1;
  use(a);
  // <<<
}

// What it costs: nothing.
// What production does differently: everything.
)";

constexpr const char* kStubText = R"(// Puzzle.
void f(int n) {
  int a = n;

  // >>> your code (about 2 lines)
  not_implemented();
  // <<<
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(Stub, IsTheSolutionWithoutItsHoleAndLastComment) {
  EXPECT_EQ(author::stub_of_solution(kSolutionText), kStubText);
}

TEST(Stub, AHoleOfWholeFunctionsKeepsTheirHeads) {
  constexpr const char* kMark = "// >>> your code (about 5 lines)\n";
  const std::string solution = std::string("int a;\n\n") + kMark +
                               "/// First.\nint f(int n) {\n  if (n) {\n    return 1;\n  }\n  return n;\n}\n\n"
                               "int g(int n,\n      int m) {\n  return f(n) + m;\n}\n// <<<\n";
  const std::string stub = std::string("int a;\n\n") + kMark +
                           "/// First.\nint f(int n) {\n  not_implemented();\n}\n\n"
                           "int g(int n,\n      int m) {\n  not_implemented();\n}\n// <<<\n";
  EXPECT_EQ(author::stub_of_solution(solution), stub);
  EXPECT_EQ(author::stub_of_solution(stub), stub);
  EXPECT_EQ(author::difference_outside_hole(stub, solution), "");
}

TEST(Stub, AHoleThatTheSolutionGivesHoldsWhatIsToBeMended) {
  const std::string mark = "// >>> your code (about 1 line)\n", end = "// <<<\n";
  const std::string right = "int f(int n) {\n  return n;\n}\n", faulty = "int f(int n) {\n\n  return n + 1;\n}\n";
  const std::string given =
      "\n// In the stub's hole:\n// int f(int n) {\n//\n//   return n + 1;\n// }\n\n// What it costs.\n";
  EXPECT_EQ(author::stub_of_solution(mark + right + end + given), mark + faulty + end);
  EXPECT_TRUE(author::gives_hole(mark + right + end + given));
  EXPECT_FALSE(author::gives_hole(mark + right + end));
  EXPECT_FALSE(author::gives_hole(kSolutionText));
}

TEST(Stub, NeedsExactlyOneHole) {
  EXPECT_FALSE(author::stub_of_solution("int a;\n"));
  EXPECT_FALSE(author::stub_of_solution(std::string(kSolutionText) + kSolutionText));
  EXPECT_FALSE(author::cut_at_hole("// <<<\n// >>> your code\n"));
}

TEST(Stub, BelongsToItsSolution) {
  EXPECT_EQ(author::difference_outside_hole(kStubText, kSolutionText), "");
}

TEST(Stub, ADifferenceAboveTheHoleIsNamed) {
  EXPECT_THAT(author::difference_outside_hole(replaced(kStubText, "int a = n;", "int b = n;"), kSolutionText),
              HasSubstr("line 3 above the hole differs"));
}

TEST(Stub, ADifferenceBelowTheHoleIsNamed) {
  EXPECT_THAT(author::difference_outside_hole(replaced(kStubText, "}\n", "}\nint g();\n"), kSolutionText),
              HasSubstr("line 9 below the hole differs: the stub has \"int g();\""));
}

TEST(Stub, MissingMarksAreNamed) {
  EXPECT_THAT(author::difference_outside_hole(replaced(kStubText, "// <<<", ""), kSolutionText),
              HasSubstr("the stub needs one hole"));
  EXPECT_THAT(author::difference_outside_hole(kStubText, "void f() {}\n"), HasSubstr("the solution needs one hole"));
}

}  // namespace
}  // namespace shardlings::cli
