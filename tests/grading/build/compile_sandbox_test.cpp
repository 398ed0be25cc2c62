// Where compilers run, with a shell in their place: what it can read and write, and what its limits say.
#include "grading/build/compile_sandbox.h"

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

class CompileSandboxTest : public ::testing::Test {
 protected:
  CompileSandboxTest() {
    std::string pattern = (fs::temp_directory_path() / "shardlings-sandbox-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
    folder_ = pattern;
    fs::permissions(folder_, fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
    std::ofstream(folder_ / "secret") << "4711";
    toolchain_.compiler = "/bin/sh";
    toolchain_.system_folders = {"/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"};
  }
  ~CompileSandboxTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string sandbox_folder() const { return (folder_ / "sandbox").string(); }
  std::string secret() const { return (folder_ / "secret").string(); }
  static run::ProcessEnd shell(const CompileSandbox& sandbox, const std::string& script) {
    return sandbox.run("/bin/sh", {"-c", script});
  }

  fs::path folder_;
  Toolchain toolchain_;
};

TEST_F(CompileSandboxTest, ShowsWhatWasPutThereAndKeepsWhatWasMade) {
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {});
  sandbox.put("a.txt", "content");
  EXPECT_EQ(shell(sandbox, "cat a.txt > " + sandbox.output("b.txt")).status, 0);
  EXPECT_EQ(sandbox.bytes("b.txt"), "content");
  EXPECT_EQ(sandbox.bytes("c.txt"), std::nullopt);
  sandbox.move_out("b.txt", (folder_ / "kept").string());
  struct stat facts = {};
  ASSERT_EQ(stat((folder_ / "kept").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, geteuid());
}

TEST_F(CompileSandboxTest, LinksAndPipesAreNotTakenOut) {
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {});
  fs::create_symlink(secret(), sandbox.output("link"));
  ASSERT_EQ(mkfifo(sandbox.output("pipe").c_str(), S_IRWXU), 0);
  EXPECT_EQ(sandbox.bytes("link"), std::nullopt);
  EXPECT_EQ(sandbox.bytes("pipe"), std::nullopt);
  EXPECT_THROW(sandbox.move_out("link", (folder_ / "kept").string()), std::runtime_error);
}

TEST_F(CompileSandboxTest, HidesAllOtherFiles) {
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {});
  if (!sandbox.report().own_files) GTEST_SKIP() << sandbox.report().text();
  EXPECT_TRUE(sandbox.report().no_new_privileges);
  sandbox.put("a.txt", "content");
  const run::ProcessEnd read =
      shell(sandbox, "cat " + secret() + "; ls " + folder_.string() + "; cat /proc/self/environ");
  EXPECT_THAT(read.output, AllOf(HasSubstr("Permission denied"), Not(HasSubstr("4711")), Not(HasSubstr("PATH="))));
  for (const std::string& target :
       {secret(), (folder_ / "new").string(), sandbox.input("a.txt"), sandbox.input("new")}) {
    EXPECT_NE(shell(sandbox, "echo x > " + target).status, 0) << target;
  }
  EXPECT_NE(shell(sandbox, "ln -s " + secret() + " " + sandbox.output("l") + " && cat " + sandbox.output("l")).status,
            0);
  const CompileSandbox wider(toolchain_, sandbox_folder() + "2", {secret()});
  EXPECT_THAT(shell(wider, "cat " + secret()).output, HasSubstr("4711")) << "an input is shown";
}

TEST_F(CompileSandboxTest, HasAUserOfItsOwnForRoot) {
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {});
  const run::ProcessEnd end = shell(sandbox, "id -u; id -G");
  if (!sandbox.report().own_user) {
    EXPECT_THAT(end.output, StartsWith(std::to_string(geteuid())));
    GTEST_SKIP() << sandbox.report().text();
  }
  EXPECT_EQ(end.output, "64521\n64521\n");
}

TEST_F(CompileSandboxTest, StaysWithItsUserWhereOthersMayNotRead) {
  fs::permissions(folder_, fs::perms::owner_all);
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {});
  EXPECT_FALSE(sandbox.report().own_user);
  if (geteuid() == 0) {
    EXPECT_THAT(sandbox.report().why_not, HasSubstr("is closed to other users"));
  }
  EXPECT_EQ(shell(sandbox, "true").status, 0);
}

TEST_F(CompileSandboxTest, SaysWhichLimitIsReached) {
  ToolLimits limits;
  limits.cpu_seconds = 1;
  limits.file_bytes = std::int64_t{1} << 20;
  limits.output_bytes = 1000;
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {}, limits);
  const auto limit = [&](const std::string& script) { return sandbox.limit_text(shell(sandbox, script), "compiling"); };
  EXPECT_THAT(limit("while :; do :; done"), StartsWith("compiling took more than 1 s of CPU time. Look for"));
  EXPECT_THAT(limit("exec head -c 9999999 /dev/zero > " + sandbox.output("x")), ::testing::StrEq(""))
      << "no such device";
  EXPECT_THAT(limit("exec dd if=/bin/sh of=" + sandbox.output("x") + " bs=1 seek=9999999 count=1"),
              HasSubstr("made a file of more than 1 MiB"));
  EXPECT_THAT(limit("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"), HasSubstr("printed more than"));
  EXPECT_EQ(limit("exit 1"), "");
  EXPECT_EQ(limit("echo 'out of memory allocating 9 bytes'"), "") << "it succeeded";
  EXPECT_THAT(limit("echo 'cc1plus: out of memory allocating 9 bytes'; exit 1"), HasSubstr("MiB of memory"));
  const std::string broke =
      "echo 'c++: internal compiler error: Segmentation fault signal terminated program cc1plus'; exit 4";
  EXPECT_EQ(limit(broke), "") << "it had used little of its stack";
  limits.stack_bytes = std::int64_t{1} << 20;
  const CompileSandbox small(toolchain_, sandbox_folder() + "-small", {}, limits);
  EXPECT_THAT(small.limit_text(shell(small, broke), "compiling"),
              HasSubstr("took more than 1 MiB of the compiler's stack"));
}

TEST_F(CompileSandboxTest, WallTimeIsLimited) {
  ToolLimits limits;
  limits.wall_seconds = 0.2;
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {}, limits);
  EXPECT_THAT(sandbox.limit_text(shell(sandbox, "exec sleep 1000"), "linking"),
              StartsWith("linking took more than 0.2 s"));
}

TEST_F(CompileSandboxTest, LimitsAloneAreASandbox) {
  const CompileSandbox sandbox(toolchain_, sandbox_folder(), {}, {}, SandboxWish::limits_only);
  EXPECT_FALSE(sandbox.report().own_files);
  EXPECT_THAT(sandbox.report().text(), HasSubstr("all files that this user can read"));
  EXPECT_THAT(shell(sandbox, "cat " + secret()).output, HasSubstr("4711"));
}

TEST_F(CompileSandboxTest, GoesWithItsFolder) {
  { const CompileSandbox sandbox(toolchain_, sandbox_folder(), {}); }
  EXPECT_FALSE(fs::exists(sandbox_folder()));
}

// --- the copy of the source
// -------------------------------------------------------------------------------------------

class SourceCopyTest : public CompileSandboxTest {
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
