// Each rule finds what it is there for. The rules' verdict on the project itself is in project_test.cpp.
#include "architecture/rules.h"

#include <gtest/gtest.h>

namespace shardlings::architecture {
namespace {

std::vector<Violation> layers(const std::string& path, const std::string& include) {
  return check_layers({path, "#include " + include + "\n"});
}

TEST(Layers, ArrowsPointDown) {
  EXPECT_TRUE(layers("runtime/world/world.cpp", "\"back/engine/engine.h\"").empty());
  EXPECT_TRUE(layers("runtime/cli/verbs/run.cpp", "\"grading/grade.h\"").empty());
  EXPECT_EQ(layers("runtime/back/kernels/kernels.h", "\"world/world.h\"").size(), 1U);
  EXPECT_EQ(layers("runtime/grading/grade.cpp", "\"back/kernels/kernels.h\"").size(), 1U);
  EXPECT_EQ(layers("runtime/report/terminal.cpp", "\"grading/grade.h\"").size(), 1U);
  EXPECT_EQ(layers("runtime/front/clock/cost.cpp", "\"front/memory/storage.h\"").size(), 1U);
  EXPECT_EQ(layers("runtime/front/group/ring_traffic.cpp", "\"front/rank_front.h\"").size(), 1U);
  EXPECT_EQ(layers("runtime/front/misuse/detector.cpp", "\"front/group/meeting.h\"").size(), 1U);
}

TEST(Layers, NobodyNamesAnotherImplementation) {
  EXPECT_TRUE(layers("runtime/back/kernels/cpu/blas.cpp", "\"back/kernels/cpu/blas.h\"").empty());
  EXPECT_EQ(layers("runtime/back/kernels/cuda/blas.cpp", "\"back/kernels/cpu/blas.h\"").size(), 1U);
  EXPECT_EQ(layers("runtime/world/world.cpp", "\"back/fabric/in_process/reduce.h\"").size(), 1U);
}

TEST(Layers, PublicHeadersAreLight) {
  EXPECT_TRUE(layers("runtime/include/shardlings/rank.h", "<vector>").empty());
  EXPECT_EQ(layers("runtime/include/shardlings/rank.h", "<string>").size(), 1U);
  EXPECT_EQ(layers("runtime/include/shardlings/rank.h", "<fmt/format.h>").size(), 1U);
}

TEST(Layers, LearnersSeeThePublicHeadersAlone) {
  EXPECT_TRUE(layers("puzzles/01_a/puzzle.cpp", "<shardlings/puzzle.h>").empty());
  EXPECT_EQ(layers("puzzles/01_a/puzzle.cpp", "\"submission/harness.h\"").size(), 1U);
  EXPECT_TRUE(layers("puzzles/01_a/harness.cpp", "\"submission/harness.h\"").empty());
  EXPECT_EQ(layers("puzzles/01_a/harness.cpp", "\"world/world.h\"").size(), 1U);
  EXPECT_TRUE(layers("puzzles/01_a/grader.cpp", "\"grading/judge/grader.h\"").empty());
  EXPECT_EQ(layers("solutions/01_a/solution.cpp", "\"base/parts.h\"").size(), 1U);
}

TEST(Layers, EveryFileOfTheRuntimeHasARule) {
  EXPECT_EQ(to_text(check_layers({"runtime/new_part/x.h", ""})),
            "\nruntime/new_part/x.h:1: layers.cpp has no rule for it");
  EXPECT_EQ(check_layers({"runtime/back/x.h", ""}).size(), 1U) << "its parts have rules, the folder has none";
  EXPECT_TRUE(check_layers({"docs/new.cpp", ""}).empty());
}

TEST(MayUse, IsWhatTheRuleAllows) {
  const auto found = [](const std::string& text) { return check_may_use({"runtime/case/README.md", text}); };
  const std::string right =
      "# case\n\n`toml` files. It may use\n`base`, `front/clock/{cluster,cluster_fields,death}.h`, "
      "`model/{execution,software_stack,structure}.h`. It has `api`.\n";
  EXPECT_EQ(to_text(found(right)), "");
  EXPECT_EQ(to_text(found("# case\n\nIt is data.\n")), "\nruntime/case/README.md:1: has no sentence \"It may use …\"");
  std::string more = right;
  more.replace(more.find("`base`"), 6, "`base`, `world`");
  EXPECT_EQ(to_text(found(more)), "\nruntime/case/README.md:3: names world, which layers.cpp does not allow");
  std::string less = right;
  less.replace(less.find("{cluster,cluster_fields,death}"), 30, "{cluster,death}");
  EXPECT_EQ(to_text(found(less)),
            "\nruntime/case/README.md:3: does not name front/clock/cluster_fields.h, which layers.cpp allows");
}

TEST(Formulas, HaveARowEachOnTheirPage) {
  const std::vector<Source> headers = {
      {"formulas/deal.h", "struct Deal {};\n/// of()\nint busiest(const Deal& deal);\nint twice(int);\n"},
      {"formulas/deal_checks.h", "bool check_deal(judge::CheckContext& check, const judge::CheckContext& other);\n"},
      {"formulas/looks.h", "int seen(const judge::CheckContext& check);\n"},
      {"formulas/shared_diagnosis.h", "class SharedId {};\n"}};
  const auto found = [&](const std::string& text) { return to_text(check_formulas({"f.md", text}, headers)); };
  const std::string computing =
      "# Formulas\n| number | functions | header |\n| a | `Deal`, `busiest` | `deal` |\n| b | `seen` | `looks` |\n";
  const std::string judging = "## Files that judge\n| c | `check_deal` | `deal_checks` |\n";
  EXPECT_EQ(found(computing + judging), "");
  EXPECT_EQ(found(computing), "\nf.md:1: has no row for deal_checks.h");
  EXPECT_EQ(found(computing + judging + "| d | `x` | `gone` |\n"), "\nf.md:7: there is no gone.h");
  EXPECT_EQ(found(computing + judging + "| d | `seen` | `looks` |\n"), "\nf.md:7: looks.h has another row");
  EXPECT_EQ(found(computing + "| c | `check_deal` | `deal_checks` |\n"), "\nf.md:5: deal_checks.h judges");
  EXPECT_EQ(found("| a | `of` | `deal` |\n| b | `seen` | `looks` |\n" + judging),
            "\nf.md:1: deal.h does not declare of");
}

TEST(Layers, NameFileLineAndRule) {
  const auto found = check_layers({"runtime/base/text.h", "\n\n#include \"world/world.h\"\n"});
  EXPECT_EQ(to_text(found), "\nruntime/base/text.h:3: includes world/world.h, but base knows nothing of the rest");
}

TEST(Cycles, AreFound) {
  const std::vector<Source> line = {{"runtime/front/a/x.h", "#include \"front/b/y.h\"\n"},
                                    {"runtime/front/b/y.h", "\n#include \"front/c/z.h\"\n"},
                                    {"runtime/front/front.h", "#include \"front/a/x.h\"\n#include \"base/text.h\"\n"}};
  EXPECT_TRUE(check_cycles(line, "runtime/front/").empty());
  std::vector<Source> circle = line;
  circle.push_back({"runtime/front/c/z.h", "// back to the first\n#include \"front/a/w.h\"\n"});
  EXPECT_EQ(to_text(check_cycles(circle, "runtime/front/")),
            "\nruntime/front/a/x.h:1: closes a circle of folders: a -> b -> c -> a"
            "\nruntime/front/b/y.h:2: closes a circle of folders: a -> b -> c -> a"
            "\nruntime/front/c/z.h:2: closes a circle of folders: a -> b -> c -> a");
  EXPECT_TRUE(check_cycles(circle, "runtime/").empty()) << "all of them are front's";
}

TEST(Cycles, GoThroughTheFolderItself) {
  const std::vector<Source> circle = {{"runtime/front/front.cpp", "#include \"front/a/x.h\"\n"},
                                      {"runtime/front/a/x.cpp", "#include \"front/front.h\"\n"}};
  EXPECT_EQ(check_cycles(circle, "runtime/front/").size(), 2U);
  const std::vector<Source> line = {{"runtime/front/front.cpp", "#include \"front/a/x.h\"\n"},
                                    {"runtime/front/a/x.cpp", "#include \"front/error.h\"\n"}};
  EXPECT_TRUE(check_cycles(line, "runtime/front/").empty()) << "a folder is above one file of the root, below another";
  const std::vector<Source> through = {{"runtime/front/front.cpp", "#include \"front/doors.h\"\n"},
                                       {"runtime/front/doors.h", "#include \"front/a/x.h\"\n"},
                                       {"runtime/front/a/x.cpp", "#include \"front/front.h\"\n"}};
  EXPECT_EQ(check_cycles(through, "runtime/front/").size(), 3U);
  EXPECT_TRUE(
      check_cycles({through[0], {"runtime/front/doors.h", "#include \"front/front.h\"\n"}}, "runtime/front/").empty());
}

TEST(Backends, StayBehindTheirSeam) {
  EXPECT_EQ(check_backends({"runtime/world/world.cpp", "#include <mpi.h>\n"}).size(), 1U);
  EXPECT_EQ(check_backends({"runtime/world/world.cpp", "#ifdef SHARDLINGS_CUDA\n#endif\n"}).size(), 1U);
  EXPECT_TRUE(check_backends({"runtime/back/fabric/mpi/fabric.cpp", "#include <mpi.h>\n"}).empty());
}

TEST(Sizes, FindLongFilesAndFunctions) {
  EXPECT_TRUE(check_sizes({"a.cpp", std::string(400, '\n')}).empty());
  EXPECT_EQ(check_sizes({"a.cpp", std::string(401, '\n')}).size(), 1U);
  const auto function = [](int lines) {
    return "namespace a {\nclass B {\n  int f(int x) const {\n" + std::string(static_cast<std::size_t>(lines), '\n') +
           "  }\n};\n}\n";
  };
  EXPECT_TRUE(check_sizes({"a.cpp", function(78)}).empty());
  const auto found = check_sizes({"a.cpp", function(79)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(to_text(found), "\na.cpp:3: f has 81 lines; 80 are the most");
}

TEST(Sizes, CountNoBracesInTextAndComments) {
  const std::string text =
      "void f() {\n  // {\n  g(\"{\", '{', R\"({)\");\n  n = 1'000;\n}\n" + std::string(90, '\n') + "void g() {}\n";
  EXPECT_TRUE(check_sizes({"a.cpp", text}).empty());
}

TEST(Headers, HaveGuardAndPurpose) {
  EXPECT_TRUE(check_header({"a.h", "/// \\file\n#pragma once\n"}).empty());
  EXPECT_EQ(check_header({"a.h", "int x;\n"}).size(), 2U);
}

TEST(Mutexes, AreThoseWhoseUseIsProved) {
  EXPECT_TRUE(check_mutexes({"runtime/base/mutex.h", "std::mutex mutex_;\n"}).empty());
  EXPECT_TRUE(check_mutexes({"runtime/a.cpp", "Mutex lock;\n// std::mutex\nstd::once_flag once;\n"}).empty());
  EXPECT_EQ(check_mutexes({"runtime/a.cpp", "\nstd::mutex lock;\nconst std::lock_guard guard(lock);\n"}).size(), 2U);
  EXPECT_EQ(check_mutexes({"runtime/a.cpp", "std::shared_mutex lock;\n"}).size(), 1U);
}

TEST(Usings, AreUsedAndTheFullNameIsNot) {
  EXPECT_TRUE(check_usings({"a.cpp", "using b::C;\nC c;\nauto d = C::e;\n"}).empty());
  EXPECT_TRUE(check_usings({"a.cpp", "using b::C;\nC c;\na::b::C other;\nb::Cd third;\n"}).empty());
  EXPECT_EQ(to_text(check_usings({"a.cpp", "using b::C;\nC c;\nb::C d;\n"})), "\na.cpp:3: b::C is C in this file");
  EXPECT_EQ(to_text(check_usings({"a.cpp", "using b::C;\n// C\n"})), "\na.cpp:1: b::C is named and not used");
}

TEST(Tests, AreNotSwitchedOff) {
  EXPECT_EQ(check_test({"a_test.cpp", "TEST(A, DISABLED_b) {}\n"}).size(), 1U);
  EXPECT_TRUE(check_test({"a_test.cpp", "TEST(A, b) {}  // DISABLED_\n"}).empty());
}

TEST(Links, LeadToWhatExists) {
  const auto links = [](const std::string& text) { return check_links({"docs/x.md", text}); };
  EXPECT_TRUE(links("[a](../CMakeLists.txt) [b](https://example.org) [c](#here)\n\n## Here\n").empty());
  EXPECT_EQ(links("[a](nowhere.md)").size(), 1U);
  EXPECT_TRUE(links("`runtime/base/text.h`\n```\n[a](nowhere.md)\n```\n`[](x)`").empty());
  EXPECT_EQ(links("`runtime/base/nothing.h`").size(), 1U);
}

}  // namespace
}  // namespace shardlings::architecture
