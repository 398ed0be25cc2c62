#include "cli/author/mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/folder.h"
#include "cli/learner/course.h"

namespace shardlings::cli::author {
namespace {

using testing::IsEmpty;

/// All puzzles, without grading one: `verify` takes minutes, and a solution that was edited should not wait for it.
TEST(Mutants, OfEveryPuzzleFitItsSolution) {
  const system::Project project{SHARDLINGS_SOURCE, "/nowhere"};
  const learner::Course course = learner::load_course(project);
  for (const cases::Manifest& puzzle : course.puzzles()) {
    const VariantFile mutants = load_mutants(project, puzzle);
    EXPECT_THAT(mutants.problems, IsEmpty());
    EXPECT_GE(mutants.variants.size(), 6U) << puzzle.id;
    const std::string solution = read_file(project.solution_file(puzzle.id)).value_or("");
    for (const Variant& mutant : mutants.variants) EXPECT_NO_THROW(applied(mutant, solution)) << puzzle.id;
  }
}

TEST(Mutants, AreWrittenBelowTheBuildFolder) {
  const TemporaryFolder folder;
  const system::Project project{folder.path(), folder / "build"};
  folder.write("solutions/01_a/solution.cpp", "a\nb\n");
  folder.write("solutions/01_a/mutants.txt", "== mixed -> mixed_up\nTurned round.\n-a\n b\n+a\n");
  const cases::Manifest puzzle = small_puzzle(1, "a", "A");
  const VariantFile mutants = load_mutants(project, puzzle);
  ASSERT_EQ(mutants.variants.size(), 1U);
  EXPECT_EQ(write_mutant(project, puzzle.id, mutants.variants[0]), folder / "build/verify/01_a/mutants/mixed.cpp");
  EXPECT_EQ(folder.read("build/verify/01_a/mutants/mixed.cpp"), "b\na\n");
  folder.write("solutions/01_a/solution.cpp", "a\nb\nc\n");
  write_mutant(project, puzzle.id, mutants.variants[0]);
  EXPECT_EQ(folder.read("build/verify/01_a/mutants/mixed.cpp"), "b\na\nc\n") << "that of the solution as it is now";
}

}  // namespace
}  // namespace shardlings::cli::author
