#include "cli/system/findings.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/system/program.h"
#include "grading/build/toolchain.h"
#include "grading/run/backend_choice.h"
#include "grading/run/mpirun.h"

namespace shardlings::cli::system {

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

/// Where nothing is built, the library is found when it is loaded.
std::string loadable_blas() {
  const Captured known = capture({"/bin/sh", "-c", "/sbin/ldconfig -p 2> /dev/null"});
  for (const std::string& line : lines_of(known.output)) {
    const auto arrow = line.find("=> ");
    if (line.find("libopenblas.so.0") != std::string::npos && arrow != std::string::npos) return line.substr(arrow + 3);
  }
  return {};
}

/// The library's file, as CMake found it or in the usual folders.
std::string blas(const Project& project) {
  if (project.is_handout) return loadable_blas();
  const std::string configured = cmake_cache_value(project.build, "SHARDLINGS_OPENBLAS");
  std::error_code error;
  return !configured.empty() && fs::exists(configured, error) ? configured : std::string();
}

std::string cuda_toolkit() {
  const std::string on_path = program_path("nvcc");
  std::string nvcc = on_path.empty() ? "/usr/local/cuda/bin/nvcc" : on_path;
  const Captured answer = capture({nvcc, "--version"});
  if (answer.status != 0) return {};
  for (const std::string& line : lines_of(answer.output)) {
    if (line.find("release") != std::string::npos) return line;
  }
  return nvcc;
}

std::string gpus(const grading::run::Machine& machine) {
  if (machine.gpus.empty()) return {};
  const auto& gpu = machine.gpus[0];
  const std::string first = fmt::format("{}, {:.0f} GiB, driver for CUDA {}", gpu.name,
                                        static_cast<double>(gpu.memory) / 0x1p30, machine.driver);
  return machine.gpus.size() == 1 ? first : fmt::format("{} x {}", machine.gpus.size(), first);
}

grading::run::Machine machine_of(const Project& project) try {
  return grading::run::examine_machine(grading::build::load_toolchain(project.build).gpu_probe);
} catch (const std::runtime_error& error) {
  grading::run::Machine machine;
  machine.gpu_problem = machine.nccl_problem = machine.mpi_problem = error.what();
  return machine;
}

std::string file_events() {
  const int descriptor = inotify_init1(IN_CLOEXEC);
  if (descriptor < 0) return {};
  close(descriptor);
  return "inotify";
}

std::vector<Finding> needed(const Project& project) {
  if (project.is_handout) {
    return {{"compiler", true, compiler(project), "Puzzles are C++20: nothing can be built without a compiler.",
             apt("g++")},
            {"OpenBLAS", true, blas(project), "Matrix products need it.", apt("libopenblas0")}};
  }
  return {
      {"compiler", true, compiler(project), "Puzzles are C++20: nothing can be built without a compiler.", apt("g++")},
      {"CMake", true, version_of(program_path("cmake")), "The project cannot be built.", apt("cmake")},
      {"Ninja", true, version_of(program_path("ninja")), "The project cannot be built by ./shardlings.",
       apt("ninja-build")},
      {"OpenBLAS", true, blas(project), "Matrix products need it.", apt("libopenblas-dev")},
  };
}

/// What starts processes; where there is none, why and what to do.
Finding launcher_of(const std::string& mpi) {
  Finding finding{"mpirun", false, "", "Processes cannot be started, so --backend mpi does not work.", ""};
  try {
    finding.version = grading::run::find_launcher(mpi).program;
  } catch (const std::runtime_error& error) {
    finding.fix = error.what();
  }
  return finding;
}

std::vector<Finding> for_mpi(const grading::run::Machine& machine) {
  std::vector<Finding> findings = {
      {"MPI", false, machine.mpi,
       "Ranks are threads of one process; --backend mpi, which divides them over processes "
       "and hosts, does not work.",
       machine.mpi_problem}};
  if (!machine.mpi.empty()) findings.push_back(launcher_of(machine.mpi));
  return findings;
}

/// What the backends rest on: how this build was made, and what the machine has.
std::vector<Finding> for_gpus(const grading::run::Machine& machine) {
  const std::string on_cpu = "Puzzles run on the CPU; every one can be solved there.";
  std::string backends = "cpu";
  if (!machine.gpus.empty()) backends += ", cuda";
  if (!machine.gpus.empty() && !machine.nccl.empty()) {
    backends += fmt::format(", nccl (up to {} ranks)", machine.gpus.size());
  }
  if (!machine.mpi.empty()) backends += ", mpi";
  return {
      {"CUDA backend", false, machine.cuda.empty() ? "" : "built with CUDA " + machine.cuda,
       "This build cannot use GPUs. " + on_cpu, "the CUDA toolkit; then ./shardlings builds the backend"},
      {"GPU", false, gpus(machine), on_cpu, machine.gpu_problem},
      {"NCCL", false, machine.nccl, "Ranks on several GPUs cannot talk to one another.", machine.nccl_problem},
      {"backends", true, backends, "", ""},
  };
}

std::vector<Finding> useful() {
  return {
      {"fast linker", false, first_found({"mold", "ld.lld", "ld.gold"}),
       "Linking is slower: some tenths of a second more between saving and the verdict.", apt("mold")},
      {"gdb", false, version_of(program_path("gdb")), "./shardlings debug does not work; everything else does.",
       apt("gdb")},
      {"file events", false, file_events(), "watch looks at the file twenty times a second instead of being told.",
       "a Linux system with inotify"},
      {"CUDA toolkit", false, cuda_toolkit(), "Puzzles run on the CPU; every one can be solved there.",
       "https://developer.nvidia.com/cuda-downloads (version 12 or later)"},
  };
}

}  // namespace

std::vector<Finding> examine(const Project& project) {
  auto findings = needed(project);
  findings.push_back({"cores", false, fmt::format("{}", std::max(1u, std::thread::hardware_concurrency())), "", ""});
  auto more = useful();
  findings.insert(findings.end(), more.begin(), more.end());
  const grading::run::Machine machine = machine_of(project);
  more = for_mpi(machine);
  findings.insert(findings.end(), more.begin(), more.end());
  more = for_gpus(machine);
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

}  // namespace shardlings::cli::system
