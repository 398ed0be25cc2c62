#include "report/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace shardlings::testing {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(SHARDLINGS_GOLDEN_FOLDER) + "/" + name;
  if (std::getenv("SHARDLINGS_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing; SHARDLINGS_UPDATE_GOLDEN=1 writes it";
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), text) << "differs from " << path;
}

}  // namespace shardlings::testing
