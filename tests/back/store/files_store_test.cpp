// The store in files: what is there after a program has ended, or was killed at any moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "back/store/store.h"

namespace shardlings::back {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class FilesStore : public testing::Test {
 protected:
  FilesStore() : root_(fs::path(testing::TempDir()) / ("store" + std::to_string(getpid()))) { fs::remove_all(root_); }
  ~FilesStore() override { fs::remove_all(root_); }
  FilesStore(const FilesStore&) = delete;
  FilesStore& operator=(const FilesStore&) = delete;

  std::unique_ptr<Store> open() const { return make_files_store(root_.string()); }
  std::map<std::string, std::string> items() const {
    std::map<std::string, std::string> all;
    for (const KeptItem& item : open()->load()) all[item.folder + "/" + item.name] = item.bytes;
    return all;
  }
  /// Files and folders of the file system that are there beside the links.
  int places() const {
    int count = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(root_)) count += entry.is_symlink() ? 0 : 1;
    return count;
  }

  fs::path root_;
};

TEST_F(FilesStore, OutlivesTheProgram) {
  EXPECT_THAT(items(), IsEmpty());
  open()->put({"f", "weights.3.1", std::string("a\0b", 3)});
  open()->put({"f", "step", "7"});
  open()->put({"g", "step", "8"});
  open()->put({"g", "step", "9"});
  EXPECT_THAT(items(), UnorderedElementsAre(Pair("f/weights.3.1", std::string("a\0b", 3)), Pair("f/step", "7"),
                                            Pair("g/step", "9")));
  open()->remove("f", "step");
  open()->remove("f", "step");
  EXPECT_EQ(items().count("f/step"), 0U);
}

TEST_F(FilesStore, GivesAFolderANewNameAsAWhole) {
  const auto store = open();
  store->put({"saving", "a", "1"});
  store->publish("saving", "latest");
  store->put({"saving", "b", "2"});
  store->publish("saving", "latest");
  EXPECT_THAT(items(), UnorderedElementsAre(Pair("latest/b", "2")));
  store->publish("saving", "latest");  // there is none any more
  EXPECT_THAT(items(), UnorderedElementsAre(Pair("latest/b", "2")));
  EXPECT_EQ(places(), 1) << "what no name leads to is gone";
}

TEST_F(FilesStore, AFolderThatIsGivenItsOwnNameStays) {
  const auto store = open();
  store->put({"latest", "a", "1"});
  store->publish("latest", "latest");
  EXPECT_THAT(items(), UnorderedElementsAre(Pair("latest/a", "1")));
}

TEST_F(FilesStore, SweepsNothingThatIsNotItsOwn) {
  open()->put({"f", "a", "1"});
  for (const char* name : {"items", "items_of_mine", "items.1a", "items."}) fs::create_directory(root_ / name);
  std::ofstream(root_ / "items_of_mine" / "diary") << "dear";
  std::ofstream(root_ / "items.7") << "a file";
  EXPECT_THAT(items(), UnorderedElementsAre(Pair("f/a", "1")));
  EXPECT_TRUE(fs::exists(root_ / "items_of_mine" / "diary"));
  EXPECT_EQ(places(), 6);
}

TEST_F(FilesStore, SweepsWhatAKilledProgramHasLeft) {
  open()->put({"f", "a", "1"});
  fs::create_directory(root_ / "items.9");                      // a folder without a name
  std::ofstream(root_ / "f" / "a.tmp-half") << "half written";  // beside a file
  EXPECT_THAT(items(), UnorderedElementsAre(Pair("f/a", "1")));
  EXPECT_EQ(places(), 1);
}

/// Saves step after step: two items with the step's number, and a new name for the folder.
[[noreturn]] void save_for_ever(const std::string& root) {
  const auto store = make_files_store(root);
  int step = 0;
  for (const KeptItem& item : store->load()) {
    if (item.folder == "latest") step = std::max(step, std::atoi(item.bytes.c_str()));
  }
  for (;;) {
    ++step;
    for (const char* name : {"a", "b", "c"})
      store->put({"saving", name, std::to_string(step) + std::string(5000, ' ')});
    store->publish("saving", "latest");
  }
}

TEST_F(FilesStore, IsWholeAfterAKillAtAnyMoment) {
  std::mt19937 random(7);
  int before = 0;
  for (int kill_number = 0; kill_number < 30; ++kill_number) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) save_for_ever(root_.string());
    usleep(std::uniform_int_distribution<unsigned>(500, 15'000)(random));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::map<std::string, int> steps;
    for (const auto& [name, bytes] : items()) steps[name] = std::atoi(bytes.c_str());
    const int step = steps["latest/a"];
    EXPECT_EQ(steps["latest/b"], step) << "after kill " << kill_number;
    EXPECT_EQ(steps["latest/c"], step) << "after kill " << kill_number;
    EXPECT_GE(step, before) << "what has been published is never lost";
    before = step;
  }
  EXPECT_GT(before, 0) << "something was saved between the kills";
}

}  // namespace
}  // namespace shardlings::back
