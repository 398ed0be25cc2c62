/// \file
/// What a learner's copy needs to train.
#pragma once

#include <filesystem>

#include "base/file.h"
#include "cli/learner.h"

namespace shardlings::cluster {

/// Gives the copy the text and the project's own step.
inline void make_trainable(const cli::Learner& learner) {
  learner.folder().write("runtime/train/text.txt", read_whole_file(SHARDLINGS_SOURCE_FOLDER "/runtime/train/text.txt"));
  std::filesystem::create_directories(learner.folder() / "build/bin");
  std::filesystem::create_symlink(SHARDLINGS_BUILD_FOLDER "/bin/shardlings_train",
                                  learner.folder() / "build/bin/shardlings_train");
}

}  // namespace shardlings::cluster
