/// \file
/// Where compiler and linker run: under limits, and as far as the system allows it without the rest of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/landlock.h"
#include "grading/build/toolchain.h"
#include "grading/run/process.h"

namespace shardlings::grading::build {

/// What held while a submission was compiled; a verdict can say it.
struct SandboxReport {
  bool own_user = false;           ///< compiler and linker ran as a user of their own, not as root
  bool own_files = false;          ///< they saw the compiler, the allowed headers and the copy, and no other file
  bool no_new_privileges = false;  ///< nothing that they started could gain rights
  std::string why_not;             ///< for a person: what was missing; empty if nothing was

  /// "as a user of their own, with the files that they need only" …
  std::string text() const;
};

/// What a tool is stopped by.
struct ToolLimits {
  int cpu_seconds = 60;       ///< of each of its processes
  double wall_seconds = 180;  ///< where it waits instead of computing
  std::int64_t memory_bytes = std::int64_t{2} << 30;
  /// Of the compiler alone, which goes down one more step for each bracket or operator inside of another one. With less
  /// it breaks on a source that it could otherwise have compiled, or given up for its time.
  std::int64_t stack_bytes = std::int64_t{512} << 20;
  std::int64_t file_bytes = std::int64_t{256} << 20;
  std::int64_t output_bytes = std::int64_t{4} << 20;  ///< of words
  int processes = 256;  ///< with a user of their own only: others are counted with all that a user runs
};

/// How much of a sandbox there is to be. Where the system has no more, there is less.
enum class SandboxWish : std::uint8_t { limits_only, all };

/// A folder, made and deleted here, with what tools read (they cannot change it) and what they make.
class CompileSandbox {
 public:
  /// `inputs`: further files that the tools read. Throws std::runtime_error if the folder cannot be made.
  CompileSandbox(const Toolchain& toolchain, const std::string& folder, const std::vector<std::string>& inputs,
                 const ToolLimits& limits = {}, SandboxWish wish = SandboxWish::all);
  CompileSandbox(const CompileSandbox&) = delete;
  CompileSandbox& operator=(const CompileSandbox&) = delete;
  ~CompileSandbox();

  const SandboxReport& report() const { return report_; }
  const ToolLimits& limits() const { return limits_; }
  std::string input(const std::string& file) const { return folder_ + "/in/" + file; }
  std::string output(const std::string& file) const { return folder_ + "/out/" + file; }
  /// Puts a file there that the tools may read.
  void put(const std::string& file, const std::string& bytes) const;
  /// A file that a tool made; nothing if it is none, a link, or longer than the limit.
  std::optional<std::string> bytes(const std::string& file) const;
  /// Moves a file that a tool made out of the sandbox; it is the caller's own then. Throws std::runtime_error.
  void move_out(const std::string& file, const std::string& to) const;

  /// Runs a tool, in the folder of what was put there. Throws std::runtime_error if it does not start.
  run::ProcessEnd run(const std::string& program, std::vector<std::string> arguments) const {
    return run(program, std::move(arguments), 0);
  }
  /// The same with a compiler's stack.
  run::ProcessEnd compile(const std::string& compiler, std::vector<std::string> arguments) const {
    return run(compiler, std::move(arguments), limits_.stack_bytes);
  }
  /// The limit that ended it, in a sentence that begins with `doing`: "compiling" …; empty if none did.
  std::string limit_text(const run::ProcessEnd& end, const std::string& doing) const;

 private:
  void choose_user(const Toolchain& toolchain, const std::vector<std::string>& inputs);
  void choose_files(const Toolchain& toolchain, const std::vector<std::string>& inputs);
  bool enter() const;
  run::ProcessEnd run(const std::string& program, std::vector<std::string> arguments, std::int64_t stack_bytes) const;

  std::string folder_;
  ToolLimits limits_;
  LandlockRules rules_;
  SandboxReport report_;
};

}  // namespace shardlings::grading::build
