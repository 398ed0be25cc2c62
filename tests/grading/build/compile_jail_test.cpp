// Where compilers run, with a shell in their place: what it can read and write, and what its limits say.
#include "grading/build/compile_jail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/sanitizers.h"
#include "grading/build/source_copy.h"

namespace shardlings::grading::build {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

class CompileJailTest : public ::testing::Test {
 protected:
  CompileJailTest() {
    std::string pattern = (fs::temp_directory_path() / "shardlings-jail-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
    folder_ = pattern;
    fs::permissions(folder_, fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
    std::ofstream(folder_ / "secret") << "4711";
    toolchain_.compiler = "/bin/sh";
    toolchain_.system_folders = {"/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"};
  }
  ~CompileJailTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string jail_folder() const { return (folder_ / "jail").string(); }
  std::string secret() const { return (folder_ / "secret").string(); }
  static run::ProcessEnd shell(const CompileJail& jail, const std::string& script) {
    return jail.run("/bin/sh", {"-c", script});
  }

  fs::path folder_;
  Toolchain toolchain_;
};

TEST_F(CompileJailTest, ShowsWhatWasPutThereAndKeepsWhatWasMade) {
  const CompileJail jail(toolchain_, jail_folder(), {});
  jail.put("a.txt", "content");
  EXPECT_EQ(shell(jail, "cat a.txt > " + jail.output("b.txt")).status, 0);
  EXPECT_EQ(jail.bytes("b.txt"), "content");
  EXPECT_EQ(jail.bytes("c.txt"), std::nullopt);
  jail.move_out("b.txt", (folder_ / "kept").string());
  struct stat facts = {};
  ASSERT_EQ(stat((folder_ / "kept").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, geteuid());
}

TEST_F(CompileJailTest, LinksAndPipesAreNotTakenOut) {
  const CompileJail jail(toolchain_, jail_folder(), {});
  fs::create_symlink(secret(), jail.output("link"));
  ASSERT_EQ(mkfifo(jail.output("pipe").c_str(), S_IRWXU), 0);
  EXPECT_EQ(jail.bytes("link"), std::nullopt);
  EXPECT_EQ(jail.bytes("pipe"), std::nullopt);
  EXPECT_THROW(jail.move_out("link", (folder_ / "kept").string()), std::runtime_error);
}

TEST_F(CompileJailTest, HidesAllOtherFiles) {
  const CompileJail jail(toolchain_, jail_folder(), {});
  if (!jail.report().own_files) GTEST_SKIP() << jail.report().text();
  EXPECT_TRUE(jail.report().no_new_privileges);
  jail.put("a.txt", "content");
  const run::ProcessEnd read = shell(jail, "cat " + secret() + "; ls " + folder_.string() + "; cat /proc/self/environ");
  EXPECT_THAT(read.output, AllOf(HasSubstr("Permission denied"), Not(HasSubstr("4711")), Not(HasSubstr("PATH="))));
  for (const std::string& target : {secret(), (folder_ / "new").string(), jail.input("a.txt"), jail.input("new")}) {
    EXPECT_NE(shell(jail, "echo x > " + target).status, 0) << target;
  }
  EXPECT_NE(shell(jail, "ln -s " + secret() + " " + jail.output("l") + " && cat " + jail.output("l")).status, 0);
  const CompileJail wider(toolchain_, jail_folder() + "2", {secret()});
  EXPECT_THAT(shell(wider, "cat " + secret()).output, HasSubstr("4711")) << "an input is shown";
}

TEST_F(CompileJailTest, HasAUserOfItsOwnForRoot) {
  const CompileJail jail(toolchain_, jail_folder(), {});
  const run::ProcessEnd end = shell(jail, "id -u; id -G");
  if (!jail.report().own_user) {
    EXPECT_THAT(end.output, StartsWith(std::to_string(geteuid())));
    GTEST_SKIP() << jail.report().text();
  }
  EXPECT_EQ(end.output, "64521\n64521\n");
}

TEST_F(CompileJailTest, StaysWithItsUserWhereOthersMayNotRead) {
  fs::permissions(folder_, fs::perms::owner_all);
  const CompileJail jail(toolchain_, jail_folder(), {});
  EXPECT_FALSE(jail.report().own_user);
  if (geteuid() == 0) {
    EXPECT_THAT(jail.report().why_not, HasSubstr("is closed to other users"));
  }
  EXPECT_EQ(shell(jail, "true").status, 0);
}

TEST_F(CompileJailTest, SaysWhichLimitIsReached) {
  ToolLimits limits;
  limits.cpu_seconds = 1;
  limits.file_bytes = std::int64_t{1} << 20;
  limits.output_bytes = 1000;
  const CompileJail jail(toolchain_, jail_folder(), {}, limits);
  const auto limit = [&](const std::string& script) { return jail.limit_text(shell(jail, script), "compiling"); };
  EXPECT_THAT(limit("while :; do :; done"), StartsWith("compiling took more than 1 s of CPU time. Look for"));
  EXPECT_THAT(limit("exec head -c 9999999 /dev/zero > " + jail.output("x")), ::testing::StrEq("")) << "no such device";
  EXPECT_THAT(limit("exec dd if=/bin/sh of=" + jail.output("x") + " bs=1 seek=9999999 count=1"),
              HasSubstr("made a file of more than 1 MiB"));
  EXPECT_THAT(limit("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"), HasSubstr("printed more than"));
  EXPECT_EQ(limit("exit 1"), "");
  EXPECT_EQ(limit("echo 'out of memory allocating 9 bytes'"), "") << "it succeeded";
  EXPECT_THAT(limit("echo 'cc1plus: out of memory allocating 9 bytes'; exit 1"), HasSubstr("MiB of memory"));
}

TEST_F(CompileJailTest, WallTimeIsLimited) {
  ToolLimits limits;
  limits.wall_seconds = 0.2;
  const CompileJail jail(toolchain_, jail_folder(), {}, limits);
  EXPECT_THAT(jail.limit_text(shell(jail, "exec sleep 1000"), "linking"), StartsWith("linking took more than 0.2 s"));
}

TEST_F(CompileJailTest, LimitsAloneAreAJail) {
  const CompileJail jail(toolchain_, jail_folder(), {}, {}, JailWish::limits_only);
  EXPECT_FALSE(jail.report().own_files);
  EXPECT_THAT(jail.report().text(), HasSubstr("all files that this user can read"));
  EXPECT_THAT(shell(jail, "cat " + secret()).output, HasSubstr("4711"));
}

TEST_F(CompileJailTest, GoesWithItsFolder) {
  { const CompileJail jail(toolchain_, jail_folder(), {}); }
  EXPECT_FALSE(fs::exists(jail_folder()));
}

// --- the copy of the source
// -------------------------------------------------------------------------------------------

class SourceCopyTest : public CompileJailTest {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
};

TEST_F(SourceCopyTest, IsTheFileAsItWas) {
  std::ofstream(at("a.cpp")) << "int a;\n";
  const SourceCopy copy = copy_source(at("a.cpp"));
  std::ofstream(at("a.cpp")) << "int b;\n";
  EXPECT_EQ(copy.text, "int a;\n");
  EXPECT_EQ(copy.name, "a.cpp");
}

TEST_F(SourceCopyTest, AnythingButAFileIsNamed) {
  std::ofstream(at("a.cpp")) << "int a;\n";
  fs::create_symlink(at("a.cpp"), at("link.cpp"));
  ASSERT_EQ(mkfifo(at("pipe.cpp").c_str(), S_IRWXU), 0);
  const auto fails = [](const std::string& path, const std::string& words) {
    EXPECT_THAT([&] { copy_source(path); }, ThrowsMessage<std::runtime_error>(HasSubstr(words))) << path;
  };
  fails(at("none.cpp"), "there is no file");
  fails(at("link.cpp"), "link.cpp is a symbolic link to " + at("a.cpp"));
  fails(at("pipe.cpp"), "pipe.cpp is a pipe, not a file");
  fails("/dev/zero", "/dev/zero is a device, not a file");
  fails(folder_.string(), "is a folder, not a file");
  std::ofstream(at("large.cpp")) << std::string(kMostSourceBytes + 1, ' ');
  fails(at("large.cpp"), "has more than 1024 KiB");
}

TEST_F(SourceCopyTest, NamesThatMeanSomethingElseAreReplaced) {
  for (const char* odd : {"-E.cpp", "@list.cpp", ".cpp", "a\nb.cpp", "a\"b.cpp", "$(id).cpp", "a.o", ""}) {
    EXPECT_EQ(plain_name(std::string("/x/") + odd), "puzzle.cpp") << odd;
  }
  EXPECT_EQ(plain_name("/x/my solution-2.cpp"), "my solution-2.cpp");
}

}  // namespace
}  // namespace shardlings::grading::build
