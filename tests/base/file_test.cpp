#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

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

/// As root a rename would put a file in the place of /dev/null, for the whole machine.
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

TEST_F(FileTest, WhatALinkToADeviceLeadsToIsWrittenTo) {
  fs::create_symlink("/dev/null", path("nowhere"));
  write_file_atomically(path("nowhere"), "content");
  EXPECT_TRUE(fs::is_symlink(path("nowhere"))) << "and the link stays";
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
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
