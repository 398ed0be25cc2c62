#include "grading/build/compiler_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::grading::build {
namespace {

using testing::HasSubstr;

TEST(CompilerAdvice, SaysThatACallUsesSomethingUp) {
  EXPECT_THAT(advice_on("puzzle.cpp:31:20: error: cannot bind rvalue reference of type \xE2\x80\x98shardlings::Tensor&&"
                        "\xE2\x80\x99 to lvalue of type \xE2\x80\x98shardlings::Tensor\xE2\x80\x99\n"),
              HasSubstr("likely: the Tensor is used up by the call: hand it over with std::move"));
  EXPECT_THAT(advice_on("puzzle.cpp:31: error: cannot bind rvalue reference of type 'shardlings::Saved&&' to lvalue"),
              HasSubstr("the Saved is used up"));
}

TEST(CompilerAdvice, SaysThatSomethingIsNeverCopied) {
  EXPECT_THAT(advice_on("error: use of deleted function \xE2\x80\x98shardlings::Work::Work(const shardlings::Work&)"),
              HasSubstr("likely: a Work is moved and never copied"));
  EXPECT_THAT(advice_on("error: call to deleted constructor of 'shardlings::Tensor'"), HasSubstr("a Tensor is moved"));
}

TEST(CompilerAdvice, SaysNothingOfOtherErrors) {
  EXPECT_EQ(advice_on("puzzle.cpp:12:3: error: 'y' was not declared in this scope\n"), "");
  EXPECT_EQ(advice_on("error: use of deleted function 'std::unique_ptr<int>::unique_ptr(const ...)'"), "");
}

}  // namespace
}  // namespace shardlings::grading::build
