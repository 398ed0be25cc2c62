// What a learner's compiler has to read on every save.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "architecture/tree.h"

namespace shardlings::architecture {
namespace {

std::string preprocessed() {
  const ProgramRun run = compile("-E -x c++ '" + project_folder() + "/runtime/include/shardlings/puzzle.h'");
  EXPECT_EQ(run.status, 0) << run.output;
  return run.output;
}

TEST(PuzzleHeader, HasFewLines) {
  const std::string text = preprocessed();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 25'000);
}

TEST(PuzzleHeader, ReadsNoHeavyHeader) {
  static const std::regex kMarker("^# [0-9]+ \"[^\"]*/c\\+\\+/[^\"/]*/([a-z_]+)\"");
  const std::set<std::string> heavy = {"memory",    "functional", "chrono",     "thread", "mutex",  "iostream",
                                       "ostream",   "string",     "sstream",    "regex",  "map",    "unordered_map",
                                       "algorithm", "future",     "filesystem", "atomic", "format", "variant"};
  std::set<std::string> found;
  for (const std::string& line : lines_of(preprocessed())) {
    std::smatch match;
    if (std::regex_search(line, match, kMarker) && heavy.count(match[1]) > 0) found.insert(match[1]);
  }
  EXPECT_TRUE(found.empty()) << "puzzle.h reads <" << *found.begin() << "> and " << found.size() - 1 << " others";
}

}  // namespace
}  // namespace shardlings::architecture
