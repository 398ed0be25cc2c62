#include "cli/findings.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "cli/file.h"
#include "cli/process.h"

namespace shardlings::cli {

namespace fs = std::filesystem;

namespace {

/// The first line that a program answers to `arguments`; empty if it cannot be run.
std::string first_line(const std::string& program, const std::vector<std::string>& arguments) {
  if (program.empty()) return {};
  std::vector<std::string> command = {program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Captured answer = capture(command);
  if (answer.status != 0) return {};
  const auto lines = lines_of(answer.output);
  return lines.empty() ? program : lines[0];
}

std::string version_of(const std::string& program) {
  return first_line(program, {"--version"});
}

/// The first of the programs that is there, with its version.
std::string first_found(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string path = program_path(name);
    if (!path.empty()) return version_of(path);
  }
  return {};
}

std::string apt(const std::string& packages) {
  return "sudo apt-get install " + packages;
}

std::string compiler(const Project& project) {
  const std::string configured = cmake_cache_value(project.build, "CMAKE_CXX_COMPILER");
  const std::string version = configured.empty() ? std::string() : version_of(configured);
  return version.empty() ? first_found({"c++", "g++", "clang++"}) : version;
}

/// The library's file, as CMake found it or in the usual folders.
std::string blas(const Project& project) {
  const std::string configured = cmake_cache_value(project.build, "SHARDLINGS_OPENBLAS");
  std::error_code error;
  return !configured.empty() && fs::exists(configured, error) ? configured : std::string();
}

std::string cuda_toolkit() {
  const std::string on_path = program_path("nvcc");
  const std::string nvcc = on_path.empty() ? "/usr/local/cuda/bin/nvcc" : on_path;
  const Captured answer = capture({nvcc, "--version"});
  if (answer.status != 0) return {};
  for (const std::string& line : lines_of(answer.output)) {
    if (line.find("release") != std::string::npos) return line;
  }
  return nvcc;
}

std::string gpus() {
  const Captured answer =
      capture({"nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"});
  if (answer.status != 0) return {};
  const auto lines = lines_of(answer.output);
  if (lines.empty()) return {};
  return lines.size() == 1 ? lines[0] : fmt::format("{} x {}", lines.size(), lines[0]);
}

/// A header below one of the folders where systems keep them.
std::string header(const std::string& name) {
  for (const char* folder : {"/usr/include/", "/usr/local/include/", "/usr/local/cuda/include/"}) {
    std::error_code error;
    if (fs::exists(folder + name, error)) return folder + name;
  }
  return {};
}

std::string file_events() {
  const int descriptor = inotify_init1(IN_CLOEXEC);
  if (descriptor < 0) return {};
  close(descriptor);
  return "inotify";
}

std::vector<Finding> needed(const Project& project) {
  return {
      {"compiler", true, compiler(project), "Puzzles are C++20: nothing can be built without a compiler.", apt("g++")},
      {"CMake", true, version_of(program_path("cmake")), "The project cannot be built.", apt("cmake")},
      {"Ninja", true, version_of(program_path("ninja")), "The project cannot be built by ./shardlings.",
       apt("ninja-build")},
      {"OpenBLAS", true, blas(project), "Matrix products need it.", apt("libopenblas-dev")},
  };
}

std::vector<Finding> useful() {
  return {
      {"fast linker", false, first_found({"mold", "ld.lld", "ld.gold"}),
       "Linking is slower: some tenths of a second more between saving and the verdict.", apt("mold")},
      {"ccache", false, version_of(program_path("ccache")), "Building again takes as long as the first time.",
       apt("ccache")},
      {"file events", false, file_events(), "watch looks at the file twenty times a second instead of being told.",
       "a Linux system with inotify"},
      {"CUDA toolkit", false, cuda_toolkit(), "Puzzles run on the CPU; every one can be solved there.",
       "https://developer.nvidia.com/cuda-downloads"},
      {"GPU", false, gpus(), "Puzzles run on the CPU; every one can be solved there.",
       "an NVIDIA GPU with its driver (nvidia-smi must answer)"},
      {"NCCL", false, header("nccl.h"), "Ranks on several GPUs cannot talk to one another.", apt("libnccl-dev")},
      {"MPI", false, first_found({"mpirun", "mpiexec"}), "Ranks run as threads of one process, not as processes.",
       apt("libopenmpi-dev openmpi-bin")},
  };
}

}  // namespace

std::vector<Finding> examine(const Project& project) {
  auto findings = needed(project);
  findings.push_back({"cores", false, fmt::format("{}", std::max(1u, std::thread::hardware_concurrency())), "", ""});
  auto more = useful();
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

}  // namespace shardlings::cli
