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

struct Door {
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

constexpr std::array kDoors = {
    Door{"pthread_*", kThreads},
    Door{"sem_*", kThreads},
    Door{"thrd_*", kThreads},
    Door{"mtx_*", kThreads},
    Door{"_ZNSt6thread*", kThreads},
    Door{"_ZNSt18condition_variable*", kThreads},
    Door{"__gthr*", kThreads},
    Door{"fork", kProcesses},
    Door{"vfork", kProcesses},
    Door{"clone*", kProcesses},
    Door{"exec*", kProcesses},
    Door{"posix_spawn*", kProcesses},
    Door{"system", kProcesses},
    Door{"popen", kProcesses},
    Door{"kill*", kProcesses},
    Door{"tgkill", kProcesses},
    Door{"ptrace", kProcesses},
    Door{"process_vm_*", kProcesses},
    Door{"signal", kProcesses},
    Door{"sigaction", kProcesses},
    Door{"syscall", kProcesses},
    Door{"prctl", kProcesses},
    Door{"setjmp", kProcesses},
    Door{"_setjmp", kProcesses},
    Door{"longjmp", kProcesses},
    Door{"getenv", kProcesses},
    Door{"setenv", kProcesses},
    Door{"open", kFiles},
    Door{"open64", kFiles},
    Door{"openat*", kFiles},
    Door{"creat*", kFiles},
    Door{"read", kFiles},
    Door{"write", kFiles},
    Door{"pread*", kFiles},
    Door{"pwrite*", kFiles},
    Door{"lseek*", kFiles},
    Door{"dup*", kFiles},
    Door{"fcntl*", kFiles},
    Door{"ioctl", kFiles},
    Door{"ftruncate*", kFiles},
    Door{"memfd_create", kFiles},
    Door{"fopen*", kFiles},
    Door{"fdopen", kFiles},
    Door{"freopen*", kFiles},
    Door{"tmpfile*", kFiles},
    Door{"_ZNSt13basic_filebuf*", kFiles},
    Door{"_ZNSt14basic_ifstream*", kFiles},
    Door{"_ZNSt14basic_ofstream*", kFiles},
    Door{"_ZNSt13basic_fstream*", kFiles},
    Door{"_ZNSt10filesystem*", kFiles},
    Door{"_ZNSt13random_device*", kFiles},
    Door{"socket*", kNetwork},
    Door{"connect", kNetwork},
    Door{"bind", kNetwork},
    Door{"listen", kNetwork},
    Door{"accept*", kNetwork},
    Door{"send*", kNetwork},
    Door{"recv*", kNetwork},
    Door{"mmap*", kMemory},
    Door{"munmap", kMemory},
    Door{"mprotect", kMemory},
    Door{"mremap", kMemory},
    Door{"shm_*", kMemory},
    Door{"shmat", kMemory},
    Door{"shmget", kMemory},
    Door{"dlopen", kLoading},
    Door{"dlmopen", kLoading},
    Door{"dlsym", kLoading},
    Door{"dlvsym", kLoading},
    Door{"dladdr*", kLoading},
    Door{"dlinfo", kLoading},
    Door{"dl_iterate_phdr", kLoading},
    Door{"sleep", kTime},
    Door{"usleep", kTime},
    Door{"nanosleep", kTime},
    Door{"clock*", kTime},
    Door{"time", kTime},
    Door{"gettimeofday", kTime},
    Door{"_ZNSt6chrono*", kTime},
    Door{"sched_*", kTime},
};

bool matches(string_view pattern, string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

std::string door_text(const ObjectFile& object, const std::string& file) {
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.section != 0 || symbol.name.empty()) continue;
    const auto door =
        std::find_if(kDoors.begin(), kDoors.end(), [&](const Door& d) { return matches(d.name, symbol.name); });
    if (door == kDoors.end()) continue;
    return fmt::format(
        "{}: it uses {}, but {} are not for puzzles: ranks meet through Group and Rank only, so that everything is "
        "counted.",
        file, demangled(symbol.name), door->what);
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
  for (const auto check : {static_data_text, replacement_text, early_code_text, door_text}) {
    if (std::string text = check(object, file); !text.empty()) return text;
  }
  return "";
}

}  // namespace shardlings::grading::build
