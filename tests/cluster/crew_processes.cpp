#include "cluster/crew_processes.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace shardlings::cluster {
namespace {

namespace fs = std::filesystem;

/// A file of /proc whose words end with zeros, with one more in front; empty for a process that is gone.
std::string words_of(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  return std::string(1, '\0') + std::string(std::istreambuf_iterator<char>(file), {});
}

bool has_word(const std::string& words, const std::string& word) {
  return words.find('\0' + word + '\0') != std::string::npos;
}

/// -1: it has none.
int number_of(pid_t pid) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const std::string number = variable_of(pid, name);
    if (!number.empty()) return std::atoi(number.c_str());
  }
  return -1;
}

}  // namespace

std::string variable_of(pid_t pid, const std::string& name) {
  const std::string environment = words_of(pid, "environ");
  const std::string begin = '\0' + name + '=';
  const auto at = environment.find(begin);
  return at == std::string::npos ? "" : environment.c_str() + at + begin.size();
}

std::vector<pid_t> processes_of(const std::string& program, const std::string& mark) {
  std::vector<pid_t> found;
  for (const pid_t pid : processes_with(mark)) {
    std::error_code error;
    if (fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", error) == program) found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> processes_with(const std::string& mark) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && has_word(words_of(pid, "environ"), mark)) found.push_back(pid);
  }
  return found;
}

std::vector<CrewProcess> crew_processes(const std::string& mark) {
  std::vector<CrewProcess> found;
  for (const pid_t pid : processes_with(mark)) {
    const int number = number_of(pid);
    if (number >= 0 && has_word(words_of(pid, "cmdline"), "mpi")) found.push_back({pid, number});
  }
  return found;
}

}  // namespace shardlings::cluster
