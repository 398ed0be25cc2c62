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

bool has_mutexes(const Source& file) {
  const std::vector<Include> includes = includes_of(file.text);
  return std::any_of(includes.begin(), includes.end(), [](const Include& i) { return i.name == "base/mutex.h"; });
}

/// Those that have a mutex, or whose class has one: it is a private member, so that nobody else can touch what it
/// guards.
std::vector<std::string> files_with_mutexes() {
  std::set<std::string> owners;  // without ".h" or ".cpp"
  for (const Source& file : sources("runtime", {".h", ".cpp"})) {
    if (has_mutexes(file)) owners.insert(file.path.substr(0, file.path.rfind('.')));
  }
  std::vector<std::string> files;
  for (const Source& file : sources("runtime", {".cpp"})) {
    if (owners.count(file.path.substr(0, file.path.rfind('.'))) > 0)
      files.push_back(project_folder() + "/" + file.path);
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
  EXPECT_GE(files.size(), 11U) << "the control plane, what drives GPUs, and what runs cases side by side at least";
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
