#include "grading/build/object_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace shardlings::grading::build {
namespace {

using std::string_view;

/// What <iostream> brings along, once for each file that includes it.
constexpr string_view kStreamInit = "_ZStL8__ioinit";

/// The compiler's own: the address of the routine that unwinds exceptions.
bool is_compilers(const ObjectSymbol& symbol) {
  return symbol.name.starts_with("DW.ref.") || symbol.name == kStreamInit;
}

/// Addresses of functions that run before or after main(), or the code itself.
bool holds_early_code(string_view section) {
  constexpr std::array<string_view, 7> kNames = {".init_array", ".preinit_array", ".fini_array", ".ctors",
                                                 ".dtors",      ".init",          ".fini"};
  return std::any_of(kNames.begin(), kNames.end(), [&](string_view name) { return section.starts_with(name); });
}

bool is_static_data(const ObjectSection& section) {
  const string_view name = section.name;
  const bool exempt = name.starts_with(".data.rel.ro") || holds_early_code(name);
  return section.in_memory && section.size > 0 && (section.writable || section.thread_local_storage) && !exempt;
}

/// A static local is called "f(int)::counter"; its guard variable is not worth a word.
std::string variable_text(const ObjectSymbol& symbol) {
  const std::string name = demangled(symbol.name);
  return name.empty() ? "a variable" : "'" + name + "'";
}

std::string static_data_text(const ObjectFile& object, const std::string& file) {
  for (std::size_t i = 0; i < object.sections.size(); ++i) {
    if (!is_static_data(object.sections[i])) continue;
    bool known = false;
    for (const ObjectSymbol& symbol : object.symbols) {
      if (symbol.section != static_cast<int>(i) || symbol.is_section || symbol.name.starts_with("_ZGV")) continue;
      known = true;
      if (is_compilers(symbol)) continue;
      return fmt::format(
          "{}: {} is a global or static variable. All ranks would share it (here they are threads of one process), and "
          "on real machines they could not.\nKeep it inside the function, or make it `constexpr`.",
          file, variable_text(symbol));
    }
    if (!known) return fmt::format("{}: there is writable static data in section {}.", file, object.sections[i].name);
  }
  return "";
}

std::string early_code_text(const ObjectFile& object, const std::string& file) {
  std::uint64_t bytes = 0;
  for (const ObjectSection& section : object.sections) {
    if (section.in_memory && holds_early_code(section.name)) bytes += section.size;
  }
  const bool has_streams = std::any_of(object.symbols.begin(), object.symbols.end(),
                                       [](const ObjectSymbol& s) { return s.name == kStreamInit; });
  const std::uint64_t allowed = has_streams ? sizeof(void*) : 0;
  if (bytes <= allowed) return "";
  return fmt::format("{}: something in it would run before or after main(): a puzzle is a function, nothing else.",
                     file);
}

struct ForbiddenSymbol {
  string_view name;  ///< with * at the end: every name that begins so
  const char* what;
};

constexpr const char* kThreads = "threads and locks";
constexpr const char* kProcesses = "processes";
constexpr const char* kFiles = "files and descriptors";
constexpr const char* kNetwork = "the network";
constexpr const char* kMemory = "the memory map";
constexpr const char* kLoading = "dynamic loading";
constexpr const char* kTime = "the computer's clock, or sleeping";

constexpr std::array kForbidden = {
    ForbiddenSymbol{"pthread_*", kThreads},
    ForbiddenSymbol{"sem_*", kThreads},
    ForbiddenSymbol{"thrd_*", kThreads},
    ForbiddenSymbol{"mtx_*", kThreads},
    ForbiddenSymbol{"_ZNSt6thread*", kThreads},
    ForbiddenSymbol{"_ZNSt18condition_variable*", kThreads},
    ForbiddenSymbol{"__gthr*", kThreads},
    ForbiddenSymbol{"fork", kProcesses},
    ForbiddenSymbol{"vfork", kProcesses},
    ForbiddenSymbol{"clone*", kProcesses},
    ForbiddenSymbol{"exec*", kProcesses},
    ForbiddenSymbol{"posix_spawn*", kProcesses},
    ForbiddenSymbol{"system", kProcesses},
    ForbiddenSymbol{"popen", kProcesses},
    ForbiddenSymbol{"kill*", kProcesses},
    ForbiddenSymbol{"tgkill", kProcesses},
    ForbiddenSymbol{"ptrace", kProcesses},
    ForbiddenSymbol{"process_vm_*", kProcesses},
    ForbiddenSymbol{"signal", kProcesses},
    ForbiddenSymbol{"sigaction", kProcesses},
    ForbiddenSymbol{"syscall", kProcesses},
    ForbiddenSymbol{"prctl", kProcesses},
    ForbiddenSymbol{"setjmp", kProcesses},
    ForbiddenSymbol{"_setjmp", kProcesses},
    ForbiddenSymbol{"longjmp", kProcesses},
    ForbiddenSymbol{"getenv", kProcesses},
    ForbiddenSymbol{"secure_getenv", kProcesses},
    ForbiddenSymbol{"setenv", kProcesses},
    ForbiddenSymbol{"unsetenv", kProcesses},
    ForbiddenSymbol{"putenv", kProcesses},
    ForbiddenSymbol{"clearenv", kProcesses},
    ForbiddenSymbol{"open", kFiles},
    ForbiddenSymbol{"open64", kFiles},
    ForbiddenSymbol{"openat*", kFiles},
    ForbiddenSymbol{"creat*", kFiles},
    ForbiddenSymbol{"read", kFiles},
    ForbiddenSymbol{"write", kFiles},
    ForbiddenSymbol{"pread*", kFiles},
    ForbiddenSymbol{"pwrite*", kFiles},
    ForbiddenSymbol{"lseek*", kFiles},
    ForbiddenSymbol{"dup*", kFiles},
    ForbiddenSymbol{"fcntl*", kFiles},
    ForbiddenSymbol{"ioctl", kFiles},
    ForbiddenSymbol{"truncate*", kFiles},
    ForbiddenSymbol{"ftruncate*", kFiles},
    ForbiddenSymbol{"readv", kFiles},
    ForbiddenSymbol{"writev", kFiles},
    ForbiddenSymbol{"copy_file_range", kFiles},
    ForbiddenSymbol{"remove", kFiles},
    ForbiddenSymbol{"rename*", kFiles},
    ForbiddenSymbol{"unlink*", kFiles},
    ForbiddenSymbol{"link*", kFiles},
    ForbiddenSymbol{"symlink*", kFiles},
    ForbiddenSymbol{"readlink*", kFiles},
    ForbiddenSymbol{"mkdir*", kFiles},
    ForbiddenSymbol{"rmdir", kFiles},
    ForbiddenSymbol{"mkfifo*", kFiles},
    ForbiddenSymbol{"mknod*", kFiles},
    ForbiddenSymbol{"mkstemp*", kFiles},
    ForbiddenSymbol{"mkostemp*", kFiles},
    ForbiddenSymbol{"mkdtemp", kFiles},
    ForbiddenSymbol{"mktemp", kFiles},
    ForbiddenSymbol{"tmpnam*", kFiles},
    ForbiddenSymbol{"tempnam", kFiles},
    ForbiddenSymbol{"chmod", kFiles},
    ForbiddenSymbol{"fchmod*", kFiles},
    ForbiddenSymbol{"lchmod", kFiles},
    ForbiddenSymbol{"chown", kFiles},
    ForbiddenSymbol{"fchown*", kFiles},
    ForbiddenSymbol{"lchown", kFiles},
    ForbiddenSymbol{"utime*", kFiles},
    ForbiddenSymbol{"lutimes", kFiles},
    ForbiddenSymbol{"futime*", kFiles},
    ForbiddenSymbol{"opendir", kFiles},
    ForbiddenSymbol{"fdopendir", kFiles},
    ForbiddenSymbol{"readdir*", kFiles},
    ForbiddenSymbol{"scandir*", kFiles},
    ForbiddenSymbol{"ftw*", kFiles},
    ForbiddenSymbol{"nftw*", kFiles},
    ForbiddenSymbol{"glob*", kFiles},
    ForbiddenSymbol{"stat*", kFiles},
    ForbiddenSymbol{"fstat*", kFiles},
    ForbiddenSymbol{"lstat*", kFiles},
    ForbiddenSymbol{"access", kFiles},
    ForbiddenSymbol{"faccessat", kFiles},
    ForbiddenSymbol{"realpath", kFiles},
    ForbiddenSymbol{"getcwd", kFiles},
    ForbiddenSymbol{"chdir", kFiles},
    ForbiddenSymbol{"fchdir", kFiles},
    ForbiddenSymbol{"chroot", kFiles},
    ForbiddenSymbol{"umask", kFiles},
    ForbiddenSymbol{"memfd_create", kFiles},
    ForbiddenSymbol{"fopen*", kFiles},
    ForbiddenSymbol{"fdopen", kFiles},
    ForbiddenSymbol{"freopen*", kFiles},
    ForbiddenSymbol{"tmpfile*", kFiles},
    ForbiddenSymbol{"_ZNSt13basic_filebuf*", kFiles},
    ForbiddenSymbol{"_ZNSt14basic_ifstream*", kFiles},
    ForbiddenSymbol{"_ZNSt14basic_ofstream*", kFiles},
    ForbiddenSymbol{"_ZNSt13basic_fstream*", kFiles},
    ForbiddenSymbol{"_ZNSt10filesystem*", kFiles},
    ForbiddenSymbol{"_ZNSt13random_device*", kFiles},
    ForbiddenSymbol{"socket*", kNetwork},
    ForbiddenSymbol{"connect", kNetwork},
    ForbiddenSymbol{"bind", kNetwork},
    ForbiddenSymbol{"listen", kNetwork},
    ForbiddenSymbol{"accept*", kNetwork},
    ForbiddenSymbol{"send*", kNetwork},
    ForbiddenSymbol{"recv*", kNetwork},
    ForbiddenSymbol{"mmap*", kMemory},
    ForbiddenSymbol{"munmap", kMemory},
    ForbiddenSymbol{"mprotect", kMemory},
    ForbiddenSymbol{"mremap", kMemory},
    ForbiddenSymbol{"shm_*", kMemory},
    ForbiddenSymbol{"shmat", kMemory},
    ForbiddenSymbol{"shmget", kMemory},
    ForbiddenSymbol{"dlopen", kLoading},
    ForbiddenSymbol{"dlmopen", kLoading},
    ForbiddenSymbol{"dlsym", kLoading},
    ForbiddenSymbol{"dlvsym", kLoading},
    ForbiddenSymbol{"dladdr*", kLoading},
    ForbiddenSymbol{"dlinfo", kLoading},
    ForbiddenSymbol{"dl_iterate_phdr", kLoading},
    ForbiddenSymbol{"sleep", kTime},
    ForbiddenSymbol{"usleep", kTime},
    ForbiddenSymbol{"nanosleep", kTime},
    ForbiddenSymbol{"clock*", kTime},
    ForbiddenSymbol{"time", kTime},
    ForbiddenSymbol{"gettimeofday", kTime},
    ForbiddenSymbol{"_ZNSt6chrono*", kTime},
    ForbiddenSymbol{"sched_*", kTime},
};

bool matches(string_view pattern, string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

std::string forbidden_text(const ObjectFile& object, const std::string& file) {
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.section != 0 || symbol.name.empty()) continue;
    const auto found = std::find_if(kForbidden.begin(), kForbidden.end(),
                                    [&](const ForbiddenSymbol& f) { return matches(f.name, symbol.name); });
    if (found == kForbidden.end()) continue;
    return fmt::format(
        "{}: it uses {}, but {} are not for puzzles: ranks meet through Group and Rank only, so that everything is "
        "counted.",
        file, demangled(symbol.name), found->what);
  }
  return "";
}

/// Definitions that would take the place of the runtime's, of the library's, or of main().
std::string replacement_text(const ObjectFile& object, const std::string& file) {
  for (const ObjectSymbol& symbol : object.symbols) {
    const string_view name = symbol.name;
    if (!symbol.global || symbol.section == 0 || name.empty()) continue;
    if (name == "main") return fmt::format("{}: it must not define main(): the harness calls your function.", file);
    const bool is_c = !name.starts_with("_Z") && !name.starts_with("DW.ref.");
    const bool allocates = name.starts_with("_Zn") || name.starts_with("_Zd");
    const bool is_ours = name.starts_with("_ZN10shardlings") || name.starts_with("_ZNK10shardlings") ||
                         name.starts_with("_Z18shardlings_harness");
    const bool is_library = !symbol.weak && (name.starts_with("_ZNSt") || name.starts_with("_ZSt"));
    if ((is_c || allocates || is_ours || is_library) && !(is_ours && symbol.weak)) {
      return fmt::format("{}: it must not define {}: that belongs to the runtime or to the library.", file,
                         demangled(symbol.name));
    }
  }
  return "";
}

}  // namespace

std::string check_object(const ObjectFile& object, const std::string& file) {
  for (const auto check : {static_data_text, replacement_text, early_code_text, forbidden_text}) {
    if (std::string text = check(object, file); !text.empty()) return text;
  }
  return "";
}

}  // namespace shardlings::grading::build
