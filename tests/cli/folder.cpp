#include "cli/folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace shardlings::cli {

namespace fs = std::filesystem;

namespace {

/// Pointers to the words, and the null that ends them.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// A descriptor for a file that is written anew.
int fresh(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::string pattern = (fs::temp_directory_path() / "shardlings-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
  outer_ = fs::canonical(pattern).string();
  path_ = outer_ + "/" + name;
  fs::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(outer_, error);
}

void TemporaryFolder::write(const std::string& name, const std::string& content) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

std::string TemporaryFolder::read(const std::string& name) const {
  std::ifstream file(fs::path(path_) / name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Answer answer_of(const std::string& folder, const std::vector<std::string>& command,
                 const std::vector<std::string>& environment, const std::function<bool()>& before) {
  const TemporaryFolder outputs;
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(fresh(outputs / "out"), STDOUT_FILENO);
    dup2(fresh(outputs / "err"), STDERR_FILENO);
    const auto arguments = pointers(command), variables = pointers(environment);
    if (!before()) _exit(kNotSet);
    if (chdir(folder.c_str()) == 0) execve(arguments[0], arguments.data(), variables.data());
    _exit(126);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, outputs.read("out"), outputs.read("err")};
}

std::string path_variable(const std::string& folders) {
  const char* known = std::getenv("PATH");
  return "PATH=" + folders + (folders.empty() ? "" : ":") + (known == nullptr ? "/usr/local/bin:/usr/bin:/bin" : known);
}

cases::Manifest small_puzzle(int number, const std::string& name, const std::string& title) {
  cases::Manifest puzzle;
  puzzle.number = number;
  puzzle.id = fmt::format("{:02}_{}", number, name);
  puzzle.title = title;
  puzzle.chapter = "1 One device";
  puzzle.answer_lines = 1;
  puzzle.checks.push_back({"output", cases::CheckKind::output, "the numbers", 100, {}});
  using cases::HintLevel;
  puzzle.hints = {{HintLevel::concept_, "think"},
                  {HintLevel::where, "look"},
                  {HintLevel::invariant, "always true"},
                  {HintLevel::near_code, "nearly it"}};
  puzzle.diagnoses.push_back({"mixed_up", "Two things were mixed up.", {{HintLevel::where, "the second line"}}});
  puzzle.cases.emplace_back();
  return puzzle;
}

}  // namespace shardlings::cli
