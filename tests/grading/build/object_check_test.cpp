// What is refused in a puzzle's object file and in its #include lines; real objects from the system's compiler.
#include "grading/build/object_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "grading/build/include_check.h"
#include "grading/build/symbol_check.h"
#include "grading/run/process.h"

namespace shardlings::grading {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string compiled(const std::string& source) {
  const std::string base = testing::TempDir() + "object" + std::to_string(getpid());
  std::ofstream(base + ".cpp") << source;
  run::ProcessOptions options;
  options.program = SHARDLINGS_CXX;
  options.arguments = {"-std=c++20", "-O1", "-fPIE", "-ffunction-sections", "-c", base + ".cpp", "-o", base + ".o"};
  options.environment = run::clean_environment("/");
  const run::ProcessEnd end = run::run_process(options);
  EXPECT_EQ(end.status, 0) << end.output;
  std::ifstream file(base + ".o", std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  std::remove((base + ".cpp").c_str());
  std::remove((base + ".o").c_str());
  return bytes.str();
}

std::string checked(const std::string& source) {
  return build::check_object(build::parse_object(compiled(source)), {"", "puzzle.cpp", source});
}

TEST(ObjectCheck, PlainCodeIsInOrder) {
  EXPECT_EQ(
      checked("#include <iostream>\n#include <vector>\n#include <algorithm>\n#include <stdexcept>\n#include <map>\n"
              "#include <memory>\n#include <string>\n"
              "constexpr int kTable[] = {1, 2, 3};\nstatic const char* const kNames[] = {\"a\", \"b\"};\n"
              "struct Base { virtual ~Base() = default; virtual int f() = 0; };\n"
              "struct Derived : Base { int f() override { throw std::runtime_error(\"x\"); } };\n"
              "int work(int n) { std::vector<int> v(n); std::sort(v.begin(), v.end()); std::cout << kNames[n];\n"
              "  std::map<std::string, int> m{{\"a\", n}}; auto p = std::make_shared<Derived>();\n"
              "  try { return p->f() + kTable[n] + m[\"a\"]; } catch (const std::exception&) { return 0; } }\n"),
      "");
}

TEST(ObjectCheck, ConstantsOfTheLibrarysHeadersAreInOrder) {
  EXPECT_EQ(checked("#include <map>\n#include <vector>\n"
                    "int f(int n) { std::map<int, std::vector<bool>> m; m[n] = {true}; return m[3].size(); }\n"),
            "")
      << "std::piecewise_construct is an inline variable";
}

TEST(ObjectCheck, StaticDataIsNamed) {
  EXPECT_THAT(checked("int counter; int f() { return ++counter; }"),
              StartsWith("puzzle.cpp:1: 'counter' is a global or static variable. All ranks would share it"));
  EXPECT_THAT(
      checked("int f() { static int calls = 3; return ++calls; }"),
      testing::AllOf(StartsWith("puzzle.cpp:1: 'calls' is"), HasSubstr("Leave `static` or `thread_local` out")));
  EXPECT_THAT(checked("thread_local int mine = 1; int f() { return ++mine; }"), HasSubstr("'mine'"));
  EXPECT_THAT(checked("#include <vector>\nstatic std::vector<float> shared; void f() { shared.push_back(1); }"),
              HasSubstr("'shared'"));
}

TEST(ObjectCheck, CodeOutsideOfMainIsRefused) {
  EXPECT_THAT(checked("[[gnu::constructor]] void early() { __builtin_trap(); }"), HasSubstr("before or after main()"));
  EXPECT_THAT(checked("[[gnu::destructor]] void late() { __builtin_trap(); }"), HasSubstr("before or after main()"));
}

TEST(ObjectCheck, DoorsAroundTheRuntimeAreNamed) {
  EXPECT_THAT(checked("#include <pthread.h>\nvoid f(pthread_mutex_t* m) { pthread_mutex_lock(m); }"),
              StartsWith("puzzle.cpp:2: it uses pthread_mutex_lock, but threads and locks are not for puzzles"));
  EXPECT_THAT(checked("#include <unistd.h>\nvoid f() { write(3, \"x\", 1); }"), HasSubstr("it uses write, but files"));
  EXPECT_THAT(checked("#include <fstream>\nvoid f() { std::ifstream in(\"/etc/passwd\"); }"), HasSubstr("files"));
  EXPECT_THAT(checked("#include <dlfcn.h>\nvoid* f() { return dlsym(0, \"x\"); }"), HasSubstr("dynamic loading"));
  EXPECT_THAT(checked("#include <unistd.h>\nint f() { return fork(); }"), HasSubstr("processes"));
  EXPECT_THAT(checked("#include <cstdio>\nvoid f() { std::remove(\"puzzle.cpp\"); }"),
              HasSubstr("it uses remove, but files"));
  EXPECT_THAT(checked("#include <chrono>\nauto f() { return std::chrono::steady_clock::now(); }"), HasSubstr("clock"));
}

/// Of an object file that uses this one function, and nothing else.
std::string checked_use_of(const std::string& name) {
  build::ObjectFile object;
  object.sections.emplace_back();  // that of what is undefined
  build::ObjectSymbol symbol;
  symbol.name = name;
  symbol.global = true;
  object.symbols.push_back(symbol);
  return build::check_object(object, {"", "puzzle.cpp", ""});
}

/// What each refused name is about, with a name for every pattern of the list.
const std::map<std::string, std::vector<std::string>> kRefused = {
    {"threads and locks are",
     {"pthread_create", "sem_wait", "thrd_create", "mtx_lock", "_ZNSt6thread4joinEv",
      "_ZNSt18condition_variable10notify_allEv", "__gthrw_pthread_once"}},
    {"processes are",
     {"fork",    "vfork", "clone",  "clone3",  "execve", "posix_spawn", "posix_spawnp",     "system",
      "popen",   "kill",  "killpg", "tgkill",  "ptrace", "signal",      "process_vm_readv", "sigaction",
      "syscall", "prctl", "setjmp", "_setjmp", "longjmp"}},
    {"the environment is", {"getenv", "secure_getenv", "setenv", "unsetenv", "putenv", "clearenv"}},
    {"input is", {"_ZSt3cin", "stdin", "getchar", "scanf", "__isoc99_scanf", "__isoc23_scanf"}},
    {"random numbers that all ranks draw from one source are",
     {"rand", "rand_r", "srand", "drand48", "lrand48", "_ZNSt13random_device9_M_getvalEv"}},
    {"files and descriptors are",
     {"open",
      "open64",
      "openat",
      "openat64",
      "creat",
      "creat64",
      "read",
      "write",
      "pread",
      "pread64",
      "preadv",
      "pwrite",
      "pwritev",
      "lseek",
      "lseek64",
      "dup",
      "dup2",
      "dup3",
      "fcntl",
      "fcntl64",
      "ioctl",
      "truncate",
      "truncate64",
      "ftruncate",
      "ftruncate64",
      "readv",
      "writev",
      "copy_file_range",
      "remove",
      "rename",
      "renameat",
      "renameat2",
      "unlink",
      "unlinkat",
      "link",
      "linkat",
      "symlink",
      "symlinkat",
      "readlink",
      "readlinkat",
      "mkdir",
      "mkdirat",
      "rmdir",
      "mkfifo",
      "mkfifoat",
      "mknod",
      "mknodat",
      "mkstemp",
      "mkstemps",
      "mkostemp",
      "mkdtemp",
      "mktemp",
      "tmpnam",
      "tempnam",
      "chmod",
      "fchmod",
      "fchmodat",
      "lchmod",
      "chown",
      "fchown",
      "fchownat",
      "lchown",
      "utime",
      "utimes",
      "utimensat",
      "lutimes",
      "futimes",
      "futimens",
      "opendir",
      "fdopendir",
      "readdir",
      "readdir64",
      "scandir",
      "ftw",
      "nftw",
      "nftw64",
      "glob",
      "stat",
      "stat64",
      "statx",
      "fstat",
      "fstatat",
      "lstat",
      "access",
      "faccessat",
      "realpath",
      "getcwd",
      "chdir",
      "fchdir",
      "chroot",
      "umask",
      "memfd_create",
      "fopen",
      "fopen64",
      "fdopen",
      "freopen",
      "tmpfile",
      "tmpfile64",
      "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
      "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1Ev",
      "_ZNSt14basic_ofstreamIcSt11char_traitsIcEEC1Ev",
      "_ZNSt13basic_fstreamIcSt11char_traitsIcEEC1Ev",
      "_ZNSt10filesystem6removeERKNS_7__cxx114pathE"}},
    {"the network is",
     {"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "send", "sendto", "recv"}},
    {"the memory map is", {"mmap", "mmap64", "munmap", "mprotect", "mremap", "shm_open", "shmat", "shmget"}},
    {"dynamic loading is", {"dlopen", "dlmopen", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo", "dl_iterate_phdr"}},
    {"the computer's clock, or sleeping, is",
     {"sleep", "usleep", "nanosleep", "clock", "clock_gettime", "time", "gettimeofday", "sched_yield",
      "_ZNSt6chrono3_V212steady_clock3nowEv"}},
};

TEST(ObjectCheck, EveryDoorIsRefused) {
  for (const auto& [what, names] : kRefused) {
    for (const std::string& name : names) {
      EXPECT_THAT(checked_use_of(name), HasSubstr(", but " + what + " not for puzzles: ")) << name;
    }
  }
}

TEST(ObjectCheck, WhatOnlyBeginsLikeADoorIsInOrder) {
  for (const char* name : {"printf", "puts", "fputs", "fwrite", "malloc", "memmove", "strlen", "exit", "abort", "qsort",
                           "__memcpy_chk", "sinf", "powl", "_ZNSt13runtime_errorC1EPKc", "_ZSt4cout"}) {
    EXPECT_EQ(checked_use_of(name), "") << name;
  }
}

TEST(ObjectCheck, WhatNobodyHasAWordForIsRefusedAllTheSame) {
  for (const char* name :
       {"openat2", "getauxval", "environ", "ucontext", "_ZN3fmt2v96vprintENS0_17basic_string_viewIcEE",
        "_ZN10shardlings10submission7HarnessC1ERNS_4RankERKNS_5cases4CaseE",
        "_ZN10shardlings6detail4Port4textESt17basic_string_viewIcSt11char_traitsIcEENS_8LocationE", "__memfd_chk",
        "openf", "_ZNSt8ios_base9_M_grow_wordsEib", "not a name", "_Z"}) {
    EXPECT_NE(checked_use_of(name), "") << name;
  }
}

TEST(ObjectCheck, WhatAHarnessOffersMayBeCalled) {
  const auto offered = build::offered_functions(build::parse_object(
      compiled("struct Flow {}; int forward(Flow&) { return 1; }\nnamespace { int own() { return 2; } }\n"
               "int shardlings_harness(int) { return own(); }\nnamespace inside { int deep() { return 3; } }\n"
               "inline int several() { return 4; }\nint (*address())() { return several; }\n"
               "int number = 3; extern \"C\" int plain() { return 1; }\n")));
  EXPECT_THAT(offered, testing::ElementsAre("_Z7addressv", "_Z7forwardR4Flow"));
  const std::string caller = "struct Flow {}; int forward(Flow&); int f(Flow& flow) { return forward(flow); }";
  EXPECT_EQ(build::check_object(build::parse_object(compiled(caller)), {"", "puzzle.cpp", caller}, offered), "");
  EXPECT_THAT(checked(caller), StartsWith("puzzle.cpp:1: it uses forward(Flow&), which it does not define"));
}

TEST(ObjectCheck, DefinitionsInTheLibrarysPlaceAreRefused) {
  EXPECT_EQ(checked("int main() { return 0; }"),
            "puzzle.cpp:1: it must not define main(): the harness calls your function.");
  EXPECT_THAT(checked("#include <cstdlib>\nvoid* operator new(std::size_t n) { return std::malloc(n); }"),
              HasSubstr("must not define operator new(unsigned long)"));
  EXPECT_THAT(checked("extern \"C\" void* malloc(unsigned long) { return nullptr; }"),
              HasSubstr("must not define malloc"));
  EXPECT_THAT(checked("\nextern \"C\" int plain() { return 1; }"),
              StartsWith("puzzle.cpp:2: 'plain' is defined with extern \"C\""));
  EXPECT_THAT(
      checked("extern const int kSize;\nconst int kSize = 3;"),
      StartsWith("puzzle.cpp:1: 'kSize' is a variable that the whole program could see. Write it as `constexpr`"));
  EXPECT_THAT(checked("namespace shardlings { void mine() {} }"), HasSubstr("must not define shardlings::mine()"));
}

TEST(ObjectCheck, TemplatesOfTheLibraryAreNotMadeAsAWhole) {
  EXPECT_THAT(checked("#include <string>\n\ntemplate class std::basic_string<char>;"),
              testing::AllOf(StartsWith("puzzle.cpp:3: `template …;` makes all of a template of the library there"),
                             HasSubstr("Leave that line out")));
  EXPECT_EQ(checked("#include <vector>\ntemplate class std::vector<int>;"), "") << "nothing of it is refused";
}

TEST(ObjectFile, AnythingElseIsRefused) {
  EXPECT_THROW(build::parse_object(""), std::runtime_error);
  EXPECT_THROW(build::parse_object(std::string(200, 'x')), std::runtime_error);
  const std::string good = compiled("int f() { return 1; }");
  for (std::size_t size = 0; size < good.size(); size += 7) {
    try {
      build::check_object(build::parse_object(good.substr(0, size)), {"", "puzzle.cpp", ""});
    } catch (const std::runtime_error&) {
      continue;
    }
  }
}

TEST(Includes, FilesOfARule) {
  EXPECT_THAT(build::files_of_rule("puzzle.o: puzzle.cpp /a\\ b/c.h \\\n  /d/$$e.h /f\\#.h\n"),
              testing::ElementsAre("puzzle.cpp", "/a b/c.h", "/d/$e.h", "/f#.h"));
  EXPECT_THAT(build::files_of_rule(""), testing::IsEmpty());
  EXPECT_THAT(build::files_of_rule("puzzle.o:"), testing::IsEmpty());
}

TEST(Includes, WhatTheCompilerHasReadCounts) {
  const build::ReadableFiles readable{"/p/09/puzzle.cpp", {"/r/include", "/b/pch"}, {"/usr/include/c++/12/vector"}};
  const auto check = [&](const std::string& files) {
    return build::check_dependencies("puzzle.o: puzzle.cpp " + files + "\n", readable, "\n#include <x.h>\n");
  };
  EXPECT_EQ(check("/r/include/shardlings/a.h \\\n /b/pch/shardlings/puzzle.h.gch"), "");
  EXPECT_EQ(check("/usr/lib/../include/c++/12/vector"), "");
  EXPECT_THAT(check("/r/include/../api/call.h"),
              StartsWith("puzzle.cpp: it includes /r/include/../api/call.h, which is not for puzzles"));
  EXPECT_THAT(check("../../runtime/x.h"), StartsWith("puzzle.cpp:2: it includes ../../runtime/x.h"));
  EXPECT_THAT(check("/usr/include/c++/12/thread"), HasSubstr("/usr/include/c++/12/thread"));
  EXPECT_THAT(check("/r/include/shardlings/deep/a.h"), HasSubstr("a.h"));
  EXPECT_THAT(check("/r/include/shardlings/secret.txt"), HasSubstr("secret.txt"));
}

}  // namespace
}  // namespace shardlings::grading
