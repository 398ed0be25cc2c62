#include "cli/author/variant.h"

#include <gtest/gtest.h>

#include "cli/author/variant_file.h"

namespace shardlings::cli::author {
namespace {

constexpr const char* kText = R"(void f() {
  start();
  // >>> your code (about 5 lines)
  for (int i = 0; i < n; ++i) {
    add(i);
  }
  for (int i = 0; i < n; ++i) {
    wait(i);
  }
  // <<<
}
)";

/// The variant of one stanza's lines.
Variant variant(const std::string& lines, const std::string& heading = "== wrong -> x") {
  const VariantFile file = parse_variants(heading + "\nWhy.\n" + lines, "m.txt");
  EXPECT_TRUE(file.problems.empty()) << file.problems[0];
  return file.variants.at(0);
}

std::string refusal(const std::string& lines, const std::string& heading = "== wrong -> x",
                    const std::string& solution = kText) {
  try {
    return applied(variant(lines, heading), solution);
  } catch (const VariantError& error) {
    return error.what();
  }
}

TEST(Variant, ReplacesALine) {
  EXPECT_EQ(applied(variant("-    add(i);\n+    add(2 * i);\n+    add(i);\n"), "{\n    add(i);\n}\n"),
            "{\n    add(2 * i);\n    add(i);\n}\n");
}

TEST(Variant, TakesLinesThatStayForThePlace) {
  EXPECT_EQ(
      applied(variant("-  for (int i = 0; i < n; ++i) {\n+  for (int i = 1; i < n; ++i) {\n     wait(i);\n"), kText),
      R"(void f() {
  start();
  // >>> your code (about 5 lines)
  for (int i = 0; i < n; ++i) {
    add(i);
  }
  for (int i = 1; i < n; ++i) {
    wait(i);
  }
  // <<<
}
)");
}

TEST(Variant, MakesSeveralEditsFromTopToBottom) {
  EXPECT_EQ(applied(variant("-  start();\n...\n-    add(i);\n+    add(0);\n...\n+  stop();\n   // <<<\n"), kText),
            R"(void f() {
  // >>> your code (about 5 lines)
  for (int i = 0; i < n; ++i) {
    add(0);
  }
  for (int i = 0; i < n; ++i) {
    wait(i);
  }
  stop();
  // <<<
}
)");
}

TEST(Variant, ReplacesTheWholeHole) {
  EXPECT_EQ(applied(variant("+  add_all();\n+\n+  wait_all();\n", "== wrong -> x (whole hole)"), kText),
            R"(void f() {
  start();
  // >>> your code (about 5 lines)
  add_all();

  wait_all();
  // <<<
}
)");
}

TEST(Variant, NamesALineThatTheSolutionDoesNotHave) {
  EXPECT_EQ(refusal("-  multiply_everything();\n"),
            "m.txt:3: wrong: the solution has no line \"multiply_everything();\"");
  EXPECT_EQ(refusal("-  sstart();\n+  stop();\n"),
            "m.txt:3: wrong: the solution has no line \"sstart();\"; line 2 is \"start();\"");
  EXPECT_EQ(refusal("-start();\n+  stop();\n"),
            "m.txt:3: wrong: the solution has no line \"start();\"; line 2 is indented otherwise");
}

TEST(Variant, NamesTheFirstLineThatDoesNotFollow) {
  EXPECT_EQ(refusal("   for (int i = 0; i < n; ++i) {\n-    wait(i);\n-    wait(j);\n+    wait(0);\n"),
            "m.txt:5: wrong: below line 8 of the solution stands \"}\", not \"wait(j);\"");
  EXPECT_EQ(refusal("-}\n-more\n"), "m.txt:4: wrong: below line 11 of the solution stands nothing, not \"more\"");
}

TEST(Variant, AsksForMoreWhereLinesStandTwice) {
  EXPECT_EQ(refusal("-  for (int i = 0; i < n; ++i) {\n+  for (int i = 1; i < n; ++i) {\n"),
            "m.txt:3: wrong: lines 4 and 7 of the solution fit; a line more, above or below, says which is meant");
}

TEST(Variant, WantsTheOrderOfTheSolution) {
  EXPECT_EQ(
      refusal("-    wait(i);\n...\n-    add(i);\n"),
      "m.txt:5: wrong: line 5 of the solution stands above the edit before this one; edits go from top to bottom");
  EXPECT_EQ(refusal("     add(i);\n+    more();\n...\n-    add(i);\n"),
            "m.txt:6: wrong: line 5 of the solution stands above the edit before this one; edits go from top to bottom")
      << "edits do not overlap";
}

TEST(Variant, MustDifferFromTheSolution) {
  EXPECT_EQ(refusal("-    add(i);\n+    add(i);\n"), "m.txt:1: wrong: changes nothing");
}

TEST(Variant, NeedsAHoleForAWholeOne) {
  EXPECT_EQ(refusal("+  a();\n", "== wrong -> x (whole hole)", "void f() {}\n"),
            "m.txt:1: wrong: the solution has no hole");
}

}  // namespace
}  // namespace shardlings::cli::author
