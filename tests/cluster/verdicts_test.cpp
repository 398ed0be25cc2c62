// A verdict does not depend on where ranks run: over MPI it is, word for word, that of threads, with every number and
// every event of the traces. Of the solutions, and of wrong ones, among them those that are misuse or crash.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "cluster/mpi_here.h"
#include "grading/grade.h"
#include "grading/verdict/verdict.h"
#include "support/mutants.h"
#include "world/mpi_surroundings.h"

namespace shardlings::cluster {
namespace {

namespace fs = std::filesystem;
using grading::verdict::Verdict;
using world::Backend;

constexpr const char* kSolutions = SHARDLINGS_SOURCE_FOLDER "/solutions";

/// Of a solution no mutant is named.
struct Program {
  std::string puzzle, mutant;
};

/// "09,13": those whose numbers are listed; "": none.
bool is_listed(const char* variable, const std::string& puzzle) {
  const char* list = std::getenv(variable);
  return list != nullptr && (std::string(list) + ",").find(puzzle.substr(0, 2) + ",") != std::string::npos;
}

/// A few of each kind; and of the puzzles in SHARDLINGS_MPI_PUZZLES the solution, of those in SHARDLINGS_MPI_MUTANTS
/// every mutant.
std::vector<Program> programs() {
  std::vector<Program> list = {{"09_data_parallel", ""}, {"29_parameter_server", ""}, {"33_three_d_parallel", ""}};
  for (const auto& entry : fs::directory_iterator(kSolutions)) {
    const std::string puzzle = entry.path().filename().string();
    if (is_listed("SHARDLINGS_MPI_PUZZLES", puzzle)) list.push_back({puzzle, ""});
    const bool all = is_listed("SHARDLINGS_MPI_MUTANTS", puzzle);
    if (!all && puzzle != "06_ring_all_reduce") continue;
    for (const std::string& mutant : support::names_of_mutants(kSolutions, puzzle)) list.push_back({puzzle, mutant});
  }
  return list;
}

class OnThreadsAndMpi : public testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    if (const std::string missing = mpi_missing(); !missing.empty()) GTEST_SKIP() << missing;
    fs::create_directories(folder_);
    const auto& [puzzle, mutant] = GetParam();
    write_file_atomically(source_, mutant.empty()
                                       ? read_whole_file(std::string(kSolutions) + "/" + puzzle + "/solution.cpp")
                                       : support::text_of_mutant(kSolutions, puzzle, mutant));
  }
  void TearDown() override { fs::remove_all(folder_); }

  grading::GradeOptions options() const {
    grading::GradeOptions options;
    options.puzzle_folder = SHARDLINGS_SOURCE_FOLDER "/puzzles/" + GetParam().puzzle;
    options.source = source_;
    options.build_folder = SHARDLINGS_BUILD_FOLDER;
    options.use_cache = false;
    return options;
  }

  Verdict on_mpi() const {
    grading::GradeOptions on_mpi = options();
    const grading::run::Machine machine = grading::run::examine_machine(SHARDLINGS_PROBE);
    on_mpi.backend = Backend::mpi;
    on_mpi.mpi = to_text(grading::run::plan_start(machine.mpi, {.processes = kProcesses}, kProcesses, {}));
    return grading::grade_puzzle(on_mpi);
  }

  /// Of a crash it depends on the moment, on threads too, where the other ranks were and which of them crash besides.
  static void leave_out_the_moment(grading::verdict::CaseVerdict& kase) {
    constexpr const char* kMoment = "At that moment:";
    if (kase.ending == wire::Ending::crashed) kase.stdout_text.clear();
    kase.explanation.resize(std::min(kase.explanation.find(kMoment), kase.explanation.size()));
    for (auto& check : kase.checks) {
      check.details.erase(std::find(check.details.begin(), check.details.end(), kMoment), check.details.end());
    }
  }

  /// All that must be the same.
  std::string text_of(Verdict verdict) const {
    verdict.seconds = 0;
    verdict.backend.clear();
    for (auto& kase : verdict.cases) {
      kase.seconds = 0;
      kase.reproduce.clear();  // it says over what
      leave_out_the_moment(kase);
    }
    return to_json(verdict);
  }
  std::string traces_of(const Verdict& verdict) const {
    const std::string path = (folder_ / "traces.bin").string();
    write_traces(verdict, path);
    return read_whole_file(path);
  }

  static constexpr int kProcesses = 3;  // so that some have several ranks, and some none
  const fs::path folder_ = fs::path(testing::TempDir()) / ("mpi_" + std::to_string(getpid()));
  const std::string source_ = (folder_ / "puzzle.cpp").string();
};

TEST_P(OnThreadsAndMpi, TheVerdictIsTheSame) {
  const Verdict threads = grading::grade_puzzle(options()), mpi = on_mpi();
  ASSERT_EQ(threads.status, grading::verdict::Status::graded) << threads.build_log << threads.reason;
  EXPECT_EQ(text_of(mpi), text_of(threads));
  EXPECT_TRUE(traces_of(mpi) == traces_of(threads)) << "the traces differ";
}

INSTANTIATE_TEST_SUITE_P(Programs, OnThreadsAndMpi, testing::ValuesIn(programs()), [](const auto& param) {
  return "puzzle_" + param.param.puzzle + (param.param.mutant.empty() ? "" : "_" + param.param.mutant);
});

}  // namespace
}  // namespace shardlings::cluster
