#include "grading/run/mpirun.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace shardlings::grading::run {
namespace {

/// What starts processes: names of a distribution that has both MPIs come first.
std::vector<std::string> names_of(MpiKind kind) {
  if (kind == MpiKind::open_mpi) return {"mpirun.openmpi", "orterun", "mpirun", "mpiexec"};
  return {"mpiexec.hydra", "mpiexec.mpich", "mpirun", "mpiexec"};
}

const char* package_of(MpiKind kind) {
  return kind == MpiKind::open_mpi ? "openmpi-bin" : "mpich";
}

/// The file, if it is on the PATH.
std::string on_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : kUsualPath;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    std::string path = fmt::format("{}/{}", rest.substr(0, end), name);
    if (access(path.c_str(), X_OK) == 0) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

std::string version_said_by(const std::string& program) {
  constexpr double kSeconds = 20;
  ProcessOptions options;
  options.program = program;
  options.arguments = {"--version"};
  options.environment = launcher_environment(environ);
  options.limits.wall_seconds = kSeconds;
  return run_process(options).output;
}

/// "Open MPI 4.1.4": which, and its first number.
MpiLauncher wanted(const std::string& mpi) {
  for (const auto& [name, kind] : {std::pair{"Open MPI ", MpiKind::open_mpi}, std::pair{"MPICH ", MpiKind::mpich}}) {
    if (mpi.starts_with(name)) return {kind, std::atoi(mpi.c_str() + std::string_view(name).size()), ""};
  }
  throw std::runtime_error(
      fmt::format("The backend mpi was built with {}, and only Open MPI and MPICH are known.", mpi));
}

std::string env_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Variables of the caller's that decide how processes are started, on which hosts, and how they find one another.
bool is_for_launchers(std::string_view variable) {
  constexpr std::string_view kPrefixes[] = {
      "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "HYDRA_", "MPICH_",  "MPIR_CVAR_", "UCX_",  "FI_",   "SLURM",      "PBS_",
      "LSB_",      "SSH_",      "CUDA_",     "NCCL_",  "NVIDIA_", "OPAL_",      "ASAN_", "TSAN_", "SHARDLINGS_"};
  constexpr std::string_view kNames[] = {
      "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LD_LIBRARY_PATH", "OPENBLAS_CORETYPE"};
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](auto prefix) { return name.starts_with(prefix); }) ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// A job inside of a job would be taken for a part of the outer one.
bool is_of_outer_job(std::string_view variable) {
  constexpr std::string_view kPrefixes[] = {"OMPI_MCA_ess", "OMPI_MCA_orte_", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir"};
  constexpr std::string_view kKept[] = {"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames",
                                        "OMPI_MCA_orte_rsh_agent"};
  const auto begins = [&](std::string_view prefix) { return variable.starts_with(prefix); };
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), begins) &&
         std::none_of(std::begin(kKept), std::end(kKept), begins);
}

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

std::vector<std::string> for_open_mpi(const MpiLaunch& launch, bool as_root) {
  std::vector<std::string> words = {"-n", std::to_string(launch.processes), "--bind-to", "none"};
  if (as_root) add(words, {"--allow-run-as-root"});
  if (!launch.hosts.empty()) {
    add(words, {"--host", to_text(launch.hosts)});
  } else if (launch.launcher.version >= 5) {
    add(words, {"--map-by", ":OVERSUBSCRIBE"});
  } else {
    add(words, {"--oversubscribe"});
  }
  for (const char* variable : {"OPENBLAS_NUM_THREADS", "LC_ALL"}) add(words, {"-x", variable});
  for (const std::string& variable : launch.variables) add(words, {"-x", variable.substr(0, variable.find('='))});
  // Who waits lets others compute, and a host that cannot be reached any more is noticed there, too.
  if (launch.launcher.version < 5) {
    add(words, {"--mca", "mpi_yield_when_idle", "1", "--mca", "oob_tcp_keepalive_time", "2"});
    add(words, {"--mca", "oob_tcp_keepalive_intvl", "2", "--mca", "oob_tcp_keepalive_probes", "2"});
  }
  return words;
}

std::vector<std::string> for_mpich(const MpiLaunch& launch) {
  std::vector<std::string> words = {"-n", std::to_string(launch.processes)};
  if (!launch.hosts.empty()) add(words, {"-hosts", to_text(launch.hosts)});
  // Who is left has something to tell when one of them dies; they end by themselves.
  add(words, {"-disable-auto-cleanup", "-wdir", "/"});
  return words;
}

}  // namespace

bool is_launcher_of(MpiKind kind, const std::string& said) {
  const auto says = [&](const char* word) { return said.find(word) != std::string::npos; };
  return kind == MpiKind::open_mpi ? says("(Open MPI)") || says("(OpenRTE)") || says("(PRRTE)") : says("HYDRA");
}

MpiLauncher find_launcher(const std::string& mpi) {
  MpiLauncher launcher = wanted(mpi);
  const std::string named = env_of("SHARDLINGS_MPIRUN");
  if (!named.empty()) {
    launcher.program = named.find('/') == std::string::npos ? on_path(named) : named;
    if (is_launcher_of(launcher.kind, version_said_by(launcher.program))) return launcher;
    throw std::runtime_error(
        fmt::format("SHARDLINGS_MPIRUN is {}, which is no launcher of {}: this build uses that.", named, mpi));
  }
  for (const std::string& name : names_of(launcher.kind)) {
    launcher.program = on_path(name);
    if (!launcher.program.empty() && is_launcher_of(launcher.kind, version_said_by(launcher.program))) return launcher;
  }
  throw std::runtime_error(
      fmt::format("This build uses {}, whose program that starts processes is not on the PATH: {}. On Debian or "
                  "Ubuntu: sudo apt-get "
                  "install {}. Elsewhere put its folder on the PATH, or its file into the variable SHARDLINGS_MPIRUN.",
                  mpi, fmt::join(names_of(launcher.kind), ", "), package_of(launcher.kind)));
}

std::string to_text(const MpiStart& start) {
  const char* kind = start.launcher.kind == MpiKind::open_mpi ? "open_mpi" : "mpich";
  return fmt::format("{} {} {} {} {}", kind, start.launcher.version, start.processes,
                     start.hosts.empty() ? "-" : to_text(start.hosts), start.launcher.program);
}

MpiStart start_from(const std::string& text) {
  std::istringstream words(text);
  MpiStart start;
  std::string kind, hosts;
  words >> kind >> start.launcher.version >> start.processes >> hosts >> std::ws;
  std::getline(words, start.launcher.program);
  if (words.fail() || start.processes < 1 || (kind != "open_mpi" && kind != "mpich")) {
    throw std::runtime_error("no start of processes: " + text);
  }
  start.launcher.kind = kind == "open_mpi" ? MpiKind::open_mpi : MpiKind::mpich;
  std::replace(hosts.begin(), hosts.end(), ',', '\n');
  if (hosts != "-") start.hosts = hosts_from(hosts, "the list of hosts");
  return start;
}

std::vector<std::string> launcher_arguments(const MpiLaunch& launch, bool as_root) {
  std::vector<std::string> words =
      launch.launcher.kind == MpiKind::open_mpi ? for_open_mpi(launch, as_root) : for_mpich(launch);
  words.push_back(launch.program);
  words.insert(words.end(), launch.arguments.begin(), launch.arguments.end());
  return words;
}

std::vector<std::string> launcher_environment(const char* const* callers) {
  std::vector<std::string> environment = {"LC_ALL=C.UTF-8", "OPENBLAS_NUM_THREADS=1"};
  for (const char* const* variable = callers; *variable != nullptr; ++variable) {
    if (is_for_launchers(*variable) && !is_of_outer_job(*variable)) environment.emplace_back(*variable);
  }
  return environment;
}

ProcessOptions mpirun_process(const MpiLaunch& launch) {
  ProcessOptions options;
  options.program = launch.launcher.program;
  options.arguments = launcher_arguments(launch, geteuid() == 0);
  options.environment = launcher_environment(environ);
  options.environment.insert(options.environment.begin(), launch.variables.begin(), launch.variables.end());
  return options;
}

}  // namespace shardlings::grading::run
