// What the table allows passes, and what it does not allow is named.
#include "api/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "base/extents.h"

namespace shardlings::detail {
namespace {

using ::testing::HasSubstr;

constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();

Call call_of(Verb verb, int tensors) {
  Call call;
  call.verb = verb;
  call.num_tensors = static_cast<std::uint8_t>(tensors);
  for (int i = 0; i < tensors; ++i) {
    call.tensor[i].storage = 1;
    call.tensor[i].shape = {2, 3};
  }
  return call;
}

std::string problem(const Call& call) {
  return validate(call).value_or("");
}

TEST(Validate, LetsPassWhatFits) {
  EXPECT_EQ(problem(call_of(Verb::matmul, 2)), "");
  EXPECT_EQ(problem(call_of(Verb::adam, 6)), "");
  EXPECT_EQ(problem(call_of(Verb::barrier, 0)), "");
  EXPECT_EQ(problem(call_of(Verb::concat_rows, 8)), "");
}

TEST(Validate, KnowsTheVerbs) {
  EXPECT_THAT(problem(Call{}), HasSubstr("there is no verb"));
  EXPECT_THAT(problem(call_of(static_cast<Verb>(255), 0)), HasSubstr("there is no verb 255"));
}

TEST(Validate, CountsTensors) {
  EXPECT_THAT(problem(call_of(Verb::matmul, 1)), HasSubstr("it comes with 1 tensors, but takes 2 to 2"));
  EXPECT_THAT(problem(call_of(Verb::matmul, 3)), HasSubstr("it comes with 3 tensors"));
  Call many = call_of(Verb::concat_rows, 8);
  many.num_tensors = 9;
  EXPECT_THAT(problem(many), HasSubstr("it comes with 9 tensors, but takes 0 to 8"));
}

TEST(Validate, AbsentTensorsMayBeAnywhereWithoutAShape) {
  Call call = call_of(Verb::adam, 6);
  call.tensor[4] = {};
  EXPECT_EQ(problem(call), "");
  call.tensor[4].shape = {kLargest, 2};
  EXPECT_THAT(problem(call), HasSubstr("tensor argument 5 is none"));
}

/// What is said of a matmul whose second factor is changed.
std::string with(const std::function<void(Ref&)>& change) {
  Call call = call_of(Verb::matmul, 2);
  change(call.tensor[1]);
  return problem(call);
}

TEST(Validate, OffsetsAndExtentsDoNotOverflow) {
  const auto refused = HasSubstr("tensor argument 2 is none");
  EXPECT_THAT(with([](Ref& ref) { ref.offset = -1; }), refused);
  EXPECT_THAT(with([](Ref& ref) { ref.offset = kLargest; }), refused);
  EXPECT_THAT(with([](Ref& ref) { ref.shape = {-1, 2}; }), refused);
  EXPECT_THAT(with([](Ref& ref) { ref.shape = {kLargest}; }), refused);
  EXPECT_THAT(with([](Ref& ref) { ref.shape = {Count{1} << 32, Count{1} << 32}; }), refused) << "the product is 0";
  EXPECT_THAT(with([](Ref& ref) {
                ref.shape = {0, kMostElements, 2};
              }),
              refused)
      << "rows times columns would overflow";
  EXPECT_THAT(with([](Ref& ref) { ref.dtype = static_cast<DType>(5); }), refused);
  EXPECT_THAT(with([](Ref& ref) { ref.micro = -2; }), refused);
  EXPECT_EQ(with([](Ref& ref) { ref.shape = {0, 5}; }), "");
  EXPECT_EQ(with([](Ref& ref) { ref.shape = {kMostElements}; }), "") << "that no storage has so many is for others";
}

TEST(Validate, NegativeExtentsOfWhatShallBeMadeAreTheLearnersAffair) {
  Call call = call_of(Verb::allocate, 1);
  call.tensor[0].shape = {-1};
  EXPECT_EQ(problem(call), "");
  call.tensor[0].dtype = static_cast<DType>(9);
  EXPECT_THAT(problem(call), HasSubstr("tensor argument 1 is none"));
}

std::string with_number(Verb verb, int tensors, int index, std::int64_t number) {
  Call call = call_of(verb, tensors);
  call.number[index] = number;
  return problem(call);
}

TEST(Validate, EnumerationsAreInTheirRange) {
  EXPECT_EQ(with_number(Verb::matmul, 2, 0, 3), "");
  EXPECT_EQ(with_number(Verb::matmul, 2, 0, 4), "trans is 4, but Trans has 4 values");
  EXPECT_EQ(with_number(Verb::cast, 1, 0, 5), "dtype is 5, but DType has 5 values");
  EXPECT_EQ(with_number(Verb::all_reduce, 1, 0, -1), "op is -1, but ReduceOp has 4 values");
  EXPECT_EQ(with_number(Verb::allocate, 1, 0, 6), "kind is 6, but Kind has 6 values");
  EXPECT_EQ(with_number(Verb::allocate, 1, 1, 2), "zeros is 2, which is not between 0 and 1");
}

TEST(Validate, IntegersFitAnInt) {
  EXPECT_EQ(with_number(Verb::send, 1, 0, -1), "");
  EXPECT_THAT(with_number(Verb::send, 1, 0, std::int64_t{1} << 32),
              HasSubstr("to is 4294967296, which is not between"));
  EXPECT_THAT(with_number(Verb::split, 0, 1, -kLargest), HasSubstr("key is "));
}

TEST(Validate, NumbersCanBeAddedButBitsAreBits) {
  EXPECT_EQ(with_number(Verb::slice_cols, 1, 0, kMostNumber), "");
  EXPECT_THAT(with_number(Verb::slice_cols, 1, 1, kMostNumber + 1), HasSubstr("columns is "));
  EXPECT_THAT(with_number(Verb::random_normal, 1, 1, -kLargest), HasSubstr("first is "));
  EXPECT_EQ(with_number(Verb::random_normal, 1, 0, -kLargest - 1), "");
}

TEST(Validate, OnlySomeGoOnBesideTheProgram) {
  Call call = call_of(Verb::all_reduce, 1);
  call.blocking = 0;
  EXPECT_EQ(problem(call), "");
  call.blocking = 2;
  EXPECT_NE(problem(call), "");
  Call product = call_of(Verb::matmul, 2);
  product.blocking = 0;
  EXPECT_EQ(problem(product), "it cannot go on beside the program");
}

TEST(Extents, AreMultipliedWithoutOverflow) {
  EXPECT_EQ(bounded_product({2, 3, 4}), 24);
  EXPECT_EQ(bounded_product({kLargest, kLargest, 0}), 0);
  EXPECT_EQ(bounded_product({kLargest, 2}), kLargest);
  EXPECT_EQ(bounded_product({}), 1);
}

}  // namespace
}  // namespace shardlings::detail
