// The option --backend, from the command line to the verdict, on fake GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/learner.h"
#include "gpu/alike.h"
#include "grading/verdict/kept_runs.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPuzzle = "09_data_parallel";

const std::vector<std::string> kFakeGpus = {"SHARDLINGS_CUDA_LIBRARY=" SHARDLINGS_FAKE_GPU_LIBRARY};

std::vector<std::string> with_gpus(int number) {
  std::vector<std::string> variables = kFakeGpus;
  variables.push_back("SHARDLINGS_FAKE_GPUS=" + std::to_string(number));
  return variables;
}

grading::verdict::Verdict kept(const Learner& shardlings) {
  return *grading::verdict::load_run(shardlings.folder() / "build", kPuzzle, grading::verdict::KeptRun::last);
}

TEST(Backend, IsTheCpuUnlessAskedFor) {
  const Learner shardlings;
  shardlings.solve(kPuzzle);
  const Answer answer = shardlings({"run", "09"}, kFakeGpus);
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out + answer.err, Not(HasSubstr("auto")));
  EXPECT_EQ(kept(shardlings).backend, "cpu");
}

// The heart of the matter: the same file, the same verdict, the same counters and virtual times.
TEST(Backend, GivesTheSameRunOnAll) {
  const Learner shardlings;
  shardlings.solve(kPuzzle);
  ASSERT_EQ(shardlings({"run", "09"}).status, 0);
  const grading::verdict::Verdict reference = kept(shardlings);
  for (const std::string backend : {"cuda", "nccl"}) {
    const Answer answer = shardlings({"run", "09", "--backend", backend}, kFakeGpus);
    EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
    const grading::verdict::Verdict run = kept(shardlings);
    EXPECT_EQ(run.backend, backend);
    EXPECT_THAT(gpu_tests::differences(reference, run), testing::IsEmpty());
  }
}

TEST(Backend, CatchesMistakesOnAll) {
  const Learner shardlings;
  shardlings.blunder(kPuzzle, "not_reduced");
  const json on_cpu = json::parse(shardlings({"run", "09", "--json"}).out);
  const json on_gpu = json::parse(shardlings({"run", "09", "--json", "--backend", "cuda"}, kFakeGpus).out);
  EXPECT_EQ(on_gpu["diagnoses"], on_cpu["diagnoses"]);
  EXPECT_EQ(on_gpu["points"], on_cpu["points"]);
  EXPECT_EQ(on_gpu["backend"], "cuda");
}

TEST(Backend, RepeatsACaseWhereItFailed) {
  const Learner shardlings;
  shardlings.blunder(kPuzzle, "not_reduced");
  const json verdict = json::parse(shardlings({"run", "09", "--json", "--backend", "cuda"}, kFakeGpus).out);
  EXPECT_THAT(verdict["cases"][0]["reproduce"].get<std::string>(), HasSubstr(" --backend cuda"));
}

TEST(Backend, AutoSaysWhatItChose) {
  const Learner shardlings;
  shardlings.solve(kPuzzle);
  const Answer without = shardlings({"run", "09", "--backend", "auto"}, with_gpus(0));
  EXPECT_EQ(without.status, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("auto chose cpu: there is no NVIDIA driver: install it."));
  EXPECT_THAT(shardlings({"run", "09", "--backend", "auto"}, with_gpus(1)).err,
              HasSubstr("auto chose cuda: there is 1"));
  EXPECT_THAT(shardlings({"run", "09", "--backend", "auto"}, with_gpus(64)).err, HasSubstr("auto chose nccl: 64 GPUs"));
}

TEST(Backend, ThatIsMissingIsWrongUse) {
  const Learner shardlings;
  for (const char* verb : {"run", "watch", "verify"}) {
    const Answer answer = shardlings({verb, "09", "--backend", "cuda"}, with_gpus(0));
    EXPECT_EQ(answer.status, 2) << verb;
    EXPECT_THAT(answer.err, AllOf(HasSubstr("there is no NVIDIA driver: install it."), HasSubstr("doctor"))) << verb;
  }
  const Answer too_few = shardlings({"run", "09", "--backend", "nccl"}, with_gpus(2));
  EXPECT_EQ(too_few.status, 2);
  EXPECT_THAT(too_few.err, AllOf(HasSubstr("It takes a GPU for each rank"), HasSubstr("2 GPUs (fake GPU)")));
  const Answer unknown = shardlings({"run", "09", "--backend", "tpu"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("There is no backend \"tpu\": it is cpu, cuda, nccl, mpi or auto."));
}

TEST(Backend, IsTakenFromTheEnvironment) {
  const Learner shardlings;
  shardlings.solve(kPuzzle);
  std::vector<std::string> variables = with_gpus(1);
  variables.push_back("SHARDLINGS_BACKEND=cuda");
  EXPECT_EQ(shardlings({"run", "09"}, variables).status, 0);
  EXPECT_EQ(kept(shardlings).backend, "cuda");
  EXPECT_EQ(shardlings({"run", "09", "--backend", "cpu"}, variables).status, 0);
  EXPECT_EQ(kept(shardlings).backend, "cpu") << "the option wins";
}

TEST(Backend, IsShownByTheDoctor) {
  const Learner shardlings;
  const auto finding = [&](const std::string& name, const std::vector<std::string>& variables) {
    const json answer = json::parse(shardlings({"doctor", "--json"}, variables).out);
    for (const json& one : answer["findings"]) {
      if (one["name"] == name) return one;
    }
    return json();
  };
  // MPI is found or not, whatever GPUs there are.
  EXPECT_THAT(finding("backends", with_gpus(2))["version"].get<std::string>(),
              AnyOf("cpu, cuda, nccl (up to 2 ranks)", "cpu, cuda, nccl (up to 2 ranks), mpi"));
  EXPECT_THAT(finding("backends", with_gpus(0))["version"].get<std::string>(), AnyOf("cpu", "cpu, mpi"));
  EXPECT_EQ(finding("GPU", with_gpus(2))["version"], "2 x fake GPU, 16 GiB, driver for CUDA 12.0");
  EXPECT_EQ(finding("GPU", with_gpus(0))["fix"], "there is no NVIDIA driver: install it");
}

}  // namespace
}  // namespace shardlings::cli
