/// \file
/// Cases of the tests' own puzzle, 50_sum.
#pragma once

#include <string>

#include "case/case.h"
#include "grading/build/toolchain.h"

namespace shardlings::grading {

/// Two ranks with so many numbers each, to be summed up.
inline cases::Case case_of_sum(const std::string& name, int count) {
  cases::Case kase;
  kase.puzzle = "50_sum";
  kase.name = name;
  kase.ranks = 2;
  kase.model.layers = 0;
  kase.cluster = front::load_cluster(build::load_toolchain(SHARDLINGS_TEST_BUILD).clusters, "classroom");
  kase.numbers["count"] = count;
  return kase;
}

}  // namespace shardlings::grading
