// Who has started this process, from the variables that launchers leave.
#include "world/mpi_surroundings.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace shardlings::world {
namespace {

MpiSurroundings surroundings_of(const std::map<std::string, std::string>& variables) {
  return mpi_surroundings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(MpiSurroundings, NobodyHasStartedUs) {
  EXPECT_FALSE(surroundings_of({}).is_one_of_many());
  EXPECT_EQ(surroundings_of({}).reserved, 0);
}

TEST(MpiSurroundings, EachLauncherLeavesItsVariables) {
  const MpiSurroundings open_mpi = surroundings_of({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}});
  EXPECT_TRUE(open_mpi.is_one_of_many());
  EXPECT_EQ(open_mpi.starter, "mpirun (Open MPI)");
  EXPECT_EQ(open_mpi.processes, 4);
  EXPECT_EQ(open_mpi.number, 3);
  const MpiSurroundings hydra = surroundings_of({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}});
  EXPECT_EQ(hydra.processes, 2);
  EXPECT_EQ(hydra.number, 1);
  const MpiSurroundings srun =
      surroundings_of({{"SLURM_STEP_NUM_TASKS", "8"}, {"PMIX_RANK", "5"}, {"SLURM_JOB_ID", "1"}});
  EXPECT_EQ(srun.processes, 8);
  EXPECT_EQ(srun.number, 5);
}

TEST(MpiSurroundings, ABatchScriptIsNotOneOfMany) {
  const MpiSurroundings batch = surroundings_of({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}});
  EXPECT_FALSE(batch.is_one_of_many());
  EXPECT_EQ(batch.reserved, 8);
}

TEST(MpiSurroundings, OneProcessIsNotMany) {
  EXPECT_FALSE(surroundings_of({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}).is_one_of_many());
}

}  // namespace
}  // namespace shardlings::world
