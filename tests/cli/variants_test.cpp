#include "cli/author/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/folder.h"
#include "cli/learner/course.h"

namespace shardlings::cli::author {
namespace {

using testing::IsEmpty;

/// All puzzles, without grading one: `verify` takes minutes, and a solution that was edited should not wait for it.
TEST(Variants, OfEveryPuzzleFitItsSolution) {
  const system::Project project{SHARDLINGS_SOURCE, "/nowhere"};
  const learner::Course course = learner::load_course(project);
  for (const cases::Manifest& puzzle : course.puzzles()) {
    const std::string solution = read_file(project.solution_file(puzzle.id)).value_or("");
    for (const VariantKind kind : {VariantKind::mutant, VariantKind::right}) {
      const VariantFile file = load_variants(project, puzzle, kind);
      EXPECT_THAT(file.problems, IsEmpty());
      for (const Variant& variant : file.variants) EXPECT_NO_THROW(applied(variant, solution)) << puzzle.id;
    }
  }
}

TEST(Variants, AreWrittenBelowTheBuildFolder) {
  const TemporaryFolder folder;
  const system::Project project{folder.path(), folder / "build"};
  folder.write("solutions/01_a/solution.cpp", "a\nb\n");
  folder.write("solutions/01_a/mutants.txt", "== mixed -> mixed_up\nTurned round.\n-a\n b\n+a\n");
  const cases::Manifest puzzle = small_puzzle(1, "a", "A");
  const VariantFile mutants = load_variants(project, puzzle, VariantKind::mutant);
  ASSERT_EQ(mutants.variants.size(), 1U);
  EXPECT_EQ(write_variant(project, puzzle.id, VariantKind::mutant, mutants.variants[0]),
            folder / "build/verify/01_a/mutants/mixed.cpp");
  EXPECT_EQ(folder.read("build/verify/01_a/mutants/mixed.cpp"), "b\na\n");
  folder.write("solutions/01_a/solution.cpp", "a\nb\nc\n");
  write_variant(project, puzzle.id, VariantKind::mutant, mutants.variants[0]);
  EXPECT_EQ(folder.read("build/verify/01_a/mutants/mixed.cpp"), "b\na\nc\n") << "that of the solution as it is now";
}

TEST(Variants, ThatAreRightAreReadFromTheirOwnFile) {
  const TemporaryFolder folder;
  const system::Project project{folder.path(), folder / "build"};
  const cases::Manifest puzzle = small_puzzle(1, "a", "A");
  EXPECT_THAT(load_variants(project, puzzle, VariantKind::right).problems, IsEmpty()) << "the file is optional";
  folder.write("solutions/01_a/solution.cpp", "a\nb\n");
  folder.write("solutions/01_a/right.txt",
               "== turned\nTurned round.\n-a\n b\n+a\n\n== wrong -> mixed_up\nNot right.\n-a\n");
  const VariantFile right = load_variants(project, puzzle, VariantKind::right);
  EXPECT_THAT(right.problems, testing::ElementsAre("solutions/01_a/right.txt:7: wrong: a variant that is right has no "
                                                   "diagnosis: == name"));
  ASSERT_EQ(right.variants.size(), 1U);
  EXPECT_EQ(write_variant(project, puzzle.id, VariantKind::right, right.variants[0]),
            folder / "build/verify/01_a/right/turned.cpp");
  EXPECT_EQ(folder.read("build/verify/01_a/right/turned.cpp"), "b\na\n");
}

}  // namespace
}  // namespace shardlings::cli::author
