// The solution of puzzle 35 on real files: killed with SIGKILL at random moments, and started again.

#define SHARDLINGS_BESIDE_LEARNER  // what stands beside a learner's code: add_gradient, train_elastic
#include "puzzles/35_checkpoint_elastic/harness.cpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "back/store/store.h"
#include "world/world.h"

namespace shardlings {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

cases::Case case_of(int ranks, bool exact) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.steps = 24;
  kase.micro_batches = 10;
  kase.seed = 35;
  kase.model.layers = 3;
  kase.model.hidden = 12;
  kase.model.outputs = 7;
  kase.model.sequence = 4;
  kase.model.lr = exact ? 0.5F : 0.02F;
  if (!exact) kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.numbers = {{"replicas", ranks}, {"step_batch", 8}, {"every", 2}, {"exact", exact ? 1 : 0}};
  return kase;
}

/// What rank 0 has in the end: weights, and moments if there are any.
std::vector<float> trained_on_files(const cases::Case& kase, const std::string& folder) {
  world::Options options;
  options.ranks = kase.ranks;
  options.make_store = [&] { return back::make_files_store(folder); };
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    Harness h(rank, kase);
    const Model model = h.model();
    TrainState state = h.state();
    const Batch batch = h.batch({.which = 0});
    Tensor rows;
    if (is_exact(kase)) {
      load_exact_weights(h, state);
      rows = exact_rows(h);
    }
    train_elastic(rank, model, plan_of(kase), state, batch, rows);
    for (const View tensor : tensors_of(state)) h.put("tensor", tensor);
  });
  std::vector<float> all;
  if (report.failure) return all;
  for (const front::Published& of : report.ranks[0].published) {
    all.insert(all.end(), of.values.begin(), of.values.end());
  }
  return all;
}

/// In a process of its own, which writes its result beside the folder when it has one. Returns its number.
pid_t start(const cases::Case& kase, const std::string& folder) {
  const pid_t child = fork();
  if (child != 0) return child;
  const std::vector<float> all = trained_on_files(kase, folder);
  std::ofstream file(folder + ".result", std::ios::binary);
  file.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(float)));
  file.close();
  _exit(all.empty() || !file ? 1 : 0);
}

/// Whether it came to its end.
bool waited_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << "status " << status;
  return WIFEXITED(status);
}

std::vector<float> result_of(const std::string& folder) {
  std::vector<float> all(fs::file_size(folder + ".result") / sizeof(float));
  std::ifstream file(folder + ".result", std::ios::binary);
  file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(float)));
  return all;
}

class KilledRuns : public testing::Test {
 protected:
  KilledRuns() : root_(fs::temp_directory_path() / ("killed_runs_" + std::to_string(getpid()))) {
    fs::create_directories(root_);
  }
  ~KilledRuns() override { fs::remove_all(root_); }
  std::string folder(const std::string& name) const { return (root_ / name).string(); }

  /// Nobody disturbs it. Also says how long that took.
  std::vector<float> undisturbed(const cases::Case& kase) {
    const auto begin = Clock::now();
    EXPECT_TRUE(waited_for(start(kase, folder("undisturbed"))));
    took_ = Clock::now() - begin;
    return result_of(folder("undisturbed"));
  }

  /// Kills so many times, at any moment of a run, and lets each training that it has killed come to its end.
  /// ranks_of(i) train in process i.
  template <class Ranks>
  void kill_and_compare(int kills, const std::vector<float>& right, bool exact, Ranks ranks_of) {
    constexpr int kPatience = 20;  // trainings that come to their end, for each kill that is still wanted
    int killed = 0, resumed = 0;
    for (int training = 0; killed < kills; ++training) {
      ASSERT_LT(training, kPatience * kills) << "runs end before they are killed: only " << killed << " have been";
      const std::string here = folder("training_" + std::to_string(training));
      for (bool done = false; !done;) {
        if (fs::exists(fs::path(here) / "newest")) ++resumed;
        const pid_t child = start(case_of(ranks_of(killed + training), exact), here);
        const double moment = std::uniform_real_distribution<double>(0, 1)(random_);
        std::this_thread::sleep_for(std::chrono::duration_cast<std::chrono::microseconds>(moment * took_));
        kill(child, SIGKILL);
        done = waited_for(child);
        killed += done ? 0 : 1;
      }
      EXPECT_EQ(result_of(here), right) << "training " << training << ", after " << killed << " kills in all";
    }
    EXPECT_GT(resumed, 0) << "no process found a checkpoint";
  }

  fs::path root_;
  std::mt19937 random_{35};
  Clock::duration took_{};
};

TEST_F(KilledRuns, GoOnBitByBitWithWhateverNumberOfRanks) {
  const std::vector<float> right = undisturbed(case_of(3, true));
  ASSERT_FALSE(right.empty());
  kill_and_compare(15, right, true, [](int process) { return 1 + process % 5; });
}

TEST_F(KilledRuns, GoOnBitByBitWithAdam) {
  const std::vector<float> right = undisturbed(case_of(3, false));
  ASSERT_FALSE(right.empty());
  kill_and_compare(15, right, false, [](int) { return 3; });
}

}  // namespace
}  // namespace shardlings
