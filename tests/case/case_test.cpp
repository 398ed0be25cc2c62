#include "case/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading {
namespace {

using testing::ThrowsMessage;

cases::Case sample_case() {
  cases::Case kase;
  kase.puzzle = "09_data_parallel";
  kase.name = "4 ranks, uneven";
  kase.hidden = true;
  kase.ranks = 4;
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.model.layers = 3;
  kase.model.lr = 0.3F;
  kase.model.eps = 1e-5F;
  kase.model.clip = 0.7F;
  kase.model.widths = {8, 3};
  kase.batch = 3;
  kase.micro_batches = 5;
  kase.uneven_tokens = true;
  kase.empty_batch = true;
  kase.batches = 2;
  kase.steps = 2;
  kase.seed = 0xFFFFFFFFFFFFFFFFULL;
  kase.cluster.name = "odd";
  kase.cluster.source = "made up \"here\"";
  kase.cluster.uses_table = false;
  kase.cluster.links[1] = {Nanos(17), 2.5e9};
  kase.cluster.host_links[1] = {Nanos(19), 3.5e9};
  kase.cluster.host = {Bytes(987654321), 4.5e9};
  kase.capacity = Bytes(123456789);
  kase.numbers = {{"every", 2}, {"share", 0.1}};
  kase.lists = {{"gpus", {8, 16}}, {"seconds", {0.1, 0.2}}};
  kase.question = true;
  kase.cluster.store = {Nanos(23), 5.5e9};
  kase.deaths = {{2, Nanos(5)}, {0, {}, 7}, {1, {}, 0, 3}};
  kase.detection = Nanos(9);
  return kase;
}

TEST(Case, SurvivesJson) {
  const cases::Case back = cases::case_from_json(to_json(sample_case()));
  EXPECT_EQ(to_json(back), to_json(sample_case()));
  EXPECT_EQ(back.seed, 0xFFFFFFFFFFFFFFFFULL);
  EXPECT_EQ(back.model.lr, 0.3F);
  EXPECT_EQ(back.model.clip, 0.7F);
  EXPECT_EQ(back.model.widths, (std::vector<Count>{8, 3}));
  EXPECT_EQ(back.numbers.at("share"), 0.1);
  EXPECT_EQ(back.list("seconds"), (std::vector<double>{0.1, 0.2}));
  EXPECT_TRUE(back.question);
  EXPECT_EQ(back.cluster.links[1].latency, Nanos(17));
  EXPECT_EQ(back.cluster.host_links[1].latency, Nanos(19));
  EXPECT_EQ(back.cluster.host.memory, Bytes(987654321));
  EXPECT_EQ(back.cluster.store.latency, Nanos(23));
  EXPECT_EQ(back.cluster.store.bytes_per_second, 5.5e9);
  EXPECT_EQ(back.deaths, sample_case().deaths);
  EXPECT_EQ(back.detection, Nanos(9));
  EXPECT_EQ(back.model.family, model::ModelSpec::Family::gpt);
}

TEST(Case, OlderRunsDoNotSayWhetherABatchIsEmpty) {
  std::string text = to_json(sample_case());
  EXPECT_TRUE(cases::case_from_json(text).empty_batch);
  const std::string key = "\"empty_batch\":true,";
  text.erase(text.find(key), key.size());
  EXPECT_FALSE(cases::case_from_json(text).empty_batch);
}

TEST(Case, NamesTheKeyAtFault) {
  std::string text = to_json(sample_case());
  text.replace(text.find("\"batch\":3"), 9, "\"batch\":[]");
  EXPECT_THAT([&] { cases::case_from_json(text); },
              ThrowsMessage<std::runtime_error>("case: key 'batch' has the wrong type"));
  EXPECT_THAT([] { cases::case_from_json("{}"); }, ThrowsMessage<std::runtime_error>("case: key 'puzzle' is missing"));
  EXPECT_THAT([] { cases::case_from_json("not json"); }, ThrowsMessage<std::runtime_error>("case: not a JSON object"));
}

TEST(Case, KeepsCostsThatFewClustersHave) {
  cases::Case kase = sample_case();
  EXPECT_EQ(to_json(kase).find("collective_ns"), std::string::npos) << "files without them stay as they are";
  kase.cluster.table.per_sequence = true;
  kase.cluster.collective = Nanos(7);
  const cases::Case back = cases::case_from_json(to_json(kase));
  EXPECT_TRUE(back.cluster.table.per_sequence);
  EXPECT_EQ(back.cluster.collective, Nanos(7));
}

TEST(Case, ConsecutiveRanksShareABatch) {
  cases::Case kase = sample_case();
  EXPECT_EQ(kase.num_batches(), 2);
  EXPECT_EQ((std::vector<int>{kase.batch_of(0), kase.batch_of(1), kase.batch_of(2), kase.batch_of(3)}),
            (std::vector<int>{0, 0, 1, 1}));
  kase.batches = 0;
  EXPECT_EQ(kase.num_batches(), 4);
  EXPECT_EQ(kase.batch_of(3), 3);
  kase.batches = 3;
  EXPECT_THAT([&] { cases::case_from_json(to_json(kase)); },
              ThrowsMessage<std::runtime_error>("case: key 'batches' must divide 'ranks'"));
}

TEST(Case, ListsAreAskedForByName) {
  EXPECT_EQ(sample_case().list("gpus").size(), 2U);
  EXPECT_THAT([] { sample_case().list("prices"); },
              ThrowsMessage<std::runtime_error>(
                  "the case '4 ranks, uneven' has no list 'prices': add it to `lists` in puzzle.toml"));
}

TEST(Case, NumbersAreAskedForByName) {
  EXPECT_EQ(sample_case().integer("every"), 2);
  EXPECT_EQ(sample_case().number("share"), 0.1);
  EXPECT_THAT(
      [] { sample_case().integer("share"); },
      ThrowsMessage<std::runtime_error>("the number 'share' of the case '4 ranks, uneven' must be whole, not 0.1"));
  EXPECT_THAT([] { sample_case().number("evry"); },
              ThrowsMessage<std::runtime_error>(
                  "the case '4 ranks, uneven' has no number 'evry': add it to `numbers` in puzzle.toml"));
}

}  // namespace
}  // namespace shardlings::grading
