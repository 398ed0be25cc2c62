// What must not compile, and what the compiler says about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "architecture/tree.h"

namespace shardlings::architecture {
namespace {

using ::testing::HasSubstr;

ProgramRun compile_snippet(const std::string& name) {
  return compile("-fsyntax-only -Wall -Wextra -Werror '" + project_folder() + "/tests/architecture/snippets/" + name +
                 "'");
}

void expect_refused(const std::string& name, const std::string& message) {
  const ProgramRun run = compile_snippet(name);
  EXPECT_NE(run.status, 0) << name << " compiles";
  EXPECT_THAT(run.output, HasSubstr(message)) << name;
}

TEST(CompileFail, TheControlCompiles) {
  const ProgramRun run = compile_snippet("control.cpp");
  EXPECT_EQ(run.status, 0) << run.output;
}

TEST(CompileFail, ATensorIsNotCopied) {
  expect_refused("copy_tensor.cpp", "deleted");
}

TEST(CompileFail, AWorkIsNotCopied) {
  expect_refused("copy_work.cpp", "deleted");
}

TEST(CompileFail, SavedIsNotCopied) {
  expect_refused("copy_saved.cpp", "deleted");
}

TEST(CompileFail, AWorkIsNotDiscarded) {
  expect_refused("discard_work.cpp", "nodiscard");
}

TEST(CompileFail, BytesAndNanosDoNotMix) {
  expect_refused("mix_units.cpp", "operand");
}

TEST(CompileFail, FormulasOfBytesAndNanosDoNotMix) {
  expect_refused("mix_formulas.cpp", "operand");
}

TEST(CompileFail, AReadOnlyViewIsNotWrittenTo) {
  expect_refused("write_const_view.cpp", "ConstView");
}

TEST(CompileFail, ARankIsNotCopied) {
  expect_refused("copy_rank.cpp", "deleted");
}

}  // namespace
}  // namespace shardlings::architecture
