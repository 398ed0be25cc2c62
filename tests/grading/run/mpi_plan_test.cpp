// How many processes a run gets over MPI.
#include "grading/run/mpi_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const world::MpiSurroundings kNobody;
const world::MpiSurroundings kOneOfFour{.starter = "mpirun (Open MPI)", .processes = 4};
const world::MpiSurroundings kBatchOfTwo{.reserved = 2};

std::string refused(const MpiWish& wish, int ranks, int slots, const world::MpiSurroundings& around) {
  try {
    processes_for(wish, ranks, slots, around);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(MpiPlan, AProcessForEachRank) {
  EXPECT_EQ(processes_for({}, 4, 0, kNobody), 4);
  EXPECT_EQ(processes_for({}, 64, 0, kNobody), kMostProcessesHere);
}

TEST(MpiPlan, TheWishComesFirst) {
  EXPECT_EQ(processes_for({.processes = 2}, 8, 4, kOneOfFour), 2);
  EXPECT_EQ(processes_for({.ranks_per_process = 3}, 8, 4, kOneOfFour), 3);
}

TEST(MpiPlan, NoMoreThanRanks) {
  EXPECT_EQ(processes_for({.processes = 8}, 3, 0, kNobody), 3);
  EXPECT_EQ(processes_for({}, 2, 16, kNobody), 2);
}

TEST(MpiPlan, WhatStartedUsAndWhatThereIsDecide) {
  EXPECT_EQ(processes_for({}, 8, 0, kOneOfFour), 4);
  EXPECT_EQ(processes_for({}, 8, 0, kBatchOfTwo), 2);
  EXPECT_EQ(processes_for({}, 8, 6, kNobody), 6);
}

TEST(MpiPlan, TooFewSlotsAreToldWithWhatToDo) {
  EXPECT_THAT(
      refused({.processes = 4}, 4, 2, kNobody),
      AllOf(HasSubstr("The hosts have 2 slots, and 4 processes were asked for."), HasSubstr("--ranks-per-process 2")));
  EXPECT_THAT(
      refused({.processes = 8}, 8, 0, kBatchOfTwo),
      AllOf(HasSubstr("The batch job has 2 tasks"), HasSubstr("--ntasks=8"), HasSubstr("--ranks-per-process 4")));
  EXPECT_EQ(refused({.processes = 4}, 4, 4, kNobody), "");
}

}  // namespace
}  // namespace shardlings::grading::run
