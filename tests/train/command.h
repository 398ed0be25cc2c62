/// \file
/// ./shardlings train as tests call it, and a learner with a step of their own.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "cli/app.h"
#include "train/trainings.h"

namespace shardlings::train {

inline constexpr const char* kSource = SHARDLINGS_SOURCE_FOLDER;
inline constexpr const char* kProgram = SHARDLINGS_BUILD_FOLDER "/bin/shardlings";
// So wide that no sentence which a test looks for is broken.
[[maybe_unused]] inline const bool kIsWide = setenv("COLUMNS", "300", 1) == 0;

struct Outcome {
  int status;
  std::string out, err;
};

inline std::vector<std::string> arguments_of(const Folder& folder, const std::vector<std::string>& more) {
  std::istringstream words("train --layers 2 --hidden 16 --sequence 16 --checkpoint " + folder.file("checkpoint"));
  std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  if (std::find(more.begin(), more.end(), "--batch") == more.end()) all.insert(all.end(), {"--batch", "4"});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline Outcome run(const Folder& folder, const std::vector<std::string>& more) {
  std::ostringstream out, err;
  const int status = cli::run_app(kProgram, arguments_of(folder, more), out, err);
  return {status, out.str(), err.str()};
}

/// A learner's copy of the project, with this text as their file of this puzzle, which is the only one there.
class Learner {
 public:
  Learner(const std::string& puzzle, const std::string& text) : folder_(root_.file("puzzles/" + puzzle)) {
    const std::string source = kSource;
    std::filesystem::create_directories(root_.file("puzzles"));
    std::filesystem::create_directory_symlink(source + "/runtime", root_.file("runtime"));
    std::filesystem::copy(source + "/puzzles/" + puzzle, folder_);
    std::filesystem::remove(folder_ + "/puzzle.cpp");
    append(text);
    if (const char* before = getenv("SHARDLINGS_ROOT")) before_ = before;
    setenv("SHARDLINGS_ROOT", root_.file("").c_str(), 1);
  }
  ~Learner() {
    if (before_.empty()) {
      unsetenv("SHARDLINGS_ROOT");
    } else {
      setenv("SHARDLINGS_ROOT", before_.c_str(), 1);
    }
  }
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;
  void append(const std::string& text) const { std::ofstream(folder_ + "/puzzle.cpp", std::ios::app) << text; }

 private:
  Folder root_;
  std::string folder_, before_;  ///< what the variable was: one learner may live while another does
};

}  // namespace shardlings::train
