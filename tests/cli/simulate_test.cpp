// ./shardlings simulate, from the command line to its report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGrid = "33_three_d_parallel";

TEST(Simulate, RunsTheLearnersFileOnAThousandRanks) {
  const Learner shardlings;
  shardlings.solve(kGrid);
  const Answer answer = shardlings({"simulate", "33", "--parallel", "tp=8,pp=8,dp=16", "--model",
                                    "layers=16,hidden=1024,heads=16,vocabulary=50000,sequence=1024", "--cluster",
                                    "dgx_h100", "--micro-batches", "8"});
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("on 1024 ranks of dgx_h100 (128 nodes)"), HasSubstr("waiting for peers"),
                                HasSubstr("kinds of ranks"), HasSubstr("none of them computed")));
}

// Closed form: 1F1B on a cluster where forward and backward take fixed times and links none ends after
// (m + p - 1)(F + B): Narayanan et al. 2021, section 2.2.
TEST(Simulate, FindsTheBubbleOfTheClosedForm) {
  const Learner shardlings;
  shardlings.solve("20_one_f_one_b");
  for (const int p : {2, 4, 8, 16, 32, 64}) {
    const int m = 2 * p;  // and two layers a stage, embedding and head among them
    const Answer answer =
        shardlings({"simulate", "20", "--ranks", std::to_string(p), "--micro-batches", std::to_string(m), "--model",
                    "layers=" + std::to_string(2 * p - 2) + ",hidden=8,heads=2,vocabulary=16,sequence=4", "--json"});
    ASSERT_EQ(answer.status, 0) << answer.out << answer.err;
    EXPECT_EQ(json::parse(answer.out).at("end").get<std::int64_t>(), (m + p - 1) * 6'000'000) << p << " stages";
  }
}

// All ranks write their parts of the last checkpoint when there is nothing left to compute.
TEST(Simulate, NamesWhatIsWaitedForTheStore) {
  const Learner shardlings;
  shardlings.solve("35_checkpoint_elastic");
  const Answer answer = shardlings({"simulate", "35"});
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("waiting for the store "), Not(HasSubstr("done before the last rank"))));
  const json time = json::parse(shardlings({"simulate", "35", "--json"}).out).at("time");
  double all = 0;
  for (const auto& [what, share] : time.items()) all += share.get<double>();
  EXPECT_DOUBLE_EQ(all, 1);
  EXPECT_GT(time.at("waiting_for_store").get<double>(), 0.01);
}

TEST(Simulate, SaysWhatEndedIt) {
  const Learner shardlings;
  const Answer stub = shardlings({"simulate", "33"});
  EXPECT_EQ(stub.status, 1);
  EXPECT_THAT(stub.out, AllOf(HasSubstr("not implemented yet"), HasSubstr("--solution")));
  shardlings.solve(kGrid);
  const Answer full =
      shardlings({"simulate", "33", "--parallel", "tp=2,pp=2,dp=2", "--model", "gpt3-175b", "--cluster", "dgx_h100"});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.out, AllOf(HasSubstr("out of memory"), HasSubstr("Alive, largest first")));
  const Answer wrong = shardlings({"simulate", "33", "--parallel", "ep=4"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("it has tp, pp, dp, v"));
}

// What it throws and where it says that it stands are the learner's words: a terminal shows them as text.
TEST(Simulate, BelievesNoPlaceAndLetsNoCharacterMoveTheCursor) {
  const Learner shardlings;
  shardlings.folder().write(
      "thrown.cpp",
      "#include <shardlings/puzzle.h>\nusing namespace shardlings;\n"
      "void train_step(Rank&, const Model&, TrainState&, const Batch&, View) {\n"
      "  throw InvalidArgument(\"\\x1b[2Jgrader.cpp:3: red\", Location{\"grader.cpp\", 3});\n}\n");
  const Answer answer = shardlings({"simulate", "01", "--file", "thrown.cpp"});
  EXPECT_EQ(answer.status, 1) << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("\\x1b[2J"), HasSubstr("grader.cpp is not the file that is judged"),
                                Not(HasSubstr("\x1b")), Not(HasSubstr("grader.cpp:3"))));
}

// The diagnosis of a mistake does not depend on the number of ranks, and neither does its length.
TEST(Simulate, NamesAMisuseOfFiveHundredRanksBriefly) {
  const Learner shardlings;
  shardlings.blunder(kGrid, "wrong_group");
  const Answer answer = shardlings({"simulate", "33", "--parallel", "tp=4,pp=4,dp=32", "--model",
                                    "layers=6,hidden=32,heads=8,vocabulary=64,sequence=8"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.out, HasSubstr("mismatch"));
  EXPECT_LT(answer.out.size(), 5000U);
}

TEST(Simulate, SweepsLayoutsOfAsManyRanks) {
  const Learner shardlings;
  shardlings.solve(kGrid);
  const Answer table = shardlings(
      {"simulate", "33", "--ranks", "8", "--sweep", "tp=1..2,pp=1..2", "--global-batch", "16", "--batch", "1"});
  EXPECT_EQ(table.status, 0) << table.out << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("tp \\ pp"), HasSubstr("fastest that fits: ")));
  const json points = json::parse(shardlings({"simulate", "33", "--ranks", "8", "--sweep", "tp=1..4", "--json"}).out);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[1].at("ranks"), 8);
  EXPECT_EQ(points[2].at("possible"), false) << "two heads for four ranks";
  EXPECT_EQ(shardlings({"simulate", "33", "--sweep", "tp=8..1"}).status, 2);
}

/// A thousand combinations would take a day.
TEST(Simulate, StopsASweepOfAProgramWithoutAnEnd) {
  const Learner shardlings;
  shardlings.folder().write("endless.cpp",
                            "#include <shardlings/puzzle.h>\n#include <cstdio>\nusing namespace shardlings;\n"
                            "void train_step(Rank&, const Model&, TrainState&, const Batch&, View) {\n"
                            "  for (;;) std::puts(\"all work and no play makes Jack a dull boy\");\n}\n");
  const json points = json::parse(
      shardlings({"sweep", "01", "batch=1:5:1", "--file", shardlings.folder() / "endless.cpp", "--json"}).out);
  ASSERT_EQ(points.size(), 5U);
  EXPECT_THAT(points[1].at("why").get<std::string>(), HasSubstr("more than 64 MiB of output"));
  EXPECT_THAT(points[2].at("why").get<std::string>(), HasSubstr("it was not run: two before it"));
}

TEST(Simulate, SaysWhichLayoutIsNearestWhereNoneFits) {
  const Learner shardlings;
  shardlings.solve(kGrid);
  const Answer table = shardlings({"simulate", "33", "--model", "gpt3-175b", "--cluster", "dgx_h100", "--ranks", "8",
                                   "--sweep", "tp=4..8,pp=1..2"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, testing::ContainsRegex("None of them fits.* The nearest is tp 8, pp 1: .* GiB on the fullest "
                                                "rank, .* GiB too much"));
}

TEST(Simulate, ListsCombinationsThatAreAlikeOnce) {
  const Learner shardlings;
  const Answer table = shardlings({"sweep", "24", "memory=700000:710000:5000", "--solution"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out,
              testing::ContainsRegex("none is both faster and smaller.*\n  memory 700000: .*; likewise 2 more"));
}

constexpr const char* kSmall = "layers=4,hidden=64,heads=4,vocabulary=128,sequence=16";

json simulated_with(const Learner& shardlings, std::vector<std::string> options, const char* model = kSmall) {
  options.insert(options.begin(), {"simulate", "33", "--solution", "--json", "--cluster", "dgx_a100", "--model", model,
                                   "--parallel", "tp=2,pp=2,dp=2", "--batch", "2", "--micro-batches", "4"});
  const Answer answer = shardlings(options);
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  return json::parse(answer.out);
}

// The forward of a block is 24 T h h + 4 T s h + 91 T h operations on all ranks of a tensor-parallel group together, of
// which norms, sums and biases of whole rows are made on each: 20 T h once more for the second rank.
TEST(Simulate, RecomputesWholeBlocksOrTheirInnerAttention) {
  const Learner shardlings;
  const json off = simulated_with(shardlings, {}), full = simulated_with(shardlings, {"--recompute", "full"}),
             selective = simulated_with(shardlings, {"--recompute", "selective"});
  constexpr double kTokens = 16 * 2, kHidden = 64, kSequence = 16;
  constexpr double kForward = kTokens * kHidden * (24 * kHidden + 4 * kSequence + 91 + 20);
  constexpr double kCalls = 4 * 4 * 2;  // blocks, micro-batches, replicas
  EXPECT_EQ(full.at("flops").get<double>() - off.at("flops").get<double>(), kCalls * kForward);
  EXPECT_EQ(selective.at("flops").get<double>() - off.at("flops").get<double>(),
            kCalls * kTokens * kHidden * 4 * kSequence);
  EXPECT_LT(full.at("peak"), selective.at("peak"));
  EXPECT_LT(selective.at("peak"), off.at("peak"));
  EXPECT_GT(full.at("end"), selective.at("end"));
  EXPECT_EQ(shardlings({"simulate", "33", "--recompute", "half"}).status, 2);
  // Where calls take fixed times, backward takes those of both.
  const auto end = [&](const char* recompute) {
    const Answer answer = shardlings({"simulate", "33", "--solution", "--json", "--recompute", recompute, "--model",
                                      kSmall, "--micro-batches", "1", "--parallel", "tp=1"});
    return json::parse(answer.out).at("end").get<std::int64_t>();
  };
  EXPECT_EQ(end("full") - end("off"), 4 * 1'000'000);
}

TEST(Simulate, RunsBlocksAsASoftwareStackDoes) {
  const Learner shardlings;
  const json ours = simulated_with(shardlings, {"--stack", "ours"}), plain = simulated_with(shardlings, {});
  EXPECT_EQ(ours.at("end"), plain.at("end"));
  const json megatron = simulated_with(shardlings, {"--stack", "megatron-2022"});
  EXPECT_EQ(megatron.at("stack"), "megatron-2022");
  EXPECT_EQ(megatron.at("precision"), "mixed");
  const json whole = simulated_with(shardlings, {"--stack", "megatron-2022", "--no-sequence-parallel"});
  EXPECT_GT(whole.at("peak_by_kind").at("activation"), megatron.at("peak_by_kind").at("activation"));
  const Answer fixed = shardlings({"simulate", "33", "--solution", "--stack", "megatron-2021"});
  EXPECT_EQ(fixed.status, 2);
  EXPECT_THAT(fixed.err, HasSubstr("needs a cluster with speeds"));
  const Answer unknown = shardlings({"simulate", "33", "--solution", "--stack", "megatron", "--cluster", "dgx_a100"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there are: ours, megatron-2021"));
}

/// What the run says, but for how long it took and whether it was folded.
json counted(const Learner& shardlings, const std::vector<std::string>& arguments, bool is_folded) {
  const Answer answer = shardlings(arguments);
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  json run = json::parse(answer.out);
  EXPECT_EQ(run.at("folded"), is_folded);
  run.erase("folded");
  run.erase("seconds");
  return run;
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Its replicas are ranks, and 64 divides each layer: they do the same.
TEST(Simulate, FoldsReplicasThatAreEqual) {
  const Learner shardlings;
  const std::vector<std::string> run = {"simulate", "09",   "--solution", "--ranks", "64",
                                        "--model",  kSmall, "--cluster",  "dgx_a100"};
  EXPECT_EQ(counted(shardlings, with(run, {"--json", "--fold"}), true),
            counted(shardlings, with(run, {"--json"}), false));
  EXPECT_THAT(shardlings(with(run, {"--fold"})).out,
              HasSubstr("folded: 18 of 64 replicas were run, and stand for the others"));
  EXPECT_THAT(shardlings(with(run, {"--fold", "--svg", "some.svg"})).out,
              HasSubstr("not folded: some ranks leave a trace"));
}

// With ZeRO-1 one replica's part may have an operation more than another's: docs/simulate.md says how far that goes.
TEST(Simulate, FoldsReplicasOfAGridThatAreNearlyEqual) {
  const Learner shardlings;
  const std::vector<std::string> run = {"simulate", "33",         "--solution",      "--cluster",
                                        "dgx_a100", "--parallel", "tp=2,pp=2,dp=16", "--model",
                                        kSmall,     "--json"};
  const json whole = counted(shardlings, run, false), folded = counted(shardlings, with(run, {"--fold"}), true);
  EXPECT_EQ(folded.at("peak"), whole.at("peak"));
  EXPECT_NEAR(folded.at("flops").get<double>() / whole.at("flops").get<double>(), 1, 0.0001);
  EXPECT_NEAR(folded.at("end").get<double>() / whole.at("end").get<double>(), 1, 0.002);
}

// Parts of layers that 64 does not divide: then all are run, and the answer is that of the whole run.
TEST(Simulate, RunsReplicasThatAreNotEqual) {
  const Learner shardlings;
  const std::vector<std::string> run = {"simulate", "09",        "--solution", "--ranks",
                                        "64",       "--cluster", "dgx_a100",   "--fold"};
  EXPECT_THAT(shardlings(run).out, HasSubstr("not folded: ranks 8 and 16 have the same place in their replicas"));
  const std::vector<std::string> whole(run.begin(), run.end() - 1);
  EXPECT_EQ(counted(shardlings, with(run, {"--json"}), false), counted(shardlings, with(whole, {"--json"}), false));
  shardlings.blunder(kGrid, "wrong_group");
  const std::vector<std::string> wrong = {"simulate", "33", "--parallel", "tp=2,pp=2,dp=16", "--model", kSmall};
  const Answer plain = shardlings(wrong), folded = shardlings(with(wrong, {"--fold"}));
  EXPECT_EQ(folded.status, 1);
  EXPECT_EQ(folded.out, plain.out) << "a rank that fails does so with the same words";
}

// So many bytes more for each weight, of tables of the embedding two: as long, however many replicas divide the work of
// the program's own optimizer.
TEST(Simulate, UpdatesAllWeightsWhereTheStackDoesNotDivideThem) {
  const Learner shardlings;
  const std::string key = "optimizer_bytes = 60";
  std::string slow = read_whole_file(SHARDLINGS_SOURCE "/runtime/front/clock/stacks/megatron-2021.toml");
  ASSERT_NE(slow.find(key), std::string::npos);
  shardlings.folder().write("slow.toml", slow.replace(slow.find(key), key.size(), "optimizer_bytes = 600060"));
  const auto end = [&](const std::string& stack, const char* parallel) {
    const Answer answer = shardlings({"simulate", "33", "--solution", "--json", "--cluster", "dgx_a100", "--model",
                                      kSmall, "--stack", stack, "--parallel", parallel});
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
    return json::parse(answer.out).at("end").get<double>();
  };
  constexpr double kWeights = 2 * 128 * 64 + 16 * 64 + 2 * 64 + 4 * (12 * 64 * 64 + 13 * 64);
  const double least = 600'000 * kWeights / 2039;  // in nanoseconds, at the peak of 2039 GB/s
  const double alone = end("slow.toml", "dp=1") - end("megatron-2021", "dp=1");
  EXPECT_GT(alone, least);
  EXPECT_LT(alone, 1.5 * least);
  EXPECT_NEAR(end("slow.toml", "dp=4") - end("megatron-2021", "dp=4"), alone, 0.001 * alone);
}

constexpr const char* kSmallLlama =
    "blocks=llama,layers=4,hidden=64,heads=4,key_value_heads=2,wide=96,vocabulary=128,sequence=16,tied=0";

// Puzzle 33's own solution, on all of its axes, calls Llama's layers as it calls a GPT's: their products, forward once
// and backward twice, on all ranks together.
TEST(Simulate, RunsTheLayersOfLlama) {
  const Learner shardlings;
  for (const char* stack : {"ours", "torch-flash"}) {
    const json run = simulated_with(shardlings, {"--stack", stack}, kSmallLlama);
    constexpr double kTokens = 16 * 2, kH = 64, kK = 32, kW = 96, kS = 16, kV = 128;
    constexpr double kBlock = 2 * kTokens * (2 * kH * kH + 2 * kH * kK + 3 * kH * kW);
    constexpr double kAttention = 4 * kTokens * kS * kH, kHead = 2 * kTokens * kH * kV;
    const bool is_flash = std::string(stack) == "torch-flash";  // half of the scores; 2 products forward, 5 backward
    const double attention = is_flash ? 0.5 * 3.5 * kAttention : 3 * kAttention;
    constexpr double kCalls = 4 * 2;  // micro-batches, replicas
    const double products = kCalls * (4 * (3 * kBlock + attention) + 3 * kHead);
    EXPECT_GE(run.at("flops").get<double>(), products) << stack;
    EXPECT_LT(run.at("flops").get<double>(), 1.06 * products) << stack << ": loss and optimizer beside it";
    EXPECT_EQ(run.at("stack"), stack);
    EXPECT_GT(run.at("end").get<double>(), 0);
  }
  const Answer other = shardlings(
      {"simulate", "33", "--solution", "--model", kSmallLlama, "--stack", "megatron-2021", "--cluster", "dgx_a100"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("known for the blocks of a GPT alone"));
}

// What the run allocates is what the map of memory counts: weights, gradients and optimizer of all ranks.
TEST(Simulate, HasTheWeightsOfALlamaAndTheirStates) {
  const Learner shardlings;
  const auto peak = [&](const char* precision) {
    const Answer answer =
        shardlings({"simulate", "33", "--solution", "--json", "--cluster", "dgx_h100", "--precision", precision,
                    "--parallel", "tp=1", "--batch", "1", "--micro-batches", "1", "--model", kSmallLlama});
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
    return json::parse(answer.out).at("peak_by_kind");
  };
  constexpr std::int64_t kWeights = 2 * 128 * 64 + 64 + 4 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 96 * 64);
  EXPECT_EQ(peak("f32").at("parameter"), 4 * kWeights);
  EXPECT_EQ(peak("mixed").at("parameter"), 2 * kWeights);
  EXPECT_EQ(peak("mixed").at("gradient"), 2 * kWeights);
  EXPECT_EQ(peak("mixed").at("optimizer"), 12 * kWeights);
  EXPECT_EQ(peak("mixed-f32-grads").at("gradient"), 4 * kWeights);
  EXPECT_EQ(peak("mixed-f32-grads").at("optimizer"), 12 * kWeights);
}

TEST(Simulate, WritesASweepAsAPage) {
  const Learner shardlings;
  const Answer answer = shardlings({"simulate", "33", "--solution", "--ranks", "8", "--cluster", "dgx_a100", "--sweep",
                                    "tp=1..4,pp=1..2", "--page", "sweep.html"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("sweep.html"));
  const std::string page = shardlings.folder().read("sweep.html");
  EXPECT_THAT(page, AllOf(HasSubstr("tp \\ pp"), HasSubstr("fastest that fits"), HasSubstr("</svg>"),
                          HasSubstr("2 heads cannot be divided over 4 ranks")));
  EXPECT_THAT(page, testing::Not(HasSubstr("<script")));
  const Answer alone = shardlings({"simulate", "33", "--solution", "--page", "one.html"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("--page is for a sweep"));
}

// A rank that leaves a trace takes as long as one that does not.
TEST(Simulate, ShowsChosenRanks) {
  const Learner shardlings;
  for (const char* stack : {"ours", "megatron-2022"}) {
    const json none = simulated_with(shardlings, {"--stack", stack});
    const json some = simulated_with(shardlings, {"--stack", stack, "--ranks-shown", "0,2-3", "--svg", "some.svg",
                                                  "--trace", "some.json", "--export", "some.run"});
    EXPECT_EQ(some.at("end"), none.at("end")) << stack;
    EXPECT_EQ(shardlings({"view", "--run", "some.run", "--out", "some.html"}).status, 0);
  }
  EXPECT_EQ(shardlings({"simulate", "33", "--solution", "--svg", "-", "--ranks-shown", "8"}).status, 2);
}

TEST(Simulate, SweepsWhatIsRecomputed) {
  const Learner shardlings;
  const Answer tables = shardlings({"simulate", "33", "--solution", "--ranks", "8", "--sweep",
                                    "tp=1..2,pp=1..2,recompute=off,full", "--global-batch", "16", "--batch", "1"});
  EXPECT_EQ(tables.status, 0) << tables.err;
  EXPECT_THAT(tables.out,
              AllOf(HasSubstr("recompute off\n"), HasSubstr("recompute full\n"), HasSubstr("fastest that fits: ")));
}

TEST(Simulate, SaysThatThereAreNoNumbersToRead) {
  const Learner shardlings;
  shardlings.solve("05_mixed_precision");
  const Answer answer = shardlings({"simulate", "05"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.out, HasSubstr("a simulation computes no numbers"));
}

}  // namespace
}  // namespace shardlings::cli
