#include "cli/learner/case_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace shardlings::cli::learner {
namespace {

using cases::ModelUse;

cases::Case two_ranks(Nanos latency, double bytes_per_second) {
  cases::Case kase;
  kase.ranks = 2;
  for (front::LinkSpeed& link : kase.cluster.links) link = {.latency = latency, .bytes_per_second = bytes_per_second};
  return kase;
}

/// In a puzzle that uses so much of the model, and multiplies by these itself.
std::vector<std::string> facts_of(const cases::Case& kase, ModelUse use, std::vector<cases::Product> products = {}) {
  cases::Manifest puzzle;
  puzzle.model_use = use;
  puzzle.products = std::move(products);
  return case_facts(kase, puzzle);
}

TEST(CaseFacts, SayWhatAMessageCosts) {
  using testing::Contains;
  EXPECT_THAT(facts_of(two_ranks(Nanos(10'000), 1e6), ModelUse::all),
              Contains("a message takes 10 us and its bytes at 1 MB/s"));
  EXPECT_THAT(facts_of(two_ranks(Nanos(250'000), 1e15), ModelUse::all),
              Contains("a message takes 250 us, however long it is"));
  EXPECT_THAT(facts_of(two_ranks(Nanos(0), 1e15), ModelUse::all),
              Contains("messages are free here: they take no time"));
}

TEST(CaseFacts, SayWhatEachRankHas) {
  cases::Case kase;
  kase.ranks = 4;
  kase.batch = 2;
  kase.micro_batches = 1;
  kase.model.layers = 2;
  kase.model.sequence = 8;
  EXPECT_EQ(facts_of(kase, ModelUse::all).at(0),
            "N = 4 ranks; each has m = 1 micro-batch of b = 2 sequences of s = 8 tokens");
}

TEST(CaseFacts, SayOfTheModelWhatThePuzzleUses) {
  using testing::Contains;
  using testing::HasSubstr;
  cases::Case kase;
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.layers = 1;
  kase.model.hidden = 8;
  kase.model.heads = 1;
  EXPECT_THAT(facts_of(kase, ModelUse::all), Contains(HasSubstr(", 1 head; weights of the layers: ")));
  EXPECT_THAT(facts_of(kase, ModelUse::all), Contains(HasSubstr("; plain SGD")));
  EXPECT_THAT(facts_of(kase, ModelUse::layers), Contains(HasSubstr("weights of the layers: ")));
  EXPECT_THAT(facts_of(kase, ModelUse::layers), testing::Not(Contains(HasSubstr("SGD"))));
  EXPECT_THAT(facts_of(kase, ModelUse::sizes), Contains("width h = 8"));
  EXPECT_THAT(facts_of(kase, ModelUse::sizes, {cases::Product::partial_attention}), Contains("width h = 8, 1 head"));
}

TEST(CaseFacts, OfAQuestionAreItsNumbersAndLists) {
  cases::Case kase;
  kase.model.layers = 0;
  kase.question = true;
  kase.numbers = {{"price", 2.5}};
  kase.lists = {{"gpus", {8, 16}}, {"seconds", {1.5, 0.75}}};
  EXPECT_THAT(facts_of(kase, ModelUse::all),
              testing::ElementsAre("price = 2.5", "gpus = 8, 16", "seconds = 1.5, 0.75"));
  kase.lists["seconds"].resize(40);
  EXPECT_THAT(facts_of(kase, ModelUse::all), testing::Contains("in puzzle.toml, with more numbers: seconds"));
  kase.model = {};
  kase.model.layers = 4;
  for (const std::string& fact : facts_of(kase, ModelUse::all)) {
    EXPECT_THAT(fact, testing::Not(testing::AnyOf(testing::HasSubstr("N = "), testing::HasSubstr("weights of"))))
        << fact;
  }
}

}  // namespace
}  // namespace shardlings::cli::learner
