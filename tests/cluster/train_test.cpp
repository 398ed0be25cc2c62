// A training over several processes is that of threads, bit for bit, and one goes on where the other has stopped.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "cli/error.h"
#include "cli/learner.h"
#include "cluster/mpi_here.h"
#include "cluster/trainable.h"

namespace shardlings::cluster {
namespace {

using Words = std::vector<std::string>;

class TrainOverMpi : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = mpi_missing(); !missing.empty()) GTEST_SKIP() << missing;
    make_trainable(shardlings_);
  }
  /// Eight ranks; what comes of it is in the checkpoint, weights and moments.
  void train(const std::string& checkpoint, int steps, const Words& more) {
    Words words = {"train", "--tp", "2", "--pp", "2", "--dp", "2", "--layers", "2", "--hidden", "16", "--heads", "2"};
    words.insert(words.end(), {"--sequence", "16", "--batch", "8", "--steps", std::to_string(steps)});
    words.insert(words.end(), {"--checkpoint", path_of(checkpoint)});
    words.insert(words.end(), more.begin(), more.end());
    const cli::Answer answer = shardlings_(words);
    ASSERT_EQ(answer.status, cli::kPassed) << answer.out << answer.err;
  }
  std::string path_of(const std::string& name) const { return shardlings_.folder().path() + "/" + name; }

  cli::Learner shardlings_;
};

TEST_F(TrainOverMpi, GivesTheSameNumbers) {
  train("threads", 4, {});
  train("mpi", 4, {"--backend", "mpi", "-n", "3"});
  EXPECT_TRUE(read_whole_file(path_of("mpi")) == read_whole_file(path_of("threads")));
}

TEST_F(TrainOverMpi, GoesOnFromACheckpoint) {
  train("threads", 4, {});
  train("both", 2, {});
  train("both", 4, {"--backend", "mpi", "-n", "2"});
  EXPECT_TRUE(read_whole_file(path_of("both")) == read_whole_file(path_of("threads")));
}

}  // namespace
}  // namespace shardlings::cluster
