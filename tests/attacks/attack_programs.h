/// \file
/// The programs of attacks on jails: compiled with the flags of submissions and linked as jails, and looked at by
/// nobody.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "attacks/attack_file.h"
#include "grading/build/toolchain.h"
#include "grading/run/process.h"

namespace shardlings::attacks {

/// An attack is told which one it is by the number of elements of its data: there is nothing else that reaches a jail.
inline constexpr int kFirstCount = 100;
inline constexpr const char* kHonestInJails = SHARDLINGS_ATTACKS "/jail_honest.txt";

/// A folder for temporary files, gone at the end.
class AttackFolder {
 public:
  AttackFolder();
  ~AttackFolder();
  AttackFolder(const AttackFolder&) = delete;
  AttackFolder& operator=(const AttackFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class AttackPrograms {
 public:
  struct Program {
    std::string path;  ///< empty: it does not compile or link; `log` says why
    std::string log;
    int index = 0;     ///< of the attack in its program
    std::string mark;  ///< what it prints behind "tried ", once it has begun
  };

  /// `canary` is the path of a file that attacks are after.
  explicit AttackPrograms(std::string canary);

  /// That of an attack; built when it is first asked for, with all that share its file. An attack of startup.txt has
  /// one for itself: its text stands outside of functions.
  Program of(const Attack& attack);
  /// One that passes.
  Program honest();
  /// A file as the submission of a puzzle of that build, whose jail prints "HEARD" if that number comes in
  /// (jail/overhearing.cpp), and once "OVERHEARING".
  Program overhearing(const grading::build::Toolchain::Puzzle& puzzle, const std::string& source,
                      std::uint64_t number) const;

 private:
  grading::run::ProcessEnd compile(const std::vector<std::string>& what) const;
  Program build(const std::string& name, const std::string& text) const;
  const Program& build_shared(const std::string& file, const std::vector<Attack>& attacks);

  AttackFolder folder_;
  grading::build::Toolchain toolchain_;
  std::string canary_;
  std::map<std::string, Program> built_;  ///< by name
};

}  // namespace shardlings::attacks
