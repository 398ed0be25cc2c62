#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/descriptor.h"

namespace shardlings {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for each test.
class FileTest : public testing::Test {
 protected:
  FileTest() : folder_(fs::temp_directory_path() / ("shardlings file " + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~FileTest() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Names of all that lies in the folder.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename().string());
    return found;
  }

 private:
  fs::path folder_;
};

TEST_F(FileTest, ComesBackByteForByte) {
  const std::string content = std::string("a\0b\r\n\xff", 6) + std::string(100000, 'x');
  for (const Outlives outlives : {Outlives::kill, Outlives::power_cut}) {
    write_file_atomically(path("a b.txt"), content, outlives);
    EXPECT_EQ(read_file(path("a b.txt")), content);
    EXPECT_EQ(read_whole_file(path("a b.txt")), content);
    EXPECT_THAT(names(), testing::ElementsAre("a b.txt")) << "nothing stays beside it";
  }
}

TEST_F(FileTest, ReplacesWhatWasThere) {
  write_file_atomically(path("f"), "old and long");
  write_file_atomically(path("f"), "new");
  EXPECT_EQ(read_file(path("f")), "new");
}

TEST_F(FileTest, APipeIsWrittenToAndStays) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file_atomically(path("pipe"), "x"), std::runtime_error)
      << "nobody reads: that is no reason to wait";
  const int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file_atomically(path("pipe"), "content");
  std::string got(20, 0);
  got.resize(static_cast<std::size_t>(read(reader, got.data(), got.size())));
  close(reader);
  EXPECT_EQ(got, "content");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_THAT(names(), testing::ElementsAre("pipe")) << "nothing lies beside it";
}

/// A device of this test's own, for root: of a wrong rename the machine's /dev/null would be gone for everybody. Nobody
/// else can make one, or do harm to that.
TEST_F(FileTest, WhatALinkToADeviceLeadsToIsWrittenTo) {
  const std::string device = geteuid() == 0 ? path("null") : "/dev/null";
  constexpr mode_t kEverybodys = S_IFCHR | 0666;
  constexpr unsigned kMemory = 1, kNull = 3;  // the numbers of /dev/null
  if (geteuid() == 0 && mknod(device.c_str(), kEverybodys, makedev(kMemory, kNull)) != 0) {
    GTEST_SKIP() << "this root may make no device";
  }
  const Descriptor opened(open(device.c_str(), O_WRONLY | O_CLOEXEC));
  if (opened.get() < 0) GTEST_SKIP() << "devices cannot be used in " << device;
  fs::create_symlink(device, path("nowhere"));
  write_file_atomically(path("nowhere"), "content");
  EXPECT_TRUE(fs::is_symlink(path("nowhere"))) << "and the link stays";
  EXPECT_TRUE(fs::is_character_file(device));
}

TEST_F(FileTest, WhatALinkToAPipeLeadsToIsWrittenTo) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink(path("pipe"), path("link"));
  const Descriptor reader(open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  write_file_atomically(path("link"), "content");
  EXPECT_TRUE(fs::is_symlink(path("link"))) << "and the link stays";
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  std::string got(20, 0);
  got.resize(static_cast<std::size_t>(read(reader.get(), got.data(), got.size())));
  EXPECT_EQ(got, "content");
}

// A file system in memory is one like others, although it lies below /dev.
TEST_F(FileTest, FilesBelowDevAreReplaced) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "there is no /dev/shm to write to";
  const std::string file = "/dev/shm/shardlings file " + std::to_string(getpid());
  write_file_atomically(file, "old and long");
  const Descriptor reader(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  write_file_atomically(file, "new");
  EXPECT_EQ(read_file(file), "new") << "and no rest of the old one";
  std::string old(20, 0);
  old.resize(static_cast<std::size_t>(read(reader.get(), old.data(), old.size())));
  EXPECT_EQ(old, "old and long") << "who has opened it reads on";
  fs::remove(file);
}

TEST_F(FileTest, WhatADescriptorLeadsToGoesOn) {
  const Descriptor file(open(path("f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(write_all(file.get(), "before, "));
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    write_file_atomically(folder + std::to_string(file.get()), "content, ");
  }
  ASSERT_TRUE(write_all(file.get(), "after"));
  EXPECT_EQ(read_file(path("f")), "before, content, content, after");
  EXPECT_THROW(write_file_atomically("/dev/fd/1000000", "x"), std::runtime_error) << "there is none";
}

TEST_F(FileTest, AFailedWriteLeavesTheOldContentAndNothingElse) {
  fs::create_directory(path("f"));  // no file can take a folder's name
  std::string message;
  try {
    write_file_atomically(path("f"), "new");
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, testing::HasSubstr("cannot write " + path("f") + ": "));
  EXPECT_TRUE(fs::is_directory(path("f")));
  EXPECT_THAT(names(), testing::ElementsAre("f"));
}

TEST_F(FileTest, WhatIsNoFileCannotBeRead) {
  EXPECT_FALSE(read_file(path("nothing")));
  EXPECT_FALSE(read_file(path("")));
  EXPECT_THROW(read_whole_file(path("nothing")), std::runtime_error);
}

}  // namespace
}  // namespace shardlings
