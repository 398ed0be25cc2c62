#include "case/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/suggest.h"

namespace shardlings::grading {
namespace {

using testing::StartsWith;
using testing::ThrowsMessage;

const std::string kHead = "title = 'T'\nchapter = '1 One'\nsummary = 'S'\nanswer_lines = 3\n";
const std::string kCheck = "[[checks]]\nid = 'output'\nkind = 'output'\ntitle = 'X'\npoints = 40\n";
const std::string kCase = "[[cases]]\nname = 'one'\n";

cases::Manifest parse(const std::string& text) {
  return cases::parse_manifest(text, "/p/07_seven", SHARDLINGS_CLUSTERS);
}

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Manifest, ReadsEverything) {
  const cases::Manifest manifest =
      parse(kHead + kCheck +
            "[[checks]]\nid='time'\nkind='time'\ntitle='Y'\npoints=60\nafter=['output']\n"
            "[[hints]]\nlevel='near-code'\ntext='do it'\n"
            "[[diagnoses]]\nid='d'\ntext=\"\"\"\nYou did\nnot.\"\"\"\nhint='Do.'\nlevel='concept'\n"
            "[[diagnoses]]\nid='e'\ntext='You did.'\nhint='Do not.'\n[[diagnoses]]\nid='f'\ntext='You do.'\n"
            "[[cases]]\nname='a'\nhidden=true\nranks=3\nbatch=4\nmicro_batches=2\nuneven_tokens=true\n"
            "batches=1\nsteps=5\nseed=6\ncapacity_mib=1.5\nnumbers={every=2}\nranks_per_node=2\n"
            "host_link={latency_ns=3}\nhost={memory_mib=2,bytes_per_second=4e9}\n"
            "store={latency_ns=8}\ndetection_ms=0.5\n"
            "deaths=[{rank=2,at_ms=1.5},{rank=0,in_write=3},{rank=1,at_call=4}]\n"
            "model={family='gpt',layers=4,hidden=16,heads=4,outputs=9,sequence=5,optimizer='adam',lr=0.5}\n"
            "link={latency_ns=0,bytes_per_second=2e9}\ninter_node={latency_ns=7}\ntable={forward_ns=5}\n");
  EXPECT_EQ(manifest.id, "07_seven");
  EXPECT_EQ(manifest.number, 7);
  EXPECT_EQ(manifest.answer_lines, 3);
  EXPECT_FALSE(manifest.host_reads);
  EXPECT_FALSE(manifest.barriers);
  EXPECT_TRUE(parse(kHead + "barriers=true\n" + kCheck + "[[cases]]\nname='a'\n").barriers);
  EXPECT_EQ(manifest.max_points(), 100);
  EXPECT_EQ(manifest.check("time")->after, std::vector<std::string>{"output"});
  EXPECT_EQ(manifest.diagnosis("d")->text, "You did not.") << "one sentence on one line";
  ASSERT_EQ(manifest.hints.size(), 1U);
  EXPECT_EQ(manifest.hints[0].level, cases::HintLevel::near_code);
  EXPECT_EQ(manifest.diagnosis("d")->hint->text, "Do.");
  EXPECT_EQ(manifest.diagnosis("d")->hint->level, cases::HintLevel::concept_);
  EXPECT_EQ(manifest.diagnosis("e")->hint->level, cases::HintLevel::where);
  EXPECT_FALSE(manifest.diagnosis("f")->hint);
  const cases::Case& kase = manifest.cases.at(0);
  EXPECT_TRUE(kase.hidden && kase.uneven_tokens);
  EXPECT_EQ(kase.batches, 1);
  EXPECT_EQ(kase.puzzle, "07_seven");
  EXPECT_EQ(kase.capacity, Bytes(3 << 19));
  EXPECT_EQ(kase.model.optimizer, model::ModelSpec::Optimizer::adam);
  EXPECT_EQ(kase.cluster.ranks_per_node, 2);
  EXPECT_EQ(kase.cluster.links[0].latency, Nanos(0));
  EXPECT_EQ(kase.cluster.links[1].latency, Nanos(7)) << "of the links between nodes alone";
  EXPECT_EQ(kase.cluster.links[1].bytes_per_second, 2e9);
  EXPECT_EQ(kase.cluster.host_links[0].latency, Nanos(3));
  EXPECT_EQ(kase.cluster.host_links[1].bytes_per_second, 1e9) << "that of the cluster";
  EXPECT_EQ(kase.cluster.host.memory, Bytes(2 << 20));
  EXPECT_EQ(kase.cluster.host.bytes_per_second, 4e9);
  EXPECT_EQ(kase.cluster.store.latency, Nanos(8));
  EXPECT_EQ(kase.cluster.store.bytes_per_second, std::nullopt);
  EXPECT_EQ(kase.detection, Nanos(500'000));
  EXPECT_EQ(kase.deaths, (std::vector<front::Death>{{2, Nanos(1'500'000)}, {0, {}, 0, 3}, {1, {}, 4}}));
  EXPECT_EQ(kase.cluster.table.forward, Nanos(5));
  EXPECT_EQ(kase.cluster.table.backward, Nanos(2'000'000)) << "that of the cluster";
  EXPECT_EQ(kase.integer("every"), 2);
}

TEST(Manifest, ModelsMayHaveLayersOfUnequalSizeAndALimitOfTheNorm) {
  const cases::Manifest manifest =
      parse(kHead + kCheck + kCase + "model={family='mlp',layers=3,hidden=4,widths=[8,2],outputs=5,clip=0.5}\n");
  const model::ModelSpec& model = manifest.cases.at(0).model;
  EXPECT_EQ(model.widths, (std::vector<Count>{8, 2}));
  EXPECT_EQ(model.clip, 0.5F);
}

TEST(Manifest, CaseWithoutModelHasNone) {
  EXPECT_FALSE(parse(kHead + kCheck + kCase).cases.at(0).has_model());
}

TEST(Manifest, ErrorsHaveALineAndASuggestion) {
  EXPECT_EQ(error_of(kHead + "[[check]]\n" + kCheck + kCase),
            "puzzle.toml:5: unknown key 'check'; did you mean 'checks'?");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "rank = 2\n"),
            "puzzle.toml:12: [[cases]]: unknown key 'rank'; did you mean 'ranks'?");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "ranks = 'two'\n"),
            "puzzle.toml:12: [[cases]]: 'ranks' must be a whole number of at least 1");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "ranks = 4294967297\n"),
            "puzzle.toml:12: [[cases]]: 'ranks' must be a whole number of at most 2147483647")
      << "and not 1";
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "ranks = 4\nbatches = 3\n"),
            "puzzle.toml:13: 4 ranks cannot share 3 batches evenly");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "model = { family = 'mpl' }\n"),
            "puzzle.toml:12: 'family' cannot be 'mpl'; did you mean 'mlp'?");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "model = { family = 'mlp', layers = 3, widths = [4] }\n"),
            "puzzle.toml:12: a model of 3 layers has 2 widths (the last layer's is `outputs`), not 1");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "model = { family = 'mlp', layers = 2, widths = [0] }\n"),
            "puzzle.toml:12: model: 'widths' must be a list of whole numbers of at least 1");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "model = { family = 'mlp', hidden = 9223372036854775807 }\n"),
            "puzzle.toml:12: a model has at most 4096 layers, and no size above 4194304");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "capacity_mib = 1e300\n"),
            "puzzle.toml:12: 'capacity_mib' must be a number of at most 1000000000");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "deaths = [{ rank = 1, at_ms = 2 }]\n"),
            "puzzle.toml:12: there are 1 ranks, from 0 on");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "deaths = [{ rank = 0 }]\n"),
            "puzzle.toml:12: one of at_ms, at_call and in_write says when the rank dies");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "deaths = [{ rank = 0, at_ms = 2 }, { rank = 0, at_call = 2 }]\n"),
            "puzzle.toml:12: rank 0 cannot die twice");
  EXPECT_EQ(error_of(kHead + kCheck + "after = ['memory']\n" + kCase),
            "puzzle.toml:10: 'memory' is no check that stands before 'output'");
  EXPECT_EQ(error_of(kHead + kCheck + kCheck + kCase), "puzzle.toml:11: there are two checks 'output'");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + kCase), "puzzle.toml:13: there are two cases 'one'");
  EXPECT_THAT(error_of(kHead + kCheck + kCase + "cluster = 'clasroom'\n"),
              StartsWith("puzzle.toml:12: there is no cluster 'clasroom'; there are: "));
  EXPECT_THAT(error_of("title = \n"), StartsWith("puzzle.toml:1: "));
  EXPECT_EQ(error_of("title = 'T'\n"), "puzzle.toml:1: 'chapter' is missing");
}

TEST(Manifest, AQuestionHasListsAndNoRanks) {
  const std::string question = kHead + "question = true\n";
  const cases::Manifest manifest =
      parse(question + kCheck + kCase + "lists = { gpus = [8, 16], seconds = [2.5, 1] }\n");
  EXPECT_TRUE(manifest.question);
  EXPECT_TRUE(manifest.cases.at(0).question);
  EXPECT_EQ(manifest.cases.at(0).list("gpus"), (std::vector<double>{8, 16}));
  EXPECT_EQ(manifest.cases.at(0).list("seconds"), (std::vector<double>{2.5, 1}));
  EXPECT_FALSE(parse(kHead + kCheck + kCase).question);
  EXPECT_FALSE(parse(kHead + kCheck + kCase).cases.at(0).question);
  EXPECT_EQ(error_of(question + kCheck + kCase + "ranks = 2\n"), "puzzle.toml:13: a question is asked on one rank");
  EXPECT_EQ(error_of(question + "axes = { dp = 'ranks' }\n" + kCheck + kCase),
            "puzzle.toml:6: 'axes' is about ranks, and a question has none");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "lists = { gpus = 8 }\n"),
            "puzzle.toml:12: lists: 'gpus' must be a list of numbers");
}

TEST(Manifest, AMisspeltKeyIsNamedNotTheOneThatIsMissing) {
  EXPECT_EQ(error_of("titel = 'T'\nchapter = '1 One'\nsummary = 'S'\nanswer_lines = 3\n" + kCheck + kCase),
            "puzzle.toml:1: unknown key 'titel'; did you mean 'title'?");
  EXPECT_EQ(error_of(kHead + "[[checks]]\nid = 'output'\nkin = 'output'\ntitle = 'X'\npoints = 40\n" + kCase),
            "puzzle.toml:7: [[checks]]: unknown key 'kin'; did you mean 'kind'?");
  EXPECT_EQ(error_of(kHead + kCheck + kCase + "host = { memory = 4 }\n"),
            "puzzle.toml:12: host: unknown key 'memory'; known are bytes_per_second, memory_mib");
}

TEST(Manifest, AHintOnAMistakeStandsWithIt) {
  EXPECT_EQ(error_of(kHead + kCheck + "[[hints]]\nlevel = 'where'\ndiagnosis = 'd'\ntext = 'x'\n" + kCase),
            "puzzle.toml:12: [[hints]]: unknown key 'diagnosis'; known are level, text");
  EXPECT_EQ(error_of(kHead + kCheck + "[[diagnoses]]\nid = 'd'\ntext = 'x'\nlevel = 'where'\n" + kCase),
            "puzzle.toml:13: [[diagnoses]]: unknown key 'level'; known are hint, id, text");
  EXPECT_EQ(error_of(kHead + kCheck + "[[diagnoses]]\nid = 'd'\ntext = 'x'\nhint = 'y'\nlevel = 'were'\n" + kCase),
            "puzzle.toml:14: 'level' cannot be 'were'; did you mean 'where'?");
}

TEST(Manifest, ABonusIsNeededForNothing) {
  const std::string bonus = "[[checks]]\nid='best'\nkind='rules'\ntitle='B'\npoints=25\nbonus=true\n";
  const cases::Manifest manifest = parse(kHead + kCheck + bonus + kCase);
  EXPECT_FALSE(manifest.check("output")->bonus);
  EXPECT_TRUE(manifest.check("best")->bonus);
  EXPECT_EQ(manifest.check("output")->asked, cases::Asked::run);
  EXPECT_EQ(manifest.max_points(), 40) << "its points come on top";
  EXPECT_EQ(error_of(kHead + bonus + kCheck + kCase), "puzzle.toml:10: the first check cannot be a bonus");
  EXPECT_EQ(error_of(kHead + kCheck + bonus + "[[checks]]\nid='t'\nkind='time'\ntitle='T'\npoints=1\nafter=['best']\n" +
                     kCase),
            "puzzle.toml:21: 'best' is a bonus, and 't' is none: it would cost the pass");
}

TEST(Manifest, AMilestoneMayAskForLess) {
  const std::string cases = kCase + "[[cases]]\nname = 'two'\n", b = "[[milestones]]\nletter='b'\ntitle='B'\n",
                    a = "[[milestones]]\nletter='a'\ntitle='A'\ncases=['one']\n";
  const cases::Manifest less =
      parse(kHead + kCheck + cases + a + "unasked=['output']\ntitles={ output = 'Part of X' }\n" + b);
  EXPECT_THAT(less.milestones[0].unasked, testing::ElementsAre("output"));
  EXPECT_EQ(less.milestones[0].titles.at("output"), "Part of X");
  EXPECT_TRUE(less.milestones[1].titles.empty());
  EXPECT_THAT(error_of(kHead + kCheck + cases + a + "unasked=['time']\n" + b),
              testing::HasSubstr("there is no check 'time'"));
  EXPECT_THAT(error_of(kHead + kCheck + cases + a + "titles={ time = 'T' }\n" + b), testing::HasSubstr("'time'"));
}

TEST(Manifest, SaysWhatIsUsedOfTheModel) {
  EXPECT_EQ(parse(kHead + kCheck + kCase).model_use, cases::ModelUse::all);
  EXPECT_EQ(parse(kHead + "model_use = 'sizes'\n" + kCheck + kCase).model_use, cases::ModelUse::sizes);
  EXPECT_THAT(error_of(kHead + "model_use = 'size'\n" + kCheck + kCase), testing::HasSubstr("cannot be 'size'"));
}

TEST(Manifest, WhatIsAskedBesideTheRunHasACheckOfItsOwn) {
  const std::string check = "[[checks]]\nid='test'\nkind='rules'\ntitle='T'\npoints=25\nasked=";
  EXPECT_EQ(parse(kHead + kCheck + check + "'behind'\n" + kCase).check("test")->asked, cases::Asked::behind);
  EXPECT_EQ(parse(kHead + kCheck + check + "'before'\n" + kCase).check("test")->asked, cases::Asked::before);
  EXPECT_EQ(error_of(kHead + kCheck + check + "'behnd'\n" + kCase),
            "puzzle.toml:15: 'asked' cannot be 'behnd'; did you mean 'behind'?");
}

TEST(Manifest, MilestonesAreCasesAndTheLastOneIsTheWhole) {
  const std::string cases = kCase + "[[cases]]\nname = 'two'\n",
                    a = "[[milestones]]\nletter='a'\ntitle='A'\ncases=['one']\n",
                    b = "[[milestones]]\nletter='b'\ntitle='B'\n";
  const cases::Manifest manifest = parse(kHead + kCheck + cases + a + b);
  ASSERT_EQ(manifest.milestones.size(), 2U);
  EXPECT_EQ(manifest.milestone("a")->cases, std::vector<std::string>{"one"});
  EXPECT_EQ(manifest.milestone("b")->title, "B");
  EXPECT_TRUE(manifest.milestone("b")->cases.empty());
  EXPECT_EQ(manifest.milestone("c"), nullptr);
  EXPECT_TRUE(parse(kHead + kCheck + cases).milestones.empty());
  EXPECT_THAT(error_of(kHead + kCheck + cases + a), testing::HasSubstr("the last one is the whole puzzle"));
  EXPECT_THAT(error_of(kHead + kCheck + cases + b), testing::HasSubstr("this milestone is 'a', not 'b'"));
  EXPECT_THAT(error_of(kHead + kCheck + kCase + "[[milestones]]\nletter='a'\ntitle='A'\ncases=['two']\n" + b),
              testing::HasSubstr("there is no case 'two'"));
  EXPECT_THAT(error_of(kHead + kCheck + cases + "[[milestones]]\nletter='a'\ntitle='A'\n" + b),
              testing::HasSubstr("the milestone before 'b' names no cases"));
}

TEST(Manifest, ListsTheProductsThatALearnerMakes) {
  EXPECT_TRUE(parse(kHead + kCheck + kCase).products.empty());
  EXPECT_EQ(parse(kHead + "products=['matmul', 'partial_attention']\n" + kCheck + kCase).products,
            (std::vector{cases::Product::matmul, cases::Product::partial_attention}));
  EXPECT_THAT(error_of(kHead + "products=['matmull']\n" + kCheck + kCase),
              testing::HasSubstr("'products' cannot be 'matmull'; did you mean 'matmul'?"));
}

TEST(Manifest, SaysHowItsStepTrains) {
  EXPECT_FALSE(parse(kHead + kCheck + kCase).train);
  const auto train = parse(kHead + "train={step='clipping', divided=['grads', 'optimizer']}\n" + kCheck + kCase).train;
  ASSERT_TRUE(train);
  EXPECT_EQ(train->step, cases::TrainStep::clipping);
  EXPECT_TRUE(!train->weights && train->grads && train->optimizer && !train->micro_batches);
  EXPECT_THAT(error_of(kHead + "train={step='grids'}\n" + kCheck + kCase), testing::HasSubstr("did you mean 'grid'?"));
  EXPECT_THAT(error_of(kHead + "train={step='grid', divided=['moments']}\n" + kCheck + kCase),
              testing::HasSubstr("'moments' cannot be divided: weights, grads and optimizer can"));
}

TEST(Manifest, PuzzleThatNothingChecksIsRefused) {
  EXPECT_THAT(error_of(kHead + kCase), StartsWith("puzzle.toml:1: there are no [[checks]]"));
  EXPECT_THAT(error_of(kHead + kCheck), StartsWith("puzzle.toml:1: there are no [[cases]]"));
}

TEST(Suggest, NearestWordOrAll) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(suggestion("rank", {"batch", "ranks"}), "; did you mean 'ranks'?");
  EXPECT_EQ(suggestion("something", {"a", "b"}), "; known are a, b");
}

TEST(Manifest, PuzzlesComeByChapterAndThenByName) {
  const cases::Puzzles puzzles = cases::load_puzzles(SHARDLINGS_PUZZLES, SHARDLINGS_CLUSTERS);
  std::vector<std::pair<char, std::string>> order;  // chapters have one digit
  for (const cases::Manifest& puzzle : puzzles.whole) order.emplace_back(puzzle.chapter.front(), puzzle.id);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  std::vector<std::string> ids;
  for (const auto& [chapter, id] : order) ids.push_back(id);
  EXPECT_FALSE(std::is_sorted(ids.begin(), ids.end())) << "numbers alone would give the same order";
}

}  // namespace
}  // namespace shardlings::grading
