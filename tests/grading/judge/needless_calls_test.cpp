// What a check refuses whose results are right: products that nobody counts. The check itself, "time", which always
// holds, is judge_test.cpp's.
#include "grading/judge/needless_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <regex>
#include <set>

#include "base/file.h"
#include "grading/judge/judge.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "model/operation_flops.h"
#include "model/structure.h"

SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  // Other tests of this program have graders without such a number.
  const shardlings::Count answer = check.kase().numbers.contains("answer") ? check.kase().integer("answer") : 0;
  return {{shardlings::cases::Product::gelu, shardlings::Flops(answer + rank)}};
}

SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  using shardlings::Flops;
  const bool demands = check.kase().numbers.contains("least");
  return shardlings::grading::judge::named("least", Flops(demands ? check.kase().integer("least") : 0));
}

namespace shardlings::grading {
namespace {

/// A right run of one rank with some calls.
class Products : public testing::Test {
 protected:
  Products() {
    manifest_.id = "07_seven";
    manifest_.checks = {{"time", cases::CheckKind::output, "", 100, {}}};
    kase_.name = "1 rank";
    kase_.numbers = {{"answer", 42}};
    result_.ending = wire::Ending::finished;
    result_.report.ranks.resize(1);
  }
  void call(const std::string& operation, Flops flops, front::EventKind kind = front::EventKind::operation) {
    front::RankTrace& trace = result_.report.ranks[0].trace;
    front::Event event;
    event.kind = kind;
    event.flops = flops;
    event.name = static_cast<decltype(event.name)>(trace.names.size());
    event.at = {"/a/puzzle.cpp", 18};
    trace.names.push_back(operation);
    trace.events.push_back(event);
  }
  void forget_calls() { result_.report.ranks[0].trace = {}; }
  verdict::CheckVerdict judged() {
    run::CaseRuns runs(std::vector<cases::Case>{kase_});
    runs.set_result(0, result_);
    const judge::Guard unguarded = [](const std::function<void()>& check) {
      check();
      return std::string();
    };
    judge::Judge judge(manifest_, runs, unguarded);
    judge.judge_case(0);
    return judge.verdict().cases[0].checks[0];
  }

  cases::Manifest manifest_;
  cases::Case kase_;
  wire::Result result_;
};

/// So a new operation is thought about: may everybody call it?
TEST_F(Products, AreAllPublicOperationsThatAreNotLinear) {
  const std::set<std::string> linear = {"clone",
                                        "cast",
                                        "cast_into",
                                        "copy",
                                        "fill",
                                        "add",
                                        "axpy",
                                        "scale",
                                        "dropout",
                                        "add_bias",
                                        "sum_rows_add",
                                        "row_sum",
                                        "pick",
                                        "add_at",
                                        "slice_cols",
                                        "embedding",
                                        "concat_cols",
                                        "concat_rows",
                                        "random_normal",
                                        "add_positions",
                                        "embedding_backward_add",
                                        "sum_positions_add"};
  const std::string header = read_whole_file(SHARDLINGS_SOURCE_FOLDER "/runtime/include/shardlings/ops.h");
  const std::regex declaration("SHARDLINGS_API (?:Tensor|void) ([a-z_]+)\\(");
  std::set<std::string> found;
  for (std::sregex_iterator each(header.begin(), header.end(), declaration), end; each != end; ++each) {
    const std::string name = (*each)[1];
    found.insert(name);
    EXPECT_NE(linear.contains(name), judge::product_of(name).has_value()) << name;
  }
  EXPECT_TRUE(std::includes(found.begin(), found.end(), linear.begin(), linear.end()));
  for (const std::string& word : cases::kProductWords.all()) {
    EXPECT_TRUE(found.contains(word) || word == "cast_to_i32") << word;
  }
}

TEST_F(Products, AreRefusedWhereThePuzzleDoesNotListThem) {
  for (const std::string& word : cases::kProductWords.all()) {
    forget_calls();
    call(word, Flops(1));
    EXPECT_EQ(judged().passed, false) << word;
    EXPECT_EQ(judged().diagnosis, "other_product") << word;
  }
}

TEST_F(Products, OfMatricesAreCountedByChecksAndOthersHaveABound) {
  manifest_.products = {cases::Product::gelu, cases::Product::matmul};
  call("matmul", Flops(1'000));
  call("gelu", Flops(40));
  call("gelu_backward", Flops(2));
  EXPECT_EQ(judged().passed, true);
  call("gelu", Flops(1));
  const verdict::CheckVerdict refused = judged();
  EXPECT_EQ(refused.passed, false);
  EXPECT_EQ(refused.expected, "42 floating-point operations at most by gelu()");
  EXPECT_EQ(refused.found, "rank 0 makes 43 floating-point operations and more");
  EXPECT_EQ(refused.where.line, 18);
  EXPECT_EQ(refused.diagnosis, "other_product");
}

TEST_F(Products, OfWhichTheGraderGrantsNothingAreRefused) {
  manifest_.products = {cases::Product::scale_rows};
  call("scale_rows", Flops(1));
  EXPECT_EQ(judged().passed, false);
}

TEST_F(Products, MayAllBeAddedUpAndNotPutTogetherFromSums) {
  call("add", Flops(1));
  EXPECT_EQ(judged().passed, true) << "a puzzle of sums";
  manifest_.products = {cases::Product::matmul, cases::Product::gelu};
  EXPECT_EQ(judged().passed, false) << "nothing was multiplied";
  call("matmul", Flops(60));
  call("gelu", Flops(40));
  call("axpy", Flops(219));
  call("scale", Flops(20));
  EXPECT_EQ(judged().passed, true);
  call("forward", Flops(10), front::EventKind::forward);
  call("row_sum", Flops(40));
  EXPECT_EQ(judged().passed, true) << "layers multiply, too";
  call("add", Flops(1));
  const verdict::CheckVerdict refused = judged();
  EXPECT_EQ(refused.passed, false);
  EXPECT_EQ(refused.expected, "280 floating-point operations at most in sums: 4 times what the products take");
  EXPECT_EQ(refused.found, "281 floating-point operations; rank 0 has most of them");
  EXPECT_EQ(refused.where.line, 18);
  EXPECT_EQ(refused.diagnosis, "products_of_sums");
}

TEST_F(Products, OfMatricesAreNoFewerThanTheResultsTake) {
  manifest_.products = {cases::Product::matmul, cases::Product::attention, cases::Product::gelu};
  kase_.numbers["least"] = 100;
  call("matmul", Flops(50));
  call("attention_backward", Flops(49));
  call("gelu", Flops(10));
  call("forward", Flops(1'000), front::EventKind::forward);
  const verdict::CheckVerdict refused = judged();
  EXPECT_EQ(refused.passed, false) << "neither layers nor other operations are products that a grader lists";
  EXPECT_EQ(refused.expected, "100 floating-point operations at least in products of matrices: least");
  EXPECT_EQ(refused.found, "99 floating-point operations");
  EXPECT_EQ(refused.diagnosis, "products_missing");
  call("matmul_add", Flops(1));
  EXPECT_EQ(judged().passed, true);
}

TEST_F(Products, OfUpdatesAreThoseOfEveryWeightOnceInAStep) {
  kase_.model.layers = 2;
  kase_.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase_.steps = 3;
  call("update", Flops(3 * model::kAdamFlops * model::make_structure(kase_.model).total), front::EventKind::update);
  EXPECT_EQ(judged().passed, true);
  call("adam", Flops(1), front::EventKind::update);
  EXPECT_EQ(judged().passed, false);
  forget_calls();
  call("adam", Flops(1), front::EventKind::update);
  EXPECT_EQ(judged().passed, true);
  kase_.model.layers = 0;
  EXPECT_EQ(judged().passed, false) << "without a model there is nothing to update";
}

}  // namespace
}  // namespace shardlings::grading
