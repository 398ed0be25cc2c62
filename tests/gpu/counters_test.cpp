// Counters and virtual time of every solution are the same on all backends. Runs where there is a GPU, or on fake ones
// (SHARDLINGS_CUDA_LIBRARY); says why it is skipped elsewhere.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "case/manifest.h"
#include "gpu/alike.h"
#include "grading/build/build_submission.h"
#include "grading/build/toolchain.h"
#include "grading/run/backend_choice.h"
#include "grading/run/supervisor.h"

namespace shardlings::gpu_tests {
namespace {

namespace fs = std::filesystem;
using cases::Case;
using grading::verdict::CaseVerdict;
using grading::verdict::Verdict;
using world::Backend;
using world::Machine;

struct Subject {
  std::string puzzle;
  Backend backend;
};

void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.puzzle << " on " << name_of(subject.backend);
}

std::vector<Subject> subjects() {
  std::vector<Subject> list;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(SHARDLINGS_SOURCE_FOLDER "/solutions", none)) {
    for (const Backend backend : {Backend::cuda, Backend::nccl}) {
      list.push_back({entry.path().filename().string(), backend});
    }
  }
  return list;
}

const Machine& machine(const grading::build::Toolchain& toolchain) {
  static const Machine examined = grading::run::examine_machine(toolchain.gpu_probe);
  return examined;
}

/// Why these cases cannot run; empty if they can.
std::string missing(Backend backend, const Machine& on, const std::vector<Case>& cases) {
  if (cases.empty()) return fmt::format("every case has more ranks than there are GPUs ({})", on.gpus.size());
  try {
    grading::run::choose_backend(backend, on, cases);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

/// The cases that have a GPU for each rank, where that is needed.
std::vector<Case> cases_of(const std::string& puzzle, const grading::build::Toolchain& toolchain, Backend backend) {
  std::vector<Case> cases = cases::load_manifest(puzzle, toolchain.clusters).cases;
  const std::size_t gpus = machine(toolchain).gpus.size();
  if (gpus > 0 && capabilities_of(backend).gpu_per_rank) {
    std::erase_if(cases, [&](const Case& kase) { return static_cast<std::size_t>(kase.ranks) > gpus; });
  }
  return cases;
}

Verdict run(const std::string& program, const std::vector<Case>& cases, Backend backend) {
  Verdict verdict;
  for (const Case& kase : cases) {
    const wire::Result result = run_case(program, kase, grading::run::default_limits(kase.ranks, backend), backend);
    EXPECT_EQ(result.ending, wire::Ending::finished) << kase.name << ": " << result.explanation;
    CaseVerdict& of = verdict.cases.emplace_back();
    of.kase = kase;
    of.ending = result.ending;
    for (const auto& rank : result.report.ranks) {
      of.counters.push_back(rank.counters);
      of.traces.push_back(rank.trace);
    }
  }
  return verdict;
}

class Counters : public testing::TestWithParam<Subject> {};

TEST_P(Counters, AreTheSameAsOnTheCpu) {
  const auto& [id, backend] = GetParam();
  if (!fs::exists(SHARDLINGS_BUILD_FOLDER "/toolchain.json")) {
    GTEST_SKIP()
        << "needs the folder of the build, where solutions are built: of a package, gpu_campaign compares them";
  }
  const grading::build::Toolchain toolchain = grading::build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const std::string puzzle = std::string(SHARDLINGS_SOURCE_FOLDER "/puzzles/") + id;
  const std::vector<Case> cases = cases_of(puzzle, toolchain, backend);
  if (const std::string reason = missing(backend, machine(toolchain), cases); !reason.empty()) GTEST_SKIP() << reason;
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("counters_{}_{}", id, name_of(backend));
  fs::create_directories(folder);
  const auto built =
      build_submission(toolchain, id, std::string(SHARDLINGS_SOURCE_FOLDER "/solutions/") + id + "/solution.cpp",
                       puzzle + "/harness.cpp", folder.string());
  ASSERT_TRUE(built.built) << built.log;
  const Verdict reference = run(built.program, cases, Backend::cpu);
  EXPECT_THAT(differences(reference, run(built.program, cases, backend)), testing::IsEmpty());
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Solutions, Counters, testing::ValuesIn(subjects()), [](const auto& param) {
  return "puzzle_" + param.param.puzzle + "_on_" + name_of(param.param.backend);
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Counters);  // a package has no sources

// The comparison itself must be able to fail.
TEST(Alike, SeesWhatDiffers) {
  Verdict one;
  CaseVerdict& kase = one.cases.emplace_back();
  kase.kase.name = "a case";
  kase.counters.resize(2);
  kase.traces.resize(2);
  kase.traces[1].names = {"add"};
  kase.traces[1].events.resize(1);
  EXPECT_THAT(differences(one, one), testing::IsEmpty());
  Verdict counted = one;
  ++counted.cases[0].counters[1].operations;
  EXPECT_THAT(differences(one, counted), testing::ElementsAre(testing::HasSubstr("a case, rank 1: counters /")));
  Verdict timed = one;
  timed.cases[0].traces[1].events[0].end = Nanos(1);
  EXPECT_THAT(differences(one, timed), testing::ElementsAre(testing::HasSubstr("a case, rank 1: event 0:")));
  Verdict measured = one;
  measured.cases[0].traces[1].events[0].measured_end = Nanos(7);
  EXPECT_THAT(differences(one, measured), testing::IsEmpty()) << "no two runs take equally long";
  Verdict held = one;
  held.cases[0].traces[0].memory.resize(1);
  EXPECT_THAT(differences(one, held), testing::ElementsAre(testing::HasSubstr("memory")));
  Verdict shorter = one;
  shorter.cases.clear();
  EXPECT_EQ(differences(one, shorter).size(), 1U);
}

}  // namespace
}  // namespace shardlings::gpu_tests
