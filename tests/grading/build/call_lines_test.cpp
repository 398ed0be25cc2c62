// The lines in which a call can stand: those of statements with parentheses, braces or macros, and no others.
#include "grading/build/call_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"

namespace shardlings {
namespace {

using Lines = std::set<int>;
using grading::build::call_lines;

TEST(CallLines, OfCommentsDeclarationsAndEmptyLinesThereAreNone) {
  EXPECT_EQ(
      call_lines(
          "// f(1)\n\n/* g(2)\n h(3) */\nint a = 1;\n#include <vector>\n#define F(x) g(x)\nusing namespace std;\n"),
      Lines());
  EXPECT_EQ(call_lines("void f() {\n  int a = 1;\n  g(a);\n  a = 2;\n}\n"), (Lines{1, 3}));
  EXPECT_EQ(call_lines("const char* text = \"f(1)\";\n"), Lines());
}

TEST(CallLines, AreAllOfAStatement) {
  EXPECT_EQ(call_lines("int a;\nauto b =\n  f\n  .g(\n  1,\n  2\n  )\n;\nint c;\n"), (Lines{2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(call_lines("Grid g{\n  world,\n  2\n};\n"), (Lines{1, 2, 3, 4}));
  EXPECT_EQ(call_lines("Grid g{world, {\n  {1, 2},\n}};\n"), (Lines{1, 2, 3}));
}

TEST(CallLines, OfALambdaAmongArguments) {
  EXPECT_EQ(call_lines("each(all, [&](int i) {\n  int k = i;\n  f(k);\n\n  // nothing\n  k = 2;\n},\n  3);\n"),
            (Lines{1, 2, 3, 6, 7, 8}));
}

TEST(CallLines, OfMacrosThatLookLikeVariables) {
  EXPECT_EQ(call_lines("#define WAIT work.wait()\nvoid f() {\n  WAIT;\n  int a = 1;\n}\n"), (Lines{2, 3}));
}

TEST(CallLines, OfEverySolutionAreFewerThanItsLines) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SHARDLINGS_SOURCE_FOLDER "/solutions")) {
    const std::string text = read_whole_file(entry.path() / "solution.cpp");
    const Lines lines = call_lines(text);
    EXPECT_GT(lines.size(), 5U) << entry.path();
    EXPECT_LT(std::ssize(lines), std::count(text.begin(), text.end(), '\n') * 3 / 4) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 20);
}

}  // namespace
}  // namespace shardlings
