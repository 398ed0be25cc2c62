/// \file
/// The learner's file as it was at one moment: read once, and from then on only this copy is hashed, compiled and kept.
#pragma once

#include <cstdint>
#include <string>

namespace shardlings::grading::build {

/// A puzzle's file has a few KiB.
inline constexpr std::int64_t kMostSourceBytes = 1 << 20;

struct SourceCopy {
  std::string path;  ///< where it was read
  std::string name;  ///< what messages and call sites call it: "puzzle.cpp"
  std::string text;
};

/// Reads the file without following a link at its end and without waiting for anybody at the other end of a pipe.
/// Throws std::runtime_error with a sentence for what is no regular file, is too large or cannot be read.
SourceCopy copy_source(const std::string& path);

/// The name under which the copy is compiled: the file's own, or "puzzle.cpp" where a compiler, a linker or a shell
/// could take that for something else ("-E.cpp", "@list.cpp").
std::string plain_name(const std::string& path);

}  // namespace shardlings::grading::build
