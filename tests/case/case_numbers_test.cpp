#include "case/case_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::cases {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Case small_case() {
  Case kase;
  kase.name = "small";
  kase.model.layers = 2;
  kase.model.hidden = 8;
  kase.numbers = {{"bucket", 100}};
  return kase;
}

std::string refusal(const NamedNumber& number, Case kase = small_case()) {
  try {
    set_number(kase, number);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "set";
}

TEST(CaseNumbers, AreReadFromAnAssignment) {
  const NamedNumber number = number_from("--set", "bucket=300");
  EXPECT_EQ(number.name, "bucket");
  EXPECT_EQ(number.value, 300);
  EXPECT_EQ(number_from("--set", "bytes_per_second=1e6").value, 1e6);
  for (const char* wrong : {"", "bucket", "bucket=", "=3", "bucket=3x", "bucket=much", "bucket=nan", "bucket=inf"}) {
    EXPECT_THROW(number_from("--set", wrong), std::runtime_error) << wrong;
  }
}

TEST(CaseNumbers, AreSetWhereverTheyStand) {
  Case kase = small_case();
  kase.cluster.links[1].latency = Nanos(7);
  for (const NamedNumber& number : {NamedNumber{"bucket", 300},
                                    {"micro_batches", 4},
                                    {"batch", 3},
                                    {"steps", 2},
                                    {"layers", 5},
                                    {"hidden", 12},
                                    {"sequence", 6},
                                    {"forward_ns", 10},
                                    {"latency_ns", 0},
                                    {"bytes_per_second", 2.5e6}}) {
    set_number(kase, number);
  }
  EXPECT_EQ(kase.number("bucket"), 300);
  EXPECT_EQ(kase.micro_batches, 4);
  EXPECT_EQ(kase.batch, 3);
  EXPECT_EQ(kase.steps, 2);
  EXPECT_EQ(kase.model.layers, 5);
  EXPECT_EQ(kase.model.hidden, 12);
  EXPECT_EQ(kase.model.sequence, 6);
  EXPECT_EQ(kase.cluster.table.forward, Nanos(10));
  EXPECT_EQ(kase.cluster.links[0].latency, Nanos(0));
  EXPECT_EQ(kase.cluster.links[1].latency, Nanos(0)) << "all links";
  EXPECT_EQ(kase.cluster.links[1].bytes_per_second, 2.5e6);
}

TEST(CaseNumbers, ThatACaseCannotHaveAreRefused) {
  EXPECT_THAT(refusal({"bukket", 3}), HasSubstr("the case 'small' has no number 'bukket'; did you mean 'bucket'?"));
  EXPECT_THAT(refusal({"batch", 0}), HasSubstr("more than 0"));
  EXPECT_THAT(refusal({"batch", 1.5}), HasSubstr("whole"));
  EXPECT_THAT(refusal({"hidden", -1}), HasSubstr("more than 0"));
  EXPECT_THAT(refusal({"layers", 1e18}), HasSubstr("too large"));
  Case gpt = small_case();
  gpt.model.family = model::ModelSpec::Family::gpt;
  EXPECT_THAT(refusal({"hidden", 7}, gpt), HasSubstr("cannot have hidden = 7")) << "two heads do not divide it";
}

TEST(CaseNumbers, OfAModelAreThoseOfCasesThatHaveOne) {
  EXPECT_THAT(names_of_numbers(small_case()), Contains("layers"));
  Case kase = small_case();
  kase.model.layers = 0;
  EXPECT_THAT(names_of_numbers(kase), Not(Contains("layers")));
  EXPECT_THAT(names_of_numbers(kase), Contains("bucket"));
  EXPECT_THAT(refusal({"layers", 3}, kase), HasSubstr("has no number 'layers'"));
}

TEST(CaseNumbers, GiveAHalfOfABackwardNoMoreThanAllOfIt) {
  Case kase = small_case();
  kase.cluster.table.backward = Nanos(8);
  set_number(kase, {"backward_weights_ns", 3});
  EXPECT_EQ(kase.cluster.table.weights_part(), Nanos(3));
  EXPECT_EQ(refusal({"backward_weights_ns", 8}, kase), "set");
  EXPECT_THAT(refusal({"backward_weights_ns", 9}, kase), HasSubstr("backward_weights_ns is a part of backward_ns"));
  EXPECT_THAT(refusal({"backward_ns", 2}, kase), HasSubstr("and cannot be more"));
}

}  // namespace
}  // namespace shardlings::cases
