#include "grading/build/kept_build.h"

#include <filesystem>

#include "base/file_lock.h"
#include "base/hash.h"
#include "base/kept_files.h"

namespace shardlings::grading::build {

namespace fs = std::filesystem;

BuildOutcome kept_build(const KeptBuild& kept, const SourceCopy& source, const BuildOptions& how,
                        const std::function<void()>& building) {
  constexpr std::size_t kKept = 4;
  const Toolchain toolchain = load_toolchain(kept.build_folder);
  const fs::path all = fs::path(kept.build_folder) / kept.purpose / kept.puzzle;
  const fs::path folder = all / content_key({source.path, source.text, toolchain.text, file_stamp(toolchain.library),
                                             file_stamp(toolchain.puzzle(kept.puzzle).harness)});
  fs::create_directories(folder);
  const FileLock lock(folder.string() + kLockSuffix);
  BuildOutcome before;
  before.program = folder / program_name(how.form);
  before.built = fs::exists(before.program);
  if (before.built) return before;
  building();
  BuildOutcome outcome =
      build_submission(toolchain, kept.puzzle, source, kept.puzzle_folder + "/harness.cpp", folder.string(), how);
  prune_folders(all.string(), kKept);
  return outcome;
}

}  // namespace shardlings::grading::build
