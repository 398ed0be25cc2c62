#include "grading/build/compile_sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/memory_limits.h"
#include "base/rights.h"

namespace shardlings::grading::build {
namespace {

namespace fs = std::filesystem;

/// Nobody's by any distribution's rules; nothing on the machine belongs to it.
constexpr uid_t kOwnUser = 64'521;

void make_folder(const fs::path& folder) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                              fs::perms::others_read | fs::perms::others_exec);
}

/// A user who owns nothing can read it: the file, or the folder and what is in it by the usual rights.
bool is_open_to_all(const fs::path& path) {
  const auto allows = [](const fs::path& at, mode_t rights) {
    struct stat facts = {};
    return stat(at.c_str(), &facts) == 0 && (facts.st_mode & rights) == rights;
  };
  for (fs::path above = path.parent_path(); !above.empty(); above = above.parent_path()) {
    if (!allows(above, S_IXOTH)) return false;
    if (above == above.parent_path()) break;
  }
  std::error_code ignored;
  return allows(path, fs::is_directory(path, ignored) ? S_IROTH | S_IXOTH : S_IROTH);
}

bool has_word(const run::ProcessEnd& end, std::string_view word) {
  return end.output.find(word) != std::string::npos;
}

}  // namespace

std::string SandboxReport::text() const {
  std::string text = own_user ? "as a user of its own" : "as the user who graded";
  text += own_files ? ", with the files that it needs and no other" : ", with all files that this user can read";
  return why_not.empty() ? text : fmt::format("{} ({})", text, why_not);
}

CompileSandbox::CompileSandbox(const Toolchain& toolchain, const std::string& folder,
                               const std::vector<std::string>& inputs, const ToolLimits& limits, SandboxWish wish)
    : folder_(fs::absolute(folder).lexically_normal().string()), limits_(limits) {
  fs::remove_all(folder_);
  make_folder(folder_);
  make_folder(folder_ + "/in");
  make_folder(folder_ + "/out");
  if (wish == SandboxWish::limits_only) {
    report_.why_not = "the compiler does not work in less";
    return;
  }
  report_.no_new_privileges = true;
  choose_user(toolchain, inputs);
  choose_files(toolchain, inputs);
}

CompileSandbox::~CompileSandbox() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void CompileSandbox::choose_user(const Toolchain& toolchain, const std::vector<std::string>& inputs) {
  if (geteuid() != 0) return;
  std::vector<std::string> needed = inputs;
  needed.insert(needed.end(), toolchain.include_folders.begin(), toolchain.include_folders.end());
  needed.insert(needed.end(), {toolchain.compiler, toolchain.library, folder_});
  for (const std::string& path : needed) {
    if (path.empty() || is_open_to_all(path)) continue;
    report_.why_not = fmt::format("{} is closed to other users", path);
    return;
  }
  report_.own_user = chown((folder_ + "/out").c_str(), kOwnUser, kOwnUser) == 0;
}

void CompileSandbox::choose_files(const Toolchain& toolchain, const std::vector<std::string>& inputs) {
  report_.own_files = rules_.valid() && !toolchain.system_folders.empty();
  if (!report_.own_files) {
    report_.why_not += report_.why_not.empty() ? "" : "; ";
    report_.why_not += "this system has no Landlock";
    return;
  }
  for (const std::string& path : toolchain.system_folders) rules_.allow_reading(path);
  for (const std::string& path : toolchain.include_folders) rules_.allow_reading(path);
  for (const std::string& path : inputs) rules_.allow_reading(path);
  rules_.allow_reading(toolchain.library);
  rules_.allow_reading(folder_ + "/in");
  rules_.allow_writing(folder_ + "/out");
  rules_.allow_device("/dev/null");
  rules_.allow_reading("/dev/urandom");
  if (const char* folders = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream all(folders);
    for (std::string path; std::getline(all, path, ':');) rules_.allow_reading(path);
  }
}

void CompileSandbox::put(const std::string& file, const std::string& bytes) const {
  std::ofstream stream(input(file), std::ios::binary | std::ios::trunc);
  stream << bytes;
  stream.close();
  if (!stream || chmod(input(file).c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) != 0) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", input(file), std::strerror(errno)));
  }
}

std::optional<std::string> CompileSandbox::bytes(const std::string& file) const {
  const Descriptor made(open(output(file).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts = {};
  if (made.get() < 0 || fstat(made.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_size > limits_.file_bytes) {
    return std::nullopt;
  }
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = read(made.get(), bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    at += static_cast<std::size_t>(n);
  }
  return bytes;
}

void CompileSandbox::move_out(const std::string& file, const std::string& to) const {
  const Descriptor made(open(output(file).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts = {};
  const bool good = made.get() >= 0 && fstat(made.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
                    (!report_.own_user || fchown(made.get(), geteuid(), getegid()) == 0) &&
                    fchmod(made.get(), S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH) == 0 &&
                    rename(output(file).c_str(), to.c_str()) == 0;
  if (!good) throw std::runtime_error(fmt::format("cannot keep {}: {}", to, std::strerror(errno)));
}

/// Between fork and exec: system calls only.
bool CompileSandbox::enter() const {
  if (report_.own_user && !become_user(kOwnUser)) return false;
  if (report_.no_new_privileges && !refuse_new_privileges()) return false;
  return !report_.own_files || rules_.restrict_this_process();
}

run::ProcessEnd CompileSandbox::run(const std::string& program, std::vector<std::string> arguments,
                                    std::int64_t stack_bytes) const {
  run::ProcessOptions options;
  options.program = program;
  options.arguments = std::move(arguments);
  const char* path = std::getenv("PATH");
  options.environment = path ? run::clean_environment("/", path) : run::clean_environment("/");
  options.environment.push_back("TMPDIR=" + folder_ + "/out");
  options.folder = folder_ + "/in";
  options.limits.cpu_seconds = limits_.cpu_seconds;
  options.limits.wall_seconds = limits_.wall_seconds;
  options.limits.memory_bytes = limits_.memory_bytes;
  options.limits.stack_bytes = stack_bytes;
  options.limits.file_bytes = limits_.file_bytes;
  options.limits.output_bytes = limits_.output_bytes;
  if (report_.own_user) options.limits.processes = limits_.processes;
  options.give_up_rights = [this] { return enter(); };
  run::ProcessEnd end = run::run_process(options);
  if (!end.started) throw std::runtime_error(fmt::format("cannot start {}: {}", program, end.error));
  if (!end.exited && end.killed == run::Kill::none) {
    end.output += fmt::format("\n{} was ended by signal {}", program, end.signal);
  }
  return end;
}

std::string CompileSandbox::limit_text(const run::ProcessEnd& end, const std::string& doing) const {
  constexpr const char* kEndless = "Look for a template or a constexpr function that goes on without end.";
  if (end.exited && end.status == 0) return "";
  if (end.killed == run::Kill::wall_limit) {
    return fmt::format("{} took more than {} s. {}", doing, limits_.wall_seconds, kEndless);
  }
  if (end.killed == run::Kill::output_limit) {
    return fmt::format("{} printed more than {} KiB. Mend the first error that it names.", doing,
                       limits_.output_bytes / 1024);
  }
  if (end.signal == SIGXCPU || end.cpu_seconds >= limits_.cpu_seconds ||
      has_word(end, "CPU time limit exceeded signal")) {
    return fmt::format("{} took more than {} s of CPU time. {}", doing, limits_.cpu_seconds, kEndless);
  }
  // The compiler's driver says what its own processes were ended by.
  rlimit callers = {};
  const bool ours = getrlimit(RLIMIT_FSIZE, &callers) != 0 || callers.rlim_cur == RLIM_INFINITY ||
                    static_cast<std::int64_t>(callers.rlim_cur) >= limits_.file_bytes;
  if (ours && (end.signal == SIGXFSZ || has_word(end, "File size limit exceeded signal"))) {
    return fmt::format(
        "{} made a file of more than {} MiB. Look for an array that is initialised with very many values.", doing,
        limits_.file_bytes >> 20);
  }
  // Once it is full the compiler breaks, and all of it was resident.
  if (has_word(end, "internal compiler error: Segmentation fault") && end.peak_memory > limits_.stack_bytes / 4 * 3) {
    return fmt::format(
        "{} took more than {} MiB of the compiler's stack. Look for brackets or operators inside one another, many "
        "thousands of them, such as macros write.",
        doing, limits_.stack_bytes >> 20);
  }
  for (const char* word : {"out of memory allocating", "virtual memory exhausted", "Cannot allocate memory"}) {
    // Where the caller has less than that, it is not the source's doing.
    if (!has_word(end, word) || tighter_limit(memory_limits_here(), limits_.memory_bytes) > 0) continue;
    return fmt::format("{} took more than {} MiB of memory. {}", doing, limits_.memory_bytes >> 20, kEndless);
  }
  return "";
}

}  // namespace shardlings::grading::build
