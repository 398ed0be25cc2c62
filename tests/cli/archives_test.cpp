// Archives as submissions: what comes out, and what a hostile one cannot do.
#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "cli/folder.h"
#include "cli/submissions/archive.h"
#include "cli/submissions/students.h"

namespace shardlings::cli::submissions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

struct Packed {
  std::string path, content;
  std::string link{};  ///< where a symbolic link leads; empty: it is a file
};

enum class Format { zip, tar_gz };

void pack(const std::string& file, Format format, const std::vector<Packed>& entries) {
  archive* out = archive_write_new();
  if (format == Format::zip) {
    archive_write_set_format_zip(out);
  } else {
    archive_write_add_filter_gzip(out);
    archive_write_set_format_pax_restricted(out);
  }
  ASSERT_EQ(archive_write_open_filename(out, file.c_str()), ARCHIVE_OK);
  for (const Packed& one : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, one.path.c_str());
    archive_entry_set_filetype(entry, one.link.empty() ? AE_IFREG : AE_IFLNK);
    if (!one.link.empty()) archive_entry_set_symlink(entry, one.link.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(one.content.size()));
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, 1'000'000'000, 0);
    ASSERT_EQ(archive_write_header(out, entry), ARCHIVE_OK) << archive_error_string(out);
    archive_write_data(out, one.content.data(), one.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& one : std::filesystem::recursive_directory_iterator(folder)) {
    if (!one.is_directory()) files.push_back(one.path().lexically_relative(folder).string());
  }
  return files;
}

class Archives : public testing::TestWithParam<Format> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(Archives, GiveTheirSourcesWithTheirTimes) {
  pack(folder_ / "work", GetParam(), {{"work/09.cpp", "int x;"}, {"work/notes.txt", "no"}, {"01.cpp", ""}});
  EXPECT_EQ(unpack(folder_ / "work", folder_ / "out").unread, "");
  EXPECT_THAT(files_in(folder_ / "out"), UnorderedElementsAre("work/09.cpp", "01.cpp"));
  EXPECT_EQ(folder_.read("out/work/09.cpp"), "int x;");
  struct stat about {};
  ASSERT_EQ(stat((folder_ / "out/work/09.cpp").c_str(), &about), 0);
  EXPECT_EQ(about.st_mtim.tv_sec, 1'000'000'000);
}

TEST_P(Archives, WriteNothingOutsideAndFollowNoLink) {
  folder_.write("victim/09.cpp", "mine");
  pack(folder_ / "work", GetParam(),
       {{"../victim/09.cpp", "x"},
        {"a/../../victim/09.cpp", "x"},
        {folder_ / "victim/09.cpp", "x"},
        {"way", "", folder_ / "victim"},
        {"way/09.cpp", "theirs"},
        {"link.cpp", "", folder_ / "victim/09.cpp"},
        {"sub/./good.cpp", "y"}});
  EXPECT_EQ(unpack(folder_ / "work", folder_ / "out").unread, "");
  EXPECT_EQ(folder_.read("victim/09.cpp"), "mine");
  EXPECT_THAT(files_in(folder_ / "victim"), ElementsAre("09.cpp"));
  for (const std::string& file : files_in(folder_ / "out")) {
    EXPECT_TRUE(std::filesystem::symlink_status(folder_ / ("out/" + file)).type() ==
                std::filesystem::file_type::regular)
        << file;
  }
}

TEST_P(Archives, AreBounded) {
  const ArchiveLimits small{.entries = 3, .file_bytes = 100, .all_bytes = 50'000};
  pack(folder_ / "large", GetParam(), {{"a.cpp", std::string(101, 'x')}, {"b.cpp", std::string(100, 'x')}});
  const Unpacked large = unpack(folder_ / "large", folder_ / "out", small);
  EXPECT_EQ(large.unread, "");
  ASSERT_EQ(large.left_out.size(), 1U);
  EXPECT_EQ(large.left_out[0].path, "a.cpp");
  EXPECT_THAT(large.left_out[0].why, HasSubstr("larger than"));
  EXPECT_THAT(files_in(folder_ / "out"), ElementsAre("b.cpp"));
  pack(folder_ / "many", GetParam(), {{"1.cpp", ""}, {"2.cpp", ""}, {"3.cpp", ""}, {"4.cpp", ""}});
  EXPECT_EQ(unpack(folder_ / "many", folder_ / "out2", small).unread, "it holds more than 3 entries");
}

// Nobody loses points by a file without a word of it.
TEST_P(Archives, SayWhatTheyHoldThatIsNotTaken) {
  pack(folder_ / "work", GetParam(),
       {{"01.CPP", "int x;"},
        {"02.cc", "int x;"},
        {"03.cpp", "", "/etc/passwd"},
        {"04.cpp.txt", "int x;"},
        {"05.zip", "PK"},
        {"06.cpp", std::string((1 << 20) + 1, 'x')},
        {"notes.txt", "of mine"},
        {"__MACOSX/._01.cpp", "x"}});
  const Unpacked result = unpack(folder_ / "work", folder_ / "out");
  EXPECT_THAT(files_in(folder_ / "out"), UnorderedElementsAre("01.CPP", "02.cc"));
  std::vector<std::string> words;
  for (const LeftOut& one : result.left_out) words.push_back(one.path + ": " + one.why);
  EXPECT_THAT(words, ElementsAre("03.cpp: it is a link", "04.cpp.txt: its name does not end in .cpp",
                                 "05.zip: an archive in an archive is not opened", "06.cpp: it is larger than 1 MiB"));
}

INSTANTIATE_TEST_SUITE_P(Formats, Archives, testing::Values(Format::zip, Format::tar_gz));

// A file of zeros packs into nothing: what comes out of the decompressor is counted, wanted or not.
TEST(ArchiveBomb, IsNotReadToItsEnd) {
  const TemporaryFolder folder;
  pack(folder / "bomb", Format::tar_gz, {{"zeros", std::string(4 << 20, '\0')}, {"09.cpp", "late"}});
  ArchiveLimits limits;
  limits.all_bytes = 1 << 20;
  EXPECT_EQ(unpack(folder / "bomb", folder / "out", limits).unread, "it holds more than 1 MiB");
  EXPECT_FALSE(std::filesystem::exists(folder / "out/09.cpp"));
}

TEST(ArchiveFile, ThatAsksForAPasswordIsSaidToDoSo) {
  const TemporaryFolder folder;
  archive* out = archive_write_new();
  archive_write_set_format_zip(out);
  if (archive_write_set_options(out, "zip:encryption=zipcrypt") != ARCHIVE_OK) {
    archive_write_free(out);
    GTEST_SKIP() << "this libarchive encrypts nothing: " << archive_version_details();
  }
  ASSERT_EQ(archive_write_set_passphrase(out, "secret"), ARCHIVE_OK);
  ASSERT_EQ(archive_write_open_filename(out, (folder / "work.zip").c_str()), ARCHIVE_OK);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "09.cpp");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_size(entry, 3);
  ASSERT_EQ(archive_write_header(out, entry), ARCHIVE_OK);
  archive_write_data(out, "abc", 3);
  archive_entry_free(entry);
  archive_write_close(out);
  archive_write_free(out);
  const Unpacked result = unpack(folder / "work.zip", folder / "out");
  ASSERT_EQ(result.left_out.size(), 1U) << result.unread;
  EXPECT_EQ(result.left_out[0].path, "09.cpp");
  EXPECT_EQ(result.left_out[0].why, "it asks for a password");
}

TEST(ArchiveFile, ThatIsNoneIsSaidToBe) {
  const TemporaryFolder folder;
  folder.write("work.zip", "this is no archive");
  EXPECT_NE(unpack(folder / "work.zip", folder / "out").unread, "");
}

TEST(ArchiveOfAStudent, IsOneOrLiesInTheFolder) {
  const std::vector<cases::Manifest> puzzles = {small_puzzle(1, "step", "Step"),
                                                small_puzzle(9, "parallel", "Parallel")};
  const TemporaryFolder folder;
  folder.write("all/ben/01.cpp", "");
  pack(folder / "all/ada.zip", Format::zip, {{"my work/09.cpp", "a"}, {"__MACOSX/my work/._09.cpp", "b"}});
  pack(folder / "all/ben/mine.tar.gz", Format::tar_gz, {{"09.cpp", "c"}, {"deep.zip", "d"}});
  pack(folder / "all/doecleo_LATE_31_7_work.zip", Format::zip, {{"09.cpp", "e"}});
  const Submissions all = read_submissions(folder / "all", folder / "unpacked", puzzles);
  ASSERT_EQ(all.students.size(), 3U);
  EXPECT_EQ(all.students[0].id, "31");
  ASSERT_EQ(all.students[0].files.size(), 1U);
  EXPECT_TRUE(all.students[0].files[0].late);
  EXPECT_EQ(all.students[1].id, "ada");
  ASSERT_EQ(all.students[1].files.size(), 1U);
  EXPECT_EQ(all.students[1].files[0].file, folder / "unpacked/ada.zip/my work/09.cpp");
  EXPECT_EQ(all.students[2].files.size(), 2U);
  ASSERT_EQ(all.students[2].left_out.size(), 1U);
  EXPECT_THAT(all.students[2].left_out[0].path, HasSubstr("ben/mine.tar.gz: deep.zip"));
  EXPECT_EQ(std::filesystem::status(folder / "unpacked").permissions(), std::filesystem::perms::owner_all);
}

TEST(ArchiveOfAStudent, ThatIsDamagedIsToldOf) {
  const TemporaryFolder folder;
  folder.write("all/ada.zip", "PK and nothing more");
  const Submissions all = read_submissions(folder / "all", folder / "unpacked", {small_puzzle(1, "step", "Step")});
  ASSERT_EQ(all.students.size(), 1U);
  EXPECT_THAT(all.students[0].unread, HasSubstr("all/ada.zip: "));
}

}  // namespace
}  // namespace shardlings::cli::submissions
