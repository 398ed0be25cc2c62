// What mutexes guard is touched by their holders alone: clang proves it from the annotations of base/mutex.h. The files
// that use them are given to it here, since the project is mostly compiled by others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "architecture/tree.h"

namespace shardlings::architecture {
namespace {

using testing::HasSubstr;

/// "front/group/quiescence.h" and all others that lead to base/mutex.h.
std::set<std::string> headers_with_mutexes() {
  const std::vector<Source> headers = sources("runtime", {".h"});
  const std::size_t root = std::string("runtime/").size();
  std::set<std::string> found = {"base/mutex.h"};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const Source& header : headers) {
      for (const Include& include : includes_of(header.text)) {
        if (found.count(include.name) > 0) found.insert(header.path.substr(root));
      }
    }
  }
  return found;
}

std::vector<std::string> files_with_mutexes() {
  const std::set<std::string> headers = headers_with_mutexes();
  std::vector<std::string> files;
  for (const Source& file : sources("runtime", {".cpp"})) {
    const std::vector<Include> includes = includes_of(file.text);
    if (std::any_of(includes.begin(), includes.end(), [&](const Include& i) { return headers.count(i.name) > 0; })) {
      files.push_back(project_folder() + "/" + file.path);
    }
  }
  return files;
}

ProgramRun check(const std::string& file) {
  const std::string runtime = project_folder() + "/runtime";
  const std::string cuda = project_folder() + "/tests/back/kernels/cuda/emulation";  // its headers, for those without
  return run(std::string(SHARDLINGS_CLANG) + " -std=c++20 -I'" + runtime + "' -I'" + runtime + "/include' -I'" + cuda +
             "' -fsyntax-only -Wthread-safety -Werror=thread-safety-analysis '" + file + "'");
}

class ThreadSafety : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::string(SHARDLINGS_CLANG).empty()) return;
    const char* const advice = "needs clang++ when CMake runs: apt-get install clang, then configure again";
    if (SHARDLINGS_FOR_DEVELOPERS) FAIL() << advice;  // or what nobody checks would count as proved
    GTEST_SKIP() << advice;
  }
};

TEST_F(ThreadSafety, HoldsInEveryFileThatHasAMutex) {
  const std::vector<std::string> files = files_with_mutexes();
  EXPECT_GE(files.size(), 4U) << "the control plane and the fabric of NCCL at least";
  for (const std::string& file : files) {
    const ProgramRun checked = check(file);
    EXPECT_EQ(checked.status, 0) << checked.output;
  }
}

TEST_F(ThreadSafety, IsNotedWhereItIsMissing) {
  const ProgramRun checked = check(project_folder() + "/tests/architecture/snippets/unguarded.cpp");
  EXPECT_NE(checked.status, 0);
  EXPECT_THAT(checked.output, HasSubstr("requires holding mutex 'lock_'"));
}

}  // namespace
}  // namespace shardlings::architecture
