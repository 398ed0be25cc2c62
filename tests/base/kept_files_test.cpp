// Locks, stamps and the newest folders: what is kept on disk.
#include "base/kept_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "base/file_lock.h"

namespace shardlings {
namespace {

namespace fs = std::filesystem;

class KeptFiles : public testing::Test {
 protected:
  KeptFiles() { fs::create_directories(folder_); }
  ~KeptFiles() override { fs::remove_all(folder_); }

  /// A folder with a lock beside it, older by so many hours.
  fs::path aged(const std::string& name, int hours) const {
    fs::path path = folder_ / name;
    fs::create_directory(path);
    std::ofstream(path.string() + kLockSuffix) << "";
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  }
  static bool has_lock(const fs::path& path) { return fs::exists(path.string() + kLockSuffix); }
  static bool is_locked(const std::string& path) {
    const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    return file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) != 0;
  }

  fs::path folder_ = testing::TempDir() + "kept_files" + std::to_string(getpid());
};

TEST_F(KeptFiles, LocksGoWithTheirFolders) {
  const fs::path old = aged("old", 3), older = aged("older", 4), fresh = aged("fresh", 1);
  prune_folders(folder_, 1);
  EXPECT_TRUE(fs::exists(fresh) && has_lock(fresh));
  EXPECT_FALSE(fs::exists(old) || has_lock(old) || fs::exists(older) || has_lock(older));
}

TEST_F(KeptFiles, WhatIsLockedStays) {
  const fs::path old = aged("old", 3);
  aged("fresh", 1);
  {
    const FileLock lock(old.string() + kLockSuffix);
    prune_folders(folder_, 1);
    EXPECT_TRUE(fs::exists(old) && has_lock(old));
  }
  prune_folders(folder_, 1);
  EXPECT_FALSE(fs::exists(old) || has_lock(old));
}

TEST_F(KeptFiles, AFolderWithoutALockIsPrunedToo) {
  const fs::path old = aged("old", 3);
  aged("fresh", 1);
  fs::remove(old.string() + kLockSuffix);
  prune_folders(folder_, 1);
  EXPECT_FALSE(fs::exists(old) || has_lock(old));
}

TEST_F(KeptFiles, AWaiterLocksTheFileThatIsThereNow) {
  const std::string path = folder_ / "a.lock";
  for (int round = 0; round < 50; ++round) {
    bool held = false;
    std::jthread waiter;
    {
      const FileLock lock(path);
      waiter = std::jthread([&] {
        const FileLock mine(path);
        held = is_locked(path);
      });
      if (round % 2 == 0) std::this_thread::yield();
      fs::remove(path);
    }
    waiter.join();
    EXPECT_TRUE(held);
  }
}

TEST_F(KeptFiles, WhoseFolderIsNotThereCannotBeLocked) {
  EXPECT_THROW(FileLock((folder_ / "nowhere/lock").string()), std::runtime_error);
}

TEST_F(KeptFiles, HaveAStampOfTheirSizeAndTime) {
  const std::string path = folder_ / "a";
  std::ofstream(path) << "text";
  const std::string before = file_stamp(path);
  EXPECT_EQ(file_stamp(path), before);
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
  EXPECT_NE(file_stamp(path), before);
  EXPECT_NE(file_stamp(folder_ / "none"), before);
}

}  // namespace
}  // namespace shardlings
