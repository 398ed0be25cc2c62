#include "grading/build/refused_names.h"

#include <algorithm>
#include <array>

namespace shardlings::grading::build {
namespace {

using std::string_view;

struct RefusedName {
  string_view name;  ///< with * at the end: every name that begins so
  RefusedSubject subject;
};

constexpr const char* kCounted = "ranks meet through Group and Rank only, so that everything is counted";

constexpr RefusedSubject kThreads{"threads and locks are", kCounted};
constexpr RefusedSubject kProcesses{"processes are", kCounted};
constexpr RefusedSubject kFiles{
    "files and descriptors are",
    "print what you want to see, with printf or std::cout; ranks meet through Group and Rank only"};
constexpr RefusedSubject kInput{"input is", "nobody types while a run is graded. Write the value into the program"};
constexpr RefusedSubject kEnvironment{"the environment is",
                                      "a run is to be the same everywhere. Write the value into the program"};
constexpr RefusedSubject kNetwork{"the network is", kCounted};
constexpr RefusedSubject kMemory{"the memory map is", kCounted};
constexpr RefusedSubject kLoading{"dynamic loading is", kCounted};
constexpr RefusedSubject kState{"what the library keeps for all ranks together (handlers, settings of streams) is",
                                "no rank may notice another one but through a Group. Leave it out"};
constexpr RefusedSubject kRandom{
    "random numbers that all ranks draw from one source are",
    "every run is to give the same numbers. random_normal() makes some on the device, from a seed"};
constexpr RefusedSubject kTime{"the computer's clock, or sleeping, is",
                               "time is virtual here, and the report shows where it went"};

constexpr std::array kRefusedNames = {
    RefusedName{"pthread_*", kThreads},
    RefusedName{"sem_*", kThreads},
    RefusedName{"thrd_*", kThreads},
    RefusedName{"mtx_*", kThreads},
    RefusedName{"_ZNSt6thread*", kThreads},
    RefusedName{"_ZNSt18condition_variable*", kThreads},
    RefusedName{"__gthr*", kThreads},
    RefusedName{"fork", kProcesses},
    RefusedName{"vfork", kProcesses},
    RefusedName{"clone*", kProcesses},
    RefusedName{"exec*", kProcesses},
    RefusedName{"posix_spawn*", kProcesses},
    RefusedName{"system", kProcesses},
    RefusedName{"popen", kProcesses},
    RefusedName{"kill*", kProcesses},
    RefusedName{"tgkill", kProcesses},
    RefusedName{"ptrace", kProcesses},
    RefusedName{"process_vm_*", kProcesses},
    RefusedName{"signal", kProcesses},
    RefusedName{"sigaction", kProcesses},
    RefusedName{"syscall", kProcesses},
    RefusedName{"prctl", kProcesses},
    RefusedName{"setjmp", kProcesses},
    RefusedName{"_setjmp", kProcesses},
    RefusedName{"longjmp", kProcesses},
    RefusedName{"getenv", kEnvironment},
    RefusedName{"secure_getenv", kEnvironment},
    RefusedName{"setenv", kEnvironment},
    RefusedName{"unsetenv", kEnvironment},
    RefusedName{"putenv", kEnvironment},
    RefusedName{"clearenv", kEnvironment},
    RefusedName{"open", kFiles},
    RefusedName{"open64", kFiles},
    RefusedName{"openat*", kFiles},
    RefusedName{"creat*", kFiles},
    RefusedName{"read", kFiles},
    RefusedName{"write", kFiles},
    RefusedName{"pread*", kFiles},
    RefusedName{"pwrite*", kFiles},
    RefusedName{"lseek*", kFiles},
    RefusedName{"dup*", kFiles},
    RefusedName{"fcntl*", kFiles},
    RefusedName{"ioctl", kFiles},
    RefusedName{"truncate*", kFiles},
    RefusedName{"ftruncate*", kFiles},
    RefusedName{"readv", kFiles},
    RefusedName{"writev", kFiles},
    RefusedName{"copy_file_range", kFiles},
    RefusedName{"remove", kFiles},
    RefusedName{"rename*", kFiles},
    RefusedName{"unlink*", kFiles},
    RefusedName{"link*", kFiles},
    RefusedName{"symlink*", kFiles},
    RefusedName{"readlink*", kFiles},
    RefusedName{"mkdir*", kFiles},
    RefusedName{"rmdir", kFiles},
    RefusedName{"mkfifo*", kFiles},
    RefusedName{"mknod*", kFiles},
    RefusedName{"mkstemp*", kFiles},
    RefusedName{"mkostemp*", kFiles},
    RefusedName{"mkdtemp", kFiles},
    RefusedName{"mktemp", kFiles},
    RefusedName{"tmpnam*", kFiles},
    RefusedName{"tempnam", kFiles},
    RefusedName{"chmod", kFiles},
    RefusedName{"fchmod*", kFiles},
    RefusedName{"lchmod", kFiles},
    RefusedName{"chown", kFiles},
    RefusedName{"fchown*", kFiles},
    RefusedName{"lchown", kFiles},
    RefusedName{"utime*", kFiles},
    RefusedName{"lutimes", kFiles},
    RefusedName{"futime*", kFiles},
    RefusedName{"opendir", kFiles},
    RefusedName{"fdopendir", kFiles},
    RefusedName{"readdir*", kFiles},
    RefusedName{"scandir*", kFiles},
    RefusedName{"ftw*", kFiles},
    RefusedName{"nftw*", kFiles},
    RefusedName{"glob*", kFiles},
    RefusedName{"stat*", kFiles},
    RefusedName{"fstat*", kFiles},
    RefusedName{"lstat*", kFiles},
    RefusedName{"access", kFiles},
    RefusedName{"faccessat", kFiles},
    RefusedName{"realpath", kFiles},
    RefusedName{"getcwd", kFiles},
    RefusedName{"chdir", kFiles},
    RefusedName{"fchdir", kFiles},
    RefusedName{"chroot", kFiles},
    RefusedName{"umask", kFiles},
    RefusedName{"memfd_create", kFiles},
    RefusedName{"fopen*", kFiles},
    RefusedName{"fdopen", kFiles},
    RefusedName{"freopen*", kFiles},
    RefusedName{"tmpfile*", kFiles},
    RefusedName{"_ZTTSt14basic_ifstream*", kFiles},
    RefusedName{"_ZTVSt14basic_ifstream*", kFiles},
    RefusedName{"_ZTTSt14basic_ofstream*", kFiles},
    RefusedName{"_ZTVSt14basic_ofstream*", kFiles},
    RefusedName{"_ZTTSt13basic_fstream*", kFiles},
    RefusedName{"_ZTVSt13basic_fstream*", kFiles},
    RefusedName{"_ZTVSt13basic_filebuf*", kFiles},
    RefusedName{"_ZNSt13basic_filebuf*", kFiles},
    RefusedName{"_ZNSt14basic_ifstream*", kFiles},
    RefusedName{"_ZNSt14basic_ofstream*", kFiles},
    RefusedName{"_ZNSt13basic_fstream*", kFiles},
    RefusedName{"_ZNSt10filesystem*", kFiles},
    RefusedName{"_ZNSt13random_device*", kRandom},
    RefusedName{"socket*", kNetwork},
    RefusedName{"connect", kNetwork},
    RefusedName{"bind", kNetwork},
    RefusedName{"listen", kNetwork},
    RefusedName{"accept*", kNetwork},
    RefusedName{"send*", kNetwork},
    RefusedName{"recv*", kNetwork},
    RefusedName{"mmap*", kMemory},
    RefusedName{"munmap", kMemory},
    RefusedName{"mprotect", kMemory},
    RefusedName{"mremap", kMemory},
    RefusedName{"shm_*", kMemory},
    RefusedName{"shmat", kMemory},
    RefusedName{"shmget", kMemory},
    RefusedName{"dlopen", kLoading},
    RefusedName{"dlmopen", kLoading},
    RefusedName{"dlsym", kLoading},
    RefusedName{"dlvsym", kLoading},
    RefusedName{"dladdr*", kLoading},
    RefusedName{"dlinfo", kLoading},
    RefusedName{"dl_iterate_phdr", kLoading},
    RefusedName{"sleep", kTime},
    RefusedName{"usleep", kTime},
    RefusedName{"nanosleep", kTime},
    RefusedName{"clock*", kTime},
    RefusedName{"time", kTime},
    RefusedName{"gettimeofday", kTime},
    RefusedName{"_ZNSt6chrono*", kTime},
    RefusedName{"sched_*", kTime},
    RefusedName{"atexit", kProcesses},
    RefusedName{"at_quick_exit", kProcesses},
    RefusedName{"raise", kProcesses},
    RefusedName{"rand*", kRandom},
    RefusedName{"srand*", kRandom},
    RefusedName{"drand48", kRandom},
    RefusedName{"lrand48", kRandom},
    RefusedName{"strtok", kState},
    RefusedName{"setlocale", kState},
    RefusedName{"setbuf*", kState},
    RefusedName{"setvbuf", kState},
    RefusedName{"_ZSt13set_terminatePFvvE", kState},
    RefusedName{"_ZSt13get_terminatev", kState},
    RefusedName{"_ZSt15set_new_handlerPFvvE", kState},
    RefusedName{"_ZSt15get_new_handlerv", kState},
    RefusedName{"_ZNSt6locale*", kState},
    RefusedName{"_ZNSt8ios_base*", kState},
    RefusedName{"_ZNSt9basic_ios*", kState},
    RefusedName{"_ZNSt3pmr*", kState},
    RefusedName{"_ZSt3cin", kInput},
    RefusedName{"stdin", kInput},
    RefusedName{"getchar", kInput},
    RefusedName{"fclose", kFiles},
    RefusedName{"scanf", kInput},
    RefusedName{"__isoc99_scanf", kInput},
    RefusedName{"__isoc23_scanf", kInput},
};

bool matches(string_view pattern, string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

}  // namespace

const RefusedSubject* subject_of(string_view name) {
  const auto found = std::find_if(kRefusedNames.begin(), kRefusedNames.end(),
                                  [&](const RefusedName& refused) { return matches(refused.name, name); });
  return found == kRefusedNames.end() ? nullptr : &found->subject;
}

}  // namespace shardlings::grading::build
