// The command line between the command and a grader, on both its sides.
#include "grading/judge/grader_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading::judge {
namespace {

using testing::HasSubstr;

GraderOptions parsed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "grader_09");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  return parse_grader_options(static_cast<int>(pointers.size()), pointers.data());
}

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    parsed(arguments);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

GraderOptions all_that_there_is() {
  GraderOptions options;
  options.submission = "program";
  options.jail = "jail";
  options.least_tier = 1;
  options.source = "mine.cpp";
  options.manifest = "puzzles/09";
  options.clusters = "clusters";
  options.verdict = "verdict.json";
  options.traces = "traces";
  options.case_names = {"2 ranks", "4 ranks"};
  options.seed = ~std::uint64_t{0};
  options.set = {"bucket=300", "layers=2"};
  options.secret_on_input = true;
  options.backend = world::Backend::mpi;
  options.mpi = "open_mpi 4 1";
  options.wait_for_submission = true;
  return options;
}

TEST(GraderOptions, ArriveAsTheyWereSent) {
  const GraderOptions sent = all_that_there_is();
  const GraderOptions got = parsed(to_arguments(sent));
  EXPECT_EQ(got.submission, sent.submission);
  EXPECT_EQ(got.jail, sent.jail);
  EXPECT_EQ(got.least_tier, 1);
  EXPECT_EQ(got.source, sent.source);
  EXPECT_EQ(got.manifest, sent.manifest);
  EXPECT_EQ(got.clusters, sent.clusters);
  EXPECT_EQ(got.verdict, sent.verdict);
  EXPECT_EQ(got.traces, sent.traces);
  EXPECT_EQ(got.case_names, sent.case_names);
  EXPECT_EQ(got.seed, sent.seed);
  EXPECT_EQ(got.set, sent.set);
  EXPECT_TRUE(got.secret_on_input);
  EXPECT_EQ(got.backend, sent.backend);
  EXPECT_EQ(got.mpi, sent.mpi);
  EXPECT_TRUE(got.wait_for_submission);
  EXPECT_EQ(got.predictions, std::nullopt);
}

TEST(GraderOptions, SayWhichPredictionsAreWanted) {
  for (const verdict::When when : {verdict::When::before, verdict::When::after}) {
    GraderOptions options = all_that_there_is();
    options.predictions = when;
    EXPECT_EQ(parsed(to_arguments(options)).predictions, when);
  }
}

TEST(GraderOptions, AreAsDeclaredWhereNothingIsSaid) {
  const GraderOptions got = parsed({"--manifest", "m", "--clusters", "c"});
  EXPECT_EQ(got.least_tier, 0);
  EXPECT_EQ(got.seed, std::nullopt);
  EXPECT_EQ(got.backend, world::Backend::cpu);
  EXPECT_FALSE(got.secret_on_input || got.wait_for_submission);
}

TEST(GraderOptions, AreRefusedWhereTheyAreWrong) {
  const std::vector<std::string> needed = {"--manifest", "m", "--clusters", "c"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), needed.begin(), needed.end());
    return refusal(more);
  };
  EXPECT_EQ(with({"--colour", "red"}), "unknown option --colour");
  EXPECT_EQ(with({"--verdict"}), "--verdict needs a value");
  EXPECT_EQ(with({"--seed", "-1"}), "--seed -1: not a whole number");
  EXPECT_EQ(with({"--backend", "abacus"}), "--backend abacus: there is none of that name");
  EXPECT_THAT(refusal({"--manifest", "m"}), HasSubstr("usage: grader_<id>"));
}

}  // namespace
}  // namespace shardlings::grading::judge
