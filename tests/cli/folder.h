/// \file
/// Folders and projects for tests of the command.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/system/project.h"

namespace shardlings::cli {

/// A folder of its own that is gone at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name = "folder");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file, with the folders that it needs.
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;

 private:
  std::string outer_, path_;
};

/// What a command printed, and its exit status.
struct Answer {
  int status = -1;
  std::string out, err;
};

/// Runs a program in a folder, with these variables "NAME=value" and no others as its environment. `before` is called
/// in the new process, its outputs in place; where it returns false, the status is kNotSet and nothing is run.
inline constexpr int kNotSet = 125;
Answer answer_of(
    const std::string& folder, const std::vector<std::string>& command, const std::vector<std::string>& environment,
    const std::function<bool()>& before = [] { return true; });

/// "PATH=…" for an environment: these folders, and where this machine looks for programs.
std::string path_variable(const std::string& folders = "");

/// A puzzle with one check, four general hints and one for the diagnosis "mixed_up".
cases::Manifest small_puzzle(int number, const std::string& name, const std::string& title);

}  // namespace shardlings::cli
